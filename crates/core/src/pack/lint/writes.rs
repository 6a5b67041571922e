//! A role that may not edit must not be able to write by a command.

use super::{
    Finding, LintRule,
    probes::{PROBES, Reach},
};
use crate::pack::{
    agent_file::AgentFile,
    permission::{Action, Rule, evaluate, evaluate_shell, hides},
    wildcard::matches,
};

/// Files that no sensible list of exceptions names.
const ORDINARY_FILES: [&str; 2] = ["zq7/ordinary.zq7", "zq7-at-the-root"];

pub(super) fn check(agent: &AgentFile, findings: &mut Vec<Finding>) {
    let may_edit = |file| evaluate(&agent.rules, "edit", file).action == Action::Allow;
    if ORDINARY_FILES.into_iter().all(may_edit) || hides(&agent.rules, "bash") {
        return;
    }
    let mut open: Vec<(&Rule, Reach, Vec<String>)> = Vec::new();
    let mut note = |line: &str, does: &str, reach: Reach| {
        let Ok(decision) = evaluate_shell(&agent.rules, line) else { return };
        let Some(rule) = decision.rule.filter(|_| decision.action == Action::Allow) else { return };
        let text = format!("`{line}` {does}");
        match open.iter_mut().find(|(known, same, _)| std::ptr::eq(*known, rule) && *same == reach) {
            Some((_, _, texts)) => texts.push(text),
            None => open.push((rule, reach, vec![text])),
        }
    };
    for probe in &PROBES {
        note(probe.line, probe.does, probe.reach);
    }
    for rule in agent.own.iter().filter(|rule| rule.action == Action::Allow && matches("bash", &rule.permission)) {
        note(&format!("{} > file", example(&rule.pattern)), "writes a file", Reach::Writes);
    }
    for (rule, reach, texts) in open {
        findings.push(finding(agent, rule, reach, &texts));
    }
    let message = "OpenCode does not show rules the redirection in `git status && git log > file`, nor the \
                   command in `< a < b command > c`, so that no list of patterns keeps this role from writing";
    let hint = "deny bash altogether, or run this role where writing does no harm";
    let line = evaluate(&agent.rules, "bash", "zq7").rule.and_then(|rule| rule.line);
    findings.push(Finding::at(agent, line, LintRule::ShellCannotBeClosed, message.into(), hint));
}

fn finding(agent: &AgentFile, rule: &Rule, reach: Reach, texts: &[String]) -> Finding {
    let shown = texts.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    let more = if texts.len() > 3 { format!(", and {} more", texts.len() - 3) } else { String::new() };
    let allowed = match rule.line {
        Some(_) => format!("{:?} allows", rule.pattern),
        None => "OpenCode by itself allows".into(),
    };
    let (code, hint) = match reach {
        Reach::Writes => (
            LintRule::WriteThroughShell,
            "name the exact commands, or deny what writes after this rule, such as \"*>*\": deny",
        ),
        Reach::RunsProject => (LintRule::ProjectCode, "let only roles that may edit run the project's own code"),
    };
    let message = format!("this role may not edit, but {allowed} {shown}{more}");
    Finding::at(agent, rule.line, code, message, hint)
}

/// A text that fits a pattern.
pub(super) fn example(pattern: &str) -> String {
    pattern.replace('*', "x").replace('?', "x")
}
