//! Looking for work, claiming it and ending it cost the same among a hundred thousand tasks as among a hundred.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::time::{Duration, Instant};
use switchyard_core::{
    Nano,
    budget::Urgency,
    task::{Agent, Deliver, Event, Gate, Place, Rules, Slot, SlotKind, State, Tally, Task, TaskId, TaskSpec, step},
};
use switchyard_store::{
    BatchRecord, Changed, NewRun, NewTask, RunChange, RunNote, TaskChange, Tasks as _, sqlite::SqliteStore,
};

const LANES: usize = 4;

fn task(number: usize) -> NewTask {
    let spec = TaskSpec {
        description: "mend the parser, and add a test that would have found it".into(),
        repository: format!("/project-{}", number % LANES),
        base: "main".into(),
        agent: Agent::Opencode { agent: None },
        place: Place::Worktree,
        model: None,
        tier: None,
        task_type: None,
        needs: vec![],
        verify: vec!["make test".into()],
        allow_paths: vec![],
        max_cost: Some(Nano(1)),
        urgency: Urgency::Normal,
        estimate_seconds: None,
        attempts: None,
        labels: vec![],
        deliver: Deliver::Branch,
        gate: Gate::Closed,
        diagnoses: None,
        todo: None,
    };
    let task = Task {
        id: TaskId::numbered(0),
        batch: number.is_multiple_of(3).then(|| "nightly".to_owned()),
        parent: None,
        priority: i64::try_from(number % 7).unwrap(),
        depends_on: vec![],
        spec,
        state: State::Queued,
        tally: Tally::default(),
        epoch: 0,
        created_at: 1,
        changed_at: 1,
    };
    NewTask { id: None, task }
}

async fn add(store: &SqliteStore, count: usize) -> Duration {
    let mut shortest = Duration::MAX;
    let tasks: Vec<NewTask> = (0..count).map(task).collect();
    for together in tasks.chunks(1_000) {
        let since = Instant::now();
        store.add_tasks(together).await.unwrap();
        shortest = shortest.min(since.elapsed());
    }
    shortest
}

async fn change(store: &SqliteStore, id: &TaskId, event: Event, run: RunChange) -> Duration {
    let rules = Rules {
        reinforcements: 1,
        rises: 1,
        tier_order: vec![],
        rests: vec![],
        trouble_rests: vec![],
        losses: 9,
        diagnose: switchyard_core::task::Diagnose::Never,
    };
    let record = store.task(id).await.unwrap();
    let after = step(&record.task, event, &rules, 2).unwrap();
    let change = TaskChange {
        task: after.task,
        version: record.version,
        at: 2,
        passed: vec![],
        change: after.change,
        effects: after.effects,
        run,
        receipt: None,
    };
    let since = Instant::now();
    let changed = store.change_task(&change).await.unwrap();
    let took = since.elapsed();
    assert!(matches!(changed, Changed::Done(_)), "{changed:?}");
    took
}

/// The shortest times of looking, claiming and ending: what the work itself takes, whatever else the machine does.
async fn shortest(store: &SqliteStore) -> [Duration; 3] {
    let mut shortest = [Duration::MAX; 3];
    for _ in 0..40 {
        let since = Instant::now();
        let ready = store.ready_tasks(None, 0, 3).await.unwrap();
        let looked = since.elapsed();
        let id = &ready.candidates[0].id;
        let new = NewRun {
            dispatch: None,
            model: Some("local/small".into()),
            tier: None,
            host: "yard".into(),
            worker: None,
            at: 2,
            lease_until: 9,
            slots: vec![Slot { kind: SlotKind::Total, name: String::new(), limit: 4 }],
            reserve: None,
            note: RunNote::default(),
        };
        let claimed = change(store, id, Event::Claim, RunChange::Begin(Box::new(new))).await;
        let event = Event::Lose { detail: "gone".into() };
        let ended = change(store, id, event, RunChange::End(RunNote::default())).await;
        // So that each round has another task, and none is lost too often.
        change(store, id, Event::Cancel { by: "me".into() }, RunChange::Note(RunNote::default())).await;
        for (kept, took) in shortest.iter_mut().zip([looked, claimed, ended]) {
            *kept = took.min(*kept);
        }
    }
    shortest
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_queue_costs_no_more_than_a_short_one() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&directory.path().join("switchyard.db")).await.unwrap();
    let nightly = BatchRecord { name: "nightly".into(), concurrency: 0, paused: false, created_at: 1 };
    store.create_batch(&nightly).await.unwrap();
    add(&store, 100).await;
    let few = shortest(&store).await;
    let first = add(&store, 1_000).await;
    add(&store, 98_000).await;
    let last = add(&store, 1_000).await;
    let many = shortest(&store).await;
    // Where a whole queue is looked through, it is a hundred times as much.
    let slack = Duration::from_micros(200);
    for (what, few, many) in [
        ("looking", few[0], many[0]),
        ("claiming", few[1], many[1]),
        ("ending", few[2], many[2]),
        ("adding a thousand", first, last),
    ] {
        assert!(many <= few * 2 + slack, "{what} took {many:?} among many and {few:?} among few");
    }
    assert!(last < Duration::from_secs(1), "a thousand tasks took {last:?}");
}
