//! Deaths in a contest: it ends with one winner, and no entry is paid for twice.

use super::contest::{asked, contest, is_after_tool, judges, write, writes};
use crate::supervise::Yard;
use shuntyard_core::Nano;
use shuntyard_scripted::{Gate, Step};
use std::time::{Duration, Instant};

/// What takes longer never ends.
const HANGS: Duration = Duration::from_secs(400);

fn yard(name: &str) -> Yard {
    let yard = Yard::with(name, "effect_lease = \"3s\"\njudge_model = \"scripted/eyes\"\n");
    writes(&yard, "alpha", "42\nplain\n");
    writes(&yard, "beta", "42\nGOLD\n");
    judges(&yard, "eyes", "GOLD");
    yard
}

fn expect_one_winner(yard: &Yard, id: &str) {
    let task = yard.task(id);
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!(task["contest"]["winner"], "scripted/beta", "{task:#}");
    let cost = task["cost_usd"].as_f64().and_then(Nano::from_usd).expect("a cost");
    assert_eq!(cost, yard.env.provider.ledger().total_reported().cost, "{task:#}");
}

#[test]
fn a_death_at_any_place_of_a_contest_is_made_good() {
    // After the entries were made, before and after the verdict, and around what an entry wakes its contest with.
    for place in ["entries", "judging", "verdict", "effect", "performed"] {
        let yard = yard(&format!("contest-{place}"));
        let marker = yard.env.root.join("died");
        let fault = format!("{place}@{}", marker.display());
        let id = contest(&yard, &["--deliver", "merge"]);
        let deadline = Instant::now() + HANGS;
        while yard.phase(&id) != "done" || !marker.exists() {
            assert!(Instant::now() < deadline, "{place}: {:#}", yard.task(&id));
            // A supervisor that dies has no exit code to check.
            drop(yard.env.run_with(&[("SHUNTYARD_FAULT", &fault)], &["supervise", "--until-idle"]));
        }
        yard.settle();
        expect_one_winner(&yard, &id);
        let requests = ["alpha", "beta", "eyes"].map(|model| asked(&yard, model));
        assert_eq!(requests, [2, 2, 2], "{place}: nothing was asked twice");
        let commits = yard.git(&["log", "--format=%s", "main"]);
        assert_eq!(commits.lines().filter(|subject| subject.starts_with(&id)).count(), 1, "{place}: {commits}");
    }
}

#[test]
fn entries_and_a_judge_that_are_killed_at_work_are_followed_by_others() {
    let yard = yard("contest-killed");
    let gate = Gate::default();
    let held = gate.clone();
    yard.env.provider.act("alpha", move |said| match is_after_tool(said) {
        true => Step::text("done"),
        false => write("42\nplain\n").at(&held),
    });
    let id = contest(&yard, &["--deliver", "merge"]);
    yard.pulse_until("an entry to be at work", || asked(&yard, "alpha") > 0 && !yard.workers().is_empty());
    let kill = || {
        let pids: Vec<String> = yard.workers().iter().map(u32::to_string).collect();
        drop(std::process::Command::new("kill").arg("-9").args(&pids).output());
    };
    kill();
    gate.open();
    let judged = Gate::default();
    let waits = judged.clone();
    yard.env.provider.act("eyes", move |said| {
        let shown = crate::judge::shown(&said.last().expect("a prompt").text);
        let best = shown.iter().position(|(_, text)| text.contains("GOLD")).unwrap_or(0);
        Step::structured(crate::judge::verdict(&shown, best)).at(&waits)
    });
    yard.pulse_until("the judge to be asked", || asked(&yard, "eyes") >= 2);
    kill();
    judged.open();
    yard.settle();
    let task = yard.task(&id);
    assert_eq!((task["phase"].as_str(), task["contest"]["winner"].as_str()), (Some("done"), Some("scripted/beta")));
    let commits = yard.git(&["log", "--format=%s", "main"]);
    assert_eq!(commits.lines().filter(|subject| subject.starts_with(&id)).count(), 1, "{commits}");
    let beta = yard.task(&format!("{id}.2"));
    let done = beta["attempts"].as_array().expect("attempts").iter().filter(|one| one["outcome"] == "approved").count();
    assert_eq!(done, 1, "{beta:#}");
}
