//! A council: several models answer a question in rounds, see each other's answers without names, and one of them
//! puts it together in the end, with the dissent.

mod cost_shares;

pub use cost_shares::check_purse;

use crate::{
    Context,
    base::refusal::Refusal,
    dispatch::{
        ChosenFor, Options,
        structured::{Asked, ask},
    },
    fanout::batch::Gates,
};
use futures_util::future::join_all;
use serde::Serialize;
use shuntyard_core::{
    ErrorClass, ModelRef, Nano, Usage,
    compare::{
        Label, Mask, Names,
        council::{
            Affordable, Contribution, CouncilEstimate, CouncilTask, EndedBecause, Next, Round, Settings, Transcript,
            next, parse, parse_synthesis, round_prompt, seat, synthesis_prompt, visible,
        },
    },
    routing::request::{Request, Selector},
    values::Mode,
};
use shuntyard_host::paths::{private_dir, write_private};
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// A model that takes part, and the tier that it was selected for when a tier was named.
#[derive(Debug, Clone)]
pub struct Member {
    pub model: ModelRef,
    pub chosen_for: Option<ChosenFor>,
}

/// Who sits in it, and who has the last word.
#[derive(Debug, Clone)]
pub struct Seats {
    pub members: Vec<Member>,
    pub synthesis: Member,
}

#[derive(Debug, Clone, Serialize)]
pub struct CouncilReport {
    pub id: Uuid,
    pub status: &'static str,
    /// The synthesis, or why there is none.
    pub answer: Option<String>,
    pub problem: Option<String>,
    pub ended_because: Option<EndedBecause>,
    /// Who a label is.
    pub members: BTreeMap<Label, String>,
    pub synthesis_by: String,
    pub transcript: Transcript,
    pub estimate: CouncilEstimate,
    pub calls: usize,
    pub usage: Usage,
    pub cost_usd: f64,
    pub cost_known: bool,
    pub transcript_path: Option<String>,
    pub warnings: Vec<String>,
    /// The class of each call that failed, as far as it has one.
    #[serde(skip)]
    pub failures: Vec<Option<ErrorClass>>,
}

impl CouncilReport {
    /// Whether no member has contributed anything.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.transcript.rounds.iter().all(|round| round.given().next().is_none())
    }
}

/// What all calls of a council have used.
#[derive(Debug, Default)]
struct Spent {
    calls: usize,
    usage: Usage,
    cost: f64,
    unknown: bool,
    failures: Vec<Option<ErrorClass>>,
}

impl Spent {
    fn add(&mut self, asked: &Asked) {
        if asked.said.is_err() {
            self.failures.push(asked.class);
        }
        let Some(report) = &asked.report else { return };
        self.calls += 1;
        self.usage = self.usage + report.usage;
        self.cost += report.cost_usd;
        self.unknown |= !report.cost_known;
    }
}

/// Holds the council. The estimate was checked against the budget before; it is held against `--max-cost` again
/// before each round.
pub async fn hold(
    context: &Context,
    question: &Request,
    options: &Options,
    seats: &Seats,
    settings: &Settings,
    show: &(dyn Fn(u32) + Sync),
    cancel: &CancellationToken,
) -> Result<CouncilReport, Refusal> {
    let estimate = check_purse(context, question, options, seats, settings).await?;
    let id = Uuid::now_v7();
    let sheet = seat(seats.members.len(), fresh_seed()).map_err(|error| Refusal::Configuration(error.to_string()))?;
    let names: Vec<Names> = seats.members.iter().map(|member| Names::of(&member.model)).collect();
    let mask = Mask::new(&names, &question.prompt);
    let task = CouncilTask { question: &question.prompt, mask: &mask, settings };
    let mut rounds: Vec<Round> = Vec::new();
    let mut spent = Spent::default();
    let gates = &Gates::of(context, seats.members.iter().map(|member| &member.model));
    // The last call is kept back: without it the rounds would have been paid for nothing.
    let calls = f64::from(settings.rounds.max(1)) * as_real(seats.members.len()) + 1.0;
    let per_call = estimate.cost.map_or(0.0, |cost| cost.as_usd() / calls);
    let per_round = per_call * as_real(seats.members.len());
    let because = loop {
        // What the rounds did cost is a better guess of the next one than any estimate.
        let expected = if rounds.is_empty() { per_round } else { spent.cost / as_real(rounds.len()) };
        let short =
            options.max_cost.is_some_and(|most| !rounds.is_empty() && spent.cost + expected + per_call > most.as_usd());
        let cost_check = if short { Affordable::Short } else { Affordable::Enough };
        let number = match next(&rounds, settings, cost_check) {
            Next::End { because } => break Some(because),
            Next::Round { number } => number,
        };
        show(number);
        let left = options.max_cost.map(|most| most.less(Nano::from_usd(spent.cost + per_call).unwrap_or_default()));
        let share = left.map(|left| Nano(left.0 / i64::try_from(seats.members.len().max(1)).unwrap_or(i64::MAX)));
        let members = sheet.places().filter_map(|(label, member)| Some((label, seats.members.get(member)?)));
        let calls = members.map(|(label, member)| {
            let Member { model, chosen_for } = member;
            let options = Options { max_cost: share, chosen_for: chosen_for.clone(), ..options.clone() };
            let prompt = round_prompt(&task, label, &rounds, fresh_seed());
            let heard = visible(&rounds, label);
            async move {
                // As many at once as a batch may have.
                let pass = tokio::select! {
                    pass = gates.pass(model) => pass,
                    () = cancel.cancelled() => return (label, heard, Asked::refused(&Refusal::Cancelled)),
                };
                let asked =
                    ask(context, asked_of(question, model, prompt.text), &options, &prompt.schema, cancel).await;
                drop(pass);
                (label, heard, asked)
            }
        });
        let mut answers = BTreeMap::new();
        for (label, heard, asked) in join_all(calls).await {
            spent.add(&asked);
            let contribution = match asked.said {
                Ok(value) => match parse(&value, &heard) {
                    Ok(answer) => Contribution::Answered(answer),
                    Err(faults) => Contribution::Invalid { faults },
                },
                Err(why) => Contribution::Silent { why },
            };
            answers.insert(label, contribution);
        }
        rounds.push(Round::after(&rounds, answers));
        // The contributions are paid for, so they are reported; no model is asked to summarise them any more.
        if cancel.is_cancelled() {
            break None;
        }
    };
    let mut transcript = Transcript {
        question: question.prompt.clone(),
        members: sheet.clone(),
        rounds,
        ended_because: because,
        synthesis: None,
    };
    let mut problem = None;
    if because.is_none() {
        problem = Some(format!("it was cancelled in round {}", transcript.rounds.len()));
    } else if let Some(most) = options.max_cost.filter(|most| spent.cost >= most.as_usd()) {
        problem = Some(format!("the {most} that were allowed are used up, so nobody puts it together"));
    } else if transcript.rounds.iter().any(|round| round.given().next().is_some()) {
        let left = options.max_cost.map(|most| most.less(Nano::from_usd(spent.cost).unwrap_or_default()));
        let Member { model, chosen_for } = &seats.synthesis;
        let options = &Options { max_cost: left, chosen_for: chosen_for.clone(), ..options.clone() };
        let prompt = synthesis_prompt(&task, &transcript.rounds, fresh_seed());
        let asked = ask(context, asked_of(question, model, prompt.text), options, &prompt.schema, cancel).await;
        spent.add(&asked);
        match asked.said.map(|value| parse_synthesis(&value, &transcript.rounds)) {
            Ok(Ok(synthesis)) => transcript.synthesis = Some(synthesis),
            Ok(Err(faults)) => problem = faults.first().map(|fault| format!("the synthesis is not valid: {fault}")),
            Err(why) => problem = Some(format!("there is no synthesis: {why}")),
        }
    } else {
        problem = Some("nobody has answered".to_owned());
    }
    let labels =
        sheet.places().filter_map(|(label, member)| Some((label, seats.members.get(member)?.model.to_string())));
    let mut report = CouncilReport {
        id,
        status: if transcript.synthesis.is_some() { "ok" } else { "error" },
        answer: transcript.synthesis.as_ref().map(|synthesis| synthesis.answer.clone()),
        problem,
        ended_because: transcript.ended_because,
        members: labels.collect(),
        synthesis_by: seats.synthesis.model.to_string(),
        transcript,
        estimate,
        calls: spent.calls,
        usage: spent.usage,
        cost_usd: Nano::from_usd(spent.cost).unwrap_or_default().as_usd(),
        cost_known: !spent.unknown,
        transcript_path: None,
        warnings: Vec::new(),
        failures: spent.failures,
    };
    keep(context, &mut report).await;
    Ok(report)
}

/// Keeps the transcript, for this user alone. That it cannot be kept must not cost the answer.
async fn keep(context: &Context, report: &mut CouncilReport) {
    let directory = context.paths.data_dir.join("councils");
    let file = directory.join(format!("{}.json", report.id));
    report.transcript_path = Some(file.display().to_string());
    let text = serde_json::to_vec_pretty(&report).unwrap_or_default();
    if let Err(error) = private_dir(&directory).and_then(|()| write_private(&file, &text)) {
        report.transcript_path = None;
        report.warnings.push(format!("the transcript could not be kept: {error}"));
    }
    let data = serde_json::json!({
        "members": report.members, "rounds": report.transcript.rounds.len(), "ended_because": report.ended_because,
        "calls": report.calls, "cost_usd": report.cost_usd, "transcript": report.transcript_path,
    });
    let now = shuntyard_host::clock::now_micros();
    if let Err(error) = context.store.append_event(now, "council.finished", &report.id.to_string(), &data).await {
        report.warnings.push(format!("the council could not be recorded: {error}"));
    }
}

/// A prompt of ours, with what belongs to the question.
fn asked_of(question: &Request, model: &ModelRef, prompt: String) -> Request {
    Request {
        system: question.system.clone(),
        images: question.images.clone(),
        ..Request::plain(prompt, Selector::Exact(model.clone()), Mode::Text, &question.directory)
    }
}

/// No reader of a prompt may know the next one's boundary.
fn fresh_seed() -> u64 {
    Uuid::new_v4().as_u64_pair().0
}

#[expect(clippy::cast_precision_loss, reason = "a council has ten rounds at most")]
fn as_real(count: usize) -> f64 {
    count as f64
}
