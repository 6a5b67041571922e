//! Who may call whom: every agent that is named has a file, and every subagent has a caller.

use super::{Finding, LintRule};
use crate::{
    roles::pack::{
        agent_file::{AgentFile, Mode},
        permission::{Action, evaluate},
        wildcard::matches,
    },
    values::nearest::nearest,
};

/// The agents that come with OpenCode and can be called without a file.
const BUILT_IN: [&str; 4] = ["build", "plan", "general", "explore"];

pub(super) fn check(agents: &[AgentFile], findings: &mut Vec<Finding>) {
    let present: Vec<&AgentFile> = agents.iter().filter(|agent| !agent.disabled()).collect();
    for (at, agent) in present.iter().enumerate() {
        if let Some(first) = present[..at].iter().find(|other| other.name == agent.name) {
            let message = format!("{:?} is already the agent of {}", agent.name, first.path);
            let line = agent.line_of("name");
            findings.push(Finding::new(
                &agent.path,
                line,
                LintRule::DuplicateName,
                message,
                "give it a name of its own",
            ));
        }
        named(agent, &present, findings);
    }
    // Without an orchestrator the built-in agents call the subagents, which they may.
    let callers: Vec<&&AgentFile> = present.iter().filter(|agent| names_agents(agent)).collect();
    if callers.is_empty() {
        return;
    }
    for agent in present.iter().filter(|agent| agent.mode == Mode::Subagent) {
        let may_call = |caller: &AgentFile| evaluate(&caller.rules, "task", &agent.name).action != Action::Deny;
        if !callers.iter().filter(|caller| caller.name != agent.name).any(|caller| may_call(caller)) {
            let message = format!("no agent of the pack may call {:?}", agent.name);
            let hint = format!("add \"{}\": allow under task of its caller, or remove the file", agent.name);
            findings.push(Finding::new(&agent.path, 1, LintRule::NeverCalled, message, hint));
        }
    }
}

fn names_agents(agent: &AgentFile) -> bool {
    agent.own.iter().any(|rule| rule.permission == "task")
}

fn named(agent: &AgentFile, present: &[&AgentFile], findings: &mut Vec<Finding>) {
    let callable = |name: &str| present.iter().any(|other| other.name == name && other.mode != Mode::Primary);
    for rule in agent.own.iter().filter(|rule| rule.permission == "task" && rule.pattern != "*") {
        let known = BUILT_IN.iter().copied().chain(present.iter().map(|other| other.name.as_str()));
        if known.clone().any(|name| matches(name, &rule.pattern)) {
            if rule.action != Action::Deny
                && present.iter().any(|other| other.name == rule.pattern)
                && !callable(&rule.pattern)
            {
                let message = format!("{:?} is a primary agent and cannot be called", rule.pattern);
                findings.push(Finding::at(agent, rule.line, LintRule::UnknownAgent, message, "make it a subagent"));
            }
            continue;
        }
        let message = format!("no agent of the pack is called {:?}", rule.pattern);
        let hint = match nearest(&rule.pattern, known, 1).first() {
            Some(close) => format!("did you mean {close}?"),
            None => "add its file, or remove the rule".into(),
        };
        findings.push(Finding::at(agent, rule.line, LintRule::UnknownAgent, message, hint));
    }
}
