//! Whatever dies, and whenever: no task is lost, none is done twice, and nothing is left behind.

use crate::Yard;
use std::{
    process::Child,
    time::{Duration, Instant},
};
use switchyard_testkit::eventually;

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

/// A file of the task's own. An agent may work twice on a task whose worker died; what may not happen twice is that
/// its work is handed over.
const WORK: &str = "echo $SWITCHYARD_TASK > done-$SWITCHYARD_TASK.txt";

fn each_place_once(yard: &Yard) {
    for place in PLACES {
        let marker = yard.env.root.join(format!("died-{place}"));
        let id = yard.add(&[
            &format!("die at {place}"),
            "--command",
            WORK,
            "--verify",
            "test $(cat done-$SWITCHYARD_TASK.txt | wc -l) = 1",
            "--deliver",
            "merge",
        ]);
        let fault = format!("{place}@{}", marker.display());
        let deadline = Instant::now() + Duration::from_secs(60);
        // What is owed afterwards may be done by a later one than the one that saw the task done.
        while yard.phase(&id) != "done" || !marker.exists() {
            assert!(Instant::now() < deadline, "{place}: {:#}", yard.task(&id));
            // A supervisor that dies has no exit code to look at.
            drop(yard.env.run_with(&[("SWITCHYARD_FAULT", &fault)], &["supervise", "--until-idle"]));
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
    let yard = Yard::new("places");
    each_place_once(&yard);
    eventually("the workers to be gone", Duration::from_secs(20), || yard.leftovers().is_empty());
    // What a dead process had taken on is somebody else's after a while.
    eventually("the last worktree and branch to be gone", Duration::from_secs(90), || {
        yard.env.run(&["pulse"]).expect_code(0);
        let trees = yard.git(&["worktree", "list"]).lines().count();
        trees == 1 && yard.git(&["branch", "--list", "switchyard/*"]).is_empty()
    });
}

#[test]
fn random_deaths_lose_nothing_and_repeat_nothing() {
    let yard = Yard::with("random", "concurrency = 4\nmost = 4\n");
    let orders: String = (0..40)
        .map(|_| {
            let order = serde_json::json!({
                "description": "add a line", "command": format!("{WORK}; sleep 0.05"), "deliver": "merge",
                "verify": ["test $(cat done-$SWITCHYARD_TASK.txt | wc -l) = 1"],
            });
            format!("{order}\n")
        })
        .collect();
    yard.env.run_with_input(&["task", "add", "--from", "-"], &orders).expect_code(0);
    let deadline = Instant::now() + Duration::from_secs(100);
    let mut supervisor: Option<Child> = None;
    let mut killed = 0;
    let mut chance: u64 = 0x2545_f491_4f6c_dd1d;
    while !all_done(&yard, 40) {
        assert!(Instant::now() < deadline, "after {killed} kills: {}", yard.env.run(&["status"]).stdout);
        supervisor.get_or_insert_with(|| yard.env.spawn(&["supervise"]));
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(20 + (chance >> 33) % 150));
        // Half of the time the supervisor, otherwise any worker that happens to run.
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
    assert!(killed >= 20, "only {killed} were killed, which shows little");
    let commits = yard.git(&["log", "--format=%s", "main"]);
    assert_eq!(commits.lines().count(), 41, "each task is in the base once: {commits}");
    yard.settle();
    eventually("the workers to be gone", Duration::from_secs(20), || yard.leftovers().is_empty());
}

fn all_done(yard: &Yard, count: usize) -> bool {
    let listed = yard.env.run(&["task", "list", "--phase", "done", "--limit", "1000", "--json"]).json();
    listed["tasks"].as_array().map(Vec::len) == Some(count)
}

#[test]
fn a_worker_that_wakes_after_its_lease_was_taken_writes_nothing() {
    let yard = Yard::with("asleep", "lease = \"2s\"\n");
    let trace = yard.env.root.join("trace");
    let command = format!("echo begun >> {0}; sleep 1; echo ended >> {0}; echo x > file.txt", trace.display());
    let id = yard.add(&["sleep a little", "--command", &command, "--deliver", "merge"]);
    yard.pulse_until("the command to begin", || trace.exists());
    let frozen = yard.leftovers();
    for pid in &frozen {
        drop(std::process::Command::new("kill").args(["-STOP", &pid.to_string()]).output());
    }
    std::thread::sleep(Duration::from_secs(3));
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
