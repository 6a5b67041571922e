//! `shuntyard council`: several models answer in rounds, and one puts it together.

use super::{Global, batch, dispatch::cancel_on_signal, input, selection};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_core::{
    Nano,
    compare::council::{Contribution, LEAST_MEMBERS, MOST_MEMBERS, MOST_ROUNDS, Round, Settings},
    routing::request::{Request, Selector},
    values::Mode,
};
use shuntyard_engine::{
    Context, Options,
    base::refusal::Refusal,
    fanout::{
        batch::{Targets, expand_for},
        council::{CouncilReport, Member, Seats, hold},
    },
};
use std::{path::PathBuf, process::ExitCode};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shuntyard council -m anthropic/claude-sonnet-5 -m openai/gpt-6-sol -m google/gemini-3.8-flash \\
      --rounds 3 --synthesis opus \"Should this service use events or calls?\"
  shuntyard council -m tier:sonnet -m tier:pro --max-cost 0.50 --json @question.md")]
pub struct CouncilArgs {
    /// The question: text, @file, or - for standard input
    prompt: String,
    /// A member: a model, tier:NAME or tag:NAME; 2 to 10 of them
    #[arg(short, long, value_name = "P/M[@VARIANT]", required = true)]
    model: Vec<String>,
    /// Rounds at most; it ends earlier when all agree
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_ROUNDS)))]
    rounds: u32,
    /// The model or tier that puts it together; the first member by default
    #[arg(long, value_name = "MODEL")]
    synthesis: Option<String>,
    /// What the whole may cost, in dollars; refused when it would probably cost more
    #[arg(long, value_name = "USD", value_parser = input::dollars)]
    max_cost: Option<Nano>,
    #[command(flatten)]
    urgency: input::UrgencyArgs,
    /// How long each call may take, like 90s or 2m
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,
    /// The directory that it is about; the current one by default
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub async fn run(global: &Global, args: &CouncilArgs) -> Result<ExitCode, Failure> {
    let timeout = input::timeout(args.timeout.as_deref())?;
    let directory = input::directory(args.dir.as_ref())?;
    let request = Request::plain(input::text(&args.prompt, "the question")?, Selector::Default, Mode::Text, directory);
    request.check().map_err(|error| Failure::usage(error, "give the question as text, as @file, or as -"))?;
    let many = format!("a council has {LEAST_MEMBERS} to {MOST_MEMBERS} members");
    if !(LEAST_MEMBERS..=MOST_MEMBERS).contains(&args.model.len()) {
        return Err(Failure::usage(format!("{many}, not {}", args.model.len()), "name each with -m"));
    }
    let context = global.context().await?;
    let urgency = args.urgency.urgency();
    let options = Options { timeout, max_cost: args.max_cost, urgency, ..Options::default() };
    let named = Targets::Named(selection::references(&context.config, &args.model));
    let (targets, told) = expand_for(&context, &named, request.needs(), &request.directory, urgency).await?;
    let mut warnings = told;
    let mut members: Vec<Member> = Vec::new();
    let mut refusals: Vec<Refusal> = Vec::new();
    for target in targets {
        match target.chosen {
            Ok(model) => members.push(Member { model, chosen_for: target.chosen_for }),
            Err(refusal) => {
                warnings.push(format!("{} does not take part: {refusal}", target.name));
                refusals.push(refusal);
            }
        }
    }
    if members.len() < LEAST_MEMBERS {
        let message = format!("{many}, and {} can be asked: {}", members.len(), warnings.join("; "));
        return Err(too_few(&members, refusals, message));
    }
    let synthesis = synthesis(&context, args, &request, &members).await?;
    let settings = Settings { rounds: args.rounds, ..Settings::default() };
    let seats = Seats { members, synthesis };
    let cancel = cancel_on_signal();
    let show = |number: u32| {
        if ui::stderr_is_terminal() {
            ui::note(&format!("round {number} of at most {}", args.rounds));
        }
    };
    let mut report = hold(&context, &request, &options, &seats, &settings, &show, &cancel).await?;
    report.warnings.splice(0..0, warnings);
    match global.format() {
        Format::Json => ui::json(&report),
        Format::People => print(&report),
    }
    let failed = || report.is_silent().then(|| batch::alike(report.failures.iter().copied())).flatten();
    Ok(if report.answer.is_some() { ExitCode::SUCCESS } else { failed().unwrap_or_else(|| ExitCode::from(1)) })
}

/// When all members are refused for the same reason, that is the reason; otherwise the list is the error.
fn too_few(members: &[Member], refusals: Vec<Refusal>, message: String) -> Failure {
    let alike = batch::alike(refusals.iter().map(Refusal::class)).is_some();
    match refusals.into_iter().next().filter(|_| members.is_empty() && alike) {
        Some(refusal) => Failure { message, ..Failure::from(refusal) },
        None => Failure::usage(message, "see `shuntyard models`"),
    }
}

async fn synthesis(
    context: &Context,
    args: &CouncilArgs,
    request: &Request,
    members: &[Member],
) -> Result<Member, Failure> {
    let Some(name) = &args.synthesis else {
        return members.first().cloned().ok_or_else(|| Failure::usage("there is no member", "name some with -m"));
    };
    selection::model_or_tier(&context.config, name)?;
    let named = Targets::Named(vec![name.clone()]);
    let urgency = args.urgency.urgency();
    let (targets, _) = expand_for(context, &named, request.needs(), &request.directory, urgency).await?;
    match targets.into_iter().next() {
        Some(target) => Ok(Member { model: target.chosen?, chosen_for: target.chosen_for }),
        None => Ok(members[0].clone()),
    }
}

fn print(report: &CouncilReport) {
    for warning in &report.warnings {
        ui::warn(warning);
    }
    for round in &report.transcript.rounds {
        section(round, report);
    }
    let ended = json!(report.ended_because);
    let ended = ended.as_str().unwrap_or("").replace('_', " ");
    let cost = Nano::from_usd(report.cost_usd).unwrap_or_default();
    let cost = if report.cost_known { cost.to_string() } else { format!("estimated {cost}") };
    ui::frame(&format!(
        "--- council of {}, put together by {} (ended: {ended}; {} calls, {cost}) ---",
        report.members.len(),
        report.synthesis_by,
        report.calls
    ));
    match (&report.answer, &report.problem) {
        (Some(answer), _) => ui::result(answer),
        (None, problem) => ui::complain(problem.as_deref().unwrap_or("there is no answer")),
    }
    if let Some(synthesis) = &report.transcript.synthesis {
        for dissent in &synthesis.dissent {
            let who = report.members.get(&dissent.label).map_or("?", String::as_str);
            ui::result(&format!("\ndissent of {who}: {}", dissent.position));
        }
    }
    if let Some(path) = &report.transcript_path {
        ui::note(&format!("the transcript is in {path}"));
    }
}

fn section(round: &Round, report: &CouncilReport) {
    ui::frame(&format!("--- round {} ---", round.number));
    for (label, contribution) in &round.answers {
        let who = report.members.get(label).map_or("?", String::as_str);
        let line = match contribution {
            Contribution::Answered(answer) => {
                let changed = if round.changed.contains(label) { " (changed)" } else { "" };
                format!("{label} {who}{changed}: {}", answer.position)
            }
            Contribution::Invalid { faults } => {
                let fault = faults.first().map(ToString::to_string).unwrap_or_default();
                format!("{label} {who}: no valid answer ({fault})")
            }
            Contribution::Silent { why } => format!("{label} {who}: no answer ({why})"),
        };
        ui::result(&line);
    }
    ui::result("");
}
