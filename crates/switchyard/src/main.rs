//! The one binary: reads the command line, runs the command, and turns its result into output and an
//! exit code.

mod cli;
mod failure;
mod settings;
mod ui;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A guard is a tiny process of its own and must start before any thread or runtime exists.
    if let Some(result) = switchyard_host::guard::invoked(std::env::args_os().skip(1)) {
        return match result {
            Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
            Err(error) => {
                ui::complain(&error.to_string());
                ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1))
            }
        };
    }
    // A panic is a bug of ours, and has an exit code of its own.
    std::panic::catch_unwind(cli::main).unwrap_or_else(|_| {
        ui::complain("this is a bug in Switchyard; what is above tells where");
        ExitCode::from(70)
    })
}
