//! A role that may not edit must not be able to write by a command.

use super::{
    Finding, LintRule,
    hazards::{HARMLESS, HAZARDS},
    probes::{PROBES, Reach},
};
use crate::roles::pack::{
    agent_file::AgentFile,
    permission::{Action, Rule, evaluate, evaluate_shell, hides},
    wildcard::{common, covers, matches},
};

/// Files that no sensible list of exceptions names.
const ORDINARY_FILES: [&str; 2] = ["zq7/ordinary.zq7", "zq7-at-the-root"];

pub(super) fn check(agent: &AgentFile, findings: &mut Vec<Finding>) {
    let may_edit = |file| evaluate(&agent.rules, "edit", file).action == Action::Allow;
    if ORDINARY_FILES.into_iter().all(may_edit) || hides(&agent.rules, "bash") {
        return;
    }
    let mut open: Vec<(&Rule, Reach, Vec<Way>)> = Vec::new();
    let mut note = |line: &str, does: &'static str, reach: Reach| {
        let Ok(decision) = evaluate_shell(&agent.rules, line) else { return };
        let Some(rule) = decision.rule.filter(|_| decision.action == Action::Allow) else { return };
        let way = Way { line: line.to_owned(), does };
        match open.iter_mut().find(|(known, same, _)| std::ptr::eq(*known, rule) && *same == reach) {
            Some((_, _, ways)) => ways.push(way),
            None => open.push((rule, reach, vec![way])),
        }
    };
    for probe in &PROBES {
        note(probe.line, probe.does, probe.reach);
    }
    for rule in agent.own.iter().filter(|rule| rule.action == Action::Allow && matches("bash", &rule.permission)) {
        note(&format!("{} > file", example(&rule.pattern)), "writes a file", Reach::Writes);
        // Fixed lines do not meet a rule that is about certain files only; what it has in common with a hazard does.
        if HARMLESS.iter().any(|harmless| covers(harmless, &rule.pattern)) {
            continue;
        }
        for hazard in &HAZARDS {
            if let Some(line) = common(hazard.pattern, &rule.pattern) {
                note(&line, hazard.does, hazard.reach);
            }
        }
    }
    for (rule, reach, ways) in open {
        findings.push(finding(agent, rule, reach, &ways));
    }
    let message = "OpenCode does not show rules the redirection in `git status && git log > file`, nor the \
                   command in `< a < b command > c`, so that no list of patterns keeps this role from writing";
    let hint = "deny bash altogether, or run this role where writing does no harm";
    let line = evaluate(&agent.rules, "bash", "zq7").rule.and_then(|rule| rule.line);
    findings.push(Finding::at(agent, line, LintRule::ShellCannotBeClosed, message.into(), hint));
}

/// A command that gets through, and what it does.
struct Way {
    line: String,
    does: &'static str,
}

fn finding(agent: &AgentFile, rule: &Rule, reach: Reach, ways: &[Way]) -> Finding {
    // One example of each kind is more useful than three of the same.
    let is_first = |at: usize| ways[..at].iter().all(|way| way.does != ways[at].does);
    let examples = (0..ways.len()).filter(|at| is_first(*at)).take(3).map(|at| &ways[at]);
    let shown: Vec<String> = examples.map(|way| format!("`{}` ({})", way.line, way.does)).collect();
    let more = match ways.len() - shown.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let shown = shown.join(", ");
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
    pattern.replace(['*', '?'], "x")
}
