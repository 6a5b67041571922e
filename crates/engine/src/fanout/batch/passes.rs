//! The two passes of a judge: the same answers, anonymous, in both orders.

use crate::{
    Context,
    dispatch::{
        DispatchReport, Options,
        structured::{Asked, ask},
    },
};
use shuntyard_core::{
    ModelRef, Nano, Usage,
    compare::{
        Anonymous, Mask, Names, Pass, Sheet,
        judge::{JudgeTask, Judgement, PassOutcome, combine, parse, prompt},
    },
    routing::request::{Request, Selector},
    values::Mode,
};
use std::path::Path;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Characters of all answers together that a judge is shown.
pub(crate) const CHARACTERS: usize = 120_000;

/// What is compared.
pub(crate) struct Comparison<'a> {
    pub(crate) question: &'a str,
    pub(crate) criteria: Option<&'a str>,
    pub(crate) directory: &'a Path,
    /// Each with the model that gave it, whose name is not shown.
    pub(crate) answers: &'a [(String, ModelRef)],
    pub(crate) judge: Selector,
}

/// The judge's verdict in both passes, and the bill.
pub(crate) struct Compared {
    pub(crate) judgement: Judgement,
    /// The model that answered, when one did.
    pub(crate) judge: Option<ModelRef>,
    pub(crate) cost: Nano,
    pub(crate) cost_known: bool,
    pub(crate) usage: Usage,
}

/// Has the answers compared. `options.max_cost` is for both passes together. An error says why there is nothing to
/// compare.
pub(crate) async fn compare(
    context: &Context,
    comparison: &Comparison<'_>,
    options: &Options,
    cancel: &CancellationToken,
) -> Result<Compared, String> {
    let Comparison { question, criteria, answers, .. } = comparison;
    let (seed, _) = Uuid::new_v4().as_u64_pair();
    let anonymous = Anonymous::new(answers.len(), seed).map_err(|error| format!("failed to {error}"))?;
    let names: Vec<Names> = answers.iter().map(|(_, model)| Names::of(model)).collect();
    let mask = Mask::new(&names, question);
    let texts: Vec<String> = answers.iter().map(|(text, _)| text.clone()).collect();
    let task = JudgeTask { question, criteria: *criteria, answers: &texts, mask: &mask, characters: CHARACTERS };
    let [forward, reversed] = Pass::BOTH.map(|pass| anonymous.sheet(pass));
    let half = Options { max_cost: options.max_cost.map(|most| Nano(most.0 / 2)), ..options.clone() };
    let ask = |sheet| one_pass(context, comparison, &half, &task, sheet, seed, cancel);
    let (first, second) = tokio::join!(ask(&forward), ask(&reversed));
    let mut compared = Compared {
        judgement: combine(&anonymous, [first.0, second.0]),
        judge: None,
        cost: Nano::ZERO,
        cost_known: true,
        usage: Usage::default(),
    };
    for report in [first.1, second.1].into_iter().flatten() {
        compared.cost = compared.cost + Nano::from_usd(report.cost_usd).unwrap_or_default();
        compared.cost_known &= report.cost_known;
        compared.usage = compared.usage + report.usage;
        compared.judge = Some(report.route.model.clone());
    }
    Ok(compared)
}

async fn one_pass(
    context: &Context,
    comparison: &Comparison<'_>,
    options: &Options,
    task: &JudgeTask<'_>,
    sheet: &Sheet,
    seed: u64,
    cancel: &CancellationToken,
) -> (PassOutcome, Option<DispatchReport>) {
    let asked = prompt(task, sheet, seed);
    let request = Request::plain(asked.text, comparison.judge.clone(), Mode::Text, comparison.directory);
    let options = Options {
        timeout: options.timeout,
        via: options.via,
        urgency: options.urgency,
        max_cost: options.max_cost,
        task: options.task.clone(),
        batch: options.batch.clone(),
        ..Options::default()
    };
    let Asked { said, report, .. } = ask(context, request, &options, &asked.schema, cancel).await;
    let outcome = match said.map(|value| parse(&value, sheet)) {
        Ok(Ok(verdict)) => PassOutcome::Verdict(verdict),
        Ok(Err(faults)) => PassOutcome::Invalid { faults },
        Err(why) => PassOutcome::Failed { why },
    };
    (outcome, report)
}
