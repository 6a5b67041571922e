//! `shuntyard dispatch` with several models: which ones are asked, what is shown meanwhile, and the sections of the
//! result.

use super::{
    dispatch::cancel_on_signal,
    selection::{self, SelectionArgs},
};
use crate::{
    failure::{Failure, exit_of},
    ui::{self, Format},
};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use shuntyard_core::{
    ErrorClass, Nano,
    compare::consensus,
    routing::{Selector, request::Request},
    settings::Config,
    values::{Mode, Urgency, duration, schema::AnswerSchema},
};
use shuntyard_engine::{
    Context, Options,
    dispatch::Status,
    fanout::batch::{
        BatchReport, ConsensusReport, JudgeReport, Step, Summary, TargetReport, Targets, agree, expand_for, judge,
        run_batch,
    },
};
use std::{collections::BTreeSet, process::ExitCode, sync::Mutex, time::Duration};

/// More models than these are more likely a mistake than a wish.
const MOST: usize = 200;

/// What several models at once need.
#[derive(Debug, Args)]
pub struct ManyArgs {
    /// Ask the models of a list in the configuration, [batch.lists]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["model", "count"])]
    models: Option<String>,
    /// Ask so many different models of the tier, task type or tag
    #[arg(long, value_name = "N", conflicts_with = "model", value_parser = clap::value_parser!(u32).range(2..=200))]
    count: Option<u32>,
    /// Let this model compare the answers: without names, in both orders
    #[arg(long, value_name = "MODEL")]
    judge: Option<String>,
    /// Ask for verdicts with findings, and show what the models agree on
    #[arg(long, conflicts_with_all = ["judge", "schema"])]
    consensus: bool,
}

impl ManyArgs {
    /// The models of a batch; `None` when only one is asked.
    pub fn targets(
        &self,
        models: &[String],
        selection: &SelectionArgs,
        config: &Config,
    ) -> Result<Option<Targets>, Failure> {
        let mut names = selection::references(config, &named(models)?);
        if let Some(list) = &self.models {
            let known: Vec<&String> = config.batch.lists.keys().collect();
            names = config.batch.lists.get(list).cloned().ok_or_else(|| {
                let known = if known.is_empty() { "there is none yet".into() } else { format!("there are: {known:?}") };
                Failure::usage(format!("there is no list `{list}` in [batch.lists]"), known)
            })?;
            if names.is_empty() {
                return Err(Failure::usage(format!("the list `{list}` is empty"), "put models into it"));
            }
        }
        if let Some(count) = self.count {
            let selector = selection.selector(config)?;
            if selector == Selector::Default {
                return Err(Failure::usage("--count needs a tier, a task type or a tag", "for example --tier sonnet"));
            }
            return Ok(Some(Targets::Of(selector, count as usize)));
        }
        if names.len() > MOST {
            return Err(Failure::usage(format!("{} models are more than {MOST}", names.len()), "ask fewer at once"));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(Failure::usage(format!("`{twice}` is named twice"), "name each model once"));
        }
        // One model with `--judge` or `--consensus` is a batch as well, so that the check reports what is missing.
        let is_batch = names.len() > 1 || self.models.is_some() || self.judge.is_some() || self.consensus;
        Ok(is_batch.then_some(Targets::Named(names)))
    }

    /// What cannot be done with several, and the form that a consensus needs.
    pub fn check(&self, targets: Option<&Targets>, request: &mut Request) -> Result<(), Failure> {
        let Some(targets) = targets else { return Ok(()) };
        if matches!(targets, Targets::Named(names) if names.is_empty()) {
            return Err(Failure::usage("nobody is named to compare", "name models with -m, or use --tier and --count"));
        }
        if request.session.is_some() {
            return Err(Failure::usage("a session speaks with one model", "leave out --session, or name one model"));
        }
        if request.mode != Mode::Text {
            return Err(Failure::usage(
                "several models would work in one directory at the same time",
                "ask for text, or send agents one after the other",
            ));
        }
        if self.consensus {
            let schema = AnswerSchema::parse(&consensus::schema().to_string());
            request.schema = Some(schema.map_err(|error| Failure::usage(error, "a bug in Shuntyard"))?);
        }
        Ok(())
    }
}

/// The names as given; one argument may be a JSON array of them.
fn named(models: &[String]) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for model in models {
        if model.trim_start().starts_with('[') {
            let list: Vec<String> = serde_json::from_str(model).map_err(|error| {
                Failure::usage(
                    format!("`{model}` is no JSON array of models: {error}"),
                    "for example -m '[\"p/a\",\"p/b\"]'",
                )
            })?;
            names.extend(list);
        } else {
            names.push(model.clone());
        }
    }
    Ok(names)
}

pub async fn run(
    context: &Context,
    format: Format,
    request: &Request,
    options: &Options,
    targets: &Targets,
    many: &ManyArgs,
) -> Result<ExitCode, Failure> {
    let judged_by = match &many.judge {
        Some(name) => Some(find_judge(context, name, request, options.urgency).await?),
        None => None,
    };
    let (targets, told) = expand_for(context, targets, request.needs(), &request.directory, options).await?;
    for warning in &told {
        ui::warn(warning);
    }
    let cancel = cancel_on_signal();
    let began = std::time::Instant::now();
    let board = Board::new(targets.len());
    // Two shares are reserved for the judge, who compares twice.
    let parts = i64::try_from(targets.len()).unwrap_or(i64::MAX).max(1);
    let kept = |most: Nano| if judged_by.is_some() { Nano(most.0 / (parts + 2) * parts) } else { most };
    let answering = Options { max_cost: options.max_cost.map(kept), ..options.clone() };
    let mut report = run_batch(context, request, &answering, &targets, &|step| board.show(&step), &cancel).await;
    report.warnings = told;
    if let Some(selector) = judged_by {
        board.say("the judge compares");
        let verdict = judge(context, request, options, &mut report, selector, &cancel).await;
        board.end();
        report.verdict = Some(json!(verdict));
        report.summary.wall_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        finish(&report, format, || judged(&verdict));
        if verdict.decision == "no_verdict" && report.summary.ok > 0 {
            return Ok(ExitCode::from(1));
        }
    } else if many.consensus {
        board.end();
        let verdict = agree(&report, &context.config.consensus);
        report.verdict = Some(json!(verdict));
        finish(&report, format, || agreed(&verdict));
    } else {
        board.end();
        finish(&report, format, || ());
    }
    Ok(exit(&report))
}

/// The judge's selector. An unknown model is refused before the answers are paid for.
async fn find_judge(context: &Context, name: &str, request: &Request, urgency: Urgency) -> Result<Selector, Failure> {
    let selector = selection::model_or_tier(&context.config, name)?;
    let named = Targets::Named(vec![name.to_owned()]);
    let (found, _) = expand_for(context, &named, request.needs(), &request.directory, urgency).await?;
    match found.into_iter().find_map(|target| target.chosen.err()) {
        Some(refusal) => Err(refusal.into()),
        None => Ok(selector),
    }
}

/// 0 when all have answered. Otherwise the code of the only failure, or 1.
fn exit(report: &BatchReport) -> ExitCode {
    if report.results.iter().all(TargetReport::is_ok) {
        return ExitCode::SUCCESS;
    }
    all_failed(report).unwrap_or_else(|| ExitCode::from(1))
}

/// The exit code of a batch without any answer, if all failures have the same code.
pub fn all_failed(report: &BatchReport) -> Option<ExitCode> {
    if report.summary.ok > 0 {
        return None;
    }
    alike(report.results.iter().map(|result| result.error().and_then(|(class, _)| class)))
}

/// The code that all these failures have; one without a class has none.
pub fn alike(classes: impl Iterator<Item = Option<ErrorClass>>) -> Option<ExitCode> {
    let codes: Option<BTreeSet<u8>> = classes.map(|class| class.map(|class| exit_of(class) as u8)).collect();
    let codes = codes.filter(|codes| codes.len() == 1)?;
    codes.first().map(|code| ExitCode::from(*code))
}

pub fn finish(report: &BatchReport, format: Format, verdict: impl Fn()) {
    match format {
        Format::Json => ui::json(report),
        Format::People => {
            for result in &report.results {
                section(result);
            }
            verdict();
            footer(&report.summary);
        }
    }
}

fn section(result: &TargetReport) {
    let state = match (result.status(), result.error()) {
        (Status::Ok, _) => "[OK]".to_owned(),
        (Status::Timeout, _) => "[TIMEOUT]".to_owned(),
        (Status::Error, Some((Some(class), _))) => format!("[ERROR: {class}]"),
        (Status::Error, _) => "[ERROR: refused]".to_owned(),
    };
    let details = match result {
        TargetReport::Ran(report) => {
            let took = duration::show(Duration::from_millis(report.duration_ms));
            let via = if report.via == "direct" { ", direct" } else { "" };
            format!(" ({took}, {}{via})", cost(report.cost_usd, report.cost_known))
        }
        TargetReport::Refused(_) => String::new(),
    };
    ui::frame(&format!("--- dispatch response from {} {state}{details} ---", result.name()));
    if let TargetReport::Ran(report) = result {
        for warning in &report.warnings {
            ui::warn(&format!("{}: {warning}", result.name()));
        }
        if report.status == Status::Ok {
            let text = match &report.structured {
                Some(value) => serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()),
                None => report.text.clone(),
            };
            ui::result(text.trim_end());
        }
    }
    if let Some((_, message)) = result.error() {
        ui::result(message);
    }
    ui::result("");
}

fn judged(verdict: &JudgeReport) {
    let said = match (&verdict.winner, verdict.tie.is_empty()) {
        (Some(winner), _) => format!("{winner} wins in both orders"),
        (None, false) => format!("a tie of {}: the verdict changes with the order", verdict.tie.join(" and ")),
        (None, true) => format!("no verdict: {}", verdict.why.as_deref().unwrap_or("the judge gave none")),
    };
    ui::frame(&format!("--- judged by {} ({}) ---", verdict.judge, cost(verdict.cost_usd, verdict.cost_known)));
    ui::result(&said);
    if verdict.position_biased.is_some() {
        ui::warn("the judge picked the same place both times: it goes by the order, not by the answers");
    }
    for (model, score) in &verdict.scores {
        ui::result(&format!("  {score:>4.1}  {model}"));
    }
    for reason in &verdict.reasons {
        ui::note(reason);
    }
    ui::result("");
}

pub fn agreed(verdict: &ConsensusReport) {
    let decision = serde_json::to_value(&verdict.decision).unwrap_or_default();
    let word = |key: &str| decision.get(key).and_then(Value::as_str).unwrap_or("?").replace('_', " ");
    let counts = &verdict.verdicts;
    ui::frame(&format!("--- consensus: {} ({}) ---", word("follow"), word("decision")));
    ui::result(&format!(
        "{} approve, {} reject, {} unsure, {} unknown",
        counts.approve, counts.reject, counts.unsure, counts.unknown
    ));
    if let Some(reason) = decision.get("reason").and_then(Value::as_str) {
        ui::result(reason);
    }
    for finding in &verdict.findings {
        let place = match (&finding.file, finding.line) {
            (Some(file), Some(line)) => format!("{file}:{line}: "),
            (Some(file), None) => format!("{file}: "),
            (None, _) => String::new(),
        };
        let severity = json!(finding.severity);
        let severity = severity.as_str().unwrap_or_default();
        ui::result(&format!("  [{severity}] {place}{}", finding.text));
        ui::note(&format!("    {} % agree: {}", finding.agreement_percent, finding.found_by.join(", ")));
    }
    for silent in &verdict.unknown {
        ui::warn(&format!("{} counts as unknown: {}", silent.model, silent.why));
    }
    ui::result("");
}

fn footer(summary: &Summary) {
    let Summary { ok, errors, timeouts, wall_ms, usage, cost_usd, cost_known } = summary;
    let took = duration::show(Duration::from_millis(*wall_ms));
    ui::frame(&format!(
        "--- {ok} ok, {errors} errors, {timeouts} timeouts; {took}, {} tokens, {} ---",
        usage.total(),
        cost(*cost_usd, *cost_known)
    ));
}

fn cost(usd: f64, known: bool) -> String {
    match (Nano::from_usd(usd), known) {
        (Some(cost), true) => cost.to_string(),
        (Some(cost), false) if cost != Nano::ZERO => format!("estimated {cost}"),
        _ => "cost unknown".to_owned(),
    }
}

/// Which models have answered and which are waited for, on a terminal.
pub struct Board {
    bar: ProgressBar,
    all: usize,
    waiting: Mutex<(usize, BTreeSet<String>)>,
}

impl Board {
    pub fn new(all: usize) -> Self {
        let bar = if ui::stderr_is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar, all, waiting: Mutex::default() }
    }

    pub fn show(&self, step: &Step<'_>) {
        let Ok(mut waiting) = self.waiting.lock() else { return };
        let (done, names) = &mut *waiting;
        match step {
            Step::Began(model) => {
                names.insert(model.to_string());
            }
            Step::Ended(result) => {
                *done += 1;
                names.remove(&result.name());
                let mark = if result.is_ok() { "✓" } else { "✗" };
                if ui::stderr_is_terminal() {
                    let why = result.error().map(|(_, message)| format!(": {message}")).unwrap_or_default();
                    self.bar.suspend(|| ui::note(&format!("{mark} {}{why}", result.name())));
                }
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.bar.set_message(format!("{done} of {} done; waiting for {}", self.all, names.join(", ")));
    }

    fn say(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}
