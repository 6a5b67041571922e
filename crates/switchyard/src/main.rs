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
    start_log();
    // A panic is a bug of ours, and has an exit code of its own.
    std::panic::catch_unwind(cli::main).unwrap_or_else(|_| {
        ui::complain("this is a bug in Switchyard; what is above tells where");
        ExitCode::from(70)
    })
}

/// Talk of the program about itself, off unless `SWITCHYARD_LOG` asks for it (`info`, or `switchyard_agents=debug`).
/// Keepers and workers always have it: their standard error is a log.
fn start_log() {
    use tracing_subscriber::EnvFilter;
    let logging = std::env::args_os().nth(1).is_some_and(|command| command == "keeper" || command == "work");
    let wanted = std::env::var("SWITCHYARD_LOG").ok().filter(|wanted| !wanted.is_empty());
    let Some(wanted) = wanted.or_else(|| logging.then(|| "info".to_owned())) else { return };
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
}
