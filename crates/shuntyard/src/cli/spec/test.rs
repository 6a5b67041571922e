//! `shuntyard spec test`: runs the project's tests by the commands of the configuration or of `.ai/context.md`.

use super::Where;
use crate::{
    cli::{Global, input},
    failure::{Exit, Failure},
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_core::values::clean;
use shuntyard_engine::roles::spec::{Tested, run_test, testing};
use std::process::ExitCode;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shuntyard spec test
  shuntyard spec test --dry-run

The commands are `verify` of [repository.\"PATH\"] in your configuration, or else those below `## Test Setup` of
.ai/context.md: the first fenced block, or the first command in back-ticks. It ends with the first that is red.")]
pub struct TestArgs {
    #[command(flatten)]
    at: Where,
    /// Only show the commands
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(global: &Global, args: &TestArgs) -> Result<ExitCode, Failure> {
    let (place, _) = args.at.place()?;
    let context = global.context().await?;
    let Some(found) = testing(&context, &place) else {
        return Err(Failure::usage(
            "nothing says how the tests of this project are run",
            "write it below `## Test Setup` of .ai/context.md, as a line like: - All tests: `cargo test`",
        ));
    };
    let format = global.format();
    let mut tested: Vec<Tested> = Vec::new();
    for command in &found.commands {
        if format == Format::People {
            ui::frame(&format!("{} (from {})", clean(command), found.source.as_str()));
        }
        if args.dry_run {
            continue;
        }
        let (context, place, command) = (context.clone(), place.clone(), command.clone());
        let ran = input::in_thread(move || {
            run_test(&context, &place, &command)
                .map_err(|problem| Failure::unavailable("host", problem, "look at the data directory"))
        })
        .await?;
        let green = ran.is_green();
        if format == Format::People {
            show(&ran);
        }
        tested.push(ran);
        if !green {
            break;
        }
    }
    let ok = tested.iter().all(Tested::is_green);
    if format == Format::Json {
        let commands = &found.commands;
        ui::json(&json!({"ok": ok, "source": found.source, "commands": commands, "results": tested}));
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(Exit::Work as u8) })
}

fn show(tested: &Tested) {
    ui::result(&clean(tested.tail.trim_end()));
    match (tested.exit, tested.timed_out) {
        (Some(code), _) => ui::result(&format!("exit {code}")),
        (None, true) => ui::result("it took too long and was ended"),
        (None, false) => ui::result("a signal ended it"),
    }
}
