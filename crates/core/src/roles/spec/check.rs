//! What is wrong with a spec or a handoff, each thing at its line with what to do about it.

use super::{
    check_units::{Place, check_children, check_units},
    document::{Document, plain_title},
    execution::{Agent, Item, Named, Role},
    fault::{Fault, Rule},
    handoff::{Field, Handoff},
    parse::{Spec, TEST_PATHS},
    path::inside,
    report::{Report, report_fault},
    section::{Says, SectionKind},
};
use crate::values::{clean_line, nearest::nearest};

/// Sorted by lines.
#[must_use]
pub fn check_spec(spec: &Spec, place: Place<'_>) -> Vec<Fault> {
    let mut faults = unclosed(&spec.document);
    let required: &[SectionKind] = if spec.is_manifest() { &SectionKind::OF_MANIFEST } else { &SectionKind::ALL };
    faults.extend(required.iter().filter_map(|kind| presence(spec, *kind)));
    faults.extend(SectionKind::ALL.into_iter().flat_map(|kind| repeated(spec, kind)));
    if spec.is_manifest() {
        let found = spec.sections.iter().filter(|section| section.kind == SectionKind::Execution);
        faults.extend(found.map(|section| {
            let message = "a spec with units runs nothing itself; its units do";
            let hint = "take `## Execution` out here; each unit has its own";
            Fault::new(section.line, Rule::ExecutionInManifest, message, hint)
        }));
        faults.extend(check_units(&spec.tables, place));
    } else {
        faults.extend(check_execution(&spec.execution));
        faults.extend(check_criteria(spec));
        if let Place::Task { children } = place {
            faults.extend(check_children(&[], children));
        }
    }
    faults.sort_by_key(|fault| fault.line);
    faults
}

/// A thin handoff gets a fault of its own, behind those of its fields.
#[must_use]
pub fn check_handoff(handoff: &Handoff) -> Vec<Fault> {
    let mut faults = unclosed(handoff.document());
    for field in Field::ALL {
        let title = field.title();
        let lines = handoff.lines(field);
        match (lines, handoff.says(field)) {
            ([], _) => {
                let hint = format!("add `## {title}`: {}, or None", field.wanted());
                faults.push(Fault::new(1, Rule::HandoffField, format!("there is no {title}"), hint));
            }
            ([line, ..], Says::Nothing) => {
                let hint = format!("{}, or write None", field.wanted());
                faults.push(Fault::new(*line, Rule::HandoffField, format!("{title} says nothing yet"), hint));
            }
            (_, Says::None | Says::Something) => {}
        }
        faults.extend(lines.iter().skip(1).map(|line| {
            let message = format!("{title} is there again; it began on line {}", lines[0]);
            Fault::new(*line, Rule::HandoffFieldTwice, message, "make one of the two")
        }));
    }
    if let Some(blocked) = handoff.blocked() {
        faults.push(Fault::new(1, Rule::PlanningBlocked, blocked.to_string(), blocked.hint()));
    }
    faults.sort_by_key(|fault| fault.line);
    faults
}

/// A report without a result.
#[must_use]
pub fn check_report(report: Report, text: &str) -> Vec<Fault> {
    let document = Document::parse(text);
    let mut faults = unclosed(&document);
    faults.extend(report_fault(report, &document));
    faults
}

fn unclosed(document: &Document) -> Vec<Fault> {
    let open = document.unclosed().map(|open| {
        let message = format!("the {} that begins here is never closed, and hides the rest of the file", open.what);
        Fault::new(open.line, Rule::Unclosed, message, "close it")
    });
    open.into_iter().collect()
}

fn presence(spec: &Spec, kind: SectionKind) -> Option<Fault> {
    let is_execution = kind == SectionKind::Execution;
    let Some(found) = spec.sections.iter().find(|section| section.kind == kind) else {
        let hint = elsewhere(spec, kind).unwrap_or_else(|| format!("add `## {kind}`: {}", kind.wanted()));
        return Some(if is_execution {
            Fault::new(1, Rule::NothingWouldRun, "there is no section Execution, so nothing would run", hint)
        } else {
            Fault::new(1, Rule::SectionMissing, format!("there is no section {kind}"), hint)
        });
    };
    let line = found.line;
    match found.says {
        Says::Something => None,
        Says::None if kind.may_be_none() => None,
        Says::None | Says::Nothing if is_execution => {
            let message = "Execution names nobody, so nothing would run";
            Some(Fault::new(line, Rule::NothingWouldRun, message, kind.wanted()))
        }
        Says::None => Some(Fault::new(line, Rule::SectionEmpty, format!("{kind} cannot be None"), kind.wanted())),
        Says::Nothing => Some(Fault::new(line, Rule::SectionEmpty, format!("{kind} says nothing yet"), kind.wanted())),
    }
}

/// The heading that was probably meant: of another level, or written a little differently.
fn elsewhere(spec: &Spec, kind: SectionKind) -> Option<String> {
    let headings = || spec.document.headings().iter();
    if let Some(other) = headings().find(|heading| heading.level != 2 && SectionKind::of(&heading.title) == Some(kind))
    {
        return Some(format!("line {} has it with {} `#`; write `## {kind}`", other.line, other.level));
    }
    let unknown = headings().filter(|heading| heading.level == 2 && SectionKind::of(&heading.title).is_none());
    let unknown: Vec<(String, usize)> = unknown.map(|heading| (plain_title(&heading.title), heading.line)).collect();
    let names = unknown.iter().map(|(title, _)| title.as_str()).filter(|title| title.len() > 2);
    let close = *nearest(&plain_title(kind.title()), names, 1).first()?;
    let line = unknown.iter().find(|(title, _)| title == close).map(|(_, line)| *line)?;
    Some(format!("if line {line} is meant, write `## {kind}`"))
}

fn repeated(spec: &Spec, kind: SectionKind) -> Vec<Fault> {
    let mut found = spec.sections.iter().filter(|section| section.kind == kind);
    let Some(first) = found.next() else { return Vec::new() };
    let again = found.map(|section| {
        let message = format!("{kind} is there again; it began on line {}", first.line);
        Fault::new(section.line, Rule::SectionTwice, message, "make one section of the two")
    });
    again.collect()
}

fn check_execution(items: &[Item]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut latest: Option<Agent> = None;
    for Item { line, what } in items {
        let fault = |rule, message: String, hint: &str| Fault::new(*line, rule, message, hint);
        let names = "the names are test-writer, implementer and documentation, one a line, with nothing behind them";
        match what {
            Named::Agent(agent) => {
                if latest == Some(*agent) {
                    faults.push(fault(Rule::ExecutionOrder, format!("{agent} is named twice"), "take one of them out"));
                } else if let Some(before) = latest.filter(|before| before > agent) {
                    let message = format!("{agent} works before {before}");
                    faults.push(fault(
                        Rule::ExecutionOrder,
                        message,
                        "the order is test-writer, implementer, documentation",
                    ));
                }
                latest = latest.max(Some(*agent));
            }
            Named::Validator => {
                let message = "the validator is not named: it always runs, as the last".to_owned();
                faults.push(fault(Rule::ExecutionValidator, message, "take this line out"));
            }
            Named::Unknown(name) => {
                let shown = clean_line(name, 60);
                let known = Agent::ALL.map(Agent::as_str);
                let hint = match nearest(name, known, 1).first() {
                    Some(close) if !name.contains(char::is_whitespace) => format!("did you mean {close}?"),
                    Some(_) | None => names.to_owned(),
                };
                faults.push(fault(Rule::ExecutionAgent, format!("`{shown}` is no agent"), &hint));
            }
            // That the section is None has its own fault.
            Named::Text(text) if items.len() == 1 && super::section::is_none(text) => {}
            Named::Text(text) => {
                let message = format!("Execution is a list of agents and nothing else: `{}`", clean_line(text, 60));
                faults.push(fault(Rule::ExecutionText, message, names));
            }
        }
    }
    faults
}

fn check_criteria(spec: &Spec) -> Vec<Fault> {
    let testable = spec.says(SectionKind::TestableCriteria);
    let line = |kind| spec.sections.iter().find(|section| section.kind == kind).map_or(1, |section| section.line);
    let at = line(SectionKind::TestableCriteria);
    let mut faults = Vec::new();
    let writes_tests = spec.execution.iter().any(|item| item.what == Named::Agent(Agent::TestWriter));
    if testable == Says::None && spec.says(SectionKind::InspectableCriteria) == Says::None {
        let hint = "list at least one thing that a test can prove or a reader can judge";
        let message = format!("both criteria are None, so the {} could not tell good work from bad", Role::VALIDATOR);
        faults.push(Fault::new(at, Rule::NothingToValidate, message, hint));
    }
    if writes_tests && testable == Says::None {
        let hint = "list what a test can prove, or take test-writer out of Execution";
        faults.push(Fault::new(at, Rule::NothingToTest, "test-writer is to work, and there is nothing to test", hint));
    } else if writes_tests && spec.test_paths.is_empty() {
        let hint = format!("list the files below `### {TEST_PATHS}` in {}", SectionKind::TestableCriteria);
        let message = "test-writer is to work, and no test file is named";
        faults.push(Fault::new(at, Rule::TestPathsMissing, message, hint));
    }
    faults.extend(spec.test_paths.iter().filter_map(|path| {
        let fault = inside(&path.text).err()?;
        let message = format!("the test file `{}` {fault}", clean_line(&path.text, 80));
        Some(Fault::new(
            path.line,
            Rule::TestPath,
            message,
            "write it from the top of the repository, as in `tests/export.rs`",
        ))
    }));
    faults
}
