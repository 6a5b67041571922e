//! Outcomes one by one: kept with their counts and their words, and judged again. All that follows from an outcome
//! changes in its own transaction, so that the counts equal a recount of the rows.

use super::{SqliteStore, event, fault::failed, listing, row, tally};
use crate::{Judgement, NewOutcome, OutcomeRecord, Result};
use serde_json::{Value, json};
use sqlx::{SqliteConnection, query, query_scalar};
use switchyard_core::{
    DispatchId, ErrorClass,
    pattern::{FailureMode, Verdict},
};

/// An attempt that has its outcome already keeps that one.
const ADD: &str = "
    INSERT INTO outcome (at, dispatch, ordinal, task, batch, task_type, requested, asked_tier, tier, model, strategy,
                         verdict, failure_mode, error_class, evidence, quality, tokens, cost_nano, cost_known,
                         duration_ms, retries, repository, propensity, text)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
            ?24)
    ON CONFLICT (dispatch, ordinal) WHERE dispatch IS NOT NULL DO NOTHING
    RETURNING id";

const ADD_TEXT: &str = "INSERT INTO outcome_text (rowid, text) VALUES (?1, ?2)";

pub(super) const OF_ATTEMPT: &str = "SELECT * FROM outcome WHERE dispatch = ?1 AND ordinal = ?2";

pub(super) const OF_LAST_ATTEMPT: &str = "SELECT * FROM outcome WHERE dispatch = ?1 ORDER BY ordinal DESC LIMIT 1";

const JUDGE: &str = "UPDATE outcome SET verdict = ?2, failure_mode = ?3, evidence = ?4, quality = ?5 WHERE id = ?1";

pub(super) async fn record(store: &SqliteStore, outcomes: &[NewOutcome]) -> Result<u64> {
    let mut transaction = store.write().await?;
    let added = add(&mut transaction, outcomes).await?;
    let Some(at) = added.iter().map(|outcome| outcome.at).max() else {
        return Ok(0);
    };
    let count = u64::try_from(added.len()).unwrap_or(u64::MAX);
    let (subject, data) = match added.as_slice() {
        [one] => {
            let dispatch = one.attempt.map(|(dispatch, _)| dispatch.to_string());
            let verdict = verdict(one.verdict);
            let data = json!({ "count": 1, "task_type": one.task_type, "model": one.model, "verdict": verdict });
            (dispatch.unwrap_or_default(), data)
        }
        _ => (String::new(), json!({ "count": count })),
    };
    event::append(&mut transaction, at, "outcome.recorded", &subject, &data).await?;
    transaction.commit().await.map_err(failed("record outcomes"))?;
    Ok(count)
}

/// Adds within the caller's transaction and returns those that are new.
pub(super) async fn add<'new>(
    connection: &mut SqliteConnection,
    outcomes: &'new [NewOutcome],
) -> Result<Vec<&'new NewOutcome>> {
    let mut added = Vec::new();
    for outcome in outcomes {
        let Some(id) = insert(connection, outcome).await? else {
            continue;
        };
        if !outcome.text.is_empty() {
            let indexed = query(ADD_TEXT).bind(id).bind(&outcome.text).execute(&mut *connection).await;
            indexed.map_err(failed("index an outcome"))?;
        }
        tally::count(connection, outcome, tally::Change::first(outcome)).await?;
        added.push(outcome);
    }
    Ok(added)
}

async fn insert(connection: &mut SqliteConnection, outcome: &NewOutcome) -> Result<Option<i64>> {
    query_scalar(ADD)
        .bind(outcome.at)
        .bind(outcome.attempt.map(|(dispatch, _)| dispatch.to_string()))
        .bind(outcome.attempt.map(|(_, ordinal)| ordinal))
        .bind(&outcome.task)
        .bind(&outcome.batch)
        .bind(&outcome.task_type)
        .bind(outcome.requested.to_string())
        .bind(&outcome.asked_tier)
        .bind(&outcome.tier)
        .bind(&outcome.model)
        .bind(&outcome.strategy)
        .bind(verdict(outcome.verdict))
        .bind(outcome.failure_mode.map(FailureMode::as_str))
        .bind(outcome.error_class.map(ErrorClass::as_str))
        .bind(outcome.evidence.as_str())
        .bind(outcome.quality)
        .bind(row::signed(outcome.tokens))
        .bind(outcome.cost.0)
        .bind(outcome.cost_known)
        .bind(row::signed(outcome.duration_ms))
        .bind(outcome.retries)
        .bind(&outcome.repository)
        .bind(outcome.propensity)
        .bind(&outcome.text)
        .fetch_optional(connection)
        .await
        .map_err(failed("record an outcome"))
}

/// The newest judgement stands. One that says the same as what is there changes nothing and is no event.
pub(super) async fn judge(
    store: &SqliteStore,
    dispatch: DispatchId,
    ordinal: Option<u32>,
    now: i64,
    judgement: &Judgement,
) -> Result<Option<OutcomeRecord>> {
    let mut transaction = store.write().await?;
    let wanted = match ordinal {
        Some(ordinal) => query(OF_ATTEMPT).bind(dispatch.to_string()).bind(ordinal),
        None => query(OF_LAST_ATTEMPT).bind(dispatch.to_string()),
    };
    let found = wanted.fetch_optional(&mut *transaction).await.map_err(failed("read the outcome"))?;
    let Some(before) = found.as_ref().map(listing::outcome).transpose()? else {
        return Ok(None);
    };
    let mut after = before.clone();
    let Judgement { verdict, failure_mode, evidence, quality } = *judgement;
    after.outcome.verdict = verdict;
    after.outcome.failure_mode = failure_mode;
    after.outcome.evidence = evidence;
    after.outcome.quality = quality;
    if after == before {
        return Ok(Some(after));
    }
    write_judgement(&mut transaction, &after).await?;
    let change = tally::Change::between(&before.outcome, &after.outcome);
    tally::count(&mut transaction, &after.outcome, change).await?;
    event::append(&mut transaction, now, "outcome.judged", &dispatch.to_string(), &judged(&after.outcome)).await?;
    transaction.commit().await.map_err(failed("judge the outcome"))?;
    Ok(Some(after))
}

async fn write_judgement(connection: &mut SqliteConnection, record: &OutcomeRecord) -> Result<()> {
    let written = query(JUDGE)
        .bind(record.id)
        .bind(verdict(record.outcome.verdict))
        .bind(record.outcome.failure_mode.map(FailureMode::as_str))
        .bind(record.outcome.evidence.as_str())
        .bind(record.outcome.quality)
        .execute(connection)
        .await;
    written.map(drop).map_err(failed("judge the outcome"))
}

fn judged(outcome: &NewOutcome) -> Value {
    json!({
        "ordinal": outcome.attempt.map(|(_, ordinal)| ordinal),
        "task_type": outcome.task_type,
        "model": outcome.model,
        "verdict": verdict(outcome.verdict),
        "failure_mode": outcome.failure_mode,
        "evidence": outcome.evidence,
        "quality": outcome.quality,
    })
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Success => "success",
        Verdict::Failure => "failure",
    }
}

pub(super) fn parse_verdict(text: &str) -> Option<Verdict> {
    [Verdict::Success, Verdict::Failure].into_iter().find(|known| verdict(*known) == text)
}
