//! Tasks for the tests, and the way they take through their states: by the rules, as in the real world.

use serde_json::json;
use shuntyard_core::{
    Nano,
    values::{Capability, Deliver, Rules, Strategy, Urgency},
    work::task::{
        Agent, Contest, Delivered, Event, Gate, Place, Resumed, Slot, SlotKind, State, Tally, Task, TaskId, TaskSpec,
        Verification, step,
    },
};
use shuntyard_store::{Changed, NewRun, NewTask, RunChange, RunNote, Store, TaskChange, TaskFilter, TaskRecord};

pub fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

/// A task in full: nothing of it is absent, and no two values are the same.
pub fn full(name: &str) -> Task {
    Task {
        id: id(name),
        batch: None,
        parent: Some(id("t001")),
        priority: -3,
        depends_on: vec![id("t009"), id("t003")],
        spec: TaskSpec {
            description: "mend the \"parser\"\nof dépêches\0".into(),
            repository: "/prøject".into(),
            base: "main".into(),
            agent: Agent::Opencode { agent: Some("mender".into()) },
            place: Place::Worktree,
            model: Some("local/small@low".into()),
            tier: Some("quick".into()),
            task_type: Some("complex-fix".into()),
            needs: vec![Capability::Vision],
            verify: vec!["make test".into(), "make lint".into()],
            allow_paths: vec!["src/".into()],
            max_cost: Some(Nano(i64::MAX)),
            urgency: Urgency::Critical,
            estimate_seconds: Some(1_800),
            attempts: Some(4),
            labels: vec!["hot".into()],
            deliver: Deliver::Merge,
            gate: Gate::Open,
            verification: Verification::default(),
            diagnoses: Some(id("t002")),
            todo: Some(id("t7.1")),
            strategy: Some(Strategy::Best),
            contest: Some(Contest { models: vec!["local/small".into(), "far/large".into()] }),
            entry_of: Some(id("t006")),
            deadline: None,
            with_issue: false,
        },
        state: State::Queued,
        tally: Tally { tries: 2, lessons: vec!["look at line 9".into()], ..Tally::default() },
        epoch: 0,
        created_at: 1_000,
        changed_at: 1_001,
    }
}

/// A task of which only what must be there is there.
pub fn bare(name: &str) -> Task {
    let full = full(name);
    Task {
        parent: None,
        priority: 0,
        depends_on: vec![],
        tally: Tally::default(),
        spec: TaskSpec {
            repository: "/project".into(),
            max_cost: None,
            urgency: Urgency::Normal,
            todo: None,
            deliver: Deliver::Branch,
            strategy: None,
            contest: None,
            entry_of: None,
            ..full.spec
        },
        ..full
    }
}

pub fn new(task: Task) -> NewTask {
    NewTask { id: Some(task.id.clone()), task }
}

pub async fn add(store: &dyn Store, tasks: impl IntoIterator<Item = Task>) {
    store.add_tasks(&tasks.into_iter().map(new).collect::<Vec<_>>()).await.unwrap();
}

pub async fn all(store: &dyn Store) -> Vec<TaskRecord> {
    store.tasks(&TaskFilter { limit: 10_000, ..TaskFilter::default() }).await.unwrap()
}

pub async fn read(store: &dyn Store, name: &str) -> TaskRecord {
    store.task(&id(name)).await.unwrap()
}

fn rules() -> Rules {
    Rules {
        reinforcements: 1,
        rises: 2,
        tier_order: vec!["quick".into(), "deep".into()],
        rests: vec![300_000_000],
        trouble_rests: vec![1_000_000],
        losses: 3,
        diagnose: shuntyard_core::values::Diagnose::Never,
    }
}

pub fn run() -> NewRun {
    NewRun {
        dispatch: None,
        model: Some("local/small@low".into()),
        tier: Some("quick".into()),
        host: "yard".into(),
        worker: None,
        at: 2_000,
        lease_until: 9_000,
        slots: vec![],
        reserve: None,
    }
}

pub fn total(limit: u32) -> Slot {
    Slot { kind: SlotKind::Total, name: String::new(), limit }
}

/// The change that an event makes of this task, at 2 000 and with the plainest run that fits.
pub fn stepped(record: &TaskRecord, event: Event) -> TaskChange {
    let after = step(&record.task, event, &rules(), 2_000).unwrap();
    let run = match after.resumed {
        Resumed::Same => RunChange::Note(RunNote::default()),
        Resumed::Begins => RunChange::Begin(Box::new(run())),
        Resumed::Ends => RunChange::End(RunNote::default()),
        Resumed::Follows(_) => RunChange::Follow { ended: RunNote::default(), lease_until: 19_000 },
    };
    TaskChange {
        task: after.task,
        version: record.version,
        at: 2_000,
        change: after.change,
        effects: after.effects,
        run,
        receipt: None,
    }
}

/// A claim of the task as it is now.
pub async fn claim_of(store: &dyn Store, name: &str, run: NewRun) -> TaskChange {
    TaskChange { run: RunChange::Begin(Box::new(run)), ..stepped(&read(store, name).await, Event::Claim) }
}

pub async fn make(store: &dyn Store, change: &TaskChange) -> TaskRecord {
    let changed = store.change_task(change).await.unwrap();
    let after = read(store, change.task.id.as_str()).await;
    assert_eq!(changed, Changed::Done(Box::new(after.clone())), "what is returned is what is there, by {change:?}");
    after
}

/// Lets something happen to a task that nothing is in the way of.
pub async fn happen(store: &dyn Store, name: &str, event: Event) -> TaskRecord {
    make(store, &stepped(&read(store, name).await, event)).await
}

/// From the queue to the end.
pub async fn finish(store: &dyn Store, name: &str) {
    let delivered = Delivered::Branch { branch: "shuntyard/t001".into(), head: "abc".into() };
    let approve = Event::Approve { head: "abc".into() };
    for event in [Event::Claim, Event::Start, Event::Worked, approve, Event::Deliver { delivered }] {
        happen(store, name, event).await;
    }
}

pub fn cancel() -> Event {
    Event::Cancel { by: "me".into() }
}

/// All that can be seen of the tasks, to tell whether a refused call has left something.
pub async fn everything(store: &dyn Store) -> String {
    let (tasks, mut runs) = (all(store).await, vec![]);
    for task in &tasks {
        runs.extend(store.runs(&task.task.id).await.unwrap());
    }
    let events = store.events_after(0, 10_000).await.unwrap();
    let batches = store.batches().await.unwrap();
    let reserved = store.reserved(&shuntyard_store::SpendKey::overall()).await.unwrap();
    format!("{tasks:#?}{runs:#?}{events:#?}{batches:#?}{reserved:?}")
}

pub fn receipt(number: i64) -> serde_json::Value {
    json!({ "good": true, "number": number })
}
