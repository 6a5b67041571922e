//! Claims of this store that were left behind by work that is gone.

use super::{
    ClaimFault, Line,
    identity::identity,
    line::{linked, top_of},
    record::Record,
    settle::{Whose, unclaim},
    shared::{Shared, usual_base},
    tip::Look,
    write::{Marked, Run, blocking, find},
};
use crate::{Context, base::owner::here};
use shuntyard_core::{
    todo::{Document, Presence, StaleVerdict, Traces, is_stale_claim},
    work::task::TaskId,
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::TaskRecord;
use std::path::Path;

/// A claim that was given back, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freed {
    pub todo: TaskId,
    pub marked: Marked,
}

/// Gives back this store's own claims that are older than a day and have neither a worker nor a working tree. A remote
/// that cannot be asked frees nothing.
pub async fn stale(context: &Context, directory: &Path) -> Result<Vec<Freed>, ClaimFault> {
    let repository = top_of(directory)?;
    let base = usual_base(&repository).await?;
    let shared = find(context, &repository, &base).await?;
    let Look::At(tip) = blocking(&shared, Shared::look).await? else { return Ok(Vec::new()) };
    free(context, &repository, &base, &tip.document, Run::Real).await
}

pub(super) async fn free(
    context: &Context,
    repository: &Path,
    base: &str,
    document: &Document,
    run: Run,
) -> Result<Vec<Freed>, ClaimFault> {
    let who = identity(context)?;
    let mut freed = Vec::new();
    for record in linked(context, repository).await? {
        let Some(todo) = record.task.spec.todo.clone() else { continue };
        let Ok(Some(line)) = document.task(&todo) else { continue };
        let place = Line::new(repository, base, &todo);
        let traces = traces(context, &record).await?;
        let is_stale = matches!(is_stale_claim(line, &who, now_micros(), traces), StaleVerdict::Stale { .. });
        // One of the same name that this store did not make may be another store's, whose work cannot be seen from
        // here.
        if is_stale && Record::read(context, &place).await?.is_ours(line) {
            let marked = unclaim(context, &place, Whose::ThisStore, run).await?;
            // Another process may have given it back in the meantime.
            if !matches!(marked, Marked::Already | Marked::Anothers { .. }) {
                freed.push(Freed { todo, marked });
            }
        }
    }
    Ok(freed)
}

async fn traces(context: &Context, record: &TaskRecord) -> Result<Traces, ClaimFault> {
    let worker = if record.task.state.is_held() { Presence::There } else { Presence::Gone };
    let mut worktree = Presence::Gone;
    for run in context.store.runs(&record.task.id).await? {
        let machine = |host: &str| host.rsplit_once('#').map_or_else(|| host.to_owned(), |(name, _)| name.to_owned());
        let Some(directory) = run.worktree else { continue };
        worktree = match (machine(&run.host) == machine(&here()), Path::new(&directory).exists()) {
            (true, true) => Presence::There,
            (false, _) => Presence::Unknown,
            (true, false) => continue,
        };
    }
    Ok(Traces { worker, worktree })
}
