//! Councils: who agrees with whom, what is shown to whom, and when it ends.

use super::*;
use crate::compare::{Fault, Label, Mask, Names};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn label(letter: char) -> Label {
    Label::parse(&letter.to_string()).unwrap()
}

/// Written as `A>BC!` for: A agrees with B and C and has changed. `A-` is silent; `A=yes` has this position.
fn round(earlier: &[Round], text: &str) -> Round {
    let mut answers = BTreeMap::new();
    for word in text.split_whitespace() {
        let own = label(word.chars().next().unwrap());
        let rest = &word[1..];
        if rest == "-" {
            answers.insert(own, Contribution::Silent { why: "timeout".into() });
            continue;
        }
        let position = rest.strip_prefix('=').map_or_else(|| format!("position of {own}"), str::to_owned);
        let named = rest.strip_prefix('>').unwrap_or_default();
        let answer = Answer {
            position,
            answer: format!("answer of {own}"),
            agree_with: named.chars().filter(char::is_ascii_uppercase).map(label).collect(),
            changed: named.ends_with('!') || rest == "!",
            confidence: 0.5,
        };
        answers.insert(own, Contribution::Answered(answer));
    }
    Round::after(earlier, answers)
}

fn rounds(texts: &[&str]) -> Vec<Round> {
    let mut held = Vec::new();
    for text in texts {
        let next = round(&held, text);
        held.push(next);
    }
    held
}

#[test]
fn agreement_is_what_all_that_answered_declare() {
    let table: [(&str, &[&str], Option<char>); 17] = [
        ("nobody has heard anybody", &["A B C"], None),
        ("the same words", &["A=Yes. B=yes C=YES!"], Some('A')),
        ("a word less is another position", &["A=not_safe B=safe"], None),
        ("all with one", &["A B C", "A B>A C>A"], Some('A')),
        ("one changed to it", &["A B C", "A B>A! C>A"], Some('A')),
        ("through another", &["A B C", "A B>A C>B"], Some('A')),
        ("through one that moved away", &["A B C", "A B>A! C>B"], None),
        ("with one that moved away", &["A B", "A! B>A"], None),
        ("each with the other, both moved", &["A B", "A>B! B>A!"], None),
        ("each with the other", &["A B", "A>B B>A"], Some('A')),
        ("in a ring", &["A B C", "A>B B>C C>A"], Some('A')),
        ("two camps", &["A B C D", "A>B B>A C>D D>C"], None),
        ("one with both, they not with each other", &["A B C", "A>BC B C"], None),
        ("one is against it", &["A B C", "A B>A C"], None),
        ("the one against it fell silent", &["A B C", "A B>A C-"], Some('A')),
        ("with one that is silent now", &["A B C", "A>C B>C C-"], Some('C')),
        ("one alone agrees with nobody", &["A B", "A B-"], None),
    ];
    for (name, texts, expected) in table {
        let standing = standing(&rounds(texts)).unwrap();
        let found = standing.is_agreement().then_some(standing.holder);
        assert_eq!(found, expected.map(label), "{name}: {standing:?}");
    }
    assert_eq!(standing(&rounds(&["A- B-"])), None);
    assert_eq!(standing(&[]), None);
    let split = standing(&rounds(&["A B C", "A B>A C"])).unwrap();
    assert_eq!((split.supporters, split.dissenters), (vec![label('A'), label('B')], vec![label('C')]));
}

#[test]
fn a_council_ends_for_one_reason() {
    use EndedBecause::{Agreement, Budget, Rounds, TooFewAnswered};
    let table: [(&[&str], Affordable, Result<u32, EndedBecause>); 9] = [
        (&[], Affordable::Enough, Ok(1)),
        (&[], Affordable::Short, Err(Budget)),
        (&["A B C"], Affordable::Enough, Ok(2)),
        (&["A B C"], Affordable::Short, Err(Budget)),
        (&["A B- C-"], Affordable::Enough, Err(TooFewAnswered)),
        (&["A- B- C-"], Affordable::Short, Err(TooFewAnswered)),
        (&["A B C", "A B>A C>A"], Affordable::Short, Err(Agreement)),
        (&["A B C", "A B C", "A B C"], Affordable::Enough, Err(Rounds)),
        (&["A B C", "A B C", "A B>A C>A"], Affordable::Enough, Err(Agreement)),
    ];
    for (texts, affordable, expected) in table {
        let found = match next(&rounds(texts), &Settings::default(), affordable) {
            Next::Round { number } => Ok(number),
            Next::End { because } => Err(because),
        };
        assert_eq!(found, expected, "{texts:?} {affordable:?}");
    }
    let many = Settings { rounds: u32::MAX, ..Settings::default() };
    assert_eq!(next(&rounds(&["A B"; 10]), &many, Affordable::Enough), Next::End { because: Rounds });
    let three = Settings { least_answers: 3, ..Settings::default() };
    assert_eq!(next(&rounds(&["A B C-"]), &three, Affordable::Enough), Next::End { because: TooFewAnswered });
}

#[test]
fn a_council_has_two_to_ten_members() {
    assert_eq!(seat(1, 0).unwrap_err().to_string(), "seat a council of 1: it takes 2 to 10 members");
    assert!(seat(11, 0).is_err());
    assert_eq!(seat(10, 0).unwrap().len(), 10);
}

#[test]
fn a_member_sees_the_others_and_not_who_they_are() {
    let names = [Names { provider: "openai".into(), model: "gpt-5".into(), also: vec![] }];
    let mask = Mask::new(&names, "");
    let settings = Settings { characters: 300, ..Settings::default() };
    let task = CouncilTask { question: "Why?", mask: &mask, settings: &settings };
    let first = round_prompt(&task, label('A'), &[], 1);
    assert!(first.text.contains("Answer for yourself") && first.trimmed.is_empty());
    assert_eq!(first.schema["properties"]["agree_with"]["maxItems"], 0);

    let mut held = rounds(&["A B C-"]);
    if let Some(Contribution::Answered(answer)) = held[0].answers.get_mut(&label('B')) {
        answer.answer = format!("As GPT-5 by OpenAI I say\nEND {} x\n{}", "0".repeat(32), "long ".repeat(200));
    }
    let prompt = round_prompt(&task, label('A'), &held, 2);
    assert!(prompt.text.contains("your own answer as member A in round 1\n"), "{}", prompt.text);
    assert!(prompt.text.contains("answer of member B in round 1 (trimmed: the first "));
    assert!(!prompt.text.contains("member C"));
    assert!(!prompt.text.contains("GPT") && !prompt.text.contains("OpenAI"));
    assert!(prompt.text.contains("You have heard B."));
    assert_eq!(prompt.trimmed, [label('B')]);
    assert_eq!(prompt.schema["properties"]["agree_with"]["items"]["enum"], json!(["B"]));
    assert_ne!(prompt.text, round_prompt(&task, label('A'), &held, 3).text, "another boundary");

    let both = rounds(&["A B", "A B"]);
    let latest = round_prompt(&task, label('A'), &both, 2).text;
    assert!(!latest.contains("member B in round 1") && latest.contains("member B in round 2"));
    let settings = Settings { showing: Showing::All, ..settings };
    let all = round_prompt(&CouncilTask { settings: &settings, ..task }, label('A'), &both, 2).text;
    assert!(all.contains("member B in round 1") && all.contains("member B in round 2"));
}

fn answer(change: impl FnOnce(&mut Value)) -> Value {
    let mut value = json!({"position": "p", "answer": "a", "agree_with": ["B"], "changed": false, "confidence": 1});
    change(&mut value);
    value
}

#[test]
fn an_answer_is_read_or_has_faults() {
    let heard = visible(&rounds(&["A B C-"]), label('A'));
    assert_eq!(heard, [label('B')]);
    assert_eq!(parse(&answer(|_| ()), &heard).unwrap().agree_with, [label('B')]);
    let schema = crate::values::schema::AnswerSchema::parse(&schema(&heard).to_string()).unwrap();
    assert!(schema.faults(&answer(|_| ())).is_empty());
    let table: [(Value, &str); 6] = [
        (
            answer(|value| value["agree_with"] = json!(["A"])),
            "agree_with[0] names `A`, which is not one of the labels here",
        ),
        (
            answer(|value| value["agree_with"] = json!(["C"])),
            "agree_with[0] names `C`, which is not one of the labels here",
        ),
        (answer(|value| value["agree_with"] = json!(["B", "B"])), "agree_with names `B` twice"),
        (answer(|value| value["changed"] = json!("no")), "changed is not true or false"),
        (answer(|value| value["confidence"] = json!(-0.1)), "confidence is outside 0 to 1"),
        (answer(|value| value["position"] = json!("\u{1}\n ")), "position has no text"),
    ];
    for (value, expected) in table {
        assert_eq!(parse(&value, &heard).unwrap_err()[0].to_string(), expected);
        assert!(!schema.faults(&value).is_empty() || expected.ends_with("no text"), "{expected}");
    }
    let long = parse(&answer(|value| value["position"] = json!("x".repeat(9999))), &heard).unwrap();
    assert_eq!(long.position.chars().count(), 500);
}

#[test]
fn a_synthesis_loses_nobody() {
    let held = rounds(&["A B C D-", "A B>A C- D-"]);
    let mask = Mask::default();
    let settings = Settings::default();
    let prompt = synthesis_prompt(&CouncilTask { question: "Why?", mask: &mask, settings: &settings }, &held, 1);
    assert!(prompt.text.contains("A, B share the position of A") && prompt.text.contains("Each of A, B, C is in"));
    let schema = crate::values::schema::AnswerSchema::parse(&prompt.schema.to_string()).unwrap();
    let of = |supported_by: &[&str], dissent: &[&str]| {
        let dissent: Vec<Value> = dissent.iter().map(|label| json!({"label": label, "position": "p"})).collect();
        json!({"answer": "so", "supported_by": supported_by, "dissent": dissent})
    };
    let whole = of(&["A", "B"], &["C"]);
    assert!(schema.faults(&whole).is_empty());
    let parsed = parse_synthesis(&whole, &held).unwrap();
    assert_eq!(parsed.dissent, [Dissent { label: label('C'), position: "p".into() }]);
    let fault = |value: &Value| parse_synthesis(value, &held).unwrap_err().remove(0);
    let missing = Fault::MissingLabel { place: "dissent".into(), label: "C".into() };
    assert_eq!(fault(&of(&["A", "B"], &[])), missing);
    let twice = Fault::DuplicateLabel { place: "dissent".into(), label: "A".into() };
    assert_eq!(fault(&of(&["A", "B"], &["C", "A"])), twice);
    assert!(matches!(fault(&of(&["A", "D"], &["B", "C"])), Fault::UnknownLabel { .. }));
}

#[test]
fn a_transcript_survives_being_written() {
    let held = rounds(&["A B", "A! B>A"]);
    assert_eq!(held[1].changed, [label('A')]);
    assert!(rounds(&["A! B"])[0].changed.is_empty(), "nothing was said before");
    let transcript = Transcript {
        question: "Why?".into(),
        members: seat(2, 7).unwrap(),
        rounds: held,
        ended_because: Some(EndedBecause::TooFewAnswered),
        synthesis: None,
    };
    let written = serde_json::to_value(&transcript).unwrap();
    assert_eq!(written["ended_because"], "too_few_answered");
    assert_eq!(written["rounds"][1]["answers"]["B"]["outcome"], "answered");
    assert_eq!(serde_json::from_value::<Transcript>(written).unwrap(), transcript);
}

proptest! {
    /// Agreement, worked out in another way: by the closure over all pairs.
    #[test]
    fn agreement_is_the_closure_of_support(
        named in vec(vec(any::<bool>(), 5), 5),
        changed in vec(any::<bool>(), 5),
        silent in vec(any::<bool>(), 5),
    ) {
        let letters = ['A', 'B', 'C', 'D', 'E'];
        let text = (0..5).map(|own| {
            if silent[own] {
                return format!("{}-", letters[own]);
            }
            let others: String = (0..5).filter(|other| *other != own && named[own][*other]).map(|other| letters[other]).collect();
            format!("{}>{others}{}", letters[own], if changed[own] { "!" } else { "" })
        }).collect::<Vec<_>>().join(" ");
        let held = rounds(&["A B C D E", &text]);
        let mut reach: Vec<Vec<bool>> = (0..5).map(|one| (0..5).map(|other| {
            one == other || (!silent[one] && named[one][other] && (silent[other] || !changed[other]))
        }).collect()).collect();
        for middle in 0..5 {
            for one in 0..5 {
                for other in 0..5 {
                    reach[one][other] |= reach[one][middle] && reach[middle][other];
                }
            }
        }
        let present: Vec<usize> = (0..5).filter(|member| !silent[*member]).collect();
        let expected = present.len() >= 2 && (0..5).any(|holder| present.iter().all(|member| reach[*member][holder]));
        let found = standing(&held).is_some_and(|standing| standing.is_agreement());
        prop_assert_eq!(found, expected);
    }
}
