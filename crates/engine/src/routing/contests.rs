//! Contests that were held: what they advise a choice, and how those of prompts are kept.

use crate::{
    Context,
    routing::{classification::classified_before, experience::repository_name},
};
use serde_json::json;
use shuntyard_core::{
    ModelRef,
    compare::judge::{Decision, Judgement},
    routing::{ContestAdvice, HeldContest, Selector, advise, request::Request},
    work::task::margin,
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{ContestRecord, Result};
use std::path::Path;
use uuid::Uuid;

/// Contests that are looked at before a choice.
const LOOKED_AT: u32 = 50;

/// What earlier contests say about a request that names neither a model nor a tier. `classified` is the kind of task
/// that its text looks like.
pub(crate) async fn advice(
    context: &Context,
    selector: &Selector,
    classified: Option<&str>,
    directory: &Path,
) -> Result<Option<ContestAdvice>> {
    let task_type = match selector {
        Selector::TaskType(name) => Some(name.as_str()),
        Selector::Default => classified,
        Selector::Exact(_) | Selector::Fuzzy(_) | Selector::Tier(_) | Selector::Tag(_) | Selector::Profile(_) => None,
    };
    let Some(task_type) = task_type else { return Ok(None) };
    let repository = repository_name(directory);
    let held = context.store.contests_of_type(task_type, &repository, LOOKED_AT).await?;
    let held: Vec<HeldContest> = held.into_iter().map(read).collect();
    Ok(advise(&held, &repository, &context.config.contest, now_micros()))
}

fn read(record: ContestRecord) -> HeldContest {
    HeldContest {
        subject: record.task.map_or_else(|| "a prompt".to_owned(), |task| task.to_string()),
        at: record.at,
        repository: record.repository,
        winner: record.winner.and_then(|winner| winner.parse().ok()),
        margin: record.margin,
    }
}

/// Keeps what a judge found about the answers to one prompt, when it named the same winner in both orders and the kind
/// of task is known. That it could not be kept changes nothing for the answers.
pub(crate) async fn record_prompt(
    context: &Context,
    question: &Request,
    task_type: Option<&str>,
    answers: &[(String, ModelRef)],
    (judge, judgement): (&str, &Judgement),
) {
    let Decision::Winner { target, unmoved } = judgement.decision else { return };
    let looks = || classified_before(context, &question.prompt, question.images.len()).task_type;
    let Some(task_type) = task_type.map(str::to_owned).or_else(looks) else { return };
    let Some((_, winner)) = answers.get(target) else { return };
    let entries = answers.iter().zip(0..).map(|((_, model), place)| {
        json!({"model": model.to_string(), "score": judgement.scores.get(&place), "won": place == target})
    });
    let record = ContestRecord {
        id: format!("prompt:{}", Uuid::now_v7()),
        at: now_micros(),
        task: None,
        repository: repository_name(&question.directory),
        task_type: Some(task_type),
        entries: entries.collect(),
        winner: Some(winner.to_string()),
        margin: margin(judgement, target, unmoved),
        reason: format!("{judge} found it the best of {} in both orders", answers.len()),
    };
    if let Err(error) = context.store.record_contest(&record).await {
        tracing::warn!(%error, "what a judge found was not kept");
    }
}
