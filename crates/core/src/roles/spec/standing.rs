//! How far a task is, from which files there are and their content. There is no other state, so work that
//! was interrupted goes on from here.

use super::{
    document::Document,
    execution::{Agent, Role},
    handoff::Handoff,
    parse::Spec,
    report::{Outcome, Report, Verdict, outcome, verdict},
    section::{Says, SectionKind},
};

word_enum! {
    /// In the order of the work, then those in which it stands still.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum State {
        /// There is no spec.
        Unplanned = "unplanned",
        /// The spec has faults.
        Draft = "draft",
        Planned = "planned",
        TestsWritten = "tests-written",
        Implemented = "implemented",
        Documented = "documented",
        Passed = "validated-pass",
        Failed = "validated-fail",
        NeedsDecision = "needs-decision",
        Blocked = "blocked",
    }
}

/// Whether the test files that the spec names are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestFiles {
    AllThere,
    Missing,
}

/// What was found of a task, or of a unit.
#[derive(Debug, Clone, Copy)]
pub struct Artifacts<'a> {
    pub spec: Option<&'a Spec>,
    /// How many faults the spec has.
    pub faults: usize,
    pub handoff: Option<&'a Handoff>,
    pub implementation: Option<&'a Document>,
    pub documentation: Option<&'a Document>,
    pub validation: Option<&'a Document>,
    pub tests: TestFiles,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub state: State,
    /// The reason, when the state alone does not explain it.
    pub reason: Option<String>,
    /// The role that would work next; `None` when something has to happen first.
    pub next: Option<Role>,
}

impl Standing {
    fn still(state: State, reason: impl Into<String>) -> Self {
        Self { state, reason: Some(reason.into()), next: None }
    }
}

#[must_use]
pub fn standing(found: &Artifacts<'_>) -> Standing {
    if let Some(validation) = found.validation {
        return validated(&verdict(validation));
    }
    let Some(spec) = found.spec else { return unplanned(found.handoff) };
    let pipeline = spec.pipeline();
    let mut state = State::Planned;
    for role in &pipeline {
        let done = match role {
            Role::Agent(Agent::TestWriter) => tests_written(found),
            Role::Agent(Agent::Implementer) => reported(Report::Implementation, found.implementation),
            Role::Agent(Agent::Documentation) => reported(Report::Documentation, found.documentation),
            Role::Validator => Reached::NotYet,
        };
        match done {
            Reached::Yes(reached) => state = reached,
            Reached::NotYet => return not_yet(found, spec, state, *role),
            Reached::Stopped(standing) => return standing,
        }
    }
    Standing::still(State::Draft, faults(found.faults.max(1)))
}

/// Of a task with units: the worst of what stands still, or else the least advanced.
#[must_use]
pub fn standing_of_units(units: &[(String, Standing)]) -> Standing {
    let stuck =
        units.iter().filter(|(_, unit)| matches!(unit.state, State::Failed | State::NeedsDecision | State::Blocked));
    let worst = stuck.max_by_key(|(_, unit)| unit.state);
    let least = units.iter().min_by_key(|(_, unit)| unit.state);
    let passed = units.iter().filter(|(_, unit)| unit.state == State::Passed).count();
    let count = format!("{passed} of {} units passed", units.len());
    match worst.or(least) {
        None => Standing::still(State::Draft, "no units are there"),
        Some((_, unit)) if unit.state == State::Passed => {
            Standing { state: State::Passed, reason: Some(count), next: None }
        }
        Some((name, unit)) => {
            let reason = unit.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            Standing { state: unit.state, reason: Some(format!("{name}{reason}; {count}")), next: unit.next }
        }
    }
}

enum Reached {
    Yes(State),
    NotYet,
    Stopped(Standing),
}

fn tests_written(found: &Artifacts<'_>) -> Reached {
    // Tests leave no report; once there is a later one, tests that were moved since do not matter.
    let later = found.implementation.is_some() || found.documentation.is_some();
    match found.tests {
        TestFiles::AllThere => Reached::Yes(State::TestsWritten),
        TestFiles::Missing if later => Reached::Yes(State::TestsWritten),
        TestFiles::Missing => Reached::NotYet,
    }
}

fn reported(report: Report, document: Option<&Document>) -> Reached {
    let Some(document) = document else { return Reached::NotYet };
    let file = report.file();
    Reached::Stopped(match outcome(document) {
        Outcome::Done => {
            return Reached::Yes(match report {
                Report::Implementation => State::Implemented,
                Report::Documentation => State::Documented,
                Report::Validation => State::Passed,
            });
        }
        Outcome::Blocked => Standing::still(State::Blocked, format!("{file} says blocked")),
        Outcome::Failed => Standing::still(State::NeedsDecision, format!("{file} says failed")),
        Outcome::NeedsDecision => Standing::still(State::NeedsDecision, format!("{file} asks for a decision")),
        Outcome::Unclear(_) => Standing::still(State::NeedsDecision, format!("{file} does not say how it went")),
    })
}

/// Work that has not begun waits for the spec to be right, and for its questions.
fn not_yet(found: &Artifacts<'_>, spec: &Spec, state: State, next: Role) -> Standing {
    let begun = found.implementation.is_some() || found.documentation.is_some();
    if !begun && found.faults > 0 {
        return Standing::still(State::Draft, faults(found.faults));
    }
    if !begun && spec.says(SectionKind::OpenQuestions) == Says::Something {
        return Standing::still(State::NeedsDecision, "the spec has open questions");
    }
    Standing { state, reason: None, next: Some(next) }
}

fn validated(verdict: &Verdict) -> Standing {
    let file = Report::Validation.file();
    match verdict {
        Verdict::Pass => Standing { state: State::Passed, reason: None, next: None },
        Verdict::Fail => Standing::still(State::Failed, format!("{file} says fail")),
        Verdict::Blocked => Standing::still(State::Blocked, format!("{file} says blocked")),
        Verdict::Unclear(None) => Standing::still(State::NeedsDecision, format!("{file} has no verdict")),
        Verdict::Unclear(Some(words)) => {
            Standing::still(State::NeedsDecision, format!("{file} has no clear verdict: {words}"))
        }
    }
}

fn unplanned(handoff: Option<&Handoff>) -> Standing {
    match handoff.map(Handoff::blocked) {
        Some(Some(blocked)) => Standing::still(State::Blocked, blocked.to_string()),
        Some(None) => Standing::still(State::Unplanned, "there is a handoff, and no spec yet"),
        None => Standing::still(State::Unplanned, "there is no spec"),
    }
}

fn faults(count: usize) -> String {
    if count == 1 { "the spec has a fault".to_owned() } else { format!("the spec has {count} faults") }
}
