//! `switchyard review`: several models review a change; with `--loop` an agent mends what they find.

use super::{Global, batch, dispatch::cancel_on_signal, input, progress::Display, selection};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};
use switchyard_core::{
    Nano,
    compare::{
        escalation::Outcome,
        review_loop::{Limits, State, Step, Stop, next},
    },
    config::Config,
    dispatch::Selector,
    duration::Limit,
    route::Needs,
};
use switchyard_engine::{
    Context, Options,
    batch::{Target, Targets, expand},
    dispatch::Learning,
    review::{Review, fix, request, review},
};
use switchyard_host::git::Git;
use tokio_util::sync::CancellationToken;

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
    let timeout = args.timeout.as_deref().map(str::parse::<Limit>).transpose();
    let timeout = timeout.map_err(|error| Failure::usage(error, "for example --timeout 90s"))?;
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
    let (targets, told) = expand(&context, &targets, needs, &directory).await?;
    told.iter().for_each(|warning| ui::warn(warning));
    let cancel = cancel_on_signal();
    let desk = Desk { context: &context, args, options: &options, directory: &directory, targets: &targets, cancel };
    if args.looping {
        let fixer = find_fixer(&context, args.fixer.as_deref(), &directory).await?;
        return desk.mend(global.format(), &change, diff, &fixer).await;
    }
    let found = desk.look(&diff, 0.0).await;
    batch::finish(&found.batch, global.format(), || batch::agreed(&found.consensus));
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

/// What every look and every mending shares.
struct Desk<'a> {
    context: &'a Context,
    args: &'a ReviewArgs,
    options: &'a Options,
    directory: &'a Path,
    targets: &'a [Target],
    /// One for the whole: who interrupts a loop means all of it.
    cancel: CancellationToken,
}

impl Desk<'_> {
    /// What is left of the money that all of it may cost.
    fn left(&self, spent: f64) -> Option<Nano> {
        self.args.max_cost.map(|most| most.less(Nano::from_usd(spent).unwrap_or_default()))
    }

    async fn look(&self, diff: &str, spent: f64) -> Review {
        let board = batch::Board::new(self.targets.len());
        let rule = &self.context.config.consensus;
        let show = |step: switchyard_engine::batch::Step<'_>| board.show(&step);
        let (context, options, targets) =
            (self.context, &Options { max_cost: self.left(spent), ..self.options.clone() }, self.targets);
        let found = review(context, diff, self.directory, options, targets, rule, &show, &self.cancel).await;
        board.end();
        found.batch.warnings.iter().for_each(|warning| ui::warn(warning));
        found
    }

    /// Review, mend, review again. Every way out names its reason.
    async fn mend(
        &self,
        format: Format,
        change: &Change,
        mut diff: String,
        fixer: &Selector,
    ) -> Result<ExitCode, Failure> {
        let limits = Limits { max_iterations: self.args.max_iterations as usize, ..Limits::default() };
        let mut state = State::default();
        let mut looks: Vec<Value> = Vec::new();
        let mut fixes: Vec<Value> = Vec::new();
        let mut spent = 0.0;
        loop {
            if self.left(spent).is_some_and(|left| left == Nano::ZERO) {
                let stopped = json!({ "step": "stop", "because": { "reason": "budget" } });
                return Ok(told(format, "the money that was allowed is used up", &stopped, &looks, &fixes, 1));
            }
            let found = self.look(&diff, spent).await;
            spent += found.batch.summary.cost_usd;
            if format == Format::People {
                batch::agreed(&found.consensus);
            }
            looks.push(json!(found.batch));
            let (after, step) = next(&state, &found.looked, &limits);
            state = after;
            let findings = match step {
                Step::Fix { findings } => findings,
                ended => return Ok(end(format, &ended, &looks, &fixes)),
            };
            let options = Options { max_cost: self.left(spent), ..Options::default() };
            let display = Display::new(false, &format!("mending {} findings", findings.len()));
            let (context, sink, cancel) = (self.context, display.sink(), &self.cancel);
            let mended = fix(context, &findings, &change.top, fixer.clone(), &options, &sink, cancel).await;
            display.finish();
            let mended = match mended {
                Ok(mended) => mended,
                // What was paid for until now is told all the same.
                Err(refusal) => {
                    let stopped =
                        json!({ "step": "stop", "because": { "reason": "not_mended", "why": refusal.to_string() } });
                    let words = format!("it could not be mended: {refusal}");
                    return Ok(told(format, &words, &stopped, &looks, &fixes, 1));
                }
            };
            spent += mended.cost_usd;
            if format == Format::People {
                ui::note(&format!("{} has mended: {}", mended.route.model, mended.text.trim()));
            }
            let failed = mended.error.as_ref().map(|error| error.message.clone());
            fixes.push(json!(mended));
            if let Some(why) = failed {
                let stopped = json!({ "step": "stop", "because": { "reason": "not_mended", "why": why } });
                return Ok(told(format, &format!("it could not be mended: {why}"), &stopped, &looks, &fixes, 1));
            }
            let again = match change.diff() {
                Ok(again) => again,
                Err(failure) => {
                    let stopped = json!({ "step": "stop", "because": { "reason": "no_diff" } });
                    ui::failure(&failure, Format::People);
                    return Ok(told(format, "the change can no longer be read", &stopped, &looks, &fixes, 1));
                }
            };
            if again == diff {
                let stopped = json!({ "step": "stop", "because": { "reason": "nothing_changed" } });
                return Ok(told(
                    format,
                    "the fixer changed nothing, so it would be found again",
                    &stopped,
                    &looks,
                    &fixes,
                    1,
                ));
            }
            diff = again;
        }
    }
}

fn end(format: Format, step: &Step, looks: &[Value], fixes: &[Value]) -> ExitCode {
    let (words, code) = match step {
        Step::Done => ("nothing is found any more".to_owned(), 0),
        Step::Stop { because: Stop::Stuck { finding, times } } => {
            (format!("stuck: the same finding for the {times}. time: {}", finding.text), 1)
        }
        Step::Stop { because: Stop::MaxIterations { left } } => {
            (format!("mended as often as allowed, and {} findings are left", left.len()), 1)
        }
        Step::Stop { because: Stop::NotReviewed } => {
            ("nothing was found, but not all reviewers have answered".to_owned(), 1)
        }
        Step::Fix { .. } => (String::new(), 1),
    };
    told(format, &words, &json!(step), looks, fixes, code)
}

fn told(format: Format, words: &str, step: &Value, looks: &[Value], fixes: &[Value], code: u8) -> ExitCode {
    match format {
        Format::Json => ui::json(&json!({ "ended": step, "reviews": looks, "fixes": fixes })),
        Format::People => ui::frame(&format!("--- {words} ({} reviews, {} fixes) ---", looks.len(), fixes.len())),
    }
    ExitCode::from(code)
}
