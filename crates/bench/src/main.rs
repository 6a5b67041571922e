//! Measures Shuntyard beside the plain alternative, in one run on one machine, and prints ratios.
//!
//! Called by `scripts/bench` with the path of the release binary and of an empty Rust program, a scratch directory,
//! and the parts that are wanted.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a measurement that meets a surprise stops, and its result is what it prints"
)]

mod bare;
mod density;
mod dispatch;
mod figures;
mod handover;
mod learning;
mod many;
mod million;
mod process;
mod queue;
mod route;
mod startup;
mod workspace;

use shuntyard_testkit::TestEnv;
use std::process::ExitCode;

const PARTS: [&str; 10] =
    ["start", "route", "learning", "million", "dispatch", "many", "queue", "density", "handover", "workspace"];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|first| first == "bare").is_some() {
        bare::run_once();
        return ExitCode::SUCCESS;
    }
    let mut next = |what: &str| arguments.next().unwrap_or_else(|| panic!("{what} is missing: use scripts/bench"));
    let (program, empty, scratch) = (next("the binary"), next("the empty program"), next("a scratch directory"));
    let wanted: Vec<String> = arguments.collect();
    if let Some(unknown) = wanted.iter().find(|part| !PARTS.contains(&part.as_str())) {
        panic!("there is no part `{unknown}`; there are {}", PARTS.join(", "));
    }
    let wants = |part: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == part);
    let mut limits = figures::Limits::default();
    if wants("start") {
        startup::measure(&program, &empty, &mut limits);
    }
    if wants("route") {
        route::measure(&program, &scratch, &mut limits);
    }
    if wants("learning") {
        learning::measure(&mut limits);
    }
    if wants("million") {
        million::measure(&program, &scratch, &mut limits);
    }
    if wants("queue") {
        queue::measure(&program, &scratch, &mut limits);
    }
    if wants("density") {
        density::measure(&program, &scratch, &mut limits);
    }
    if wants("workspace") {
        workspace::measure(&scratch, &mut limits);
    }
    if wants("many") {
        let env = TestEnv::real("many", &program, &scratch);
        many::measure(&env, &mut limits);
        env.stop_servers();
    }
    if wants("handover") {
        let env = TestEnv::real("handover", &program, &scratch);
        handover::measure(&env, &mut limits);
        env.stop_servers();
    }
    if wants("dispatch") {
        let env = TestEnv::real("bench", &program, &scratch);
        dispatch::measure(&env, &mut limits);
        env.stop_servers();
    }
    limits.verdict()
}
