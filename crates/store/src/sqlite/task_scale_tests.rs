//! Looking for work, claiming it and ending it cost the same in a long queue as in a short one: counted in the
//! instructions that SQLite executes, which are the same on every machine.

use super::SqliteStore;
use crate::{BatchRecord, Changed, NewRun, NewTask, RunChange, RunNote, TaskChange, Tasks as _};
use shuntyard_core::{
    Nano,
    values::{Deliver, Rules, Urgency},
    work::task::{Agent, Event, Gate, Place, Slot, SlotKind, State, Tally, Task, TaskId, TaskSpec, Verification, step},
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

const LANES: usize = 4;
/// Where a whole queue is looked through, the long one costs this much more.
const TIMES: usize = 30;

/// Counts the instructions of all connections.
#[derive(Clone, Default)]
struct Instructions(Arc<AtomicU64>);

impl Instructions {
    async fn of(store: &SqliteStore) -> Self {
        let counted = Self::default();
        for pool in [&store.connections.writer, &store.connections.readers] {
            // Held together, so that each is another one.
            let mut all = Vec::new();
            for _ in 0..pool.options().get_max_connections() {
                let mut connection = pool.acquire().await.unwrap();
                let count = Arc::clone(&counted.0);
                connection.lock_handle().await.unwrap().set_progress_handler(1, move || {
                    count.fetch_add(1, Ordering::Relaxed);
                    true
                });
                all.push(connection);
            }
        }
        counted
    }

    /// Those since the last call.
    fn taken(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

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
        verification: Verification::default(),
        diagnoses: None,
        strategy: None,
        contest: None,
        entry_of: None,
        todo: None,
        deadline: None,
        with_issue: false,
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

async fn add(store: &SqliteStore, count: usize) {
    let tasks: Vec<NewTask> = (0..count).map(task).collect();
    store.add_tasks(&tasks).await.unwrap();
}

/// The instructions of the change itself.
async fn change(store: &SqliteStore, count: &Instructions, id: &TaskId, event: Event, run: RunChange) -> u64 {
    let rules = Rules {
        reinforcements: 1,
        rises: 1,
        tier_order: vec![],
        rests: vec![],
        trouble_rests: vec![],
        losses: 9,
        diagnose: shuntyard_core::values::Diagnose::Never,
    };
    let record = store.task(id).await.unwrap();
    let after = step(&record.task, event, &rules, 2).unwrap();
    let change = TaskChange {
        task: after.task,
        version: record.version,
        at: 2,
        change: after.change,
        effects: after.effects,
        run,
        receipt: None,
    };
    count.taken();
    let changed = store.change_task(&change).await.unwrap();
    let taken = count.taken();
    assert!(matches!(changed, Changed::Done(_)), "{changed:?}");
    taken
}

/// What adding ten, looking, claiming and ending take.
async fn cost(store: &SqliteStore, count: &Instructions) -> [(&'static str, u64); 4] {
    count.taken();
    add(store, 10).await;
    let added = count.taken();
    let ready = store.ready_tasks(None, 0, 3).await.unwrap();
    let looked = count.taken();
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
    };
    let claimed = change(store, count, id, Event::Claim, RunChange::Begin(Box::new(new))).await;
    let event = Event::Lose { detail: "gone".into() };
    let ended = change(store, count, id, event, RunChange::End(RunNote::default())).await;
    [("adding", added), ("looking", looked), ("claiming", claimed), ("ending", ended)]
}

#[tokio::test]
async fn a_long_queue_costs_no_more_than_a_short_one() {
    let directory = shuntyard_testkit::Scratch::of_test();
    let store = SqliteStore::open(&directory.path().join("shuntyard.db")).await.unwrap();
    let nightly = BatchRecord { name: "nightly".into(), concurrency: 0, paused: false, created_at: 1 };
    store.create_batch(&nightly).await.unwrap();
    add(&store, 100).await;
    let count = Instructions::of(&store).await;
    let few = cost(&store, &count).await;
    add(&store, 100 * TIMES).await;
    let many = cost(&store, &count).await;
    for ((what, few), (_, many)) in few.into_iter().zip(many) {
        assert!(few > 0 && many <= few * 2, "{what} takes {many} instructions among many and {few} among few");
    }
}
