//! The end of a claim: given back, or done. Both may be repeated, and change nothing the second time.

use super::{
    ClaimFault, Line,
    identity::identity,
    issues,
    record::{Record, day},
    write::{Decision, Marked, Run, find, marked, write},
};
use crate::Context;
use shuntyard_core::{
    todo::{self, Checkbox, Document, Evidence, Field, Force},
    work::task::{Task, TaskId},
};
use shuntyard_host::clock::now_micros;

/// Whose claim may be given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Only one that this store has made.
    ThisStore,
    /// Any in this store's name, also one that a person wrote.
    ThisName,
    Anyones,
}

/// Gives back the claim that this store has on a task. By force also another's claim.
pub async fn release(context: &Context, task: &Task, force: Force) -> Result<Marked, ClaimFault> {
    let Some(line) = Line::of(task) else { return Ok(Marked::NotNeeded) };
    let whose = match force {
        Force::Yes => Whose::Anyones,
        Force::No => Whose::ThisStore,
    };
    unclaim(context, &line, whose, Run::Real).await
}

/// The same for any line.
pub async fn unclaim(context: &Context, line: &Line, whose: Whose, run: Run) -> Result<Marked, ClaimFault> {
    let who = identity(context)?;
    let shared = find(context, &line.repository, &line.base).await?;
    let record = Record::read(context, line).await?;
    let decide = |document: &Document| freed(document, &line.todo, &who, &record, whose);
    let marked = marked(write(context, &shared, &line.todo, run, None, decide).await?);
    if run == Run::Real && matches!(marked, Marked::Confirmed { .. } | Marked::Local | Marked::Already) {
        record.forget(context).await?;
    }
    Ok(marked)
}

fn freed(document: &Document, id: &TaskId, who: &str, record: &Record, whose: Whose) -> Result<Decision, ClaimFault> {
    let Some(line) = document.task(id).map_err(todo::EditError::from)? else { return Ok(Decision::AsWanted) };
    // A task that is over keeps the name of who did it.
    if line.checkbox != Checkbox::Open || line.value(Field::Assignee).is_none() {
        return Ok(Decision::AsWanted);
    }
    let force = match whose {
        Whose::Anyones => Force::Yes,
        Whose::ThisStore | Whose::ThisName => Force::No,
    };
    let other = line.values(Field::Assignee).find(|name| *name != who);
    match (other, force) {
        (Some(by), Force::No) => return Ok(Decision::Held { by: by.to_owned() }),
        (None, Force::No) if whose == Whose::ThisStore && !record.is_ours(line) => {
            return Ok(Decision::Held { by: who.to_owned() });
        }
        (Some(_) | None, _) => {}
    }
    let edited = todo::unclaim(document, id, who, force)?;
    let message = match other {
        Some(by) => format!("{id}: taken from {by} by {who}"),
        None => format!("{id}: given back by {who}"),
    };
    Ok(Decision::of(edited, &message))
}

/// Ticks the box of a task, with what it rests on.
pub async fn complete(context: &Context, task: &Task, evidence: Evidence) -> Result<Marked, ClaimFault> {
    match Line::of(task) {
        Some(line) => tick(context, &line, evidence, Run::Real).await,
        None => Ok(Marked::NotNeeded),
    }
}

pub(super) async fn tick(context: &Context, line: &Line, evidence: Evidence, run: Run) -> Result<Marked, ClaimFault> {
    let who = identity(context)?;
    let shared = find(context, &line.repository, &line.base).await?;
    let date = day(now_micros());
    let decide = |document: &Document| ticked(document, &line.todo, &who, &date, evidence);
    let done = marked(write(context, &shared, &line.todo, run, None, decide).await?);
    let Marked::Confirmed { note } = done else { return Ok(done) };
    let left = issues::close(context, line, &shared, evidence).await;
    if let Some(left) = &left {
        tracing::warn!(todo = %line.todo, "{left}");
    }
    let notes: Vec<String> = note.into_iter().chain(left).collect();
    Ok(Marked::Confirmed { note: (!notes.is_empty()).then(|| notes.join("; ")) })
}

fn ticked(document: &Document, id: &TaskId, who: &str, date: &str, evidence: Evidence) -> Result<Decision, ClaimFault> {
    if let Some(line) = document.task(id).map_err(todo::EditError::from)? {
        if let Some(by) = line.values(Field::Assignee).find(|name| *name != who) {
            return Ok(Decision::Held { by: by.to_owned() });
        }
        let field = match evidence {
            Evidence::PullRequest(_) => Field::PullRequest,
            Evidence::Verified => Field::Verified,
        };
        // On another day the date would change, so a line that has one keeps it.
        if line.checkbox == Checkbox::Done && line.value(field).is_some() {
            return Ok(Decision::AsWanted);
        }
    }
    let edited = todo::complete(document, id, date, evidence)?;
    Ok(Decision::of(edited, &format!("{id}: done")))
}
