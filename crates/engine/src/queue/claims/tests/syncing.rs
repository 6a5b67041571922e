//! TODO.md and the store, both ways.

use super::*;
use serde_json::json;
use shuntyard_core::{
    todo::Evidence,
    work::task::{Change, Delivered, Phase},
};
use shuntyard_store::{Changed, RunChange, RunNote, TaskChange, TaskFilter, TaskRecord};

const SYNC: SyncOptions<'static> =
    SyncOptions { run: Run::Real, ended: Ended::Tell, issues: Issues::AsSet, base: None };

const PLAN: &str = "\
# Plan
- [ ] t001 mend the parser #auto-dispatch model:opus ~2h
- [ ] t002 test it #auto-dispatch blocked-by:t001
- [ ] t003 document it #auto-dispatch blocked-by:t002,t004
- [ ] t004 not for us
- [x] t005 was done #auto-dispatch
- [ ] t006 hers #auto-dispatch assignee:eve
- [ ] t007 with a typo #auto-dispatch model:nobody/
";

impl Yard {
    async fn sync(&self, options: SyncOptions<'_>) -> SyncReport {
        sync(&self.context, &self.clone, options).await.unwrap()
    }

    async fn all(&self) -> Vec<TaskRecord> {
        self.context.store.tasks(&TaskFilter { limit: 100, ..TaskFilter::default() }).await.unwrap()
    }

    async fn ends(&self, name: &str, state: State, receipt: Option<serde_json::Value>) {
        let record = self.context.store.task(&id(name)).await.unwrap();
        let to = state.name().to_owned();
        let change = TaskChange {
            task: Task { state, ..record.task },
            version: record.version,
            at: 2,
            change: Change {
                event: "test".into(),
                from: "queued".into(),
                to,
                epoch: 0,
                detail: String::new(),
                route: None,
            },
            effects: Vec::new(),
            run: RunChange::Note(RunNote::default()),
            receipt,
        };
        assert!(matches!(self.context.store.change_task(&change).await.unwrap(), Changed::Done(_)));
    }
}

fn kinds(told: &[SyncNote]) -> Vec<(&str, &str)> {
    told.iter().map(|told| (told.kind, told.todo.as_str())).collect()
}

#[tokio::test]
async fn lines_to_be_dispatched_become_tasks_once() {
    let scene = Scene::new(PLAN);
    let yard = scene.yard("ada").await;
    let dry = yard.sync(SyncOptions { run: Run::Dry, ..SYNC }).await;
    assert!(dry.dry_run && yard.all().await.is_empty());
    let report = yard.sync(SYNC).await;
    assert_eq!(SyncReport { dry_run: false, ..dry }, report);
    let added: Vec<(&str, Vec<&str>)> = report
        .added
        .iter()
        .map(|added| (added.id.as_str(), added.depends_on.iter().map(TaskId::as_str).collect()))
        .collect();
    assert_eq!(added, [("t001", vec![]), ("t002", vec!["t001"])]);
    assert_eq!(kinds(&report.skipped), [("model", "t007"), ("blocked", "t003"), ("claimed", "t006")]);
    let stored = yard.all().await;
    let spec = &stored[0].task.spec;
    assert_eq!((spec.description.as_str(), spec.tier.as_deref()), ("mend the parser", Some("opus")));
    assert_eq!((spec.estimate_seconds, spec.base.as_str()), (Some(7200), "main"));
    assert_eq!(spec.todo, Some(id("t001")));
    let again = yard.sync(SYNC).await;
    assert_eq!((again.added.len(), yard.all().await.len()), (0, 2));
    assert_eq!(scene.shared(), PLAN);
}

#[tokio::test]
async fn ids_that_others_have_get_the_repositorys_name() {
    let scene = Scene::new("- [ ] t001 one #auto-dispatch\n- [ ] t002 two #auto-dispatch blocked-by:t001\n");
    let yard = scene.yard("ada").await;
    let mut other = yard.task("t001");
    other.spec.repository = "/somewhere/else".to_owned();
    let mut by_hand = yard.task("t002");
    by_hand.spec.todo = None;
    let taken = [other, by_hand].map(|task| shuntyard_store::NewTask { id: Some(task.id.clone()), task });
    yard.context.store.add_tasks(&taken).await.unwrap();
    let report = yard.sync(SYNC).await;
    let added: Vec<(&str, &str)> = report.added.iter().map(|added| (added.id.as_str(), added.todo.as_str())).collect();
    assert_eq!(added, [("ada-t001", "t001")]);
    assert_eq!(kinds(&report.skipped), [("id_taken", "t002")]);
}

#[tokio::test]
async fn what_the_store_has_done_with_evidence_is_ticked() {
    let scene =
        Scene::new("- [ ] t001 one #auto-dispatch\n- [ ] t002 two #auto-dispatch\n- [ ] t003 three #auto-dispatch\n");
    let yard = scene.yard("ada").await;
    yard.sync(SYNC).await;
    let delivered = Delivered::PullRequest { url: "https://host.invalid/a/b/pull/12".into(), head: "x".into() };
    yard.ends("t001", State::Done { delivered }, None).await;
    yard.ends("t002", State::Done { delivered: Delivered::Nothing }, None).await;
    yard.claim("t003").await;
    yard.ends("t003", State::Cancelled { by: "me".into() }, None).await;
    let dry = yard.sync(SyncOptions { run: Run::Dry, ..SYNC }).await;
    assert_eq!((&dry.marked, &dry.released), (&vec![id("t001")], &vec![id("t003")]));
    let report = yard.sync(SYNC).await;
    assert_eq!((report.marked, report.released), (vec![id("t001")], vec![id("t003")]));
    let [note] = report.notes.as_slice() else { panic!("{:?}", report.notes) };
    assert!(
        note.starts_with("t002 is done, but no verify command has proved it") && note.contains("`verify`"),
        "{note}"
    );
    let text = scene.shared();
    assert!(text.starts_with("- [x] t001 one #auto-dispatch pr:#12 completed:"), "{text}");
    assert!(text.ends_with("- [ ] t002 two #auto-dispatch\n- [ ] t003 three #auto-dispatch\n"), "{text}");
    let again = yard.sync(SYNC).await;
    assert!(again.marked.is_empty() && again.released.is_empty());
}

#[tokio::test]
async fn what_the_file_has_over_is_told_and_cancelled_only_when_asked() {
    let scene = Scene::new("- [ ] t001 one #auto-dispatch\n- [ ] t002 two #auto-dispatch\n");
    let yard = scene.yard("ada").await;
    yard.sync(SYNC).await;
    commit(&yard.clone, "TODO.md", "- [-] t001 one #auto-dispatch\n");
    git(&yard.clone, &["push", "-q"]);
    let report = yard.sync(SYNC).await;
    assert_eq!(kinds(&report.differences), [("file_ended", "t001"), ("only_in_store", "t002")]);
    assert!(report.cancelled.is_empty());
    let dry = yard.sync(SyncOptions { run: Run::Dry, ended: Ended::Cancel, ..SYNC }).await;
    assert_eq!(dry.cancelled, [id("t001")]);
    let phase = |record: &TaskRecord| record.task.state.phase();
    assert_eq!(yard.all().await.iter().map(phase).collect::<Vec<_>>(), [Phase::Queued, Phase::Queued]);
    yard.sync(SyncOptions { ended: Ended::Cancel, ..SYNC }).await;
    assert_eq!(yard.all().await.iter().map(phase).collect::<Vec<_>>(), [Phase::Cancelled, Phase::Queued]);
    let again = yard.sync(SyncOptions { ended: Ended::Cancel, ..SYNC }).await;
    assert!(again.cancelled.is_empty());
}

#[tokio::test]
async fn tasks_that_wait_for_each_other_are_told() {
    let plan = "- [ ] t001 one #auto-dispatch blocked-by:t002\n- [ ] t002 two #auto-dispatch blocked-by:t001\n";
    let scene = Scene::new(plan);
    let report = scene.yard("ada").await.sync(SYNC).await;
    assert_eq!(report.cycles.len(), 1);
    assert!(report.added.is_empty());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["skipped"][0]["kind"], json!("blocked"));
}

#[tokio::test]
async fn without_its_remote_nothing_is_compared() {
    let scene = Scene::new(PLAN);
    let yard = scene.yard("ada").await;
    fs::remove_dir_all(scene.path("remote.git")).unwrap();
    let report = yard.sync(SYNC).await;
    assert!(report.offline.is_some() && report.differences.is_empty() && report.added.is_empty());
    assert!(yard.all().await.is_empty());
}

#[tokio::test]
async fn an_issue_is_made_when_asked_for_and_its_failure_is_a_remark() {
    let scene = Scene::new("- [ ] t001 one #auto-dispatch\n- [ ] t002 two #auto-dispatch\n");
    let mut yard = scene.yard("ada").await;
    let bin = scene.path("bin");
    fs::create_dir(&bin).unwrap();
    let script =
        "#!/bin/sh\ncase \"$*\" in *t001*) echo https://host.invalid/a/b/issues/41;; *) echo no >&2; exit 1;; esac\n";
    fs::write(scene.path("draft"), script).unwrap();
    assert!(
        Command::new("install")
            .args(["-m", "755"])
            .args([scene.path("draft"), bin.join("gh")])
            .status()
            .unwrap()
            .success()
    );
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    yard.context.environment.insert("PATH".to_owned(), path);
    let report = yard.sync(SyncOptions { issues: Issues::Wanted, ..SYNC }).await;
    assert_eq!(report.notes, ["t002 has no issue: gh: no"]);
    assert_eq!(scene.shared(), "- [ ] t001 one #auto-dispatch ref:GH#41\n- [ ] t002 two #auto-dispatch\n");
}

#[tokio::test]
async fn an_issue_is_assigned_with_the_claim_and_closed_with_the_tick() {
    let scene = Scene::new("- [ ] t001 one ref:GH#41\n- [ ] t002 two ref:GH#42\n- [ ] t003 three\n");
    let mut yard = scene.yard("ada").await;
    let bin = scene.path("bin");
    fs::create_dir(&bin).unwrap();
    let log = scene.path("asked");
    let script = format!(
        "#!/bin/sh\necho \"$*\" >> '{}'\ncase \"$*\" in *close*42*) echo no >&2; exit 1;; esac\n",
        log.display()
    );
    shuntyard_testkit::script(&bin.join("gh"), &script);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    yard.context.environment.insert("PATH".to_owned(), path);
    yard.context.environment.insert("SHUNTYARD_AUTO_ISSUE".to_owned(), "true".to_owned());
    for (id, evidence, left) in [
        ("t001", Evidence::Verified, None),
        ("t002", Evidence::PullRequest(7), Some("the issue of t002 was left as it is: gh: no")),
        ("t003", Evidence::Verified, None),
    ] {
        assert_eq!(yard.claim(id).await.notes, [""; 0], "{id}");
        let done = complete(&yard.context, &yard.task(id), evidence).await.unwrap();
        assert_eq!(done, Marked::Confirmed { note: left.map(str::to_owned) }, "{id}");
        // The second call asks for nothing.
        assert_eq!(complete(&yard.context, &yard.task(id), evidence).await.unwrap(), Marked::Already);
    }
    let asked = fs::read_to_string(log).unwrap();
    let wanted = "issue edit 41 --add-assignee @me\n\
        issue close 41 --comment Done and verified; t001 is ticked in TODO.md on origin/main.\n\
        issue edit 42 --add-assignee @me\n\
        issue close 42 --comment Done by #7.\n";
    assert_eq!(asked, wanted);
}
