//! The command line: what there is, and which file runs it.

mod agents;
mod batch;
mod batches;
mod budget;
mod complete;
mod config;
mod council;
mod csv;
mod demo;
mod dispatch;
mod doctor;
mod events;
mod fallback;
mod history;
mod input;
mod keeper;
mod later;
mod man;
mod mcp;
mod memory;
pub mod models;
mod moment;
mod opencode;
mod overview;
mod pack;
pub mod patterns;
mod preview;
mod progress;
mod providers;
mod prune;
mod release;
mod report;
mod review;
pub mod route;
mod runner;
mod scripted;
mod selection;
mod service;
mod spec;
mod status;
mod supervise;
mod tables;
mod task;
mod work;
mod worker;

use crate::{
    failure::Failure,
    settings::{Overrides, Settings},
    ui::{self, Format},
};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use later::Later;
use shuntyard_engine::Context;
use std::{pin::Pin, process::ExitCode};

/// Sends work to the right AI model through OpenCode, and sees it through.
#[derive(Debug, Parser)]
#[command(name = "shuntyard", version, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    json: bool,
    /// Use an OpenCode server that already runs (its password: SHUNTYARD_OPENCODE_PASSWORD)
    #[arg(long, global = true, value_name = "URL")]
    server: Option<String>,
}

impl Global {
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::People }
    }

    pub fn settings(&self) -> Result<Settings, Failure> {
        Settings::load(&self.overrides())
    }

    pub fn overrides(&self) -> Overrides {
        Overrides { server: self.server.clone() }
    }

    pub async fn context(&self) -> Result<Context, Failure> {
        self.settings()?.into_context().await
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the whole thing with no keys: the real OpenCode, a scripted model, a scratch repository
    Demo,
    /// Send a prompt to a model and print its answer
    Dispatch(Later<Box<dispatch::DispatchArgs>>),
    /// Let several models answer in rounds, seeing each other, and put it together
    Council(Later<council::CouncilArgs>),
    /// Let several models review a change, and an agent fix it with --loop
    Review(Later<review::ReviewArgs>),
    /// Check the installation, and print the command that fixes each problem
    Doctor(Later<doctor::DoctorArgs>),
    /// List the task types and the tier that each goes to
    TaskTypes,
    /// List the tiers and their models, in the order in which they are tried
    Tiers,
    /// List the tags, the profiles that use them, and how each chooses
    Tags,
    /// Decide which model a task would go to, and show why; nothing is dispatched
    Route(Later<route::RouteArgs>),
    /// List the models that you have
    Models(Later<models::ModelsArgs>),
    /// List the providers that you have, or check whether they answer
    Providers(Later<providers::ProvidersArgs>),
    /// Show what would be asked when a model of a tier fails
    Fallback(Later<fallback::FallbackArgs>),
    /// Limits on money and allowances, how far they are used, and what was spent
    #[command(subcommand)]
    Budget(Later<budget::BudgetCommand>),
    /// What outcomes have taught: which tier and model does which kind of task well
    #[command(subcommand)]
    Patterns(Later<patterns::PatternsCommand>),
    /// Work that is queued: add it, look at it, stop it, try it again
    #[command(subcommand)]
    Task(Later<task::TaskCommand>),
    /// Tasks that are limited, paused and cancelled together
    #[command(subcommand)]
    Batch(Later<batches::BatchCommand>),
    /// Show how the tasks stand: what runs, what does not and why
    Status(Later<status::StatusArgs>),
    /// Report what became of the tasks in the last hours, and what all of it cost
    Report(Later<report::ReportArgs>),
    /// Show the dispatches of all commands and tasks, the newest first
    History(Later<history::HistoryArgs>),
    /// Take a task from a worker that hangs, and put it back: exit 3 when it shows signs of life
    Release(Later<release::ReleaseArgs>),
    /// Remove logs of tasks that are over, and workspaces of cancelled ones
    Prune(Later<prune::PruneArgs>),
    /// See queued tasks through until it is stopped: start, watch, judge, hand over
    Supervise(Later<supervise::SuperviseArgs>),
    /// Do one pass of the supervisor and end
    Pulse(Later<supervise::PulseArgs>),
    /// Offer this to other agents as an MCP server: hand work over, ask after it, ask other models
    Mcp(Later<mcp::McpArgs>),
    /// Have the system see tasks through by itself: systemd, cron or launchd
    #[command(subcommand)]
    Service(Later<service::ServiceCommand>),
    /// OpenCode's agents here, and models for groups of them
    #[command(subcommand)]
    Agents(Later<agents::AgentsCommand>),
    /// The workflow pack: agents and commands for OpenCode
    #[command(subcommand)]
    Pack(Later<pack::PackCommand>),
    /// Task specs, reports and handoffs of the workflow pack, below .ai/tasks
    #[command(subcommand)]
    Spec(Later<spec::SpecCommand>),
    /// The managed OpenCode: its install and its servers
    #[command(subcommand)]
    Opencode(Later<opencode::OpencodeCommand>),
    /// Show what the managed servers use
    Memory,
    /// Show which servers were ended for their memory or their health
    RespawnHistory(Later<memory::HistoryArgs>),
    /// Show what has changed, from any position on, and as it happens
    Events(Later<events::EventsArgs>),
    /// Workers that live on: who works with which model, and changing it
    #[command(subcommand)]
    Worker(Later<worker::WorkerCommand>),
    /// The configuration in force
    #[command(subcommand)]
    Config(Later<config::ConfigCommand>),
    /// Print the completion script of a shell
    Completions(Later<complete::CompletionsArgs>),
    /// Write the manual pages into a directory
    Man(Later<man::ManArgs>),
    /// Own one managed server (started by shuntyard itself)
    #[command(hide = true)]
    Keeper { order: String },
    /// Execute one claim of a task (started by shuntyard itself)
    #[command(hide = true)]
    Work(Later<work::WorkArgs>),
    /// Execute jobs (started by shuntyard itself)
    #[command(hide = true)]
    Runner { store: std::path::PathBuf },
    /// Serve scripted answers as an OpenAI-compatible provider, for trying things out
    #[command(hide = true)]
    Scripted(Later<scripted::ScriptedArgs>),
}

/// What `--version` prints. Scripts ask for it often, and it needs no description of all commands.
const VERSION: &str = concat!("shuntyard ", env!("CARGO_PKG_VERSION"));

/// Parses, runs, reports. The exit code is the documented one.
pub fn main() -> ExitCode {
    if std::env::args_os().len() == 2 && std::env::args_os().skip(1).all(|flag| flag == "--version" || flag == "-V") {
        ui::result(VERSION);
        return ExitCode::SUCCESS;
    }
    // A worker is started for every task, and must not wait for the description of all other commands.
    if let Some(args) = work::WorkArgs::of_supervisor(std::env::args_os().skip(1)) {
        return reported(work::run(&args), Format::People);
    }
    if let Some(words) = complete::asked(std::env::args_os().skip(1)) {
        return reported(block_on(complete::answer(&words)), Format::People);
    }
    let matches = match Cli::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return usage_error(&error),
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return usage_error(&error),
    };
    let format = cli.global.format();
    reported(run(cli), format)
}

fn reported(result: Result<ExitCode, Failure>, format: Format) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(failure) => {
            ui::failure(&failure, format);
            ExitCode::from(failure.exit as u8)
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode, Failure> {
    let Cli { global, command } = cli;
    let Some(command) = command else { return block_on(overview::run(&global)) };
    match command {
        Command::TaskTypes => tables::task_types(&global),
        Command::Tiers => tables::tiers(&global),
        Command::Tags => tables::tags(&global),
        Command::Council(Later(args)) => block_on(council::run(&global, &args)),
        Command::Review(Later(args)) => block_on(review::run(&global, &args)),
        Command::Route(Later(args)) => block_on(route::run(&global, &args)),
        Command::Models(Later(args)) => block_on(models::run(&global, &args)),
        Command::Providers(Later(args)) => block_on(providers::run(&global, &args)),
        Command::Fallback(Later(args)) => block_on(fallback::run(&global, &args)),
        Command::Budget(Later(command)) => block_on(budget::run(&global, &command)),
        Command::Patterns(Later(command)) => block_on(patterns::run(&global, &command)),
        Command::Completions(Later(args)) => Ok(complete::script(&args)),
        Command::Man(Later(args)) => man::run(&global, &args),
        Command::Config(Later(command)) => config::run(&global, &command),
        Command::Task(Later(command)) => block_on(task::run(&global, &command)),
        Command::Batch(Later(command)) => block_on(batches::run(&global, &command)),
        Command::Status(Later(args)) => block_on(status::run(&global, &args)),
        Command::Report(Later(args)) => block_on(report::run(&global, &args)),
        Command::History(Later(args)) => block_on(history::run(&global, &args)),
        Command::Release(Later(args)) => block_on(release::run(&global, &args)),
        Command::Prune(Later(args)) => block_on(prune::run(&global, &args)),
        Command::Memory => block_on(memory::memory(&global)),
        Command::RespawnHistory(Later(args)) => block_on(memory::history(&global, &args)),
        Command::Events(Later(args)) => block_on(events::run(&global, &args)),
        Command::Worker(Later(command)) => block_on(worker::run(&global, &command)),
        Command::Runner { store } => runner::run(store),
        Command::Supervise(Later(args)) => block_on(supervise::run(&global, &args)),
        Command::Pulse(Later(args)) => block_on(supervise::pulse(&global, &args)),
        Command::Mcp(Later(args)) => block_on(mcp::run(&global, &args)),
        Command::Service(Later(command)) => service::run(&global, &command),
        Command::Agents(Later(command)) => block_on(agents::run(&global, &command)),
        Command::Pack(Later(command)) => pack::run(&global, &command),
        Command::Spec(Later(command)) => block_on(spec::run(&global, &command)),
        Command::Work(Later(args)) => work::run(&args),
        Command::Keeper { order } => keeper::run(&order),
        Command::Demo => block_on(demo::run(&global)),
        Command::Doctor(Later(args)) => block_on(doctor::run(&global, &args)),
        Command::Dispatch(Later(args)) => block_on(dispatch::run(&global, &args)),
        Command::Opencode(Later(command)) => block_on(opencode::run(&global, &command)),
        Command::Scripted(Later(args)) => block_on(scripted::run(&args)),
    }
}

/// One thread is enough: a command waits far more than it computes.
fn block_on(work: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::unavailable("host", error, "free some resources and try again"))?;
    // Boxed, the runtime's loop is compiled once and not for each command.
    let work: Pin<Box<dyn Future<Output = _>>> = Box::pin(work);
    let result = runtime.block_on(work);
    // The remaining connections are idle; waiting for them to close has no use.
    runtime.shutdown_background();
    result
}

/// Help and version are results; anything else is wrong usage, also in JSON when that was asked for.
fn usage_error(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        drop(error.print());
        return ExitCode::SUCCESS;
    }
    if std::env::args_os().any(|argument| argument == "--json") {
        let text = error.to_string();
        let first = text.split("\n\n").next().unwrap_or(&text).trim_start_matches("error: ").trim().to_owned();
        let words = std::env::args().skip(1);
        ui::failure(&Failure::usage(first, format!("see `{} --help`", command_in(words))), Format::Json);
    } else {
        drop(error.print());
    }
    ExitCode::from(2)
}

/// The command that a command line begins with, as far as there is one.
fn command_in(words: impl Iterator<Item = String>) -> String {
    let mut all = Cli::command();
    all.build();
    let (mut command, mut named) = (&all, vec!["shuntyard"]);
    for word in words {
        match command.find_subcommand(&word) {
            Some(found) => {
                named.push(found.get_name());
                command = found;
            }
            None if word.starts_with('-') => {}
            None => break,
        }
    }
    named.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Cli, VERSION, command_in};
    use clap::CommandFactory;

    #[test]
    fn the_help_that_an_error_names_is_that_of_its_command() {
        let table = [
            ("task add x --nosuch", "shuntyard task add"),
            ("--json worker model set", "shuntyard worker model set"),
            ("bogus task", "shuntyard"),
            ("status --nosuch", "shuntyard status"),
        ];
        for (line, named) in table {
            assert_eq!(command_in(line.split(' ').map(str::to_owned)), named, "{line}");
        }
    }

    #[test]
    fn the_version_is_the_one_of_the_command_line() {
        assert_eq!(Cli::command().render_version(), format!("{VERSION}\n"));
    }
}
