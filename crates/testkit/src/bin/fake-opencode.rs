//! A fast substitute for the `opencode` program, for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    ExitCode::from(shuntyard_testkit::fake_opencode::process::main(&arguments))
}
