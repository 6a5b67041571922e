//! Tasks that do nothing, four at once: how many are done in a second, and how long a claim waits for its worker.

use super::{Ours, Pueue, ours::between};
use crate::figures::{Limits, millis, quantile, show};
use std::time::Duration;
use switchyard_host::clock::now_micros;
use switchyard_testkit::eventually;

const TASKS: u32 = 200;
const BATCH: &str = "load";
const PATIENCE: Duration = Duration::from_secs(100);

/// Both have all tasks queued and held back, and are timed from the command that lets them go to the end of the last.
pub fn measure(ours: &Ours, pueue: &Pueue, limits: &mut Limits) {
    println!("{TASKS} queued tasks that do nothing, four at once");
    let theirs = f64::from(TASKS) / pueues(pueue).as_secs_f64();
    let own = f64::from(TASKS) / ourselves(ours, limits).as_secs_f64();
    show("pueue", theirs, "/s");
    show("switchyard", own, "/s");
    limits.hold_least("ratio", own / theirs, 10.0, "x");
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
        // To be asked costs it something.
        std::thread::sleep(Duration::from_millis(500));
        ended = pueue.ended();
        ended.is_some()
    });
    between(began, ended.unwrap_or_default())
}

fn ourselves(ours: &Ours, limits: &mut Limits) -> Duration {
    ours.paused_batch(BATCH, TASKS as usize);
    let began = now_micros();
    ours.run(&["batch", "resume", BATCH]);
    eventually("the tasks to be done", PATIENCE, || {
        std::thread::sleep(Duration::from_millis(100));
        ours.done(Some(BATCH)) == u64::from(TASKS)
    });
    let tasks = ours.tasks(BATCH, TASKS);
    // The worker's own report is the first that is seen of it: the process itself was there earlier.
    let starts: Vec<Duration> = tasks
        .iter()
        .map(|record| {
            let [claimed, running] = ours.moments(&record.task.id, ["task.starting", "task.running"]);
            between(claimed, running)
        })
        .collect();
    show("from a claim to its worker's report (p50)", millis(quantile(&starts, 0.5)), "ms");
    limits.hold("from a claim to its worker's report (p99)", millis(quantile(&starts, 0.99)), 20.0, "ms");
    between(began, tasks.iter().map(|record| record.task.changed_at).max().unwrap_or_default())
}
