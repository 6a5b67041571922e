//! Looks through a pack of agent files for what is incomplete, dead or open.
//!
//! The findings depend on the texts alone and come in the order of the files and their lines. Each rule of the
//! linter is a file here; all of them ask the evaluator instead of reading patterns themselves.

mod asks;
mod completeness;
mod finding;
mod hazards;
mod order;
mod probes;
mod stars;
mod team;
mod writes;

#[cfg(test)]
mod tests;

use super::agent_file::AgentFile;
pub use finding::{Finding, LintRule, Severity};

/// Lints agent files, given as pairs of a path and a text. The agents' names come from the paths.
#[must_use]
pub fn lint<P: AsRef<str>, T: AsRef<str>>(agents: &[(P, T)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut read = Vec::new();
    for (path, text) in agents {
        match AgentFile::parse(path.as_ref(), text.as_ref()) {
            Ok(agent) => read.push(agent),
            Err(error) => findings.push(completeness::unreadable(path.as_ref(), &error)),
        }
    }
    for agent in &read {
        completeness::check(agent, &mut findings);
        order::check(agent, &mut findings);
        stars::check(agent, &mut findings);
        writes::check(agent, &mut findings);
        asks::check(agent, &mut findings);
    }
    team::check(&read, &mut findings);
    let place = |file: &str| agents.iter().position(|(path, _)| path.as_ref() == file);
    findings.sort_by(|a, b| {
        (place(&a.file), a.line, a.rule, &a.message).cmp(&(place(&b.file), b.line, b.rule, &b.message))
    });
    findings.dedup();
    findings
}
