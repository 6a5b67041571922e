//! When two failures are the same: the same message, and the same files left behind.

use super::*;

fn signature(spec: &TaskSpec, findings: &Findings) -> String {
    match judge(spec, findings) {
        Judgement::Bad(failure) => failure.signature,
        Judgement::Good { reasons } => panic!("that is good because of {reasons:?}"),
    }
}

fn with_tree(findings: &Findings, tree: &str) -> Findings {
    Findings { head: Some(Commit { commit: format!("c of {tree}"), tree: tree.into() }), ..findings.clone() }
}

fn failed(message: &str) -> Findings {
    let end = End::Failed { class: ErrorClass::ServerError, message: message.into(), deadline: None, until: None };
    Findings { end, ..findings() }
}

/// Each way to be bad, with what it is judged by.
fn every_failure() -> Vec<(TaskSpec, Findings)> {
    let ends = [
        End::Exit { exit: Exit::Code(2) },
        End::Exit { exit: Exit::Code(127) },
        End::Stopped { why: Stop::Circles },
        End::Stopped { why: Stop::Silence },
        End::NotStarted { message: "no shell".into() },
    ];
    let mut all: Vec<_> = ends.into_iter().map(|end| (spec(), Findings { end, ..findings() })).collect();
    let secrets = vec![Secret { path: "a".into(), line: 1, looks_like: "a key".into() }];
    let verified = || TaskSpec { verify: texts(&["v"]), ..spec() };
    all.extend([
        (spec(), failed("boom")),
        (spec(), Findings { secrets, ..findings() }),
        (TaskSpec { allow_paths: texts(&["docs"]), ..spec() }, findings()),
        (spec(), Findings { changed: Vec::new(), ..findings() }),
        (verified(), Findings { checks: vec![check("v", Exit::Code(1))], ..findings() }),
        (verified(), findings()),
    ]);
    all
}

#[test]
fn failures_are_the_same_only_with_the_same_tree() {
    for (spec, found) in every_failure() {
        let one = signature(&spec, &with_tree(&found, "one"));
        assert_eq!(one, signature(&spec, &with_tree(&found, "one")));
        assert_ne!(one, signature(&spec, &with_tree(&found, "two")), "{found:?}");
        // Another commit of the same files is no difference.
        let commit = Some(Commit { commit: "other".into(), tree: "one".into() });
        assert_eq!(one, signature(&spec, &Findings { head: commit, ..found.clone() }));
        // The agent's message and the cost are no difference either.
        let talk = Findings { said: "sorry".into(), cost: Nano(9), ..with_tree(&found, "one") };
        assert_eq!(one, signature(&spec, &talk));
    }
}

#[test]
fn different_failures_never_look_alike() {
    let mut all: Vec<String> = every_failure().iter().map(|(spec, found)| signature(spec, found)).collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn numbers_in_messages_do_not_matter() {
    let not_started = |message: &str| Findings { end: End::NotStarted { message: message.into() }, ..findings() };
    let table = [
        ("port 4096 is taken", "port 51234 is taken", true),
        ("request 17 failed after 3.2s", "request 9 failed after 11.0s", true),
        ("disk full", "disk gone", false),
        ("", "17", true),
    ];
    for (one, two, same) in table {
        for findings in [failed, not_started] as [fn(&str) -> Findings; 2] {
            let equal = signature(&spec(), &findings(one)) == signature(&spec(), &findings(two));
            assert_eq!(equal, same, "{one} / {two}");
        }
    }
}

#[test]
fn another_class_or_command_or_exit_is_another_failure() {
    let verified = |command: &str, exit| {
        let spec = TaskSpec { verify: texts(&[command]), ..spec() };
        signature(&spec, &Findings { checks: vec![check(command, exit)], ..findings() })
    };
    let base = verified("v", Exit::Code(1));
    assert_ne!(base, verified("w", Exit::Code(1)));
    assert_ne!(base, verified("v", Exit::Code(2)));
    assert_ne!(base, verified("v", Exit::Signal(1)));
    let of = |class| {
        let end = End::Failed { class, message: "m".into(), deadline: None, until: None };
        signature(&spec(), &Findings { end, ..findings() })
    };
    assert_ne!(of(ErrorClass::Network), of(ErrorClass::ServerError));
}

#[test]
fn what_has_no_tree_can_still_be_the_same() {
    let spec = TaskSpec { place: Place::Directory, ..spec() };
    let found = |code| Findings { end: End::Exit { exit: Exit::Code(code) }, head: None, ..findings() };
    assert_eq!(signature(&spec, &found(1)), signature(&spec, &found(1)));
    assert_ne!(signature(&spec, &found(1)), signature(&spec, &found(2)));
}

#[test]
fn a_message_without_end_makes_no_signature_without_end() {
    assert!(signature(&spec(), &failed(&"x".repeat(1_000_000))).len() < 400);
    let endless = Findings { end: End::NotStarted { message: "ä".repeat(1_000_000) }, ..findings() };
    assert!(signature(&spec(), &endless).len() < 600);
}
