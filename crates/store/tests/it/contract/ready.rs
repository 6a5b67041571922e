//! What could start: the first of every line, and nothing that waits for something.

use super::{
    Backend,
    task_sample::{add, bare, cancel, finish, happen, id, read},
};
use shuntyard_core::work::task::{Candidate, Event, Phase, Task, TaskSpec, Wait};
use shuntyard_store::{BatchRecord, More, Store};

fn of(repository: &str, batch: Option<&str>, task: Task) -> Task {
    let spec = TaskSpec { repository: repository.into(), ..task.spec };
    Task { batch: batch.map(str::to_owned), spec, ..task }
}

async fn ready(store: &dyn Store, batch: Option<&str>, skip: u32, each: u32) -> (Vec<String>, More) {
    let ready = store.ready_tasks(batch, skip, each).await.unwrap();
    (ready.candidates.into_iter().map(|candidate| candidate.id.to_string()).collect(), ready.more)
}

async fn batch(store: &dyn Store, name: &str) {
    let batch = BatchRecord { name: name.into(), concurrency: 0, paused: false, created_at: 1 };
    store.create_batch(&batch).await.unwrap();
}

pub async fn the_first_of_every_line_are_ready(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    assert_eq!(ready(store, None, 0, 9).await, (vec![], More::No));
    batch(store, "night").await;
    batch(store, "zoo").await;
    for repository in ["/b", "/a"] {
        for lane in [Some("zoo"), None, Some("night")] {
            let short = format!("{}-{}", &repository[1..], lane.unwrap_or("none"));
            let tasks = [(1, 0), (2, 5), (3, 0), (4, 5)].map(|(number, priority)| {
                of(repository, lane, Task { priority, ..bare(&format!("{short}-{number}")) })
            });
            add(store, tasks).await;
        }
    }
    let lines = |lanes: &[&str], numbers: &[u32]| {
        let mut names = vec![];
        for lane in lanes {
            names.extend(numbers.iter().map(|number| format!("{lane}-{number}")));
        }
        names
    };
    let every = ["a-none", "a-night", "a-zoo", "b-none", "b-night", "b-zoo"];
    let night = ["a-night", "b-night"];
    for (of_batch, skip, each, lanes, numbers, more) in [
        (None, 0, 1, &every[..], &[2][..], More::Yes),
        (None, 0, 3, &every, &[2, 4, 1], More::Yes),
        (None, 0, 4, &every, &[2, 4, 1, 3], More::No),
        (None, 1, 2, &every, &[4, 1], More::Yes),
        (None, 2, 2, &every, &[1, 3], More::No),
        (None, 3, 9, &every, &[3], More::No),
        (None, 4, 9, &every, &[], More::No),
        (None, 0, 0, &every, &[], More::Yes),
        (Some("night"), 0, 2, &night, &[2, 4], More::Yes),
        (Some("night"), 2, u32::MAX, &night, &[1, 3], More::No),
        (Some("absent"), 0, 9, &every, &[], More::No),
        (Some(""), 0, 9, &every, &[], More::No),
    ] {
        let expected = (lines(lanes, numbers), more);
        assert_eq!(ready(store, of_batch, skip, each).await, expected, "{of_batch:?} {skip} {each}");
    }
}

pub async fn a_candidate_says_what_slots_it_needs(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    batch(store, "night").await;
    let first = Task { parent: Some(id("t000")), priority: -2, ..bare("t001") };
    add(store, [bare("t002"), of("/prøject", Some("night"), first)]).await;
    let expected = Candidate {
        id: id("t001"),
        number: 2,
        priority: -2,
        repository: "/prøject".into(),
        batch: Some("night".into()),
        parent: Some(id("t000")),
    };
    assert_eq!(store.ready_tasks(Some("night"), 0, 9).await.unwrap().candidates, [expected]);
}

pub async fn only_what_is_queued_is_ready(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, ["t001", "t002", "t003", "t004"].map(bare)).await;
    happen(store, "t001", Event::Claim).await;
    happen(store, "t002", Event::Postpone { until: 5, wait: Wait::Trouble, detail: "x".into() }).await;
    happen(store, "t003", cancel()).await;
    assert_eq!(ready(store, None, 0, 9).await.0, ["t004"]);
    happen(store, "t002", Event::Wake).await;
    happen(store, "t001", Event::Lose { detail: "gone".into() }).await;
    assert_eq!(ready(store, None, 0, 9).await.0, ["t001", "t002", "t004"]);
}

pub async fn blockers_are_released_by_what_is_done_or_cancelled(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let waits = Task { depends_on: ["t002", "t001", "t009", "t002"].map(id).into(), ..bare("t003") };
    add(store, [bare("t001"), bare("t002"), waits, Task { depends_on: vec![id("t003")], ..bare("t004") }]).await;
    let open = async || store.task(&id("t003")).await.unwrap().open_blockers;
    let names =
        |phases: [Option<Phase>; 3]| ["t002", "t001", "t009"].map(id).into_iter().zip(phases).collect::<Vec<_>>();
    let queued = Some(Phase::Queued);
    assert_eq!(store.blockers(&id("t003")).await.unwrap(), names([queued, queued, None]), "each once");
    assert_eq!(store.dependents(&id("t002")).await.unwrap(), [id("t003")]);
    assert_eq!(store.dependents(&id("t009")).await.unwrap(), [id("t003")], "also of one that is missing");
    assert_eq!(open().await, 3);

    finish(store, "t001").await;
    assert_eq!(open().await, 2);
    happen(store, "t002", Event::Block { cause: shuntyard_core::work::task::Cause::Access, detail: "key".into() })
        .await;
    assert_eq!(open().await, 2, "what is blocked releases nobody");
    happen(store, "t002", cancel()).await;
    assert_eq!(open().await, 1);
    // The missing one is added, with one that waits for what is done already.
    add(store, [bare("t009"), Task { depends_on: ["t001", "t002"].map(id).into(), ..bare("t005") }]).await;
    assert_eq!(open().await, 1, "it is there, and not done");
    assert_eq!(ready(store, None, 0, 9).await.0, ["t009", "t005"]);
    finish(store, "t009").await;
    assert_eq!(open().await, 0);
    let (done, cancelled) = (Some(Phase::Done), Some(Phase::Cancelled));
    assert_eq!(store.blockers(&id("t003")).await.unwrap(), names([cancelled, done, done]));
    assert_eq!(ready(store, None, 0, 9).await.0, ["t003", "t005"]);
    // What is begun again holds up again.
    happen(store, "t001", Event::Reset).await;
    assert_eq!(open().await, 1);
    assert_eq!(ready(store, None, 0, 9).await.0, ["t001"]);
    assert_eq!(store.task(&id("t004")).await.unwrap().open_blockers, 1);
}

pub async fn what_failed_releases_nobody(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let once = bare("t001");
    let once = Task { spec: TaskSpec { attempts: Some(1), ..once.spec }, ..once };
    add(store, [once, Task { depends_on: vec![id("t001")], ..bare("t002") }]).await;
    for event in [Event::Claim, Event::Start, Event::Worked] {
        happen(store, "t001", event).await;
    }
    let failure = shuntyard_core::work::task::Failure {
        mode: shuntyard_core::experience::FailureMode::Logic,
        class: None,
        signature: "red".into(),
        detail: "red".into(),
        until: None,
        lift: shuntyard_core::work::task::Lift::Allowed,
    };
    let failed = happen(store, "t001", Event::Refuse { failure, tier: None, model: None, resume: None }).await;
    assert_eq!(failed.task.state.phase(), Phase::Failed);
    assert_eq!(store.task(&id("t002")).await.unwrap().open_blockers, 1);
    assert_eq!(ready(store, None, 0, 9).await.0, [""; 0]);
}

pub async fn a_paused_batch_rests_until_it_is_resumed(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    batch(store, "night").await;
    add(store, [bare("t001"), of("/project", Some("night"), bare("t002"))]).await;
    for _ in 0..2 {
        store.pause_batch("night", true, 50).await.unwrap();
        assert_eq!(ready(store, None, 0, 9).await.0, ["t001"]);
        assert_eq!(ready(store, Some("night"), 0, 9).await.0, [""; 0]);
    }
    for (name, paused) in [("t001", false), ("t002", true)] {
        assert_eq!(read(store, name).await.paused, paused, "{name}");
    }
    // A task that is added then rests too.
    add(store, [of("/other", Some("night"), bare("t003"))]).await;
    assert_eq!(ready(store, None, 0, 9).await.0, ["t001"]);
    store.pause_batch("night", false, 60).await.unwrap();
    assert_eq!(ready(store, None, 0, 9).await.0, ["t003", "t001", "t002"]);
    assert!(!store.batches().await.unwrap()[0].paused);
}
