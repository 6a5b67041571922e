//! Handoffs: full ones, thin ones, and what is missing.

use super::*;

fn handoff(fill: impl Fn(Field) -> &'static str) -> String {
    Field::ALL.iter().map(|field| format!("## {field}\n{}\n", fill(*field))).collect()
}

#[test]
fn a_handoff_with_every_field_is_fine() {
    let text = handoff(|_| "Something");
    assert_eq!(told(&check_handoff(&Handoff::parse(&text))), [""; 0]);
    let aliases = text
        .replace("## Source Artifacts", "## Source Artifacts / Source Context")
        .replace("## Assigned Output Paths", "## Assigned Output Path(s)");
    assert_eq!(told(&check_handoff(&Handoff::parse(&aliases))), [""; 0]);
}

#[test]
fn a_field_has_to_be_there_once_and_say_something() {
    let text = handoff(|field| if field == Field::Constraints { "<!-- none -->" } else { "Something" });
    let text = text.replace("## Authority Boundary\nSomething\n", "") + "## Constraints\nNone\n";
    assert_eq!(
        told(&check_handoff(&Handoff::parse(&text))),
        [
            "1: handoff-field: there is no Authority Boundary",
            "13: handoff-field: Constraints says nothing yet",
            "19: handoff-field-twice: Constraints is there again; it began on line 13",
        ]
    );
}

#[test]
fn a_thin_handoff_blocks_the_planning() {
    let count = |most: usize| handoff(move |field| if (field as usize) >= 10 - most { "None" } else { "Something" });
    assert_eq!(Handoff::parse(&count(0)).blocked(), None);
    // Five of ten, without the intent; the scope is the sixth field.
    assert_eq!(Handoff::parse(&count(4)).blocked(), None);
    for needed in [Field::UserIntent, Field::Scope] {
        for word in ["None", ""] {
            let text = handoff(|field| if field == needed { word } else { "Something" });
            assert_eq!(Handoff::parse(&text).blocked(), Some(Blocked { missing: vec![needed] }), "{needed}");
        }
    }
    let but = |kept: &'static [Field]| handoff(move |field| if kept.contains(&field) { "Something" } else { "None." });
    let half = &[Field::UserIntent, Field::Scope, Field::Constraints, Field::TaskShape, Field::OutputPaths];
    assert_eq!(Handoff::parse(&but(half)).blocked(), None);
    let thin = Handoff::parse(&but(&half[..4]));
    let faults = check_handoff(&thin);
    assert_eq!(
        told(&faults),
        ["1: planning-blocked: planning is blocked: nothing is known of Conversation-Derived Context, Source \
          Artifacts, Assigned Output Paths, Acceptance Signals, Authority Boundary, Open Questions / Stop Conditions"]
    );
    assert!(faults[0].hint.starts_with("begin with Conversation-Derived Context: "), "{}", faults[0].hint);
    assert_eq!(Handoff::parse("").blocked().unwrap().missing, Field::ALL);
}
