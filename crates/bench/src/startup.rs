//! How long the binary needs to do nothing, beside a program that is nothing.

use crate::figures::{Limits, millis, quantile};
use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const RUNS: usize = 200;

pub fn measure(program: &str, empty: &str, limits: &mut Limits) {
    let (mut ours, mut nothing) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        nothing.push(time(empty, &[]));
        ours.push(time(program, &["--version"]));
    }
    let (ours, nothing) = (quantile(&ours, 0.5), quantile(&nothing, 0.5));
    println!("start, {RUNS} runs each, alternating (p50)");
    println!("  an empty Rust program                                {:>8.2} ms", millis(nothing));
    println!("  switchyard --version                                 {:>8.2} ms", millis(ours));
    limits.hold("ratio", millis(ours) / millis(nothing), 3.0, "x");
}

fn time(program: &str, args: &[&str]) -> Duration {
    let began = Instant::now();
    let status =
        Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("it runs");
    assert!(status.success(), "{program} failed");
    began.elapsed()
}
