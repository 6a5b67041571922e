//! Outcomes counted: by week as they come, and over a window where that is asked for.
//!
//! A cost counts only where it is known, because a part of one would make the mean of the others too high.

use super::{SqliteStore, fault::failed, outcome, row, script::Script, spend::sum};
use crate::{NewOutcome, Result, outcome::week};
use serde_json::Value;
use shuntyard_core::{
    Nano,
    experience::{FailureMode, Move, Past, Tally, Verdict},
};
use sqlx::{query, sqlite::SqliteRow};

/// The repository that stands for all of them.
const EVERYWHERE: &str = "";

/// Once for each of the repositories.
const ADD: &str = "
    INSERT INTO outcome_week (task_type, week, tier, model, successes, proven, failures, uncounted, cost_nano, priced,
                              tokens, duration_ms, retries, quality, rated, repository)
    SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, repository.value
    FROM json_each(?) AS repository WHERE true
    ON CONFLICT (task_type, repository, week, tier, model) DO UPDATE SET
        successes = min(successes + excluded.successes, 9223372036854775807),
        proven = min(proven + excluded.proven, 9223372036854775807),
        failures = min(failures + excluded.failures, 9223372036854775807),
        uncounted = min(uncounted + excluded.uncounted, 9223372036854775807),
        cost_nano = min(cost_nano + excluded.cost_nano, 9223372036854775807),
        priced = min(priced + excluded.priced, 9223372036854775807),
        tokens = min(tokens + excluded.tokens, 9223372036854775807),
        duration_ms = min(duration_ms + excluded.duration_ms, 9223372036854775807),
        retries = min(retries + excluded.retries, 9223372036854775807),
        quality = min(quality + excluded.quality, 9223372036854775807),
        rated = min(rated + excluded.rated, 9223372036854775807)";

/// A year has thousands of rows, and each row that is handed over costs more than to read it, so they come as one.
macro_rules! counted {
    ($with:literal, $from:literal) => {
        concat!(
            $with,
            "SELECT json_group_array(json_array(week, counted.task_type, tier, model, cost_nano, json_array(
                 successes, proven, failures, uncounted, priced, tokens, duration_ms, retries, quality, rated
             ))) AS counts FROM ",
            $from,
            " AND repository = ?1 AND week >= ?2"
        )
    };
}

pub(super) const OF_ONE: &str = counted!("", "outcome_week AS counted WHERE task_type = ?3");

/// Steps from one kind of task to the next, because the weeks of one repository only lie together within a kind.
pub(super) const OF_ALL: &str = counted!(
    "WITH RECURSIVE kind (task_type) AS (
         SELECT min(task_type) FROM outcome_week
         UNION ALL
         SELECT (SELECT min(task_type) FROM outcome_week WHERE task_type > kind.task_type) FROM kind
         WHERE kind.task_type IS NOT NULL
     ) ",
    "kind CROSS JOIN outcome_week AS counted WHERE counted.task_type = kind.task_type"
);

pub(super) const MOVES: &str = "
    SELECT asked_tier, tier, count(*) AS runs FROM outcome
    WHERE at >= ?1 AND at < ?2 AND asked_tier IS NOT NULL AND tier IS NOT NULL
    GROUP BY asked_tier, tier ORDER BY asked_tier, tier";

/// What counts as a failure is not for SQL to know, so each mode is a row of its own. Only first attempts were
/// chosen by what was asked for; later ones by what had failed.
pub(super) const HISTORY: &str = concat!(
    "SELECT requested, task_type, model, verdict, failure_mode, cost_known, count(*) AS runs, ",
    sum!("cost_nano"),
    " FROM outcome WHERE at >= ?1 AND at < ?2 AND (ordinal IS NULL OR ordinal = 1)
    GROUP BY requested, task_type, model, verdict, failure_mode, cost_known
    ORDER BY requested, task_type, model, verdict, failure_mode, cost_known"
);

/// A change of what is counted. It can be negative: a success that becomes a failure is one success less.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change([i64; 11]);

impl Change {
    pub fn first(outcome: &NewOutcome) -> Self {
        Self(counters(outcome))
    }

    pub fn between(before: &NewOutcome, after: &NewOutcome) -> Self {
        let (before, after) = (counters(before), counters(after));
        Self(std::array::from_fn(|counter| after[counter].saturating_sub(before[counter])))
    }
}

/// What one outcome counts, in the order of the columns.
fn counters(outcome: &NewOutcome) -> [i64; 11] {
    let success = outcome.verdict == Verdict::Success;
    let counts = outcome.counts();
    let quality = outcome.quality.filter(|_| counts);
    [
        i64::from(counts && success),
        i64::from(counts && success && outcome.evidence.is_proof()),
        i64::from(counts && !success),
        i64::from(!counts),
        if outcome.cost_known { outcome.cost.0 } else { 0 },
        i64::from(outcome.cost_known),
        row::signed(outcome.tokens),
        row::signed(outcome.duration_ms),
        i64::from(outcome.retries),
        quality.map_or(0, i64::from),
        i64::from(quality.is_some()),
    ]
}

/// Counts everywhere and in the outcome's own repository.
pub(super) fn count(script: &mut Script, outcome: &NewOutcome, change: Change) {
    let mut repositories = vec![EVERYWHERE];
    if outcome.repository != EVERYWHERE {
        repositories.push(&outcome.repository);
    }
    script
        .add(ADD)
        .bind(&outcome.task_type)
        .bind(week(outcome.at))
        .bind(outcome.tier.as_deref().unwrap_or_default())
        .bind(&outcome.model);
    for counter in change.0 {
        script.bind(counter);
    }
    script.bind(Value::from(repositories).to_string());
}

pub(super) async fn of(
    store: &SqliteStore,
    task_type: Option<&str>,
    repository: Option<&str>,
    from: i64,
) -> Result<Vec<Tally>> {
    let wanted = match task_type {
        Some(task_type) => query(OF_ONE).bind(repository.unwrap_or(EVERYWHERE)).bind(week(from)).bind(task_type),
        None => query(OF_ALL).bind(repository.unwrap_or(EVERYWHERE)).bind(week(from)),
    };
    let row = wanted.fetch_one(&store.connections.readers).await.map_err(failed("read the counts of outcomes"))?;
    let counts: Vec<Counted> = row::word(&row, "counts", |text| serde_json::from_str(text).ok())?;
    let mut tallies: Vec<Tally> = counts.into_iter().map(tally).collect();
    tallies.sort_by(|one, other| key(one).cmp(&key(other)));
    Ok(tallies)
}

/// A row as its SQL gives it.
type Counted = (i64, String, String, String, i64, [u64; 10]);

fn tally((at, task_type, tier, model, cost, counters): Counted) -> Tally {
    let [successes, proven, failures, uncounted, priced, tokens, duration_ms, retries, quality, rated] = counters;
    Tally {
        at,
        task_type,
        tier,
        model,
        successes,
        proven,
        failures,
        uncounted,
        cost: Nano(cost),
        priced,
        tokens,
        duration_ms,
        retries,
        quality,
        rated,
    }
}

fn key(tally: &Tally) -> (&str, i64, &str, &str) {
    (&tally.task_type, tally.at, &tally.tier, &tally.model)
}

pub(super) async fn moves(store: &SqliteStore, from: i64, until: i64) -> Result<Vec<Move>> {
    let rows = query(MOVES).bind(from).bind(until).fetch_all(&store.connections.readers).await;
    let moved = |row: &SqliteRow| {
        let (asked, tier) = (row::get(row, "asked_tier")?, row::get(row, "tier")?);
        Ok(Move { asked, tier, runs: row::count(row, "runs")? })
    };
    rows.map_err(failed("count the moves between tiers"))?.iter().map(moved).collect()
}

pub(super) async fn history(store: &SqliteStore, from: i64, until: i64) -> Result<Vec<Past>> {
    let rows = query(HISTORY).bind(from).bind(until).fetch_all(&store.connections.readers).await;
    let mut past: Vec<Past> = Vec::new();
    for row in &rows.map_err(failed("count the outcomes of a window"))? {
        let part = part(row)?;
        match past.last_mut().filter(|last| same_group(last, &part)) {
            Some(last) => merge(last, &part),
            None => past.push(part),
        }
    }
    Ok(past)
}

/// The outcomes of a group that ended in the same way.
fn part(row: &SqliteRow) -> Result<Past> {
    let runs = row::count(row, "runs")?;
    let verdict = row::word(row, "verdict", outcome::parse_verdict)?;
    let failure_mode = row::optional_word(row, "failure_mode", FailureMode::parse)?;
    let known: bool = row::get(row, "cost_known")?;
    let (successes, failures) = match verdict {
        Verdict::Success => (runs, 0),
        Verdict::Failure if failure_mode.is_none_or(FailureMode::counts) => (0, runs),
        Verdict::Failure => (0, 0),
    };
    Ok(Past {
        requested: row::get(row, "requested")?,
        task_type: row::get(row, "task_type")?,
        model: row::get(row, "model")?,
        runs,
        successes,
        failures,
        cost: if known { Nano(row::get(row, "cost_nano")?) } else { Nano::ZERO },
        priced: if known { runs } else { 0 },
    })
}

fn same_group(one: &Past, other: &Past) -> bool {
    one.requested == other.requested && one.task_type == other.task_type && one.model == other.model
}

fn merge(into: &mut Past, part: &Past) {
    into.runs = into.runs.saturating_add(part.runs);
    into.successes = into.successes.saturating_add(part.successes);
    into.failures = into.failures.saturating_add(part.failures);
    into.cost = into.cost + part.cost;
    into.priced = into.priced.saturating_add(part.priced);
}
