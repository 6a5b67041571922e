//! `shuntyard route`: the decision with its trace, without a dispatch.

mod replay;

use super::{
    Global, input,
    selection::{self, SelectionArgs},
};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use shuntyard_core::{
    routing::{Needs, Resolution, Selector, TraceStep, estimate_tokens},
    settings::Config,
    values::Capability,
};
use shuntyard_engine::{
    Context,
    routing::{
        budget::CostCheck,
        catalogue::{Origin, Refresh},
        choose::{Decision, Task, decide},
    },
};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  shuntyard route \"Review this diff for races\"
  shuntyard route --need vision \"What is wrong in this screenshot?\"
  shuntyard route --tier opus --json - < task.md
  shuntyard route replay --policy cheaper.toml",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct RouteArgs {
    #[command(subcommand)]
    command: Option<RouteCommand>,
    /// The task: text, @file, or - for standard input
    #[arg(required = true)]
    text: Option<String>,
    /// The model, as for dispatch
    #[arg(short, long, value_name = "P/M[@VARIANT]")]
    model: Option<String>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// The OpenCode agent that would lead; its own model counts
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// What the model must be able to do; may be repeated
    #[arg(long, value_enum, value_name = "CAPABILITY")]
    need: Vec<Need>,
    /// The directory that the work would be done in; the current one by default
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Ask OpenCode for its models now
    #[arg(long)]
    refresh: bool,
}

#[derive(Debug, Subcommand)]
pub enum RouteCommand {
    /// What the recorded past would have cost, and how often it would have succeeded, under another configuration
    Replay(replay::ReplayArgs),
}

/// A capability on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Need {
    Vision,
    Tools,
    Reasoning,
    Structured,
}

impl Need {
    pub fn capability(self) -> Capability {
        match self {
            Self::Vision => Capability::Vision,
            Self::Tools => Capability::Tools,
            Self::Reasoning => Capability::Reasoning,
            Self::Structured => Capability::Structured,
        }
    }

    pub fn all(list: &[Self]) -> Needs {
        list.iter().fold(Needs::default(), |needs, need| needs.and(need.capability()))
    }
}

pub async fn run(global: &Global, args: &RouteArgs) -> Result<ExitCode, Failure> {
    if let Some(RouteCommand::Replay(args)) = &args.command {
        return replay::run(global, args).await;
    }
    let settings = global.settings()?;
    let selector = selector(args, &settings.layered.config)?;
    let text = input::text(args.text.as_deref().unwrap_or_default(), "the task")?;
    let directory = input::directory(args.dir.as_ref())?;
    let context = settings.into_context().await?;
    let question = Question {
        selector,
        text: &text,
        needs: Need::all(&args.need),
        directory: &directory,
        agent: args.agent.as_deref(),
        refresh: if args.refresh { Refresh::Now } else { Refresh::IfStale },
    };
    let decision = answer(&context, question).await?;
    report(&decision, global.format());
    // The process ends here, and to free thousands of models one by one would take a good part of its time.
    std::mem::forget(decision);
    Ok(ExitCode::SUCCESS)
}

/// The input of a decision.
pub struct Question<'a> {
    pub selector: Selector,
    pub text: &'a str,
    /// In addition to the context that the text takes.
    pub needs: Needs,
    pub directory: &'a Path,
    pub agent: Option<&'a str>,
    pub refresh: Refresh,
}

pub async fn answer(context: &Context, question: Question<'_>) -> Result<Decision, Failure> {
    let Question { selector, text, needs, directory, agent, refresh } = question;
    if text.trim().is_empty() {
        return Err(Failure::usage("the task is empty", "give it as text, as @file, or as - for standard input"));
    }
    let needs = Needs { context: estimate_tokens(text), ..needs };
    let task =
        Task { selector, text: Some(text), needs, directory, agent, avoid: &[], cost_check: CostCheck::default() };
    Ok(decide(context, &task, refresh).await?)
}

pub fn report(decision: &Decision, format: Format) {
    match format {
        Format::Json => ui::json(&document(decision)),
        Format::People => show(decision),
    }
}

fn selector(args: &RouteArgs, config: &Config) -> Result<Selector, Failure> {
    if let Some(model) = &args.model {
        return selection::model(config, model);
    }
    args.selection.selector(config)
}

pub fn document(decision: &Decision) -> Value {
    let resolution = &decision.resolution;
    let mut document = serde_json::to_value(resolution).unwrap_or_default();
    if let Value::Object(fields) = &mut document {
        fields.insert("model".into(), json!(resolution.model));
        fields.insert("ref".into(), json!(resolution.model.to_string()));
        fields.entry("tier").or_insert(Value::Null);
        fields.entry("task_type").or_insert(Value::Null);
        fields.insert("warnings".into(), json!(resolution.warnings));
        fields
            .insert("catalogue".into(), json!({"from": decision.listed.origin, "problems": decision.listed.problems}));
    }
    document
}

fn show(decision: &Decision) {
    let resolution = &decision.resolution;
    for warning in resolution.warnings.iter().chain(&decision.listed.problems) {
        ui::warn(warning);
    }
    ui::frame(&headline(resolution));
    ui::result(&format!("why: {}\n", resolution.reason));
    ui::result(&steps(&resolution.trace));
    let others: Vec<String> = resolution
        .candidates
        .iter()
        .filter(|candidate| candidate.model != resolution.model.to_string())
        .map(|candidate| {
            let waits = if candidate.waits.is_some() { ", in cooldown" } else { "" };
            format!("{} ({}{waits})", candidate.model, candidate.score)
        })
        .collect();
    if !others.is_empty() {
        ui::result(&format!("\nnext best, with points: {}", others.join(", ")));
    }
    for group in &resolution.rejected {
        let more = if group.count > group.models.len() { ", …" } else { "" };
        ui::result(&format!("not: {} ({}{more})", group.why, group.models.join(", ")));
    }
    if decision.listed.origin == Origin::Files {
        ui::note("the models are those in OpenCode's files; --refresh asks OpenCode itself");
    }
}

/// The trace of a decision, as a table.
pub fn steps(trace: &[TraceStep]) -> String {
    ui::table(&["STEP", "", "MODEL", "WHAT WAS FOUND"], &rows(trace))
}

/// A line for each step; models that were passed over for the same reason share one.
fn rows(trace: &[TraceStep]) -> Vec<Vec<String>> {
    let groups =
        trace.chunk_by(|left, right| !left.chosen && !right.chosen && left.step == right.step && left.why == right.why);
    groups
        .filter_map(|group| {
            let first = group.first()?;
            let models: Vec<&str> = group.iter().filter_map(|step| step.candidate.as_deref()).collect();
            let mark = if first.chosen { "→" } else { "" };
            Some(vec![first.step.as_str().into(), mark.into(), models.join("\n"), first.why.clone()])
        })
        .collect()
}

fn headline(resolution: &Resolution) -> String {
    let mut details = Vec::new();
    details.extend(resolution.task_type.as_ref().map(|name| format!("task type {name}")));
    details.extend(resolution.tier.as_ref().map(|name| format!("tier {name}")));
    let details = if details.is_empty() { String::new() } else { format!("  ({})", details.join(", ")) };
    format!("{}{details}", resolution.model)
}
