//! How far a task is, from its files.

use super::*;

#[derive(Clone, Copy, Default)]
struct Files {
    spec: Option<&'static str>,
    handoff: Option<&'static str>,
    implementation: Option<&'static str>,
    documentation: Option<&'static str>,
    validation: Option<&'static str>,
    tests: bool,
}

fn stands(files: Files) -> (State, Option<&'static str>) {
    let found = of(files);
    (found.state, found.next.map(Role::as_str))
}

fn of(files: Files) -> Standing {
    let spec = files.spec.map(Spec::parse);
    let handoff = files.handoff.map(Handoff::parse);
    let [implementation, documentation, validation] =
        [files.implementation, files.documentation, files.validation].map(|text| text.map(Document::parse));
    standing(&Artifacts {
        faults: spec.as_ref().map_or(0, |spec| check_spec(spec, Place::Alone).len()),
        spec: spec.as_ref(),
        handoff: handoff.as_ref(),
        implementation: implementation.as_ref(),
        documentation: documentation.as_ref(),
        validation: validation.as_ref(),
        tests: if files.tests { TestFiles::AllThere } else { TestFiles::Missing },
    })
}

const DONE: Option<&str> = Some("## Outcome\ndone\n");
const FAILED: Option<&str> = Some("## Outcome\nfailed\n");
const BLOCKED: Option<&str> = Some("## Outcome\nblocked\n");

#[test]
fn a_task_goes_forward_with_its_files() {
    let begin = Files { spec: Some(GOOD), ..Files::default() };
    let tested = Files { tests: true, ..begin };
    let built = Files { implementation: DONE, ..tested };
    let written = Files { documentation: DONE, ..built };
    let table = [
        (Files::default(), (State::Unplanned, None)),
        (Files { spec: Some("# T\n"), ..Files::default() }, (State::Draft, None)),
        (begin, (State::Planned, Some("test-writer"))),
        (tested, (State::TestsWritten, Some("implementer"))),
        (built, (State::Implemented, Some("documentation"))),
        (Files { tests: false, ..built }, (State::Implemented, Some("documentation"))),
        (Files { implementation: None, ..written }, (State::TestsWritten, Some("implementer"))),
        (written, (State::Documented, Some("validator"))),
        (Files { validation: Some("Verdict: pass"), ..written }, (State::Passed, None)),
        (Files { validation: Some("Verdict: fail"), ..written }, (State::Failed, None)),
        (Files { validation: Some("Verdict: blocked"), ..written }, (State::Blocked, None)),
        (Files { validation: Some("It passed"), ..written }, (State::NeedsDecision, None)),
        (Files { implementation: FAILED, ..tested }, (State::NeedsDecision, None)),
        (Files { implementation: BLOCKED, ..tested }, (State::Blocked, None)),
        (Files { implementation: Some("all well"), ..tested }, (State::NeedsDecision, None)),
        (Files { documentation: BLOCKED, ..built }, (State::Blocked, None)),
    ];
    for (place, (files, wanted)) in table.into_iter().enumerate() {
        assert_eq!(stands(files), wanted, "row {place}");
    }
}

#[test]
fn what_stands_still_says_why() {
    let reason = |files| of(files).reason.unwrap();
    let begin = Files { spec: Some(GOOD), ..Files::default() };
    assert_eq!(reason(Files { implementation: FAILED, tests: true, ..begin }), "implementation-report.md says failed");
    assert_eq!(
        reason(Files { validation: Some("Verdict: pass\nVerdict: fail"), ..begin }),
        "validation-report.md has no clear verdict: pass, then fail"
    );
    assert_eq!(reason(Files { spec: Some("# T\n"), ..Files::default() }), "the spec has 9 faults");
    let thin = of(Files { handoff: Some("## Constraints\nMany\n"), ..Files::default() });
    assert_eq!(thin.state, State::Blocked);
    assert!(thin.reason.unwrap().starts_with("planning is blocked: nothing is known of User Intent, "));
}

#[test]
fn open_questions_are_decided_before_work_begins() {
    let text: &'static str =
        Box::leak(GOOD.replace("## Open Questions\n\nNone", "## Open Questions\n\n- Which?").into());
    let open = Files { spec: Some(text), ..Files::default() };
    assert_eq!(stands(open), (State::NeedsDecision, None));
    let begun = Files { implementation: DONE, ..open };
    assert_eq!(stands(begun), (State::Implemented, Some("documentation")));
}

#[test]
fn a_task_with_units_is_as_far_as_the_one_that_matters_most() {
    let unit = |name: &str, state| (name.to_owned(), Standing { state, reason: None, next: None });
    let table: [(&[State], State, &str); 6] = [
        (&[State::Passed, State::Passed], State::Passed, "2 of 2 units passed"),
        (&[State::Passed, State::Planned], State::Planned, "u1; 1 of 2 units passed"),
        (&[State::Implemented, State::Draft, State::Passed], State::Draft, "u1; 1 of 3 units passed"),
        (&[State::Passed, State::Failed], State::Failed, "u1; 1 of 2 units passed"),
        (&[State::Blocked, State::Failed, State::Planned], State::Blocked, "u0; 0 of 3 units passed"),
        (&[], State::Draft, "no units are there"),
    ];
    for (states, wanted, reason) in table {
        let units: Vec<_> =
            states.iter().enumerate().map(|(place, state)| unit(&format!("u{place}"), *state)).collect();
        let found = standing_of_units(&units);
        assert_eq!((found.state, found.reason.as_deref()), (wanted, Some(reason)), "{states:?}");
    }
}
