//! Workers that stand by for commands in place, and go on with the next one by themselves: whoever dies, no task is
//! lost, none runs twice, no limit is passed, and nothing is left behind.

use crate::supervise::{Yard, yard::is_written};
use serde_json::{Value, json};
use shuntyard_testkit::{environment::finish, eventually, rounds};
use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

const FOUR: &str = "concurrency = 4\nmost = 4\nper_repository = 4\n";

/// A supervisor that is killed at the end of the test.
struct Supervisor(Child);

impl Drop for Supervisor {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn supervise(yard: &Yard) -> Supervisor {
    Supervisor(yard.env.spawn(&["supervise"]))
}

/// Adds so many tasks with the same command in place.
fn add(yard: &Yard, count: usize, command: &str) {
    let orders: String = (0..count).map(|_| format!("{}\n", json!({"command": command, "in_place": true}))).collect();
    yard.env.run_with_input(&["task", "add", "--from", "-"], &orders).expect_code(0);
}

fn in_phase(yard: &Yard, phase: &str) -> usize {
    let listed = yard.env.run(&["task", "list", "--phase", phase, "--limit", "1000", "--json"]).json();
    listed["tasks"].as_array().map_or(0, Vec::len)
}

fn kill(pid: u32) {
    drop(Command::new("kill").args(["-9", &pid.to_string()]).output());
}

/// Workers that stand by, and their guards, by their arguments.
fn crew(yard: &Yard) -> (Vec<u32>, Vec<u32>) {
    let is_guarded = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).split('\0').any(|word| word == "--guarded")
    };
    yard.workers().into_iter().partition(is_guarded)
}

fn trace(yard: &Yard) -> PathBuf {
    yard.env.root.join("trace")
}

/// Says its name, once for each time that it runs.
fn says_its_name(yard: &Yard) -> String {
    format!("echo $SHUNTYARD_TASK >> {}", trace(yard).display())
}

fn each_ran_once(yard: &Yard, count: usize) {
    let said = std::fs::read_to_string(trace(yard)).expect("the trace");
    let mut names: Vec<&str> = said.lines().collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!((all, names.len()), (count, count), "{said}");
}

fn outcomes(task: &Value) -> Vec<String> {
    let tries = task["attempts"].as_array().expect("tries").iter();
    tries.map(|one| one["outcome"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_worker_goes_on_with_the_next_and_all_end_with_their_supervisor() {
    let yard = Yard::with("crew", FOUR);
    add(&yard, 60, &says_its_name(&yard));
    let supervisor = supervise(&yard);
    eventually("all to be done", Duration::from_secs(60), || in_phase(&yard, "done") == 60);
    each_ran_once(&yard, 60);
    // On a busy machine a pass also starts processes for single tasks; those end with their task.
    let size = || {
        let (workers, guards) = crew(&yard);
        (workers.len(), guards.len())
    };
    eventually("only the four that stand by to be left", Duration::from_secs(20), || size() == (4, 4));
    drop(supervisor);
    eventually("those who stood by to be gone", Duration::from_secs(20), || yard.leftovers().is_empty());
}

#[test]
fn death_at_every_place_of_a_command_in_place_loses_nothing_and_repeats_nothing() {
    let yard = Yard::new("crew-places");
    // Nobody knows what became of a command whose worker died while it ran.
    let places = [
        ("claim", "done"),
        ("claimed", "done"),
        ("spawned", "done"),
        ("standby", "done"),
        ("start", "done"),
        ("placed", "blocked"),
        ("work", "blocked"),
        ("worked", "done"),
        ("judge", "done"),
        ("judged", "done"),
        ("between", "done"),
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
        // Either may be the one that was at it.
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
fn whoever_is_killed_while_standing_by_is_missed_by_nobody() {
    let yard = Yard::with("crew-spare", FOUR);
    let _supervisor = supervise(&yard);
    let mut count = 0;
    let mut next = || {
        count += 1;
        add(&yard, 1, &says_its_name(&yard));
        eventually("it to be done", Duration::from_secs(30), || in_phase(&yard, "done") == count);
    };
    next();
    for kill_guards in [false, true, false] {
        let (workers, guards) = crew(&yard);
        let dying = if kill_guards { guards } else { workers };
        assert!(!dying.is_empty(), "somebody stands by");
        dying.iter().copied().for_each(kill);
        next();
    }
    each_ran_once(&yard, 4);
}

#[test]
fn one_that_dies_after_it_has_claimed_for_itself_leaves_the_task_to_a_person() {
    let yard = Yard::with("crew-begun", FOUR);
    let marker = yard.env.root.join("died");
    let fault = format!("begun@{}", marker.display());
    let mut command = yard.env.command(&["supervise"]);
    command.env("SHUNTYARD_FAULT", &fault).stdout(Stdio::null()).stderr(Stdio::null());
    let _supervisor = Supervisor(command.spawn().expect("it starts"));
    let add = || yard.add(&["--in-place", "--command", &says_its_name(&yard)]);
    let ended = |id: &str| {
        eventually("it to end", Duration::from_secs(30), || ["done", "blocked"].contains(&yard.phase(id).as_str()));
        yard.phase(id)
    };
    // The first has nobody who stands by yet, and a pass may come just when another is added: those are claimed for
    // somebody.
    let mut done = 0;
    let lost = loop {
        let id = add();
        if ended(&id) == "blocked" {
            break id;
        }
        done += 1;
        assert!(done < 20, "nobody claims by itself");
    };
    assert!(marker.exists(), "it was claimed by the worker itself");
    assert_eq!(outcomes(&yard.task(&lost)), ["lost"]);
    assert_eq!(ended(&add()), "done");
    each_ran_once(&yard, done + 1);
}

#[test]
fn what_is_not_for_a_crew_is_begun_although_the_crew_looked_first() {
    let yard = Yard::with("crew-other", FOUR);
    let _supervisor = supervise(&yard);
    let command = says_its_name(&yard);
    let in_place = yard.add(&["--in-place", "--command", &command]);
    yard.wait_for_phase(&in_place, "done");
    // A command in a worktree has a worker of its own.
    let alone = yard.add(&["--command", &format!("{command}; echo x > x.txt")]);
    yard.wait_for_phase(&alone, "done");
    let claims = yard.task(&alone)["attempts"].as_array().map(Vec::len);
    assert_eq!(claims, Some(1));
    each_ran_once(&yard, 2);
}

#[test]
fn a_supervisor_that_dies_while_its_crew_works_loses_nothing() {
    let yard = Yard::with("crew-death", FOUR);
    let wanted = rounds(3);
    let (mut deaths, mut added) = (0, 0);
    // There is always something to do until enough have died, however fast the machine is.
    while deaths < wanted || in_phase(&yard, "done") < added {
        let before = in_phase(&yard, "done");
        if before == added {
            add(&yard, 50, &says_its_name(&yard));
            added += 50;
        }
        let supervisor = supervise(&yard);
        eventually("some to be done", Duration::from_secs(30), || in_phase(&yard, "done") > before);
        drop(supervisor);
        deaths += 1;
        // Nobody claims for one that is gone: what is left is left.
        eventually("its crew to be gone", Duration::from_secs(20), || yard.leftovers().is_empty());
    }
    each_ran_once(&yard, added);
}

#[test]
fn ten_passes_beside_a_crew_never_exceed_a_limit() {
    let yard = Yard::with("crew-passes", "concurrency = 3\nmost = 3\nper_repository = 3\n");
    let here = yard.env.root.join("here");
    std::fs::create_dir_all(&here).expect("a directory");
    let command = format!(
        "touch {0}/$SHUNTYARD_TASK; ls {0} | wc -l >> {0}.log; sleep 0.05; rm {0}/$SHUNTYARD_TASK",
        here.display()
    );
    add(&yard, 60, &command);
    let _supervisors = [supervise(&yard), supervise(&yard)];
    eventually("all to be done", Duration::from_secs(90), || {
        let passes: Vec<_> = (0..10).map(|_| yard.env.spawn(&["pulse"])).collect();
        for pass in passes {
            finish(pass).expect_code(0);
        }
        in_phase(&yard, "done") == 60
    });
    let seen = std::fs::read_to_string(here.with_extension("log")).expect("the trace");
    let most = seen.lines().filter_map(|line| line.trim().parse::<u32>().ok()).max();
    assert!(most.is_some_and(|most| most <= 3), "{seen}");
    assert_eq!(seen.lines().count(), 60, "each ran once: {seen}");
}

#[test]
fn what_a_command_leaves_running_is_ended_with_it() {
    let yard = Yard::with("crew-left", FOUR);
    let _supervisor = supervise(&yard);
    let left = yard.env.root.join("left");
    // Out of its session, so that only the process table knows whose it was.
    let up = format!("while [ ! -s {} ]; do :; done", left.display());
    let command = format!("setsid sh -c 'echo $$ > {}; exec sleep 300' & {up}", left.display());
    add(&yard, 1, &command);
    eventually("it to be done", Duration::from_secs(30), || in_phase(&yard, "done") == 1);
    let pid = std::fs::read_to_string(&left).expect("its number");
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists(), "{pid} is still there");
}

#[test]
fn whoever_says_nothing_leaves_no_files_and_words_are_in_the_log_of_their_own_task() {
    let mut yard = Yard::with("crew-logs", FOUR);
    for (first, logs) in [(1, vec!["2.out"]), (3, vec!["3.log", "4.log", "4.out"])] {
        if first == 3 {
            // Then the workers have something to say about each task.
            yard.env.set("SHUNTYARD_LOG", "trace");
        }
        let supervisor = supervise(&yard);
        for (number, command) in [(first, "true"), (first + 1, "echo so it is")] {
            add(&yard, 1, command);
            yard.wait_for_phase(&format!("t00{number}"), "done");
        }
        drop(supervisor);
        let mut found: Vec<String> = [first, first + 1].into_iter().flat_map(|number| logs_of(&yard, number)).collect();
        found.sort_unstable();
        assert_eq!(found, logs);
    }
}

/// The logs of a task by the number of that and their kind. Nothing in them is about another one.
fn logs_of(yard: &Yard, number: u32) -> Vec<String> {
    let files =
        std::fs::read_dir(yard.env.data_dir().join(format!("tasks/t00{number}"))).into_iter().flatten().flatten();
    let logs = files.map(|file| {
        let (path, said) = (file.path(), std::fs::read_to_string(file.path()).expect("a log"));
        let kind = path.extension().expect("a kind").to_string_lossy().into_owned();
        let others = (1..=4).filter(|other| *other != number);
        assert!(!said.is_empty() && !others.into_iter().any(|other| said.contains(&format!("t00{other}"))), "{said}");
        assert!(kind == "log" || said == "so it is\n", "{said}");
        format!("{number}.{kind}")
    });
    logs.collect()
}

#[test]
fn a_command_that_is_cancelled_ends_and_the_next_is_done() {
    let yard = Yard::with("crew-cancel", "concurrency = 1\nmost = 1\n");
    let _supervisor = supervise(&yard);
    let long = yard.add(&["--in-place", "--command", &format!("{}; sleep 300", says_its_name(&yard))]);
    eventually("it to begin", Duration::from_secs(30), || is_written(&trace(&yard)));
    let next = yard.add(&["--in-place", "--command", "true"]);
    yard.env.run(&["task", "cancel", &long]).expect_code(0);
    yard.wait_for_phase(&long, "cancelled");
    yard.wait_for_phase(&next, "done");
    eventually("the sleeper to be gone", Duration::from_secs(20), || {
        let marked = |pid: &u32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&format!("SHUNTYARD_TASK={long}"))
        };
        !yard.leftovers().iter().any(marked)
    });
}

#[test]
fn a_command_whose_worker_or_guard_is_killed_is_ended_and_left_to_a_person() {
    let yard = Yard::with("crew-killed", FOUR);
    let _supervisor = supervise(&yard);
    for kill_guards in [false, true] {
        drop(std::fs::remove_file(trace(&yard)));
        let id = yard.add(&["--in-place", "--command", &format!("{}; sleep 300", says_its_name(&yard))]);
        eventually("it to begin", Duration::from_secs(30), || is_written(&trace(&yard)));
        let (workers, guards) = crew(&yard);
        (if kill_guards { guards } else { workers }).into_iter().for_each(kill);
        yard.wait_for_phase(&id, "blocked");
        let task = yard.task(&id);
        assert_eq!(outcomes(&task), ["lost"], "{task:#}");
        eventually("its processes to be gone", Duration::from_secs(20), || {
            let (workers, guards) = crew(&yard);
            yard.leftovers().iter().all(|pid| workers.contains(pid) || guards.contains(pid))
        });
    }
}
