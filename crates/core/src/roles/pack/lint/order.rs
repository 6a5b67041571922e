//! The order of rules: a catch-all that denies comes first, and no rule is dead because of a later one.

use super::{Finding, LintRule};
use crate::roles::pack::{
    agent_file::AgentFile,
    permission::{Action, Rule},
    wildcard::covers,
};

pub(super) fn check(agent: &AgentFile, findings: &mut Vec<Finding>) {
    if agent.frontmatter.get("permission").is_some() || !agent.own.is_empty() {
        catch_all(agent, findings);
    }
    for (at, later) in agent.own.iter().enumerate() {
        // Each dead rule is reported once, by the first rule that covers it.
        let killed = |rule: &Rule| covers_rule(later, rule);
        let earlier =
            |index: usize| agent.own[index + 1..at].iter().any(|between| covers_rule(between, &agent.own[index]));
        let dead: Vec<&Rule> = (0..at)
            .filter(|index| killed(&agent.own[*index]) && !earlier(*index))
            .map(|index| &agent.own[index])
            .collect();
        if dead.is_empty() {
            continue;
        }
        if later.pattern == "*" {
            let lines: Vec<String> = dead.iter().filter_map(|rule| rule.line).map(|line| line.to_string()).collect();
            let message = format!(
                "the last match wins, so this {:?} for {:?} makes {} above it dead: line {}",
                later.pattern,
                later.permission,
                if dead.len() == 1 { "a rule".to_owned() } else { format!("{} rules", dead.len()) },
                lines.join(", "),
            );
            findings.push(Finding::at(
                agent,
                later.line,
                LintRule::CatchAllLast,
                message,
                "move the catch-all to the top",
            ));
            continue;
        }
        for rule in dead {
            let message = format!(
                "{:?} of {:?} is never reached: {:?} on line {} comes later and covers it",
                rule.pattern,
                rule.permission,
                later.pattern,
                later.line.unwrap_or_default(),
            );
            let hint = "put the wider pattern first, or remove this one";
            findings.push(Finding::at(agent, rule.line, LintRule::UnreachableRule, message, hint));
        }
    }
}

fn covers_rule(later: &Rule, rule: &Rule) -> bool {
    covers(&later.permission, &rule.permission) && covers(&later.pattern, &rule.pattern)
}

fn catch_all(agent: &AgentFile, findings: &mut Vec<Finding>) {
    let is_catch_all = |rule: &&Rule| rule.permission == "*" && rule.pattern == "*";
    match agent.own.first().filter(is_catch_all) {
        None => {
            let message = "the rules do not begin with a catch-all, so that OpenCode allows what they do not name";
            let hint = "begin permission with \"*\": deny";
            findings.push(Finding::at(agent, None, LintRule::NoCatchAll, message.into(), hint));
        }
        Some(first) if first.action != Action::Deny => {
            let message = format!("what the rules do not name is {}, not deny", first.action.as_str());
            findings.push(Finding::at(
                agent,
                first.line,
                LintRule::NotDenyByDefault,
                message,
                "begin permission with \"*\": deny and name what the role needs",
            ));
        }
        Some(_) => {}
    }
}
