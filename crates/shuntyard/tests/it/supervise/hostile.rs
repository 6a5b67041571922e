//! Failures that have happened once, or easily could.

use crate::supervise::{
    Yard,
    yard::{git_in, is_written},
};
use shuntyard_testkit::eventually;
use std::time::Duration;

#[test]
fn a_store_leaves_the_workers_of_another_alone() {
    let (ours, theirs) = (Yard::new("ours"), Yard::new("theirs"));
    let command = |yard: &Yard| {
        let root = yard.env.root.display();
        format!("touch {root}/begun; while [ ! -e {root}/go ]; do sleep 0.05; done")
    };
    for yard in [&ours, &theirs] {
        let id = yard.add(&["the same id", "--id", "t001", "--command", &command(yard), "--no-gate"]);
        assert_eq!(id, "t001");
        yard.env.run(&["pulse"]).expect_code(0);
        eventually("it to begin", Duration::from_secs(20), || yard.env.root.join("begun").exists());
    }
    let worker = ours.workers();
    assert_eq!(worker.len(), 1);
    drop(std::process::Command::new("kill").args(["-9", &worker[0].to_string()]).output());
    ours.env.run(&["pulse"]).expect_code(0);
    std::fs::write(theirs.env.root.join("go"), "").expect("a file");
    theirs.wait_for_phase("t001", "done");
    assert_eq!(theirs.task("t001")["attempts"].as_array().map(Vec::len), Some(1), "{:#}", theirs.task("t001"));
}

#[test]
fn a_secret_that_was_deleted_again_does_not_reach_the_base() {
    let yard = Yard::new("history");
    let command =
        "if [ -f key.txt ]; then rm key.txt; echo fine > fine.txt; else echo AKIAIOSFODNN7EXAMPLE > key.txt; fi";
    let id = yard.add(&["leave a key", "--command", command, "--deliver", "merge"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!(task["attempts"].as_array().map(Vec::len), Some(2), "the first try is refused: {task:#}");
    assert!(!yard.git(&["log", "-p", "main"]).contains("AKIAIOSFODNN7EXAMPLE"), "not even in the history");
    assert!(yard.repository().join("fine.txt").exists());
}

#[test]
fn a_merge_that_was_left_half_done_is_never_taken_for_work() {
    let yard = Yard::new("half-merged");
    yard.git(&["checkout", "-q", "-b", "other"]);
    std::fs::write(yard.repository().join("README"), "theirs\n").expect("written");
    yard.git(&["commit", "-qam", "theirs"]);
    yard.git(&["checkout", "-q", "main"]);
    // The command itself reports success, and there is nothing to verify it with.
    let command = "echo ours > README; git commit -qam ours; git merge other; true";
    let id = yard.add(&["merge", "--command", command, "--deliver", "merge", "--attempts", "1"]);
    yard.settle();
    let task = yard.task(&id);
    assert_ne!(task["phase"], "done", "{task:#}");
    assert!(task["reason"].as_str().expect("a reason").contains("marks of a conflict"), "{task:#}");
    assert!(!yard.git(&["show", "main:README"]).contains("<<<<<<<"), "the base is as it was");
}

#[test]
fn work_on_a_branch_of_the_agents_own_is_found() {
    let yard = Yard::new("own-branch");
    let command = "git checkout -q -b feature/own && echo x > own.txt && git add -A && git commit -qm own";
    let id = yard.add(&["make a branch", "--command", command]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!(yard.git(&["show", &format!("shuntyard/{id}:own.txt")]), "x");
}

#[test]
fn good_work_is_not_done_again_because_the_base_was_dirty() {
    let yard = Yard::with("dirty", "");
    let trace = yard.env.root.join("trace");
    let command = format!("echo run >> {}; echo new > README", trace.display());
    std::fs::write(yard.repository().join("README"), "somebody is writing here\n").expect("written");
    let id = yard.add(&["change the README", "--command", &command, "--deliver", "merge"]);
    yard.env.run(&["pulse"]).expect_code(0);
    yard.wait_for_phase(&id, "waiting");
    assert!(yard.task(&id)["reason"].as_str().expect("a reason").contains("README"), "{:#}", yard.task(&id));
    assert_eq!(std::fs::read_to_string(yard.repository().join("README")).expect("read"), "somebody is writing here\n");
    yard.as_user(|| yard.git(&["checkout", "-q", "README"]));
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!(std::fs::read_to_string(&trace).expect("the trace"), "run\n", "it was worked on once");
    assert_eq!(yard.git(&["show", "main:README"]), "new");
}

#[test]
fn a_command_in_place_whose_worker_died_is_left_to_a_person() {
    let yard = Yard::new("in-place");
    let trace = yard.env.root.join("trace");
    let command = format!("echo run >> {}; sleep 30", trace.display());
    let id = yard.add(&["in place", "--command", &command, "--in-place"]);
    yard.pulse_until("it to begin", || is_written(&trace));
    for pid in yard.workers() {
        drop(std::process::Command::new("kill").args(["-9", &pid.to_string()]).output());
    }
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "blocked", "{task:#}");
    assert_eq!(std::fs::read_to_string(&trace).expect("the trace"), "run\n", "once");
    eventually("its processes to be gone", Duration::from_secs(20), || yard.leftovers().is_empty());
}

#[test]
fn what_is_no_branch_cannot_be_merged_into() {
    let yard = Yard::new("detached");
    yard.git(&["checkout", "-q", "--detach"]);
    let refused = yard.env.run(&["task", "add", "x", "--deliver", "merge", "--json"]);
    refused.expect_code(2);
    assert!(refused.stdout.contains("is no branch"), "{}", refused.stdout);
    yard.add(&["x", "--command", "true"]);
}

#[test]
fn a_lost_worktree_and_a_lost_branch_are_made_again() {
    let yard = Yard::new("removed").untraced();
    let verify = format!("test -f {}/go", yard.env.root.display());
    let id = yard.add(&["wait for it", "--command", "echo x > x.txt", "--verify", &verify]);
    yard.settle();
    assert_eq!(yard.phase(&id), "blocked", "{:#}", yard.task(&id));
    let worktree = yard.task(&id)["worktree"].as_str().map(str::to_owned).expect("a worktree");
    std::fs::remove_dir_all(&worktree).expect("removed");
    std::fs::write(yard.env.root.join("go"), "").expect("written");
    yard.env.run(&["task", "retry", &id]).expect_code(0);
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!(git_in(&yard.repository(), &["show", &format!("shuntyard/{id}:x.txt")]), "x");
}

#[test]
fn a_verify_command_that_is_not_there_costs_no_second_try_of_the_work() {
    let yard = Yard::new("no-verify");
    let trace = yard.env.root.join("trace");
    let command = format!("echo run >> {}; echo x > x.txt", trace.display());
    let id = yard.add(&["verify by nothing", "--command", &command, "--verify", "no-such-program --at-all"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "blocked", "{task:#}");
    assert!(task["reason"].as_str().expect("a reason").contains("no-such-program"), "{task:#}");
    let tries = task["attempts"].as_array().expect("tries");
    assert!(tries.len() > 1, "{task:#}");
    assert!(tries[..tries.len() - 1].iter().all(|one| one["failure_mode"] == "ENVIRONMENT"), "{task:#}");
    assert_eq!(std::fs::read_to_string(&trace).expect("the trace"), "run\n", "only the evaluation was tried again");
    assert_eq!(yard.kept(&id, "x.txt"), "x", "the work is kept");
}

#[test]
fn nothing_is_started_on_a_full_disk_and_nothing_is_lost() {
    let yard = Yard::new("full");
    let id = yard.add(&["later", "--command", "echo x > x.txt"]);
    let more = "999999999999";
    let full = yard.env.run_with(&[("SHUNTYARD_SUPERVISE_DISK_RESERVE_MIB", more)], &["pulse", "--json"]);
    full.expect_code(0);
    assert!(
        full.json()["held"].as_str().is_some_and(|held| held.contains("B are free") && held.ends_with(" PiB")),
        "{}",
        full.stdout
    );
    assert_eq!(yard.task(&id)["attempts"], serde_json::json!([]), "no claim was made");
    yard.settle();
    assert_eq!(yard.phase(&id), "done");
}

#[test]
fn a_repository_that_is_gone_is_said_and_its_task_kept() {
    let yard = Yard::new("gone");
    let id = yard.add(&["somewhere", "--command", "echo x > x.txt"]);
    let away = yard.env.root.join("moved");
    yard.as_user(|| {
        std::fs::rename(yard.repository(), &away).expect("moved");
        std::fs::create_dir_all(yard.repository()).expect("a directory");
    });
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "blocked", "{task:#}");
    assert!(task["reason"].as_str().expect("a reason").starts_with("repository:"), "{task:#}");
    std::fs::remove_dir_all(yard.repository()).expect("removed");
    std::fs::rename(&away, yard.repository()).expect("moved back");
    yard.env.run(&["task", "retry", &id]).expect_code(0);
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
}

#[test]
fn a_server_that_is_killed_in_the_middle_costs_no_try() {
    let yard = Yard::new("server");
    let steps = vec![
        shuntyard_scripted::Step::hang_mid_stream(),
        shuntyard_scripted::Step::tool("write", serde_json::json!({"filePath": "x.txt", "content": "x\n"})),
        shuntyard_scripted::Step::text("done"),
    ];
    let key = yard.env.provider.script("server", steps);
    let id = yard.add(&[&format!("write x.txt {key}"), "--model", "scripted/alpha"]);
    yard.pulse_until_asked(&key);
    let servers = yard.env.servers();
    let pid = servers[0]["keeper_pid"].as_i64().expect("a process");
    drop(std::process::Command::new("kill").args(["-9", &pid.to_string()]).output());
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    let tries = task["attempts"].as_array().expect("tries");
    assert!(tries.len() > 1, "{task:#}");
    assert!(tries[..tries.len() - 1].iter().all(|one| one["failure_mode"] == "ENVIRONMENT"), "{task:#}");
}
