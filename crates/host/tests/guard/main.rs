//! The promises of the guard, and of the checks that run under it, each with real processes.
//!
//! The guard must be a program that calls `guard::invoked`, and a library has none. So this test binary has its own
//! `main`: by its first argument it is a guard, an owner or a sweeper, and otherwise it runs the tests.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it reports its tests as the standard harness does")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at the first surprise")]

mod checks;
mod promises;
mod roles;
mod scene;

use std::ffi::OsString;
use std::panic::catch_unwind;
use std::process::exit;
use std::time::Instant;

fn main() {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(result) = shuntyard_host::guard::invoked(args.clone()) {
        exit(result.unwrap_or_else(|error| {
            eprintln!("{error}");
            error.exit_code()
        }));
    }
    if let Some(code) = roles::played(&args) {
        exit(code);
    }
    let args: Vec<String> = args.into_iter().map(|arg| arg.into_string().expect("arguments are text")).collect();
    exit(run(&args));
}

fn run(args: &[String]) -> i32 {
    let has = |option: &str| args.iter().any(|arg| arg == option);
    // None of these tests is marked as ignored.
    let all = if has("--ignored") { Vec::new() } else { [promises::ALL, checks::ALL].concat() };
    // What follows one of these is its value and no filter.
    const VALUED: [&str; 4] = ["--test-threads", "--format", "--color", "-Z"];
    let is_value = |index: usize| index > 0 && VALUED.contains(&args[index - 1].as_str());
    let filters: Vec<&String> = (0..args.len())
        .filter(|index| !is_value(*index) && !args[*index].starts_with('-'))
        .map(|index| &args[index])
        .collect();
    let matches = |name: &str| {
        let one = |filter: &&String| if has("--exact") { name == **filter } else { name.contains(filter.as_str()) };
        filters.is_empty() || filters.iter().any(one)
    };
    let chosen: Vec<_> = all.iter().filter(|(name, _)| matches(name)).collect();
    if has("--list") {
        chosen.iter().for_each(|(name, _)| println!("{name}: test"));
        return 0;
    }
    println!("\nrunning {} tests", chosen.len());
    let count = chosen.len();
    let mut failed = 0;
    for (name, test) in chosen {
        let began = Instant::now();
        let outcome = if catch_unwind(test).is_ok() { "ok" } else { "FAILED" };
        failed += usize::from(outcome != "ok");
        println!("test {name} ... {outcome} <{:.3}s>", began.elapsed().as_secs_f64());
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {result}. {} passed; {failed} failed\n", count - failed);
    i32::from(failed > 0)
}
