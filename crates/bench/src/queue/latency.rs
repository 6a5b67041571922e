//! From the start of `add` to the start of the command itself, on an idle queue. The command records when it started.

use super::{Ours, Pueue};
use crate::figures::{Limits, fraction_of, show};
use shuntyard_testkit::eventually;
use std::{
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

const RUNS: u64 = 40;
const PATIENCE: Duration = Duration::from_secs(20);

/// One start, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Start {
    after_add_began: f64,
    /// Below zero when the command was faster than the end of `add`.
    after_add_ended: f64,
}

pub fn measure(ours: &Ours, pueue: &Pueue, stamps: &Path, limits: &mut Limits) {
    std::fs::create_dir_all(stamps).expect("a directory");
    let (mut own, mut queued, mut immediate) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..RUNS {
        // pueue polls its queue every 300 ms: the adds come at every place in between.
        let rest = Duration::from_millis(250 + number * 73 % 300);
        let stamp = |name: &str| stamps.join(format!("{name}-{number}"));
        std::thread::sleep(rest);
        own.push(start(&stamp("ours"), |command| ours.run(&["task", "add", "--in-place", "--command", command])));
        std::thread::sleep(rest);
        queued.push(start(&stamp("queued"), |command| pueue.run(&["add", "--", command])));
        std::thread::sleep(rest);
        immediate.push(start(&stamp("immediate"), |command| pueue.run(&["add", "--immediate", "--", command])));
    }
    println!("from `add` to the start of its command on an idle queue, {RUNS} each, alternating with rests (p50)");
    let whole = told("shuntyard", &own);
    let queued = told("pueue", &queued);
    told("pueue --immediate, past its queue and its limits", &immediate);
    limits.hold_least("ratio", queued / whole, 10.0, "x");
}

/// Prints the middle of the starts, and returns it.
fn told(name: &str, starts: &[Start]) -> f64 {
    let middle = |of: fn(&Start) -> f64| fraction_of(&starts.iter().map(of).collect::<Vec<_>>(), 0.5);
    let whole = middle(|start| start.after_add_began);
    show(name, whole, "ms");
    show("  of that after `add` had ended", middle(|start| start.after_add_ended), "ms");
    whole
}

fn start(stamp: &Path, add: impl FnOnce(&str) -> Duration) -> Start {
    let began = SystemTime::now();
    let took = add(&format!("date +%s%N > '{}'", stamp.display()));
    let mut started = None;
    eventually("a task to start", PATIENCE, || {
        // A number without its line end is not all there yet.
        let text = std::fs::read_to_string(stamp).unwrap_or_default();
        started = text.strip_suffix('\n').and_then(|nanoseconds| nanoseconds.parse().ok());
        started.is_some()
    });
    let began = began.duration_since(UNIX_EPOCH).expect("a clock").as_secs_f64() * 1000.0;
    let after_add_began = started.unwrap_or(u64::MAX) as f64 / 1_000_000.0 - began;
    Start { after_add_began, after_add_ended: after_add_began - took.as_secs_f64() * 1000.0 }
}
