//! Findings of the linter about our own agents that their roles cannot do without, each with its reason.
//!
//! They hold for the files of this pack as they are; a file that the user has changed is judged anew.

use super::AGENTS;
use shuntyard_core::roles::pack::{
    lint::{Finding, LintRule},
    v2::v2,
};

/// A finding that is known and wanted.
#[derive(Debug, Clone, Copy)]
pub struct Accepted {
    pub agent: &'static str,
    pub rule: LintRule,
    pub reason: &'static str,
}

pub(super) const ACCEPTED: [Accepted; 6] = [
    Accepted {
        agent: "agents/validator.md",
        rule: LintRule::ProjectCode,
        reason: "running the project's tests is what a validator is for; whoever runs a pipeline checks what it touched",
    },
    Accepted {
        agent: "agents/validator.md",
        rule: LintRule::ShellCannotBeClosed,
        reason: "tests need a shell, and OpenCode cannot close one; its commands are listed, redirections are denied",
    },
    Accepted {
        agent: "agents/shipper.md",
        rule: LintRule::ShellCannotBeClosed,
        reason: "git needs a shell, and OpenCode cannot close one; it has a few exact forms of git and nothing else",
    },
    Accepted {
        agent: "agents/shipper.md",
        rule: LintRule::WriteThroughShell,
        reason: "to commit and push what was named is what it is for; it has these forms of git and nothing else",
    },
    Accepted {
        agent: "agents/model-config.md",
        rule: LintRule::ShellCannotBeClosed,
        reason: "it has one command of Shuntyard, so that it never writes a configuration file by itself",
    },
    Accepted {
        agent: "agents/init.md",
        rule: LintRule::AskWithoutHuman,
        reason: "it interviews the user; where nobody can answer, OpenCode offers it no questions",
    },
];

/// Why a finding about this text is accepted, if it is.
#[must_use]
pub fn accepted(finding: &Finding, text: &str) -> Option<&'static Accepted> {
    let known = ACCEPTED.iter().find(|known| finding.file.ends_with(known.agent) && finding.rule == known.rule)?;
    is_own(known.agent, text).then_some(known)
}

fn is_own(path: &str, text: &str) -> bool {
    AGENTS.iter().any(|(known, ours)| *known == path && *ours == text)
}

/// An agent of ours in the second form, which the linter does not know, as it is in the first; anything else as it is.
pub fn as_first_form<'t>(path: &str, text: &'t str) -> &'t str {
    let ours = AGENTS.iter().filter(|(known, _)| path.ends_with(known)).map(|(_, ours)| *ours);
    ours.into_iter().find(|ours| v2(ours).is_ok_and(|converted| converted == text)).unwrap_or(text)
}
