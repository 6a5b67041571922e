//! Outcomes with similar words.
//!
//! FTS5 has a language of its own for what is looked for. A word is always a quoted string in it, so that nothing
//! in the query can be more than a word. And what a question costs does not grow with the outcomes: FTS5
//! ranks all that it finds, so a word that very many have is not ranked by, which would help little anyway.

use super::{SqliteStore, fault::failed, listing, row};
use crate::{OutcomeRecord, Result};
use serde_json::Value;
use sqlx::{SqliteConnection, query, sqlite::SqliteRow};
use std::collections::BTreeSet;

/// More words are not looked for.
const MOST_WORDS: usize = 32;

/// How many outcomes are looked at, at most, for each of the steps below.
const CANDIDATES: u32 = 10_000;

/// How often a word occurs, counted no further than the limit.
pub(super) const OCCURRENCES: &str = "
    SELECT word.value AS word,
        (SELECT count(*) FROM (SELECT 1 FROM outcome_text WHERE outcome_text MATCH word.value LIMIT ?2)) AS outcomes
    FROM json_each(?1) AS word";

pub(super) const RANKED: &str = "
    WITH hit AS MATERIALIZED (
        SELECT rowid AS id, rank FROM outcome_text WHERE outcome_text MATCH ?1 ORDER BY rank, rowid DESC LIMIT ?2
    )
    SELECT outcome.* FROM hit CROSS JOIN outcome ON outcome.id = hit.id ORDER BY hit.rank, hit.id DESC";

/// Of the newest outcomes those that have the most of the words.
pub(super) const RECENT: &str = "
    WITH hit AS MATERIALIZED (
        SELECT outcome_text.rowid AS id, count(*) AS words
        FROM json_each(?1) AS word CROSS JOIN outcome_text
        WHERE outcome_text MATCH word.value AND outcome_text.rowid > (SELECT max(id) FROM outcome) - ?3
        GROUP BY outcome_text.rowid ORDER BY words DESC, id DESC LIMIT ?2
    )
    SELECT outcome.* FROM hit CROSS JOIN outcome ON outcome.id = hit.id ORDER BY hit.words DESC, hit.id DESC";

pub(super) async fn to(store: &SqliteStore, words: &[String], limit: u32) -> Result<Vec<OutcomeRecord>> {
    among(store, words, limit, CANDIDATES).await
}

pub(super) async fn among(
    store: &SqliteStore,
    words: &[String],
    limit: u32,
    candidates: u32,
) -> Result<Vec<OutcomeRecord>> {
    let mut wanted: Vec<String> = Vec::new();
    for word in words.iter().map(|word| quoted(word)) {
        if wanted.len() < MOST_WORDS && !wanted.contains(&word) {
            wanted.push(word);
        }
    }
    if wanted.is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let mut snapshot = store.connections.readers.begin().await.map_err(failed("look for similar outcomes"))?;
    let (rare, common) = by_occurrence(&mut snapshot, wanted, candidates).await?;
    let mut found = if rare.is_empty() { Vec::new() } else { ranked(&mut snapshot, &rare, limit).await? };
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    if found.len() < most && !common.is_empty() {
        let ranked: BTreeSet<i64> = found.iter().map(|record| record.id).collect();
        // Fewer than the limit were ranked, so that twice the limit has enough others.
        let more = recent(&mut snapshot, common, limit.saturating_mul(2), candidates).await?;
        found.extend(more.into_iter().filter(|record| !ranked.contains(&record.id)));
        found.truncate(most);
    }
    Ok(found)
}

/// A word as a string of FTS5, for which a text ends at its first NUL.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\0', " ").replace('"', "\"\""))
}

/// The rarest words, as many as fit within the limit of candidates, and the others. One without any outcome is in
/// neither.
async fn by_occurrence(
    connection: &mut SqliteConnection,
    words: Vec<String>,
    candidates: u32,
) -> Result<(Vec<String>, Vec<String>)> {
    let rows = query(OCCURRENCES)
        .bind(Value::from(words).to_string())
        .bind(candidates.saturating_add(1))
        .fetch_all(connection)
        .await;
    let mut counted = Vec::new();
    for row in &rows.map_err(failed("count the words"))? {
        counted.push((row::count(row, "outcomes")?, row::get::<String>(row, "word")?));
    }
    counted.retain(|(outcomes, _)| *outcomes > 0);
    counted.sort();
    let (mut rare, mut common, mut together) = (Vec::new(), Vec::new(), 0);
    for (outcomes, word) in counted {
        together += outcomes;
        if together <= u64::from(candidates) { rare.push(word) } else { common.push(word) }
    }
    Ok((rare, common))
}

async fn ranked(connection: &mut SqliteConnection, words: &[String], limit: u32) -> Result<Vec<OutcomeRecord>> {
    let rows = query(RANKED).bind(words.join(" OR ")).bind(limit).fetch_all(connection).await;
    read(rows)
}

async fn recent(
    connection: &mut SqliteConnection,
    words: Vec<String>,
    limit: u32,
    candidates: u32,
) -> Result<Vec<OutcomeRecord>> {
    let words = Value::from(words).to_string();
    let rows = query(RECENT).bind(words).bind(limit).bind(candidates).fetch_all(connection).await;
    read(rows)
}

fn read(rows: sqlx::Result<Vec<SqliteRow>>) -> Result<Vec<OutcomeRecord>> {
    rows.map_err(failed("look for similar outcomes"))?.iter().map(listing::outcome).collect()
}
