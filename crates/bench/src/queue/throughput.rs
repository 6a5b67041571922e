//! Tasks that do nothing, four at once: how many are done in a second, what one costs, and how long a claim waits for
//! its command.

use super::{Ours, Pueue, ours::between};
use crate::{
    figures::{Limits, millis, quantile, show},
    process::processor_time_of_tree,
};
use shuntyard_host::clock::now_micros;
use shuntyard_testkit::eventually;
use std::time::Duration;

const TASKS: u32 = 200;
/// So many that the slowest hundredth is more than one or two.
const STAMPS: u32 = 1000;
const BATCH: &str = "load";
const STAMPED: &str = "stamped";
const PATIENCE: Duration = Duration::from_secs(100);

/// Both have all tasks queued and held back, and are timed from the command that lets them go to the end of the last.
pub fn measure(ours: &Ours, pueue: &Pueue, supervisor: u32, limits: &mut Limits) {
    println!("{TASKS} queued tasks that do nothing, four at once");
    let theirs = f64::from(TASKS) / pueues(pueue).as_secs_f64();
    let before = processor_time_of_tree(supervisor);
    let own = f64::from(TASKS) / ourselves(ours, BATCH, TASKS, "true").as_secs_f64();
    let spent = processor_time_of_tree(supervisor).saturating_sub(before);
    show("pueue", theirs, "/s");
    show("shuntyard", own, "/s");
    limits.hold_least("ratio", own / theirs, 10.0, "x");
    show("processor time of ours for each", millis(spent) / f64::from(TASKS), "ms");
    spawns(ours, limits);
}

/// The command itself records when it ran, so its shell's start and its own are in the figure as well.
fn spawns(ours: &Ours, limits: &mut Limits) {
    ourselves(ours, STAMPED, STAMPS, "date +%s%N");
    let starts: Vec<Duration> = ours
        .tasks(STAMPED, STAMPS)
        .iter()
        .map(|record| {
            let [claimed] = ours.moments(&record.task.id, ["task.starting"]);
            let said = ours.output(&record.task);
            let ran: i64 = said.trim().parse().unwrap_or_else(|_| panic!("a moment: {said:?}"));
            between(claimed, ran / 1000)
        })
        .collect();
    println!("{STAMPS} that say when they ran, four at once");
    show("from a claim to the run of its command (p50)", millis(quantile(&starts, 0.5)), "ms");
    limits.hold("from a claim to the run of its command (p99)", millis(quantile(&starts, 0.99)), 20.0, "ms");
}

fn pueues(pueue: &Pueue) -> Duration {
    pueue.run(&["clean"]);
    pueue.run(&["pause"]);
    for _ in 0..TASKS {
        pueue.run(&["add", "--", "true"]);
    }
    let began = now_micros();
    pueue.run(&["start"]);
    let mut ended = None;
    eventually("pueue to be done", PATIENCE, || {
        // A status call costs it something.
        std::thread::sleep(Duration::from_millis(500));
        ended = pueue.ended();
        ended.is_some()
    });
    between(began, ended.unwrap_or_default())
}

fn ourselves(ours: &Ours, batch: &str, tasks: u32, command: &str) -> Duration {
    ours.paused_batch(batch, tasks as usize, command);
    let began = now_micros();
    ours.run(&["batch", "resume", batch]);
    eventually("the tasks to be done", PATIENCE, || {
        std::thread::sleep(Duration::from_millis(100));
        ours.done(Some(batch)) == u64::from(tasks)
    });
    let ended = ours.tasks(batch, tasks);
    between(began, ended.iter().map(|record| record.task.changed_at).max().unwrap_or_default())
}
