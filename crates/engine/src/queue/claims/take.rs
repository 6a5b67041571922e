//! Taking a task: the line says so for all to see before any work begins.

use super::{
    ClaimFault, Line,
    identity::identity,
    issues,
    record::{Record, written},
    tip::Silence,
    write::{Decision, Run, Written, find, write},
};
use crate::Context;
use shuntyard_core::{
    settings::OfflineClaims,
    todo::{self, Document, Field},
    work::task::{Task, TaskId},
};

/// What became of a claim. Work may begin with the first four.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// The remote has it: no other store can have it as well.
    Confirmed,
    /// There is no remote, and the branch here has it.
    Local,
    /// The task came from no TODO.md.
    NotNeeded,
    /// The remote does not answer, and the settings allow the work all the same. Other stores cannot see the claim.
    Unconfirmed(String),
    /// It is claimed. By this store's own name: another store that is called the same, or a person.
    Lost { by: String },
    /// The remote cannot be asked, so the claim is unknown. It counts as taken.
    Offline(String),
}

/// A claim with notes about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub taken: Taken,
    pub who: String,
    /// Where the line is, such as `origin/main`.
    pub place: String,
    pub notes: Vec<String>,
}

/// Claims the line that a task came from. The same store may do so again and again.
pub async fn take(context: &Context, task: &Task) -> Result<Taken, ClaimFault> {
    let Some(line) = Line::of(task) else { return Ok(Taken::NotNeeded) };
    let claim = claim(context, &line, Run::Real).await?;
    for note in &claim.notes {
        tracing::info!(task = %task.id, "{note}");
    }
    Ok(claim.taken)
}

/// The same for any line, whether the store has a task for it or not.
pub async fn claim(context: &Context, line: &Line, run: Run) -> Result<Claim, ClaimFault> {
    let who = identity(context)?;
    let shared = find(context, &line.repository, &line.base).await?;
    let known = Record::read(context, line).await?;
    let mut record = known.clone();
    let started = written(record.begin());
    let decide = |document: &Document| wanted(document, &line.todo, &who, &started, [&known, &record]);
    let mut notes = Vec::new();
    let done = write(context, &shared, &line.todo, run, Some(&record), decide).await?;
    let taken = match done {
        Written::Shared { note } => {
            notes.extend(note);
            notes.extend(issues::assign(context, line, &shared).await);
            Taken::Confirmed
        }
        Written::AsWanted | Written::Would if shared.remote.is_some() => Taken::Confirmed,
        Written::Local | Written::AsWanted | Written::Would => Taken::Local,
        Written::Held { by } => Taken::Lost { by },
        Written::Unreachable(found)
            if found.how == Silence::Offline && context.config.supervise.offline_claims == OfflineClaims::Allow =>
        {
            let here = shared.alone();
            match write(context, &here, &line.todo, run, Some(&record), decide).await? {
                Written::Held { by } => Taken::Lost { by },
                _ => Taken::Unconfirmed(found.why),
            }
        }
        Written::Unreachable(found) => Taken::Offline(found.why),
    };
    Ok(Claim { taken, who, place: shared.place(), notes })
}

/// Only what this store has written down, now or before, is its own, whatever name the line has.
fn wanted(
    document: &Document,
    id: &TaskId,
    who: &str,
    started: &str,
    records: [&Record; 2],
) -> Result<Decision, ClaimFault> {
    let line = document.task(id).map_err(todo::EditError::from)?;
    if let Some(line) = line {
        if let Some(by) = line.values(Field::Assignee).find(|name| *name != who) {
            return Ok(Decision::Held { by: by.to_owned() });
        }
        if line.value(Field::Assignee).is_some() && !records.iter().any(|record| record.is_ours(line)) {
            return Ok(Decision::Held { by: who.to_owned() });
        }
    }
    let edited = todo::claim(document, id, who, started)?;
    Ok(Decision::of(edited, &format!("{id}: claimed by {who}")))
}
