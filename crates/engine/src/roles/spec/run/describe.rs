//! The prompt of each role: its part, the spec word for word, the report that it must write, and what the validator
//! found.

use super::{borders::report_of, plan::Part};
use shuntyard_core::{
    roles::spec::{Agent, Report, Role},
    values::clean_line,
};

/// Letters of a validation report that are handed on.
const MOST_FINDINGS: usize = 32_000;

/// Whether OpenCode has an agent of this name, which brings its own instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instructed {
    ByItsAgent,
    Here,
}

pub(super) fn describe(part: &Part, task: &str, role: Role, by: Instructed, findings: Option<&str>) -> String {
    let mut text = format!("{}: {} ({task})\n\n", role.as_str(), clean_line(&part.title, 100));
    if by == Instructed::Here {
        text.push_str(instructions(role).trim());
        text.push_str("\n\n");
    }
    if let Some(findings) = findings {
        text.push_str(
            "A validator has judged the work that is here and found faults. Mend what it found, and nothing else. \
             Its report:\n\n",
        );
        text.push_str(&fenced(&findings.chars().take(MOST_FINDINGS).collect::<String>()));
        text.push('\n');
    }
    text.push_str(&format!("The spec is `{}`. This is all of it:\n\n{}\n", part.spec_file(), fenced(&part.text)));
    if role == Role::Agent(Agent::TestWriter) {
        let files: String = part.tests.iter().map(|path| format!("- `{path}`\n")).collect();
        text.push_str(&format!("Write these files and no others:\n\n{files}"));
    }
    if let Some(report) = report_of(role) {
        let form = fenced(form(report));
        text.push_str(&format!("At the end write `{}` in this form:\n\n{form}", part.report(report)));
    }
    text.trim_end().to_owned()
}

/// A block of code that its text cannot end: the fence is longer than any in it.
pub(super) fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}markdown\n{}\n{fence}\n", text.trim_end_matches(['\n', '\r']))
}

pub(super) fn instructions(role: Role) -> &'static str {
    match role {
        Role::Agent(Agent::TestWriter) => include_str!("roles/test-writer.md"),
        Role::Agent(Agent::Implementer) => include_str!("roles/implementer.md"),
        Role::Agent(Agent::Documentation) => include_str!("roles/documentation.md"),
        Role::Validator => include_str!("roles/validator.md"),
    }
}

fn form(report: Report) -> &'static str {
    match report {
        Report::Implementation => {
            "# Implementation\n\n## Outcome\n\ndone\n\n## Files Changed\n\n## Decisions\n\n## Verification\n\n\
             ## Known Issues\n\n<!-- The first word below Outcome is done, failed, blocked or needs-decision, and the \
             reason follows it. -->"
        }
        Report::Documentation => {
            "# Documentation\n\n## Outcome\n\ndone\n\n## Files Changed\n\n## Context Or Decisions Updated\n\n\
             ## Verification\n\n<!-- The first word below Outcome is done, failed, blocked or needs-decision, and the \
             reason follows it. Add Follow-Ups only if there are any. -->"
        }
        Report::Validation => {
            "# Validation\n\nVerdict: pass\n\n## Criteria\n\n## Commands\n\n## Findings\n\n## Not Checked\n\n<!-- There \
             is exactly one line with a verdict: pass, fail or blocked. -->"
        }
    }
}
