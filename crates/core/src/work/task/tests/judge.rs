//! What counts as done. Everything forbidden beats everything good.

use super::*;

fn bad(spec: &TaskSpec, findings: &Findings) -> Failure {
    match judge(spec, findings) {
        Judgement::Bad(failure) => failure,
        Judgement::Good { reasons } => panic!("that is good because of {reasons:?}: {findings:?}"),
    }
}

fn good(spec: &TaskSpec, findings: &Findings) -> Vec<String> {
    match judge(spec, findings) {
        Judgement::Good { reasons } => reasons,
        Judgement::Bad(failure) => panic!("that is bad because of {failure:?}: {findings:?}"),
    }
}

#[test]
fn good_work_says_what_it_rests_on() {
    assert_eq!(good(&spec(), &findings()), ["1 commits, 1 files, 12 lines changed", "no verify command was asked for"]);
    let verified = TaskSpec { verify: texts(&["cargo test"]), ..spec() };
    let green = Findings { checks: vec![check("cargo test", Exit::Code(0))], ..findings() };
    assert_eq!(good(&verified, &green), ["1 commits, 1 files, 12 lines changed", "`cargo test` ended with exit 0"]);
    // A picture; and what changes no line at all: a mode, an empty file, a new name, the commit of a submodule.
    for (binaries, path) in [(1, "logo.png"), (0, "run.sh"), (0, "pkg/__init__.py"), (0, "moved"), (0, "vendor/lib")] {
        let lineless = Findings { lines: 0, binaries, changed: texts(&[path]), ..findings() };
        assert_eq!(good(&spec(), &lineless).len(), 2, "{path}");
    }
}

#[test]
fn what_is_forbidden_beats_green_checks() {
    let spec = TaskSpec { verify: texts(&["cargo test"]), allow_paths: texts(&["src"]), gate: Gate::Open, ..spec() };
    let green = Findings { checks: vec![check("cargo test", Exit::Code(0))], ..findings() };
    good(&spec, &green);
    let table = [
        (
            Findings { trespass: texts(&["README.md"]), ..green.clone() },
            FailureMode::Blocked,
            "the parent checkout was changed: README.md",
        ),
        (
            Findings { secrets: vec![secret()], ..green.clone() },
            FailureMode::Logic,
            "src/fence.rs:3 adds what looks like a private key",
        ),
        (
            Findings { unmerged: texts(&["src/fence.rs"]), ..green.clone() },
            FailureMode::Logic,
            "the marks of a conflict are still in src/fence.rs",
        ),
        (
            Findings { changed: texts(&["src/.GIT/config"]), ..green.clone() },
            FailureMode::Logic,
            "git refuses to check out src/.GIT/config: rename or remove it",
        ),
        (
            Findings { changed: texts(&["src/fence.rs", "srcx/a"]), ..green.clone() },
            FailureMode::Logic,
            "files were changed that this task may not change: srcx/a",
        ),
    ];
    for (findings, mode, detail) in table {
        for place in [Place::Worktree, Place::Directory] {
            let failure = bad(&TaskSpec { place, ..spec.clone() }, &findings);
            assert_eq!((failure.mode, failure.detail.as_str(), failure.lift), (mode, detail, Lift::Useless));
        }
    }
    // And it beats whatever else is wrong, so that it is never taken for a limit.
    let limited = End::Failed { class: ErrorClass::RateLimited, message: "429".into(), deadline: None, until: None };
    let both = Findings { end: limited, secrets: vec![secret()], trespass: texts(&["a"]), ..green };
    assert_eq!(bad(&spec, &both).mode, FailureMode::Blocked);
}

#[test]
fn only_a_task_that_may_changes_the_file_of_the_claims() {
    let command = || Agent::Command { command: "make".into() };
    let model = || Agent::Opencode { agent: None };
    let refused = "TODO.md was changed, which only the supervisor writes";
    for (agent, todo, allowed, changed, is_refused) in [
        (model(), None, &[][..], "TODO.md", true),
        (model(), Some("t001"), &[], "TODO.md", true),
        (model(), None, &["src"], "TODO.md", true),
        (model(), None, &["TODO.md"], "TODO.md", false),
        (model(), Some("t001"), &["*.md"], "TODO.md", true),
        (model(), None, &["."], "TODO.md", true),
        (model(), Some("t001"), &["*.md", "./TODO.md"], "TODO.md", false),
        (model(), None, &[], "docs/TODO.md", false),
        (model(), None, &[], "src/a.rs", false),
        (command(), None, &[], "TODO.md", false),
        (command(), Some("t001"), &[], "TODO.md", true),
        (command(), Some("t001"), &["."], "TODO.md", true),
        (command(), Some("t001"), &["TODO.md"], "TODO.md", false),
    ] {
        let todo = todo.map(id);
        let spec = TaskSpec { agent, todo, allow_paths: texts(allowed), ..spec() };
        let findings = Findings { changed: texts(&[changed]), ..findings() };
        match judge(&spec, &findings) {
            Judgement::Bad(failure) => assert!(is_refused && failure.detail.starts_with(refused), "{failure:?}"),
            Judgement::Good { .. } => assert!(!is_refused, "{spec:?} {changed}"),
        }
    }
}

#[test]
fn a_long_list_of_files_is_shortened() {
    let changed: Vec<String> = (0..8).map(|number| format!("out/{number}")).collect();
    let spec = TaskSpec { allow_paths: texts(&["src"]), ..spec() };
    let detail = bad(&spec, &Findings { changed, ..findings() }).detail;
    assert!(detail.ends_with("out/0, out/1, out/2, out/3, out/4 and 3 more"), "{detail}");
}

#[test]
fn an_end_that_is_not_good_is_never_mended_by_a_diff() {
    use FailureMode::{Environment, Logic, Resource, Transient};
    let failed = |class, until| End::Failed { class, message: "m".into(), deadline: None, until };
    let whole = Some(crate::experience::Deadline::Whole);
    let late = End::Failed { class: ErrorClass::Timeout, message: "m".into(), deadline: whole, until: None };
    let exit = |exit| End::Exit { exit };
    let stopped = |why| End::Stopped { why };
    let table = [
        (failed(ErrorClass::RateLimited, Some(5)), Transient, Some(ErrorClass::RateLimited), Some(5)),
        (failed(ErrorClass::QuotaExhausted, None), Resource, Some(ErrorClass::QuotaExhausted), None),
        (failed(ErrorClass::AuthInvalid, None), Environment, Some(ErrorClass::AuthInvalid), None),
        (failed(ErrorClass::EmptyResponse, None), Logic, Some(ErrorClass::EmptyResponse), None),
        (failed(ErrorClass::Cancelled, None), Environment, Some(ErrorClass::Cancelled), None),
        (failed(ErrorClass::Timeout, None), Transient, Some(ErrorClass::Timeout), None),
        (late, Logic, Some(ErrorClass::Timeout), None),
        (stopped(Stop::Circles), Logic, None, None),
        (stopped(Stop::Deadline), Logic, Some(ErrorClass::Timeout), None),
        (stopped(Stop::Silence), Transient, Some(ErrorClass::Timeout), None),
        (stopped(Stop::Money), Resource, Some(ErrorClass::BudgetRefused), None),
        (stopped(Stop::Cancelled), Environment, Some(ErrorClass::Cancelled), None),
        (End::NotStarted { message: "no shell".into() }, Environment, None, None),
        (exit(Exit::Code(1)), Logic, None, None),
        (exit(Exit::Code(-1)), Logic, None, None),
        (exit(Exit::Signal(9)), Logic, None, None),
        (exit(Exit::Deadline), Logic, None, None),
        // A shell's words for a program that is missing or may not be run, as for a verify command.
        (exit(Exit::Code(126)), Environment, None, None),
        (exit(Exit::Code(127)), Environment, None, None),
    ];
    let verified = TaskSpec { verify: texts(&["true"]), gate: Gate::Open, ..spec() };
    for (end, mode, class, until) in table {
        let findings = Findings { end, checks: vec![check("true", Exit::Code(0))], ..findings() };
        for place in [Place::Worktree, Place::Directory] {
            let failure = bad(&TaskSpec { place, ..verified.clone() }, &findings);
            assert_eq!((failure.mode, failure.class, failure.until), (mode, class, until), "{:?}", findings.end);
        }
    }
    let empty = Findings { end: failed(ErrorClass::EmptyResponse, None), ..findings() };
    assert_eq!(bad(&spec(), &empty).lift, Lift::Useless, "nothing was done");
    good(&spec(), &Findings { end: exit(Exit::Code(0)), ..findings() });
}

#[test]
fn a_verify_command_decides() {
    use FailureMode::{Environment, Logic};
    let table = [
        (Exit::Code(1), Logic, "exit 1"),
        (Exit::Code(101), Logic, "exit 101"),
        (Exit::Code(125), Logic, "exit 125"),
        (Exit::Code(126), Environment, "exit 126"),
        (Exit::Code(127), Environment, "exit 127"),
        (Exit::Code(128), Logic, "exit 128"),
        (Exit::Code(-1), Logic, "exit -1"),
        (Exit::Signal(0), Logic, "signal 0"),
        (Exit::Signal(9), Logic, "signal 9"),
        (Exit::Deadline, Logic, "no end in time"),
    ];
    for (exit, mode, shown) in table {
        for gate in [Gate::Closed, Gate::Open] {
            let spec = TaskSpec { verify: texts(&["first", "second"]), gate, ..spec() };
            let checks = vec![check("first", Exit::Code(0)), check("second", exit)];
            let failure = bad(&spec, &Findings { checks, ..findings() });
            assert_eq!(failure.mode, mode, "{exit:?}");
            assert_eq!(failure.detail, format!("`second` ended with {shown}:\ntail of second"));
        }
    }
}

#[test]
fn what_a_check_printed_is_cut_at_a_letter() {
    let spec = TaskSpec { verify: texts(&["v"]), ..spec() };
    let tail = format!("{}the end", "ä".repeat(5000));
    let red = Check { tail, ..check("v", Exit::Code(1)) };
    let detail = bad(&spec, &Findings { checks: vec![red], ..findings() }).detail;
    assert_eq!(detail.chars().count(), "`v` ended with exit 1:\n".len() + 1500);
    assert!(detail.ends_with("ääthe end"));
    let silent = Check { tail: " \n".into(), ..check("v", Exit::Code(1)) };
    assert_eq!(bad(&spec, &Findings { checks: vec![silent], ..findings() }).detail, "`v` ended with exit 1");
}

/// A list that ends early is no proof, wherever the rest of it went.
#[test]
fn a_verify_command_that_was_not_run_is_not_green() {
    let spec = TaskSpec { verify: texts(&["first", "second"]), ..spec() };
    let green = |command| check(command, Exit::Code(0));
    let table = [vec![], vec![green("first")], vec![green("second")], vec![green("first"), green("other")]];
    for checks in table {
        for (place, gate) in [(Place::Worktree, Gate::Closed), (Place::Worktree, Gate::Open)] {
            let spec = TaskSpec { place, gate, ..spec.clone() };
            let failure = bad(&spec, &Findings { checks: checks.clone(), ..findings() });
            assert_eq!(failure.mode, FailureMode::Environment);
        }
    }
    good(&spec, &Findings { checks: vec![green("first"), green("second")], ..findings() });
    // Where nothing was done there was nothing to verify, and that is the model's fault.
    let idle = Findings { changed: Vec::new(), ..findings() };
    assert_eq!(bad(&spec, &idle).mode, FailureMode::Logic);
}

#[test]
fn work_without_a_change_counts_only_through_an_open_gate() {
    let table = [
        (Findings { changed: Vec::new(), lines: 0, commits: 0, ..findings() }, "nothing was changed"),
        (Findings { changed: Vec::new(), lines: 12, commits: 3, ..findings() }, "nothing was changed"),
    ];
    for (findings, detail) in table {
        let failure = bad(&spec(), &findings);
        assert_eq!((failure.detail.as_str(), failure.lift), (detail, Lift::Useless));
        good(&TaskSpec { gate: Gate::Open, ..spec() }, &findings);
    }
}

#[test]
fn a_command_in_place_is_judged_by_its_end() {
    let agent = Agent::Command { command: "make".into() };
    let spec = TaskSpec { agent, place: Place::Directory, ..spec() };
    let end = |exit| Findings {
        end: End::Exit { exit },
        base: None,
        head: None,
        changed: Vec::new(),
        lines: 0,
        ..findings()
    };
    assert_eq!(good(&spec, &end(Exit::Code(0))), ["the command ended with exit 0"]);
    assert_eq!(bad(&spec, &end(Exit::Code(2))).detail, "the command ended with exit 2");
}
