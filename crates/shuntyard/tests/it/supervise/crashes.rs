//! Whichever process dies, and whenever: no task is lost, none is done twice, and nothing is left behind.

use crate::supervise::Yard;
use shuntyard_testkit::{eventually, rounds};
use std::{
    process::Child,
    time::{Duration, Instant},
};

/// Every place at which the supervisor or a worker can be made to die.
const PLACES: [&str; 14] = [
    "claim",
    "claimed",
    "spawned",
    "start",
    "placed",
    "work",
    "worked",
    "judge",
    "judged",
    "rebased",
    "deliver",
    "delivered",
    "effect",
    "performed",
];

/// A file of the task's own. An agent may work twice on a task whose worker died; only the delivery of its work must
/// not happen twice.
const WORK: &str = "echo $SHUNTYARD_TASK > done-$SHUNTYARD_TASK.txt";

/// What takes longer never ends.
const HANGS: Duration = Duration::from_secs(400);

fn each_place_once(yard: &Yard) {
    for place in PLACES {
        let marker = yard.env.root.join(format!("died-{place}"));
        let id = yard.add(&[
            &format!("die at {place}"),
            "--command",
            WORK,
            "--verify",
            "test $(cat done-$SHUNTYARD_TASK.txt | wc -l) = 1",
            "--deliver",
            "merge",
        ]);
        let fault = format!("{place}@{}", marker.display());
        let deadline = Instant::now() + HANGS;
        // A later supervisor than the one that saw the task done may execute the pending effects.
        while yard.phase(&id) != "done" || !marker.exists() {
            assert!(Instant::now() < deadline, "{place}: {:#}", yard.task(&id));
            // A supervisor that dies has no exit code to check.
            drop(yard.env.run_with(&[("SHUNTYARD_FAULT", &fault)], &["supervise", "--until-idle"]));
        }
        let file = format!("main:done-{id}.txt");
        assert_eq!(yard.git(&["show", &file]), id, "{place}: it was done once");
        let commits = yard.git(&["log", "--format=%s", "main"]);
        let of_task = commits.lines().filter(|subject| subject.starts_with(&format!("{id}:"))).count();
        assert_eq!(of_task, 1, "{place}: {commits}");
    }
}

#[test]
fn death_at_every_place_loses_nothing_and_repeats_nothing() {
    let yard = Yard::with("places", "effect_lease = \"3s\"\n");
    each_place_once(&yard);
    eventually("the workers to be gone", Duration::from_secs(20), || yard.leftovers().is_empty());
    // Another process reclaims the leases of a dead one after a while.
    nothing_remains(&yard);
}

#[test]
fn death_at_every_place_of_a_command_in_place_loses_nothing_and_repeats_nothing() {
    let yard = Yard::new("places-in-place");
    // The result of a command whose worker died while it ran is unknown.
    let places = [
        ("claim", "done"),
        ("claimed", "done"),
        ("spawned", "done"),
        ("start", "done"),
        ("placed", "blocked"),
        ("work", "blocked"),
        ("worked", "done"),
        ("judge", "done"),
        ("judged", "done"),
    ];
    for (place, ends) in places {
        let marker = yard.env.root.join(format!("died-{place}"));
        let command = format!("echo run >> {}/$SHUNTYARD_TASK.txt", yard.env.root.display());
        let ids = [0, 1].map(|_| yard.add(&["--command", &command, "--in-place"]));
        let fault = format!("{place}@{}", marker.display());
        let deadline = Instant::now() + Duration::from_secs(400);
        let settled = || ids.iter().all(|id| ["done", "blocked"].contains(&yard.phase(id).as_str()));
        while !settled() || !marker.exists() {
            assert!(Instant::now() < deadline, "{place}: {:#}", yard.task(&ids[0]));
            drop(yard.env.run_with(&[("SHUNTYARD_FAULT", &fault)], &["supervise", "--until-idle"]));
        }
        // Either may be the one that was running.
        let phases = ids.each_ref().map(|id| yard.phase(id));
        assert!(phases.iter().any(|phase| phase == ends), "{place}: {phases:?}");
        assert!(phases.iter().any(|phase| phase == "done"), "{place}: {phases:?}");
        for (id, phase) in ids.iter().zip(&phases) {
            let ran = std::fs::read_to_string(yard.env.root.join(format!("{id}.txt"))).unwrap_or_default();
            let never = phase == "blocked" && place == "placed";
            assert_eq!(ran, if never { "" } else { "run\n" }, "{place}: {id} is {phase}");
        }
    }
    eventually("the workers to be gone", Duration::from_secs(20), || yard.leftovers().is_empty());
}

#[test]
fn a_receipt_names_the_commit_that_a_dead_worker_delivered() {
    let yard = Yard::new("delivered-before");
    let [begun, go, died] = ["begun", "go", "died"].map(|name| yard.env.root.join(name));
    let command = format!(": > {}; while [ ! -e {} ]; do sleep 0.05; done; {WORK}", begun.display(), go.display());
    let id = yard.add(&[
        "work",
        "--command",
        &command,
        "--verify",
        "test -f done-$SHUNTYARD_TASK.txt",
        "--deliver",
        "merge",
    ]);
    let fault = format!("deliver@{}", died.display());
    eventually("it to begin", Duration::from_secs(60), || {
        yard.env.run_with(&[("SHUNTYARD_FAULT", &fault)], &["pulse"]).expect_code(0);
        begun.exists()
    });
    yard.as_user(|| {
        std::fs::write(yard.repository().join("newer"), "n").expect("written");
        yard.git(&["add", "newer"]);
        yard.git(&["commit", "-qm", "newer"]);
    });
    std::fs::write(&go, "").expect("written");
    eventually("its worker to die", Duration::from_secs(60), || died.exists());
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!(task["receipt"]["commit"], yard.git(&["rev-parse", "main"]).as_str(), "{task:#}");
    assert_eq!(task["receipt"]["base"], yard.git(&["rev-parse", "main~1"]).as_str(), "{task:#}");
}

/// Neither a workspace nor a clean checkout nor a branch of work that is merged, whole or in part.
fn nothing_remains(yard: &Yard) {
    let left = || -> Vec<_> {
        let roots = std::fs::read_dir(yard.env.data_dir().join("worktrees")).expect("workspaces").flatten();
        roots.flat_map(|root| std::fs::read_dir(root.path()).expect("a root").flatten()).collect()
    };
    eventually("the last workspace, checkout and branch to be gone", Duration::from_secs(90), || {
        yard.env.run(&["pulse"]).expect_code(0);
        left().is_empty() && yard.git(&["branch", "--list", "shuntyard/*"]).is_empty()
    });
}

#[test]
fn a_death_after_the_merge_of_a_rebased_commit_leaves_a_receipt_of_that_commit() {
    let yard = Yard::new("rebased-death");
    let (go, marker) = (yard.env.root.join("go"), yard.env.root.join("died"));
    let command = format!("while [ ! -e {} ]; do sleep 0.05; done; echo w > work", go.display());
    let id = yard.add(&["work", "--command", &command, "--deliver", "merge", "--verify", "test -f work"]);
    let fault = format!("deliver@{}", marker.display());
    eventually("it is at work", Duration::from_secs(40), || {
        yard.env.run_with(&[("SHUNTYARD_FAULT", &fault)], &["pulse"]).expect_code(0);
        yard.task(&id)["worktree"].is_string()
    });
    std::fs::write(yard.repository().join("other"), "other\n").expect("a file");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "by the user"]);
    std::fs::write(&go, "").expect("a file");
    eventually("its worker has died", Duration::from_secs(40), || marker.exists());
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    let merged = yard.git(&["rev-parse", "main"]);
    assert_eq!(
        (&task["receipt"]["commit"], &task["receipt"]["base"]),
        (&merged.as_str().into(), &yard.git(&["rev-parse", "main~1"]).as_str().into(),),
        "{task:#}"
    );
    yard.env.run(&["task", "verify", &id]).expect_code(0);
}

#[test]
fn random_deaths_lose_nothing_and_repeat_nothing() {
    let yard = Yard::with("random", "concurrency = 4\nmost = 4\neffect_lease = \"3s\"\n");
    let order = serde_json::json!({
        "description": "add a line", "command": format!("{WORK}; sleep 0.05"), "deliver": "merge",
        "verify": ["test $(cat done-$SHUNTYARD_TASK.txt | wc -l) = 1"],
    });
    let orders = format!("{order}\n").repeat(10);
    let wanted = rounds(20);
    let deadline = Instant::now() + HANGS * u32::try_from(rounds(1)).expect("a small number");
    let mut added = 0;
    let mut supervisor: Option<Child> = None;
    let mut killed = 0;
    let mut chance: u64 = 0x2545_f491_4f6c_dd1d;
    while killed < wanted {
        // There is always something to do, however fast the machine is.
        if all_done(&yard, added) {
            yard.env.run_with_input(&["task", "add", "--from", "-"], &orders).expect_code(0);
            added += 10;
        }
        assert!(Instant::now() < deadline, "after {killed} kills: {}", yard.env.run(&["status"]).stdout);
        supervisor.get_or_insert_with(|| yard.env.spawn(&["supervise"]));
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(20 + (chance >> 33) % 150));
        // Some of the time the supervisor, otherwise any worker that happens to run.
        if (chance >> 40).is_multiple_of(4)
            && let Some(mut child) = supervisor.take()
        {
            child.kill().expect("killed");
            child.wait().expect("waited for");
            killed += 1;
        } else if let Some(pid) = yard.workers().into_iter().nth(((chance >> 20) % 3) as usize) {
            drop(std::process::Command::new("kill").args(["-9", &pid.to_string()]).output());
            killed += 1;
        }
    }
    if let Some(mut child) = supervisor {
        child.kill().expect("killed");
        child.wait().expect("waited for");
    }
    yard.settle();
    assert!(all_done(&yard, added), "{}", yard.env.run(&["status"]).stdout);
    // An attempt that died in the middle of its write leaves a commit of its own, directly before the next one.
    let commits = yard.git(&["log", "--format=%s", "main"]);
    let mut subjects: Vec<&str> = commits.lines().collect();
    subjects.dedup();
    assert_eq!(subjects.len(), added + 1, "each task is in the base once: {commits}");
    subjects.sort_unstable();
    subjects.dedup();
    assert_eq!(subjects.len(), added + 1, "and not in two places: {commits}");
    eventually("the workers to be gone", Duration::from_secs(20), || yard.leftovers().is_empty());
    nothing_remains(&yard);
}

/// As after a power cut: git has what was done, and the store is as it was some time before.
#[test]
fn a_store_that_lost_its_last_writes_delivers_everything_once() {
    let yard = Yard::with("lost-writes", "concurrency = 3\nmost = 3\neffect_lease = \"3s\"\n");
    let files = ["shuntyard.db", "shuntyard.db-wal"].map(|name| yard.env.data_dir().join(name));
    let signal = |pids: &[u32], signal: &str| {
        let pids = pids.iter().map(u32::to_string);
        drop(std::process::Command::new("kill").arg(signal).args(pids).output());
    };
    for round in 0..rounds(2) {
        let ids = [0, 1, 2].map(|_| {
            let verify = "test -f done-$SHUNTYARD_TASK.txt";
            yard.add(&["work", "--command", WORK, "--verify", verify, "--deliver", "merge"])
        });
        let mut supervisor = yard.env.spawn(&["supervise"]);
        let settled = || ids.iter().filter(|id| yard.phase(id) == "done").count();
        eventually("some work to be done", Duration::from_secs(60), || settled() >= round % 2);
        // Nothing writes while the files are copied, so the copy is what a crash at this moment would leave.
        let frozen = [yard.leftovers(), vec![supervisor.id()]].concat();
        signal(&frozen, "-STOP");
        let copies = files.each_ref().map(|file| std::fs::read(file).unwrap_or_default());
        signal(&frozen, "-CONT");
        eventually("all to be done", Duration::from_secs(60), || settled() == ids.len());
        supervisor.kill().expect("killed");
        supervisor.wait().expect("waited for");
        signal(&yard.leftovers(), "-9");
        eventually("all processes to be gone", Duration::from_secs(20), || yard.leftovers().is_empty());
        for (file, copy) in files.iter().zip(&copies) {
            std::fs::write(file, copy).expect("restored");
        }
        drop(std::fs::remove_file(yard.env.data_dir().join("shuntyard.db-shm")));
        yard.settle();
        let commits = yard.git(&["log", "--format=%s", "main"]);
        for id in &ids {
            assert_eq!(&yard.git(&["show", &format!("main:done-{id}.txt")]), id, "round {round}");
            let delivered = commits.lines().filter(|subject| subject.starts_with(&format!("{id}:"))).count();
            assert_eq!(delivered, 1, "round {round}: {commits}");
            // Where the store knows neither of the delivery nor of the workspace that went with it, a person is asked.
            let task = yard.task(id);
            assert!(task["phase"] == "done" || task["phase"] == "blocked", "round {round}: {task:#}");
        }
    }
}

fn all_done(yard: &Yard, count: usize) -> bool {
    let listed = yard.env.run(&["task", "list", "--phase", "done", "--limit", "1000", "--json"]).json();
    listed["tasks"].as_array().map(Vec::len) == Some(count)
}

#[test]
fn a_worker_that_wakes_after_its_lease_was_taken_writes_nothing() {
    let yard = Yard::with("asleep", "lease = \"2s\"\n");
    let trace = yard.env.root.join("trace");
    let first = yard.env.root.join("trace.first");
    // Only the first one sleeps: it is stopped once its directory shows that it is the first.
    let command = format!(
        "echo begun >> {0}; mkdir {0}.first && sleep 300; echo ended >> {0}; echo x > file.txt",
        trace.display()
    );
    let id = yard.add(&["sleep a little", "--command", &command, "--deliver", "merge"]);
    yard.pulse_until("the command to begin", || first.exists());
    let frozen = yard.leftovers();
    for pid in &frozen {
        drop(std::process::Command::new("kill").args(["-STOP", &pid.to_string()]).output());
    }
    let lost = || yard.task(&id)["attempts"][0]["outcome"] == "lost";
    yard.pulse_until("its lease to be taken", lost);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    let outcomes: Vec<_> =
        task["attempts"].as_array().expect("tries").iter().map(|one| one["outcome"].clone()).collect();
    assert_eq!(outcomes, ["lost", "approved"], "{task:#}");
    for pid in &frozen {
        drop(std::process::Command::new("kill").args(["-CONT", &pid.to_string()]).output());
    }
    eventually("the sleepers to be gone", Duration::from_secs(20), || yard.leftovers().is_empty());
    let said = std::fs::read_to_string(&trace).expect("the trace");
    assert_eq!(said, "begun\nbegun\nended\n", "the sleeper was ended in its sleep");
}
