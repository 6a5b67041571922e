//! The command line: reads it, runs the command, and turns its result into output and an exit code.
//!
//! A library, because the compiler can work on it while the engine is still being compiled; a binary has to wait.

mod cli;
mod failure;
mod inside;
mod mcp;
mod pack;
mod settings;
mod ui;

use std::process::ExitCode;

#[must_use]
pub fn main() -> ExitCode {
    // A guard is a tiny process of its own and must start before any thread or runtime exists.
    if let Some(result) = shuntyard_host::guard::invoked(std::env::args_os().skip(1)) {
        return match result {
            Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
            Err(error) => {
                ui::complain(&error.to_string());
                ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1))
            }
        };
    }
    let command = command();
    start_log(command.as_deref());
    // A panic is a bug of ours, and has an exit code of its own.
    std::panic::catch_unwind(cli::main).unwrap_or_else(|_| {
        ui::complain("this is a bug in Shuntyard; what is above tells where");
        ExitCode::from(70)
    })
}

/// The program's log, off unless `SHUNTYARD_LOG` asks for it (`info`, or `shuntyard_agents=debug`). Keepers and workers
/// always have it: their standard error is a log. An MCP server's is often the screen of the agent that has started it,
/// where warnings are the most that may appear.
fn start_log(command: Option<&str>) {
    use tracing_subscriber::util::SubscriberInitExt as _;
    use tracing_subscriber::{
        Layer as _,
        filter::{LevelFilter, Targets},
        layer::SubscriberExt as _,
    };
    let (usual, most) = match command {
        Some("keeper" | "runner" | "work") => (Some("info"), LevelFilter::TRACE),
        Some("mcp") => (Some("warn"), LevelFilter::WARN),
        _ => (None, LevelFilter::TRACE),
    };
    let wanted = std::env::var("SHUNTYARD_LOG").ok().filter(|wanted| !wanted.is_empty());
    let Some(wanted) = wanted.as_deref().or(usual) else { return };
    let filter: Targets = wanted.parse().unwrap_or_else(|error| {
        ui::warn(&format!("SHUNTYARD_LOG={wanted} is no filter ({error}); logging at `info` instead"));
        Targets::new().with_default(LevelFilter::INFO)
    });
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(layer.with_filter(filter).with_filter(most)).init();
}

/// Which command is meant, as far as that is known before the command line is parsed.
fn command() -> Option<String> {
    let mut args = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    loop {
        let argument = args.next()?;
        match argument.as_str() {
            "--server" => drop(args.next()),
            flag if flag.starts_with('-') => {}
            _ => return Some(argument),
        }
    }
}
