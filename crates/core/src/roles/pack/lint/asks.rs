//! Questions without an answer: a called agent that needs a permission waits until the run is ended.

use super::{Finding, LintRule, probes::PROBES, writes::example};
use crate::roles::pack::{
    agent_file::{AgentFile, Mode},
    permission::{Action, Decision, evaluate, evaluate_shell, hides},
};
use std::collections::BTreeMap;

/// What agents do in daily work, besides commands: a permission and what may be asked for under it.
const DEEDS: [(&str, &str); 22] = [
    ("read", "src/main.rs"),
    ("read", ".env"),
    ("read", ".env.local"),
    ("edit", "src/main.rs"),
    ("edit", "docs/guide.md"),
    ("glob", "**/*.rs"),
    ("grep", "TODO"),
    ("list", "src"),
    ("bash", "ls -la"),
    ("bash", "git status"),
    ("bash", "some-unlisted-program"),
    ("task", "some-unlisted-agent"),
    ("external_directory", "/etc/*"),
    ("external_directory", "/some/where/else/*"),
    ("todowrite", "*"),
    ("webfetch", "https://example.org/"),
    ("websearch", "how to"),
    ("lsp", "*"),
    ("skill", "some-unlisted-skill"),
    ("doom_loop", "bash"),
    ("doom_loop", "read"),
    ("some_unlisted_tool", "*"),
];

pub(super) fn check(agent: &AgentFile, findings: &mut Vec<Finding>) {
    // One that is for everything is called by other agents too.
    if agent.mode == Mode::Primary {
        return;
    }
    // One finding for each rule that asks, or for each permission that OpenCode's own rules ask about.
    let mut asked: BTreeMap<(Option<usize>, String), String> = BTreeMap::new();
    let mut note = |decision: Decision<'_>, permission: &str, argument: &str| {
        if decision.action == Action::Ask && !hides(&agent.rules, permission) {
            let line = decision.rule.and_then(|rule| rule.line);
            asked.entry((line, permission.to_owned())).or_insert_with(|| argument.to_owned());
        }
    };
    for (permission, argument) in DEEDS {
        note(evaluate(&agent.rules, permission, argument), permission, argument);
    }
    for probe in &PROBES {
        if let Ok(decision) = evaluate_shell(&agent.rules, probe.line) {
            note(Decision { action: decision.action, rule: decision.rule }, "bash", probe.line);
        }
    }
    for rule in agent.own.iter().filter(|rule| rule.action == Action::Ask) {
        let (permission, argument) = (example(&rule.permission), example(&rule.pattern));
        note(evaluate(&agent.rules, &permission, &argument), &permission, &argument);
    }
    for ((line, permission), argument) in asked {
        let by = if line.is_some() { "this rule" } else { "OpenCode by itself" };
        let message =
            format!("{by} asks about {permission} {argument:?}, and nobody is there to answer one that was called");
        let hint = format!("decide it: {permission}: deny, or allow what the role needs");
        findings.push(Finding::at(agent, line, LintRule::AskWithoutHuman, message, hint));
    }
    let question = evaluate(&agent.rules, "question", "*");
    if question.action == Action::Allow {
        let line = question.rule.and_then(|rule| rule.line);
        let message = "a called agent that may ask questions waits for answers that nobody gives".into();
        findings.push(Finding::at(agent, line, LintRule::AskWithoutHuman, message, "question: deny"));
    }
}
