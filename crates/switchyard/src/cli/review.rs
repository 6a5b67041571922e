//! `switchyard review`: several models review a change; with `--loop` an agent mends what they find.

use super::{Global, batch, dispatch::cancel_on_signal, input, selection};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex},
};
use switchyard_agents::opencode::{Progress, Sink};
use switchyard_core::{
    Nano,
    compare::{escalation::Outcome, review_loop::Limits},
    config::Config,
    dispatch::Selector,
    route::Needs,
};
use switchyard_engine::{
    Context, Options,
    batch::{Step, Targets, expand},
    dispatch::Learning,
    review::{Ended, Loop, LoopReport, Review, Seen, mend_until_clean, request, review},
};
use switchyard_host::git::Git;

/// Who reviews when nobody is named: so many different models of the code-review task type.
const REVIEWERS: usize = 3;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  switchyard review                           what is not committed, new files too
  switchyard review main...HEAD -m sonnet -m pro --json
  switchyard review --loop --fixer opus       review, mend, review again, until nothing is found")]
pub struct ReviewArgs {
    /// The change: a range like main...HEAD, or a commit to compare the working tree with; HEAD by default
    range: Option<String>,
    /// A reviewer; three models for code-review by default
    #[arg(short, long, value_name = "P/M[@VARIANT]")]
    model: Vec<String>,
    /// Let an agent mend what is found in the working tree, and review again
    #[arg(long = "loop")]
    looping: bool,
    /// Who mends: a model or a tier; the tier of complex-fix by default
    #[arg(long, value_name = "MODEL", requires = "looping")]
    fixer: Option<String>,
    /// How often it is mended at most
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
    max_iterations: u32,
    /// What all of it may cost, in dollars
    #[arg(long, value_name = "USD", value_parser = input::dollars)]
    max_cost: Option<Nano>,
    /// How long each review may take, like 90s or 2m
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,
    /// The repository; the current directory by default
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub async fn run(global: &Global, args: &ReviewArgs) -> Result<ExitCode, Failure> {
    let timeout = input::timeout(args.timeout.as_deref())?;
    let directory = input::directory(args.dir.as_ref())?;
    let change = Change::find(args, &directory)?;
    let diff = change.diff()?;
    if diff.trim().is_empty() {
        return nothing(global);
    }
    let context = global.context().await?;
    let task_type = Some("code-review".to_owned());
    let options = Options { timeout, task_type, learning: Learning::NoText, ..Options::default() };
    let targets = reviewers(&args.model, &context.config)?;
    let needs = request(&diff, &directory).needs();
    let (targets, notes) = expand(&context, &targets, needs, &directory).await?;
    notes.iter().for_each(|warning| ui::warn(warning));
    let cancel = cancel_on_signal();
    let format = global.format();
    if args.looping {
        let fixer = find_fixer(&context, args.fixer.as_deref(), &directory).await?;
        let read = || change.diff().map_err(|failure| failure.message);
        let job = Loop {
            context: &context,
            directory: &change.top,
            options: &options,
            targets: &targets,
            fixer,
            limits: Limits { max_iterations: args.max_iterations as usize, ..Limits::default() },
            max_cost: args.max_cost,
            diff: &read,
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

/// 0 when it may pass, 1 when something is to be mended or looked at again.
fn exit(found: &Review) -> ExitCode {
    if found.follow() == Outcome::Pass { ExitCode::SUCCESS } else { ExitCode::from(1) }
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
        return Ok(Targets::Named(models.to_vec()));
    }
    let kind = "code-review";
    if !config.task_types.contains_key(kind) {
        return Err(Failure::usage(format!("there is no task type {kind}"), "name the reviewers with -m"));
    }
    Ok(Targets::Of(Selector::TaskType(kind.into()), REVIEWERS))
}

/// Who mends. That there is nobody is said before the reviewers are paid.
async fn find_fixer(context: &Context, name: Option<&str>, directory: &Path) -> Result<Selector, Failure> {
    let (selector, wanted) = match name {
        Some(name) => (selection::model(&context.config, name)?, Targets::Named(vec![name.to_owned()])),
        None => {
            let kind = Selector::TaskType("complex-fix".into());
            (kind.clone(), Targets::Of(kind, 1))
        }
    };
    let (found, _) = expand(context, &wanted, Needs { tools: true, ..Needs::default() }, directory).await?;
    match found.into_iter().find_map(|target| target.chosen.err()) {
        Some(refusal) => Err(refusal.into()),
        None => Ok(selector),
    }
}

/// What is reviewed.
struct Change {
    git: Git,
    top: PathBuf,
    /// A range between commits; otherwise the working tree against `from`.
    range: Option<String>,
    from: String,
}

impl Change {
    fn find(args: &ReviewArgs, directory: &Path) -> Result<Self, Failure> {
        let git = Git::default();
        let wrong = |error: switchyard_host::git::GitError| Failure::usage(error, "give a range that git knows");
        let top = git.toplevel(directory).map_err(wrong)?;
        let top = top.ok_or_else(|| {
            Failure::usage(format!("{} is in no git repository", directory.display()), "name one with --dir")
        })?;
        let range = args.range.clone().filter(|range| range.contains(".."));
        if range.is_some() && args.looping {
            return Err(Failure::usage(
                "a range between commits cannot be mended",
                "give the commit to compare the working tree with, for example `review main --loop`",
            ));
        }
        let from = match (&range, &args.range) {
            (None, Some(name)) => git.commit_of(&top, name).map_err(|_| {
                Failure::usage(format!("git knows no commit `{name}` here"), "give a range or a commit that it knows")
            })?,
            // In a repository without a commit everything is new.
            (None, None) => git.commit_of(&top, "HEAD").or_else(|_| git.empty_tree(&top)).map_err(wrong)?,
            (Some(_), _) => String::new(),
        };
        Ok(Self { git, top, range, from })
    }

    fn diff(&self) -> Result<String, Failure> {
        let wrong = |error: switchyard_host::git::GitError| Failure::usage(error, "give a range that git knows");
        if let Some(range) = &self.range {
            return self.git.diff_of(&self.top, range).map_err(wrong);
        }
        let scratch = tempfile::tempdir().map_err(|error| {
            Failure::unavailable("host", format!("no scratch directory could be made: {error}"), "look at TMPDIR")
        })?;
        self.git.diff_of_all(&self.top, &self.from, &scratch.path().join("index")).map_err(wrong)
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
            Seen::Mended(mended) if format == Format::People => {
                ui::note(&format!("{} has mended: {}", mended.route.model, mended.text.trim()));
            }
            Seen::Mending(_) | Seen::Mended(_) => {}
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
    if report.ended == Ended::Clean { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
