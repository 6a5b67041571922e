//! A star glued to a word in a command that is let through: `git branch*` is also `git branch-anything`.

use super::{Finding, LintRule};
use crate::roles::pack::{agent_file::AgentFile, permission::Action, wildcard::matches};

pub(super) fn check(agent: &AgentFile, findings: &mut Vec<Finding>) {
    for rule in agent.own.iter().filter(|rule| rule.action != Action::Deny && matches("bash", &rule.permission)) {
        let Some(before) = rule.pattern.strip_suffix('*').filter(|before| before.ends_with(char::is_alphanumeric))
        else {
            continue;
        };
        let message = format!("{:?} also covers words that only begin like its last one", rule.pattern);
        let hint = format!("write \"{before} *\", which covers {before:?} alone too");
        findings.push(Finding::at(agent, rule.line, LintRule::GluedStar, message, hint));
    }
}
