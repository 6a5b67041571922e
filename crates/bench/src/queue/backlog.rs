//! What a long queue costs: one more task, one task from its claim to its end, and the supervisor's memory.

use super::{Ours, Pueue, ours::between};
use crate::{
    figures::{Limits, millis, quantile, show},
    process::status_megabytes,
};
use shuntyard_core::work::task::TaskId;
use shuntyard_testkit::eventually;
use std::{path::Path, time::Duration};

const FEW: usize = 100;
const MANY: usize = 100_000;
/// pueue takes longer for each one that is there already.
const MORE: usize = 1_000;
const RUNS: usize = 40;
const BATCH: &str = "waiting";
const PATIENCE: Duration = Duration::from_secs(20);

/// What was timed at one length of the queue.
#[derive(Debug, Default)]
struct Costs {
    add: Vec<Duration>,
    claim: Vec<Duration>,
    done: Vec<Duration>,
}

pub fn measure(program: &str, root: &Path, limits: &mut Limits) {
    println!("a queue of {FEW} and of {MANY}, {RUNS} each, alternating (p50)");
    let places = [("few", FEW), ("many", MANY)].map(|(name, tasks)| {
        let place = Ours::new(program, &root.join(name));
        place.paused_batch(BATCH, tasks, "true");
        place
    });
    let mut costs = [Costs::default(), Costs::default()];
    for _ in 0..RUNS {
        for (place, costs) in places.iter().zip(&mut costs) {
            costs.add.push(place.run(&["task", "add", "--in-place", "--command", "true", "--batch", BATCH]));
        }
    }
    let supervisors = places.each_ref().map(Ours::supervise);
    for number in 0..RUNS {
        for (place, costs) in places.iter().zip(&mut costs) {
            one(place, number, costs);
        }
    }
    let memory = status_megabytes(supervisors[1].id(), "VmHWM").expect("the supervisor runs");
    for (what, of) in [
        ("`task add`", (|costs| &costs.add) as fn(&Costs) -> &Vec<Duration>),
        ("from the queue to its claim", |costs| &costs.claim),
        ("from its claim to its end", |costs| &costs.done),
    ] {
        let [few, many] = costs.each_ref().map(|costs| millis(quantile(of(costs), 0.5)));
        show(&format!("{what} at {FEW}"), few, "ms");
        show(&format!("{what} at {MANY}"), many, "ms");
        limits.hold("  ratio", many / few, 1.5, "x");
    }
    limits.hold(&format!("resident memory of the supervisor at {MANY}, highest"), memory, 50.0, "MB");
}

/// One task beside those that wait, from its addition to its end.
fn one(place: &Ours, number: usize, costs: &mut Costs) {
    let name = format!("single-{number}");
    place.run(&["task", "add", "--in-place", "--command", "true", "--id", &name]);
    eventually("a single task to be done", PATIENCE, || place.done(None) == number as u64 + 1);
    let id: TaskId = name.parse().expect("an id");
    let [queued, claimed, done] = place.moments(&id, ["task.queued", "task.starting", "task.done"]);
    costs.claim.push(between(queued, claimed));
    costs.done.push(between(claimed, done));
}

pub fn measure_pueue(pueue: &Pueue) {
    let _daemon = pueue.start();
    pueue.run(&["pause"]);
    let add = || pueue.run(&["add", "--", "true"]);
    let middle = |until: usize, there: usize| {
        for _ in there..until {
            add();
        }
        millis(quantile(&(0..RUNS).map(|_| add()).collect::<Vec<_>>(), 0.5))
    };
    let few = middle(FEW, 0);
    let more = middle(MORE, FEW + RUNS);
    show(&format!("`pueue add` at {FEW}"), few, "ms");
    show(&format!("`pueue add` at {MORE}"), more, "ms");
    show("  ratio", more / few, "x");
}
