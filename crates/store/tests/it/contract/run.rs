//! Runs: what is noted about them, how they go on, and that no process writes under an epoch that is over.

use super::{
    Backend, sample,
    task_sample::{self as tasks, add, bare, claim_of, happen, id, make, read, stepped, total},
};
use shuntyard_core::{
    Nano,
    experience::FailureMode,
    work::task::{Event, Task},
};
use shuntyard_store::{BatchRecord, Changed, NewRun, RunChange, RunNote, RunRecord, Store, TaskChange};

/// The row of a claim by the plainest run.
fn claimed(name: &str, epoch: i64) -> RunRecord {
    RunRecord {
        task: id(name),
        epoch,
        dispatch: None,
        repository: "/project".into(),
        batch: None,
        parent: None,
        model: Some("local/small@low".into()),
        answered: None,
        tier: Some("quick".into()),
        host: "yard".into(),
        worker: None,
        claimed_at: 2_000,
        started_at: None,
        progress_at: 2_000,
        lease_until: 9_000,
        ended_at: None,
        worktree: None,
        branch: None,
        base: None,
        outcome: None,
        failure_mode: None,
        detail: None,
        cost: Nano::ZERO,
        cost_known: false,
    }
}

fn all_noted() -> RunNote {
    RunNote {
        worker: Some(sample::owner(41)),
        started_at: Some(2_100),
        dispatch: Some(sample::dispatch_id()),
        worktree: Some("/trees/t001".into()),
        branch: Some("shuntyard/t001".into()),
        base: Some("0123".into()),
        answered: Some("local/small-2".into()),
        outcome: Some("refused".into()),
        failure_mode: Some(FailureMode::Logic),
        detail: Some("the test is red".into()),
        cost: Some((Nano(50), false)),
        lease_until: Some(12_000),
    }
}

fn noted(run: RunRecord, note: &RunNote) -> RunRecord {
    let note = note.clone();
    let (cost, cost_known) = note.cost.unwrap_or_default();
    RunRecord {
        worker: note.worker,
        started_at: note.started_at,
        dispatch: note.dispatch,
        worktree: note.worktree,
        branch: note.branch,
        base: note.base,
        answered: note.answered,
        outcome: note.outcome,
        failure_mode: note.failure_mode,
        detail: note.detail,
        cost,
        cost_known,
        lease_until: note.lease_until.unwrap_or(run.lease_until),
        ..run
    }
}

async fn runs(store: &dyn Store) -> Vec<RunRecord> {
    store.runs(&id("t001")).await.unwrap()
}

pub async fn a_run_is_read_back_whole(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let batch = BatchRecord { name: "nightly".into(), concurrency: 0, paused: false, created_at: 1 };
    store.create_batch(&batch).await.unwrap();
    add(store, [Task { batch: Some("nightly".into()), parent: Some(id("t000")), ..bare("t001") }]).await;
    let dispatch = Some(sample::dispatch_id());
    make(store, &claim_of(store, "t001", NewRun { dispatch, ..tasks::run() }).await).await;
    let expected =
        RunRecord { dispatch, batch: Some("nightly".into()), parent: Some(id("t000")), ..claimed("t001", 1) };
    assert_eq!(runs(store).await, std::slice::from_ref(&expected));
    let note = all_noted();
    assert!(store.note_run(&id("t001"), 1, &note).await.unwrap());
    let expected = noted(expected, &note);
    assert_eq!(store.live_runs().await.unwrap(), std::slice::from_ref(&expected));
    assert!(store.note_run(&id("t001"), 1, &RunNote::default()).await.unwrap());
    assert_eq!(runs(&*backend.reopen().await).await, [expected], "nothing noted leaves all as it is");
    assert_eq!(store.runs(&id("t002")).await.unwrap(), []);
}

pub async fn of_two_costs_the_higher_counts(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001")]).await;
    happen(store, "t001", Event::Claim).await;
    for (cost, known, expected) in [
        (50, false, (50, false)),
        (40, true, (50, false)),
        (50, true, (50, true)),
        (50, false, (50, true)),
        (60, false, (60, false)),
        (70, true, (70, true)),
    ] {
        let note = RunNote { cost: Some((Nano(cost), known)), ..RunNote::default() };
        assert!(store.note_run(&id("t001"), 1, &note).await.unwrap());
        let run = &runs(store).await[0];
        assert_eq!((run.cost.0, run.cost_known), expected, "after {cost} {known}");
    }
}

pub async fn a_change_notes_something_about_the_run_of_its_epoch(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001")]).await;
    happen(store, "t001", Event::Claim).await;
    let ended = RunNote { outcome: Some("lost".into()), ..RunNote::default() };
    let lost = stepped(&read(store, "t001").await, Event::Lose { detail: "gone".into() });
    make(store, &TaskChange { run: RunChange::End(ended), ..lost }).await;
    happen(store, "t001", Event::Claim).await;
    let note = all_noted();
    let start = stepped(&read(store, "t001").await, Event::Start);
    make(store, &TaskChange { run: RunChange::Note(note.clone()), ..start }).await;
    let first = RunRecord { ended_at: Some(2_000), outcome: Some("lost".into()), ..claimed("t001", 1) };
    let second = noted(claimed("t001", 2), &note);
    assert_eq!(runs(store).await, [first.clone(), second.clone()], "the oldest first");
    assert_eq!(store.live_runs().await.unwrap(), [second]);
    assert_eq!(store.ended_runs(9).await.unwrap(), [first]);
}

pub async fn a_renewal_lengthens_the_lease_and_takes_nothing_back(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001")]).await;
    happen(store, "t001", Event::Claim).await;
    for (progress_at, lease_until, expected) in [(3_000, 13_000, (3_000, 13_000)), (2_500, 12_000, (3_000, 13_000))] {
        assert!(store.renew_run(&id("t001"), 1, progress_at, lease_until).await.unwrap());
        let run = &runs(store).await[0];
        assert_eq!((run.progress_at, run.lease_until), expected);
    }
}

pub async fn nobody_writes_under_an_epoch_that_is_over(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001")]).await;
    happen(store, "t001", Event::Claim).await;
    let seen = read(store, "t001").await;
    happen(store, "t001", Event::Lose { detail: "gone".into() }).await;
    for reclaimed in [false, true] {
        if reclaimed {
            happen(store, "t001", Event::Claim).await;
        }
        let before = tasks::everything(store).await;
        for epoch in [0, 1, 3] {
            assert!(!store.renew_run(&id("t001"), epoch, 8_000, 80_000).await.unwrap(), "{epoch}");
            assert!(!store.note_run(&id("t001"), epoch, &all_noted()).await.unwrap(), "{epoch}");
        }
        assert!(!store.renew_run(&id("t009"), 1, 8_000, 80_000).await.unwrap(), "a task that is not there");
        assert_eq!(store.change_task(&stepped(&seen, Event::Start)).await.unwrap(), Changed::Stale);
        assert_eq!(tasks::everything(store).await, before);
    }
    assert!(store.renew_run(&id("t001"), 2, 8_000, 80_000).await.unwrap());
}

pub async fn a_run_that_follows_keeps_slot_and_place(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001"), bare("t002")]).await;
    make(store, &claim_of(store, "t001", NewRun { slots: vec![total(1)], ..tasks::run() }).await).await;
    let note = all_noted();
    assert!(store.note_run(&id("t001"), 1, &note).await.unwrap());
    happen(store, "t001", Event::Start).await;
    happen(store, "t001", Event::Worked).await;
    let ended = RunNote { outcome: Some("lost".into()), detail: Some("gone".into()), ..RunNote::default() };
    let lost = stepped(&read(store, "t001").await, Event::Lose { detail: "gone".into() });
    let follow = RunChange::Follow { ended, lease_until: 21_000 };
    let after = make(store, &TaskChange { run: follow, at: 4_000, ..lost }).await;
    assert_eq!(after.task.epoch, 2);
    let first = RunRecord {
        ended_at: Some(4_000),
        outcome: Some("lost".into()),
        detail: Some("gone".into()),
        ..noted(claimed("t001", 1), &note)
    };
    let second = RunRecord {
        claimed_at: 4_000,
        progress_at: 4_000,
        lease_until: 21_000,
        worktree: note.worktree,
        branch: note.branch,
        base: note.base,
        ..claimed("t001", 2)
    };
    assert_eq!(runs(store).await, [first, second]);
    let claim = claim_of(store, "t002", NewRun { slots: vec![total(1)], ..tasks::run() }).await;
    assert_eq!(store.change_task(&claim).await.unwrap(), Changed::NoSlot(total(1)), "the slot was never free");
    assert!(!store.renew_run(&id("t001"), 1, 8_000, 80_000).await.unwrap());
    assert!(store.renew_run(&id("t001"), 2, 8_000, 80_000).await.unwrap());
}

pub async fn runs_are_listed_by_their_beginning_and_by_their_end(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let names = ["t001", "t002", "t003", "t004"];
    add(store, names.map(bare)).await;
    for (name, at) in names.into_iter().zip([30, 10, 20, 40]) {
        make(store, &claim_of(store, name, NewRun { at, ..tasks::run() }).await).await;
    }
    let named = |runs: Vec<RunRecord>| runs.into_iter().map(|run| run.task.to_string()).collect::<Vec<_>>();
    assert_eq!(named(store.live_runs().await.unwrap()), ["t002", "t003", "t001", "t004"]);
    for (name, at) in [("t003", 500), ("t001", 700), ("t002", 600)] {
        let lost = stepped(&read(store, name).await, Event::Lose { detail: "gone".into() });
        make(store, &TaskChange { at, ..lost }).await;
    }
    assert_eq!(named(store.live_runs().await.unwrap()), ["t004"]);
    assert_eq!(named(store.ended_runs(9).await.unwrap()), ["t001", "t002", "t003"]);
    assert_eq!(named(store.ended_runs(2).await.unwrap()), ["t001", "t002"]);
}
