//! Whichever process is killed, and whenever: no item is lost, and none is done twice.

use crate::queue::{
    Place,
    place::{PATIENCE, any_alive, outcomes, text},
};
use shuntyard_host::{ProcessIdentity, Signal, tree::descendants};
use shuntyard_testkit::{eventually, rounds};
use std::{collections::BTreeMap, time::Instant};

/// A command that records itself, and ends when the file `go` is there.
fn waits(place: &Place) -> String {
    format!("{}; while [ ! -e {} ]; do sleep 0.05; done", place.records(), place.file("go").display())
}

fn let_go(place: &Place) {
    std::fs::write(place.file("go"), "").expect("written");
}

#[test]
fn a_command_outlives_its_supervisor() {
    let place = Place::new("kills-outlives");
    let supervisor = place.supervise();
    let ids = [0, 1].map(|_| place.add(&waits(&place), &[]));
    eventually("both to begin", PATIENCE, || place.ran().len() == 2);
    supervisor.kill();
    for id in &ids {
        // Only a process that still works on it lengthens its lease.
        let lease = place.lease_until(id);
        eventually("a sign of life", PATIENCE, || place.lease_until(id) > lease);
    }
    let_go(&place);
    // Their own processes write down how they ended: there is no supervisor.
    ids.iter().for_each(|id| place.wait_for_phase(id, "done"));
    place.expect_each_ran_once();
}

#[test]
fn a_command_in_place_whose_process_is_killed_is_blocked_and_not_repeated() {
    let place = Place::new("kills-blocked");
    let mut supervisor = place.supervise();
    let id = place.add(&waits(&place), &[]);
    eventually("it to begin", PATIENCE, || place.ran().len() == 1);
    let holder = place.holder(&id);
    let tree: Vec<ProcessIdentity> = std::iter::once(holder).chain(descendants(holder.pid)).collect();
    assert!(tree.len() > 1, "the command is below it");
    holder.signal(Signal::KILL);
    place.wait_for_phase(&id, "blocked");
    eventually("nothing of it to be left", PATIENCE, || !any_alive(&tree));
    assert!(supervisor.is_running());
    // The next one does not wait for it, and this one stays as it is.
    let next = place.add("true", &[]);
    place.wait_for_phase(&next, "done");
    assert_eq!((outcomes(&place.task(&id)), place.ran()), (vec!["lost".to_owned()], vec![id.clone()]));
    let_go(&place);
    place.env.run(&["task", "retry", &id]).expect_code(0);
    place.wait_for_phase(&id, "done");
    assert_eq!(place.ran().len(), 2, "a person said so");
}

#[test]
fn an_item_in_a_workspace_whose_process_is_killed_is_done_again_and_delivered_once() {
    let yard = crate::supervise::Yard::new("queue-again");
    let (ran, go) = (yard.env.root.join("ran"), yard.env.root.join("go"));
    let command = format!(
        "echo run >> {}; while [ ! -e {} ]; do sleep 0.05; done; echo work > work",
        ran.display(),
        go.display()
    );
    let id = yard.add(&["work", "--command", &command, "--deliver", "merge"]);
    let runs = || std::fs::read_to_string(&ran).unwrap_or_default().lines().count();
    yard.pulse_until("it to begin", || runs() == 1);
    let why = yard.env.run(&["task", "why", &id, "--json"]).expect_code(0).json();
    let holder = why["holder"]["pid"].as_u64().and_then(|pid| ProcessIdentity::of(u32::try_from(pid).ok()?));
    holder.expect("a process works on it").signal(Signal::KILL);
    yard.pulse_until("it to begin again", || runs() == 2);
    std::fs::write(&go, "").expect("written");
    yard.settle();
    assert_eq!((yard.phase(&id).as_str(), runs()), ("done", 2));
    assert_eq!(yard.git(&["show", "main:work"]), "work");
    let commits = yard.git(&["log", "--format=%s", "main"]);
    assert_eq!(commits.lines().filter(|subject| subject.starts_with(&format!("{id}:"))).count(), 1, "{commits}");
}

#[test]
fn any_process_may_die_at_any_time() {
    let place = Place::new("kills-any");
    let order = serde_json::json!({
        "command": format!("{}; sleep 0.05", place.records()), "in_place": true, "attempts": 1,
    });
    let orders = format!("{order}\n").repeat(20);
    let deadline = Instant::now() + PATIENCE * u32::try_from(rounds(7)).expect("a small number");
    let (mut killed, mut added, mut chance) = (0, 0, 0x2545_f491_4f6c_dd1d_u64);
    let mut seen: Vec<ProcessIdentity> = Vec::new();
    let mut supervisor = place.supervise();
    while killed < rounds(25) {
        assert!(Instant::now() < deadline, "after {killed} kills: {}", place.env.run(&["status"]).stdout);
        // There is always something to do, however fast the machine is.
        if place.count("queued") == 0 {
            place.env.run_with_input(&["task", "add", "--from", "-"], &orders).expect_code(0);
            added += 20;
        }
        if !supervisor.is_running() {
            supervisor = place.supervise();
        }
        let tree = supervisor.tree();
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Every fourth time the supervisor, otherwise one of those below it, if there is any by now.
        let chosen =
            if (chance >> 33).is_multiple_of(4) { 0..tree.len().min(1) } else { 1.min(tree.len())..tree.len() };
        let index = usize::try_from(chance >> 40).expect("a small number") % chosen.len().max(1);
        // A process that ended meanwhile does not count.
        killed += usize::from(tree[chosen].get(index).is_some_and(|process| process.signal(Signal::KILL)));
        seen.extend(tree);
    }
    supervisor.kill();
    place.settle();
    let mut runs: BTreeMap<String, usize> = BTreeMap::new();
    place.ran().into_iter().for_each(|id| *runs.entry(id).or_default() += 1);
    let tasks = place.tasks();
    assert_eq!(tasks.len(), added);
    for task in tasks {
        let (id, phase) = (text(&task["id"]), text(&task["phase"]));
        let ran = runs.get(&id).copied().unwrap_or_default();
        // The result of a killed command is unknown, so it is left to a person.
        let as_it_should = match phase.as_str() {
            "done" => ran == 1,
            "blocked" | "failed" => ran <= 1,
            _ => false,
        };
        assert!(as_it_should, "{id} is {phase} and ran {ran} times: {task:#}");
    }
    eventually("nothing to be left", PATIENCE, || !any_alive(&seen));
}

#[test]
fn after_everything_has_died_at_once_the_rest_is_done() {
    let place = Place::with("kills-all", "concurrency = 3\nmost = 3\nper_repository = 3\n");
    let supervisor = place.supervise();
    let begun = [0, 1, 2].map(|_| place.add(&waits(&place), &[]));
    eventually("three to begin", PATIENCE, || place.ran().len() == 3);
    let open = [0, 1, 2].map(|_| place.add(&place.records(), &[]));
    let tree = supervisor.tree();
    tree.iter().for_each(|process| {
        process.signal(Signal::KILL);
    });
    drop(supervisor);
    eventually("everything to be gone", PATIENCE, || !any_alive(&tree));
    let_go(&place);
    place.settle();
    assert!(begun.iter().all(|id| place.phase(id) == "blocked"), "{}", place.env.run(&["status"]).stdout);
    assert!(open.iter().all(|id| place.phase(id) == "done"), "{}", place.env.run(&["status"]).stdout);
    place.expect_each_ran_once();
}

#[test]
fn supervisors_that_die_one_after_the_other_lose_nothing() {
    let place = Place::new("kills-supervisors");
    let (mut deaths, mut added) = (0, 0);
    // There is always something to do until enough have died, however fast the machine is.
    while deaths < rounds(3) || place.count("done") < added {
        let before = place.count("done");
        if before == added {
            place.add_many(30, &place.records());
            added += 30;
        }
        let supervisor = place.supervise();
        eventually("some to be done", PATIENCE, || place.count("done") > before);
        supervisor.kill();
        deaths += 1;
    }
    place.expect_each_ran_once();
}
