//! `shuntyard agents`: OpenCode's agents here, and which models they have.

mod configure;
mod pick;
mod show;

use super::{Global, input};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use shuntyard_engine::roles::agents_config::{AgentHere, AgentsConfigError, agents_here};
use std::{path::PathBuf, process::ExitCode};

#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// List the agents that OpenCode has here, with mode, model and group
    List(ListArgs),
    /// Give groups of agents their models in OpenCode's configuration, and prove that they hold
    Configure(configure::ConfigureArgs),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// The directory that the agents would work in; the current one by default
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub async fn run(global: &Global, command: &AgentsCommand) -> Result<ExitCode, Failure> {
    match command {
        AgentsCommand::List(args) => list(global, args).await,
        AgentsCommand::Configure(args) => configure::run(global, args).await,
    }
}

async fn list(global: &Global, args: &ListArgs) -> Result<ExitCode, Failure> {
    let directory = input::directory(args.dir.as_ref())?;
    let context = global.context().await?;
    let agents = agents_here(&context, &directory).await?;
    match global.format() {
        Format::Json => ui::json(&json!({"agents": agents.iter().map(document).collect::<Vec<_>>()})),
        Format::People => ui::result(&show::agents(&agents)),
    }
    Ok(ExitCode::SUCCESS)
}

fn document(agent: &AgentHere) -> Value {
    let details = &agent.details;
    json!({"name": details.name, "mode": details.mode, "model": details.model, "group": agent.group})
}

/// What is wrong with a configuration file, or with the disk.
fn failure(error: AgentsConfigError) -> Failure {
    match error {
        AgentsConfigError::Unreadable { .. } | AgentsConfigError::Text { .. } => {
            Failure { class: "configuration".into(), ..Failure::usage(error, "fix that file, then try again") }
        }
        AgentsConfigError::NoHome => Failure::usage(error, "set HOME, or leave --user out"),
        AgentsConfigError::Unwritable(_) => {
            Failure::unavailable("host", error, "check the rights of that directory, and its free space")
        }
    }
}
