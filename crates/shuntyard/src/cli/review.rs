//! `shuntyard review`: several models review a change; with `--loop` an agent fixes what they find.

mod change;

use super::{
    Global, batch,
    dispatch::cancel_on_signal,
    input,
    preview::{self, Preview},
    selection,
};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use change::{Change, Purpose};
use clap::Args;
use serde_json::json;
use shuntyard_agents::opencode::{Progress, Sink};
use shuntyard_core::{
    Nano,
    compare::review_loop::Limits,
    routing::{Needs, request::Selector},
    settings::Config,
    values::{Outcome, Urgency},
};
use shuntyard_engine::{
    Context, Options,
    dispatch::Learning,
    fanout::{
        batch::{Step, Targets, expand_for},
        review::{self, Ended, FIX_KIND, Loop, LoopReport, Review, Seen, mend_until_clean, request, review},
    },
};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex},
};

/// The number of reviewers by default: so many different models of the code-review task type.
const REVIEWERS: usize = 3;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shuntyard review                           what is not committed, new files too
  shuntyard review main...HEAD -m tier:sonnet -m tier:pro --json
  shuntyard review --loop --fixer opus       review, mend, review again, until nothing is found")]
pub struct ReviewArgs {
    /// The change: a range like main...HEAD, or a commit to compare the working tree with; HEAD by default
    range: Option<String>,
    /// A reviewer: a model, tier:NAME or tag:NAME; three models for code-review by default
    #[arg(short, long, value_name = "P/M[@VARIANT]")]
    model: Vec<String>,
    /// Let an agent fix what is found in the working tree, and review again
    #[arg(long = "loop")]
    looping: bool,
    /// The fixer: a model or a tier; the tier of complex-fix by default
    #[arg(long, value_name = "MODEL", requires = "looping")]
    fixer: Option<String>,
    /// The most rounds of fixing
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
    max_iterations: u32,
    /// What all of it may cost, in dollars
    #[arg(long, value_name = "USD", value_parser = input::dollars)]
    max_cost: Option<Nano>,
    #[command(flatten)]
    urgency: input::UrgencyArgs,
    /// How long each review may take, like 90s or 2m
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,
    /// The repository; the current directory by default
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Only say who would review and who would fix; nothing is sent
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(global: &Global, args: &ReviewArgs) -> Result<ExitCode, Failure> {
    let timeout = input::timeout(args.timeout.as_deref())?;
    let directory = input::directory(args.dir.as_ref())?;
    let purpose = if args.looping { Purpose::Mend } else { Purpose::Read };
    let (range, looked) = (args.range.clone(), directory.clone());
    let (change, diff) = input::in_thread(move || {
        let change = Change::find(range.as_deref(), purpose, &looked)?;
        let diff = change.diff()?;
        Ok((Arc::new(change), diff))
    })
    .await?;
    if diff.trim().is_empty() {
        return nothing(global);
    }
    let context = global.context().await?;
    let task_type = Some("code-review".to_owned());
    let urgency = args.urgency.urgency();
    let options = Options { timeout, task_type, urgency, learning: Learning::NoText, ..Options::default() };
    let targets = reviewers(&args.model, &context.config)?;
    let needs = request(&diff, &directory).needs();
    let (targets, notes) = expand_for(&context, &targets, needs, &directory, urgency).await?;
    notes.iter().for_each(|warning| ui::warn(warning));
    let format = global.format();
    if args.dry_run {
        if args.looping {
            find_fixer(&context, args.fixer.as_deref(), &directory, urgency).await?;
        }
        let name = args.fixer.clone().unwrap_or_else(|| format!("a model for {FIX_KIND}"));
        let fixer = args.looping.then_some((name, args.max_iterations));
        return Ok(preview::show(&Preview { targets: &targets, fixer, directory: &change.top }, format));
    }
    let cancel = cancel_on_signal();
    if args.looping {
        let fixer = find_fixer(&context, args.fixer.as_deref(), &directory, urgency).await?;
        let read = Arc::clone(&change);
        let job = Loop {
            context: &context,
            directory: &change.top,
            options: &options,
            targets: &targets,
            fixer,
            limits: Limits { max_iterations: args.max_iterations as usize, ..Limits::default() },
            max_cost: args.max_cost,
            diff: Arc::new(move || read.diff().map_err(|failure| failure.message)),
            sink: &tools(),
            cancel: &cancel,
        };
        return Ok(told(format, &mend_until_clean(&job, diff, &watcher(format, targets.len())).await));
    }
    let board = batch::Board::new(targets.len());
    let options = Options { max_cost: args.max_cost, ..options };
    let rule = &context.config.consensus;
    let show = |step: Step<'_>| board.show(&step);
    let found = review(&context, &diff, &directory, &options, &targets, rule, &show, &cancel).await;
    board.end();
    found.batch.warnings.iter().for_each(|warning| ui::warn(warning));
    batch::finish(&found.batch, format, || batch::agreed(&found.consensus));
    Ok(exit(&found))
}

/// 0 when the change may pass, 1 when it needs a fix or another review. When no reviewer answered, the code of that
/// failure.
fn exit(found: &Review) -> ExitCode {
    if found.follow() == Outcome::Pass {
        return ExitCode::SUCCESS;
    }
    batch::all_failed(&found.batch).unwrap_or_else(|| ExitCode::from(1))
}

fn nothing(global: &Global) -> Result<ExitCode, Failure> {
    match global.format() {
        Format::Json => ui::json(&json!({ "results": [], "summary": null, "verdict": null })),
        Format::People => ui::note("there is no change to review"),
    }
    Ok(ExitCode::SUCCESS)
}

fn reviewers(models: &[String], config: &Config) -> Result<Targets, Failure> {
    if !models.is_empty() {
        return Ok(Targets::Named(selection::references(config, models)));
    }
    let kind = "code-review";
    if !config.task_types.contains_key(kind) {
        return Err(Failure::usage(format!("there is no task type {kind}"), "name the reviewers with -m"));
    }
    Ok(Targets::Of(Selector::TaskType(kind.into()), REVIEWERS))
}

/// The fixer's selector. A missing fixer is refused before the reviewers are paid.
async fn find_fixer(
    context: &Context,
    name: Option<&str>,
    directory: &Path,
    urgency: Urgency,
) -> Result<Selector, Failure> {
    let (selector, wanted) = match name {
        Some(name) => (selection::model_or_tier(&context.config, name)?, Targets::Named(vec![name.to_owned()])),
        None => {
            let kind = Selector::TaskType(FIX_KIND.into());
            (kind.clone(), Targets::Of(kind, 1))
        }
    };
    let needs = Needs { tools: true, ..Needs::default() };
    let (found, _) = expand_for(context, &wanted, needs, directory, urgency).await?;
    match found.into_iter().find_map(|target| target.chosen.err()) {
        Some(refusal) => Err(refusal.into()),
        None => Ok(selector),
    }
}

/// Shows which tools the fixer uses, on a terminal.
fn tools() -> Sink {
    Arc::new(|progress| {
        if let Progress::Tool { tool, title, .. } = progress
            && ui::stderr_is_terminal()
        {
            ui::note(&format!("· {tool} {title}"));
        }
    })
}

/// Shows a loop as it goes.
fn watcher(format: Format, targets: usize) -> impl Fn(Seen<'_>) + Sync {
    let board: Mutex<Option<batch::Board>> = Mutex::new(None);
    move |seen| {
        let Ok(mut board) = board.lock() else { return };
        match seen {
            Seen::Looking => *board = Some(batch::Board::new(targets)),
            Seen::Step(step) => {
                if let Some(board) = board.as_ref() {
                    board.show(&step);
                }
            }
            Seen::Reviewed(found) => {
                if let Some(board) = board.take() {
                    board.end();
                }
                found.batch.warnings.iter().for_each(|warning| ui::warn(warning));
                if format == Format::People {
                    batch::agreed(&found.consensus);
                }
            }
            Seen::Mending(findings) if format == Format::People => {
                ui::note(&format!("mending {} findings", findings.len()));
            }
            Seen::Mended(mended, change) if format == Format::People => {
                let did = match change {
                    review::Change::Some => "has fixed",
                    review::Change::None => "has changed nothing",
                    review::Change::Unknown => "has answered",
                };
                ui::note(&format!("{} {did}: {}", mended.route.model, mended.text.trim()));
            }
            Seen::Mending(_) | Seen::Mended(..) => {}
        }
    }
}

fn told(format: Format, report: &LoopReport) -> ExitCode {
    match format {
        Format::Json => ui::json(report),
        Format::People => ui::frame(&format!(
            "--- {} ({} reviews, {} fixes) ---",
            report.ended.told(),
            report.reviews.len(),
            report.fixes.len()
        )),
    }
    if report.ended == Ended::Clean {
        return ExitCode::SUCCESS;
    }
    report.reviews.last().and_then(batch::all_failed).unwrap_or_else(|| ExitCode::from(1))
}
