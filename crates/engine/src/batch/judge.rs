//! A judge over the answers of a batch: anonymous, in both orders, and believed only when it says the same twice.

use super::{BatchReport, TargetReport, report::sum};
use crate::structured::{Asked, ask};
use crate::{
    Context,
    dispatch::{DispatchReport, Options},
};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use switchyard_core::{
    ModelRef, Nano,
    compare::{
        Anonymous, Mask, Names, Pass, Sheet,
        judge::{Decision, Edge, JudgeTask, Judgement, PassOutcome, combine, parse, prompt},
    },
    dispatch::{Mode, Request, Selector},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Characters of all answers together that a judge is shown.
const CHARACTERS: usize = 120_000;

/// What the judge said, with the models by name.
#[derive(Debug, Clone, Serialize)]
pub struct JudgeReport {
    pub kind: &'static str,
    pub judge: String,
    pub decision: &'static str,
    pub winner: Option<String>,
    pub tie: Vec<String>,
    /// Why there is no verdict.
    pub why: Option<String>,
    pub position_biased: Option<Edge>,
    pub scores: BTreeMap<String, f64>,
    /// In the judge's own words, one of each pass. Its labels are those that it was shown.
    pub reasons: Vec<String>,
    pub passes: Value,
    pub cost_usd: f64,
    pub cost_known: bool,
}

/// Compares the answers that came. With fewer than two there is nothing to compare, and that is said.
pub async fn judge(
    context: &Context,
    question: &Request,
    options: &Options,
    batch: &mut BatchReport,
    judge: Selector,
    cancel: &CancellationToken,
) -> JudgeReport {
    let answers: Vec<(String, String, ModelRef)> = batch.results.iter().filter_map(answer).collect();
    let (seed, _) = Uuid::new_v4().as_u64_pair();
    let name = asked_for(&judge);
    let anonymous = match Anonymous::new(answers.len(), seed) {
        Ok(anonymous) => anonymous,
        Err(error) => return JudgeReport::nothing(name, format!("failed to {error}")),
    };
    let names: Vec<Names> = answers.iter().map(|(_, _, model)| Names::of(model)).collect();
    let mask = Mask::new(&names, &question.prompt);
    let texts: Vec<String> = answers.iter().map(|(_, text, _)| text.clone()).collect();
    let task =
        JudgeTask { question: &question.prompt, criteria: None, answers: &texts, mask: &mask, characters: CHARACTERS };
    let sheets = Pass::BOTH.map(|pass| anonymous.sheet(pass));
    let [forward, reversed] = &sheets;
    // Each of both passes may have half of what the answers have left.
    let spent = Nano::from_usd(batch.summary.cost_usd).unwrap_or_default();
    let left = options.max_cost.map(|most| Nano(most.less(spent).0 / 2));
    let options = &Options { max_cost: left, ..options.clone() };
    let ask = |sheet| one_pass(context, question, options, &task, sheet, seed, judge.clone(), cancel);
    let (first, second) = tokio::join!(ask(forward), ask(reversed));
    let mut costs = (0.0, true);
    let mut asked = name;
    for report in [&first.1, &second.1].into_iter().flatten() {
        asked = report.route.model.to_string();
        costs.0 = sum([costs.0, report.cost_usd]);
        costs.1 &= report.cost_known;
        batch.summary.usage = batch.summary.usage + report.usage;
    }
    batch.summary.cost_usd = sum([batch.summary.cost_usd, costs.0]);
    batch.summary.cost_known &= costs.1;
    let judgement = combine(&anonymous, [first.0, second.0]);
    let called: Vec<String> = answers.into_iter().map(|(name, _, _)| name).collect();
    JudgeReport::new(asked, &judgement, &called, costs)
}

fn answer(result: &TargetReport) -> Option<(String, String, ModelRef)> {
    let report = result.answer()?;
    // What is too long to be shown is in a file, and a judge needs the end of it too.
    let whole = report.full_text_path.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
    let said = || whole.unwrap_or_else(|| report.text.clone());
    let text = report.structured.as_ref().map_or_else(said, ToString::to_string);
    Some((result.name(), text, report.route.model.clone()))
}

#[expect(clippy::too_many_arguments, reason = "one of two calls that differ in the order of the answers alone")]
async fn one_pass(
    context: &Context,
    question: &Request,
    options: &Options,
    task: &JudgeTask<'_>,
    sheet: &Sheet,
    seed: u64,
    judge: Selector,
    cancel: &CancellationToken,
) -> (PassOutcome, Option<DispatchReport>) {
    let asked = prompt(task, sheet, seed);
    let request = Request::plain(asked.text, judge, Mode::Text, &question.directory);
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

/// As it was asked for, until it is known who answered.
fn asked_for(judge: &Selector) -> String {
    let requested = judge.to_json();
    let named = requested.as_object().and_then(|fields| fields.iter().next());
    match named {
        Some((kind, Value::String(name))) if kind == "model" => name.clone(),
        Some((kind, Value::String(name))) => format!("{kind} {name}"),
        _ => "the default model".to_owned(),
    }
}

impl JudgeReport {
    fn nothing(judge: String, why: String) -> Self {
        Self {
            kind: "judge",
            judge,
            decision: "no_verdict",
            winner: None,
            tie: Vec::new(),
            why: Some(why),
            position_biased: None,
            scores: BTreeMap::new(),
            reasons: Vec::new(),
            passes: Value::Array(Vec::new()),
            cost_usd: 0.0,
            cost_known: true,
        }
    }

    fn new(judge: String, judgement: &Judgement, names: &[String], (cost_usd, cost_known): (f64, bool)) -> Self {
        let name = |target: &usize| names.get(*target).cloned().unwrap_or_default();
        let (decision, winner, tie, why) = match &judgement.decision {
            Decision::Winner { target, .. } => ("winner", Some(name(target)), Vec::new(), None),
            Decision::Tie { targets } => ("tie", None, targets.iter().map(name).collect(), None),
            Decision::NoVerdict { why } => ("no_verdict", None, Vec::new(), Some(why.clone())),
        };
        let reasons = judgement.passes.iter().filter_map(|pass| match pass {
            PassOutcome::Verdict(verdict) => Some(verdict.reason.clone()),
            PassOutcome::Invalid { .. } | PassOutcome::Failed { .. } => None,
        });
        Self {
            kind: "judge",
            judge,
            decision,
            winner,
            tie,
            why,
            position_biased: judgement.position_biased,
            scores: judgement.scores.iter().map(|(target, score)| (name(target), *score)).collect(),
            reasons: reasons.collect(),
            passes: serde_json::to_value(&judgement.passes).unwrap_or_default(),
            cost_usd,
            cost_known,
        }
    }
}
