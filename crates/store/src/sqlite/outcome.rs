//! Outcomes one by one: kept with their counts and their words, and judged again. All that follows from an outcome
//! changes in its own transaction, so that the counts equal a recount of the rows.

use super::{
    SqliteStore, event,
    fault::failed,
    listing, row,
    script::{Script, Write},
    tally,
};
use crate::{Judgement, NewOutcome, OutcomeRecord, Result};
use serde_json::{Value, json};
use shuntyard_core::{
    DispatchId, ErrorClass,
    experience::{FailureMode, Verdict},
};
use sqlx::{query, sqlite::SqliteRow};
use std::collections::HashSet;

const ADD: &str = "
    INSERT INTO outcome (at, dispatch, ordinal, task, batch, task_type, requested, asked_tier, tier, model, strategy,
                         verdict, failure_mode, error_class, evidence, quality, tokens, cost_nano, cost_known,
                         duration_ms, retries, repository, propensity, text)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Of the one that was added last: its id is the greatest. What SQLite calls the last rowid may be another's, because
/// the index of words inserts rows of its own.
pub(super) const ADD_TEXT: &str = "
    INSERT INTO outcome_text (rowid, text) SELECT id, text FROM outcome ORDER BY id DESC LIMIT 1";

/// Which of some attempts have an outcome, for a statement that reads before others write.
macro_rules! known {
    () => {
        "(SELECT json_group_array(json_array(outcome.dispatch, outcome.ordinal))
          FROM json_each(?) AS told
          JOIN outcome ON outcome.dispatch = told.value ->> 0 AND outcome.ordinal = told.value ->> 1) AS known"
    };
}
pub(super) use known;

const KNOWN: &str = concat!("SELECT ", known!());

pub(super) const OF_ATTEMPT: &str = "SELECT * FROM outcome WHERE dispatch = ?1 AND ordinal = ?2";

pub(super) const OF_LAST_ATTEMPT: &str = "SELECT * FROM outcome WHERE dispatch = ?1 ORDER BY ordinal DESC LIMIT 1";

const JUDGE: &str = "UPDATE outcome SET verdict = ?, failure_mode = ?, evidence = ?, quality = ? WHERE id = ?";

pub(super) async fn record(store: &SqliteStore, outcomes: &[NewOutcome]) -> Result<u64> {
    let mut look = Script::default();
    look.add(KNOWN).bind(attempts_of(outcomes));
    let (mut write, rows) = Write::after(store, look, "record outcomes").await?;
    let new = rows.first().map_or(Ok(Vec::new()), |row| new_among(row, outcomes))?;
    for outcome in &new {
        let mut script = Script::default();
        add(&mut script, outcome);
        write.run(script).await?;
    }
    write.commit(told(&new)).await?;
    Ok(u64::try_from(new.len()).unwrap_or(u64::MAX))
}

/// The events of new outcomes: none when there are none.
fn told(new: &[&NewOutcome]) -> Script {
    let mut script = Script::default();
    let (subject, data) = match new {
        [one] => {
            let dispatch = one.attempt.map(|(dispatch, _)| dispatch.to_string());
            let verdict = verdict(one.verdict);
            let data = json!({ "count": 1, "task_type": one.task_type, "model": one.model, "verdict": verdict });
            (dispatch.unwrap_or_default(), data)
        }
        _ => (String::new(), json!({ "count": new.len() })),
    };
    if let Some(at) = new.iter().map(|outcome| outcome.at).max() {
        event::tell(&mut script, at, "outcome.recorded", &subject, &data);
    }
    script
}

/// The attempts that outcomes are about, as [`known`] wants them.
pub(super) fn attempts_of(outcomes: &[NewOutcome]) -> String {
    let attempts = outcomes.iter().filter_map(|outcome| outcome.attempt);
    Value::from_iter(attempts.map(|(dispatch, ordinal)| json!([dispatch.to_string(), ordinal]))).to_string()
}

/// Those that are not known yet: an attempt that has its outcome already keeps that one.
pub(super) fn new_among<'new>(row: &SqliteRow, outcomes: &'new [NewOutcome]) -> Result<Vec<&'new NewOutcome>> {
    let mut known: HashSet<(DispatchId, u32)> = row::word(row, "known", |text| serde_json::from_str(text).ok())?;
    let is_new = |outcome: &&NewOutcome| outcome.attempt.is_none_or(|attempt| known.insert(attempt));
    Ok(outcomes.iter().filter(is_new).collect())
}

/// Adds one that is new, with its words and its counts.
pub(super) fn add(script: &mut Script, outcome: &NewOutcome) {
    script
        .add(ADD)
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
        .bind(&outcome.text);
    if !outcome.text.is_empty() {
        script.add(ADD_TEXT);
    }
    tally::count(script, outcome, tally::Change::first(outcome));
}

/// The newest judgement stands. One that is equal to what is there changes nothing and is no event.
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
    let mut script = Script::default();
    write_judgement(&mut script, &after);
    tally::count(&mut script, &after.outcome, tally::Change::between(&before.outcome, &after.outcome));
    event::tell(&mut script, now, "outcome.judged", &dispatch.to_string(), &judged(&after.outcome));
    script.run(&mut transaction).await.map_err(failed("judge the outcome"))?;
    transaction.commit().await.map_err(failed("judge the outcome"))?;
    Ok(Some(after))
}

fn write_judgement(script: &mut Script, record: &OutcomeRecord) {
    script
        .add(JUDGE)
        .bind(verdict(record.outcome.verdict))
        .bind(record.outcome.failure_mode.map(FailureMode::as_str))
        .bind(record.outcome.evidence.as_str())
        .bind(record.outcome.quality)
        .bind(record.id);
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
