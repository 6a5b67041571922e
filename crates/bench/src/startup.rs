//! How long the binary needs to do nothing, beside a program that is nothing.

use crate::figures::{Limits, millis, quantile, show};
use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const RUNS: usize = 200;

pub fn measure(program: &str, empty: &str, limits: &mut Limits) {
    let (mut ours, mut nothing) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        nothing.push(time(&mut Command::new(empty)));
        ours.push(time(Command::new(program).arg("--version")));
    }
    let (ours, nothing) = (quantile(&ours, 0.5), quantile(&nothing, 0.5));
    println!("start, {RUNS} runs each, alternating (p50)");
    show("an empty Rust program", millis(nothing), "ms");
    show("shuntyard --version", millis(ours), "ms");
    limits.hold("ratio", millis(ours) / millis(nothing), 2.0, "x");
}

/// The whole life of a process whose output is discarded.
pub fn time(command: &mut Command) -> Duration {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status().expect("it runs");
    let took = began.elapsed();
    assert!(status.success(), "{command:?} failed");
    took
}
