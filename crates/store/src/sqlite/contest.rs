//! Contests. The first verdict about a piece of work stands, so that no process that comes later decides it again.

use super::{
    SqliteStore, event,
    fault::failed,
    row,
    script::{Script, Write},
};
use crate::{ContestRecord, Contests, Result};
use async_trait::async_trait;
use serde_json::json;
use shuntyard_core::work::task::TaskId;
use sqlx::{query, sqlite::SqliteRow};

const KNOWN: &str = "SELECT 1 FROM contest WHERE id = ?";

const RECORD: &str = "
    INSERT INTO contest (id, at, task, repository, task_type, entries, winner, margin, reason)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";

const ONE: &str = "SELECT * FROM contest WHERE id = ?1";

const OF_TASK: &str = "SELECT * FROM contest WHERE task = ?1 ORDER BY at DESC, id DESC LIMIT 1";

const OF_TYPE: &str = "
    SELECT * FROM contest WHERE task_type = ?1 AND winner IS NOT NULL
    ORDER BY repository = ?2 DESC, at DESC, id DESC LIMIT ?3";

#[async_trait]
impl Contests for SqliteStore {
    async fn record_contest(&self, contest: &ContestRecord) -> Result<bool> {
        let (mut look, mut script) = (Script::default(), Script::default());
        look.add(KNOWN).bind(&contest.id);
        let (write, known) = Write::after(self, look, "record a contest").await?;
        if !known.is_empty() {
            write.leave().await?;
            return Ok(false);
        }
        script
            .add(RECORD)
            .bind(&contest.id)
            .bind(contest.at)
            .bind(contest.task.as_ref().map(|task| task.as_str().to_owned()))
            .bind(&contest.repository)
            .bind(&contest.task_type)
            .bind(contest.entries.to_string())
            .bind(&contest.winner)
            .bind(contest.margin)
            .bind(&contest.reason);
        let told = json!({
            "task": contest.task, "task_type": contest.task_type, "winner": contest.winner,
            "margin": contest.margin, "reason": contest.reason,
        });
        event::tell(&mut script, contest.at, "contest.decided", &contest.id, &told);
        write.commit(script).await?;
        Ok(true)
    }

    async fn contest(&self, id: &str) -> Result<Option<ContestRecord>> {
        let found = query(ONE).bind(id).fetch_optional(&self.connections.readers).await;
        found.map_err(failed("read the contest"))?.as_ref().map(record).transpose()
    }

    async fn contest_of_task(&self, task: &TaskId) -> Result<Option<ContestRecord>> {
        let found = query(OF_TASK).bind(task.as_str()).fetch_optional(&self.connections.readers).await;
        found.map_err(failed("read the contest"))?.as_ref().map(record).transpose()
    }

    async fn contests_of_type(&self, task_type: &str, repository: &str, limit: u32) -> Result<Vec<ContestRecord>> {
        let found = query(OF_TYPE).bind(task_type).bind(repository).bind(limit);
        let found = found.fetch_all(&self.connections.readers).await.map_err(failed("read contests"))?;
        found.iter().map(record).collect()
    }
}

fn record(row: &SqliteRow) -> Result<ContestRecord> {
    Ok(ContestRecord {
        id: row::get(row, "id")?,
        at: row::get(row, "at")?,
        task: row::optional_word(row, "task", |text| text.parse().ok())?,
        repository: row::get(row, "repository")?,
        task_type: row::get(row, "task_type")?,
        entries: row::parsed(row, "entries")?,
        winner: row::get(row, "winner")?,
        margin: row::get(row, "margin")?,
        reason: row::get(row, "reason")?,
    })
}
