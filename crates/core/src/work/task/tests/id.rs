//! What may be the name of a task.

use super::*;
use proptest::prelude::*;

#[test]
fn good_and_bad_names() {
    let longest = "a".repeat(64);
    let good =
        ["t001", "t001.2", "t001.2.3", "a", "7", "fix-the_fence", "T.x-", "lock1", "a.locked", "clock", &longest];
    for text in good {
        assert_eq!(text.parse::<TaskId>().map(|id| id.to_string()), Ok(text.to_owned()));
    }
    let too_long = "a".repeat(65);
    let bad = [
        "", " ", ".", "..", "a..b", ".a", "a.", "-a", "_a", "a b", "a/b", "a\\b", "a\n", "a\0b", "ä", "t٣", "a~1",
        "a^", "a:b", "a@{1}", "a?", "a*", "a[", "lock", "a.lock", "a.lock.b", "../x", "$(x)", "a;b", "a'b", "%41",
        &too_long,
    ];
    for text in bad {
        assert_eq!(text.parse::<TaskId>(), Err(BadTaskId(text.to_owned())), "{text:?}");
        assert!(serde_json::from_value::<TaskId>(text.into()).is_err(), "{text:?}");
    }
}

#[test]
fn a_bad_name_is_shown_with_what_would_be_good() {
    let error = "a b".parse::<TaskId>().unwrap_err().to_string();
    assert!(error.starts_with("`a b` is no id of a task") && error.contains("t001.2"), "{error}");
}

#[test]
fn a_part_of_a_task_is_another_task() {
    assert_ne!(id("t20"), id("t20.1"));
    let table = [("t001", None), ("t001.2", Some("t001")), ("t001.2.3", Some("t001.2")), ("a.b", Some("a"))];
    for (text, parent) in table {
        assert_eq!(id(text).parent(), parent.map(id));
    }
}

#[test]
fn numbers() {
    let table = [
        ("t001", Some(1)),
        ("t1", Some(1)),
        ("t0", Some(0)),
        ("t18446744073709551615", Some(u64::MAX)),
        ("t18446744073709551616", None),
        ("t", None),
        ("t001.2", None),
        ("T001", None),
        ("tt1", None),
        ("t-1", None),
        ("1", None),
    ];
    for (text, number) in table {
        assert_eq!(id(text).number(), number, "{text}");
    }
    assert_eq!(TaskId::numbered(7).as_str(), "t007");
    assert_eq!(TaskId::numbered(12345).as_str(), "t12345");
}

#[test]
fn a_branch_is_named_after_the_task_alone() {
    assert_eq!(TaskSpec::branch(&id("t001.2")), "shuntyard/t001.2");
}

proptest! {
    #[test]
    fn numbers_come_back(number in any::<u64>()) {
        let numbered = TaskId::numbered(number);
        prop_assert_eq!(numbered.number(), Some(number));
        prop_assert_eq!(numbered.as_str().parse::<TaskId>(), Ok(numbered.clone()));
    }

    /// Whatever is accepted names one directory, is fit for a branch, and has a parent that is accepted too.
    #[test]
    fn what_is_accepted_is_a_plain_word(text in "[a-z0-9._/ -]{1,12}|\\PC{1,8}") {
        if let Ok(id) = text.parse::<TaskId>() {
            prop_assert!(!text.contains(['/', '\\', ' ', ':', '~']) && text.is_ascii());
            prop_assert!(!text.contains("..") && !text.ends_with('.') && !text.ends_with(".lock"));
            prop_assert!(!text.starts_with(['-', '.']));
            if let Some(parent) = id.parent() {
                prop_assert_eq!(parent.as_str().parse::<TaskId>(), Ok(parent.clone()));
            }
            let json = serde_json::to_value(&id).unwrap();
            prop_assert_eq!(&json, &serde_json::Value::from(text));
            prop_assert_eq!(serde_json::from_value::<TaskId>(json).unwrap(), id);
        }
    }
}
