//! A judge over the answers of a batch: anonymous, in both orders, and believed only when it says the same twice.

use super::{
    BatchReport, TargetReport,
    passes::{Compared, Comparison, compare},
    report::sum,
};
use crate::{Context, dispatch::Options, routing::contests};
use serde::Serialize;
use serde_json::Value;
use shuntyard_core::{
    ModelRef, Nano,
    compare::judge::{Decision, Edge, Judgement, PassOutcome},
    routing::request::{Request, Selector},
};
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// The judge's verdict, with the models by name.
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

/// Compares the answers that came. With fewer than two there is nothing to compare, and the report says so.
pub async fn judge(
    context: &Context,
    question: &Request,
    options: &Options,
    batch: &mut BatchReport,
    judge: Selector,
    cancel: &CancellationToken,
) -> JudgeReport {
    let (names, answers): (Vec<String>, Vec<(String, ModelRef)>) = batch.results.iter().filter_map(answer).unzip();
    let name = asked_for(&judge);
    let comparison = Comparison {
        question: &question.prompt,
        criteria: None,
        directory: &question.directory,
        answers: &answers,
        judge,
    };
    let spent = Nano::from_usd(batch.summary.cost_usd).unwrap_or_default();
    let options = &Options { max_cost: options.max_cost.map(|most| most.less(spent)), ..options.clone() };
    let Compared { judgement, judge, cost, cost_known, usage } =
        match compare(context, &comparison, options, cancel).await {
            Ok(compared) => compared,
            Err(why) => return JudgeReport::nothing(name, why),
        };
    batch.summary.usage = batch.summary.usage + usage;
    batch.summary.cost_usd = sum([batch.summary.cost_usd, cost.as_usd()]);
    batch.summary.cost_known &= cost_known;
    let asked = judge.map_or(name, |judge| judge.to_string());
    contests::record_prompt(context, question, options.task_type.as_deref(), &answers, (&asked, &judgement)).await;
    JudgeReport::new(asked, &judgement, &names, (cost.as_usd(), cost_known))
}

fn answer(result: &TargetReport) -> Option<(String, (String, ModelRef))> {
    let report = result.answer()?;
    // What is too long to be shown is in a file, and a judge needs the end of it too.
    let whole = report.full_text_path.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
    let said = || whole.unwrap_or_else(|| report.text.clone());
    let text = report.structured.as_ref().map_or_else(said, ToString::to_string);
    Some((result.name(), (text, report.route.model.clone())))
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
