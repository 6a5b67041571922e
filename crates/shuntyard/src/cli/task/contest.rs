//! The entries of a contest and its winner, for scripts and for people.

use crate::ui;
use serde_json::{Value, json};
use shuntyard_core::{
    values::clean_line,
    work::task::{Entry, EntryCheck, Task},
};
use shuntyard_engine::{Context, queue::supervise};
use shuntyard_store::Result;

const ROOM: usize = 80;

pub struct ContestReport {
    entries: Vec<Entry>,
    winner: Option<String>,
    /// Why it won, or why there is no winner.
    reason: String,
}

impl ContestReport {
    /// None for a task that is no contest.
    pub async fn of(context: &Context, task: &Task) -> Result<Option<Self>> {
        if task.spec.contest.is_none() {
            return Ok(None);
        }
        let entries = supervise::entries(context, task).await?;
        let winner = task.tally.contest.as_ref().map(|decided| decided.model.clone());
        let reason = match winner {
            Some(_) => context.store.contest_of_task(&task.id).await?.map(|contest| contest.reason).unwrap_or_default(),
            None => task.state.reason(),
        };
        Ok(Some(Self { entries, winner, reason }))
    }

    pub fn document(&self) -> Value {
        let entries = self.entries.iter().map(|entry| {
            json!({
                "id": entry.id,
                "model": entry.model,
                "branch": entry.branch,
                "verify": entry.verify,
                "cost_usd": entry.cost.as_usd(),
                "outcome": entry.phase,
            })
        });
        json!({"entries": entries.collect::<Vec<_>>(), "winner": self.winner, "reason": self.reason})
    }

    pub fn people(&self) -> String {
        let row = |entry: &Entry| {
            let won = if self.winner.as_deref() == Some(entry.model.as_str()) { "won" } else { "" };
            let verify = match entry.verify {
                EntryCheck::Green => "green",
                EntryCheck::Red => "red",
                EntryCheck::None => "none",
            };
            vec![
                entry.id.to_string(),
                entry.model.clone(),
                entry.phase.to_string(),
                verify.to_owned(),
                entry.cost.to_string(),
                won.to_owned(),
                clean_line(&entry.reason, ROOM),
            ]
        };
        let rows: Vec<Vec<String>> = self.entries.iter().map(row).collect();
        let table = ui::table(&["ENTRY", "MODEL", "STATE", "VERIFY", "COST", "", "WHY"], &rows);
        match self.winner {
            Some(_) => format!("{table}\n{}", clean_line(&self.reason, 4 * ROOM)),
            None => table,
        }
    }
}
