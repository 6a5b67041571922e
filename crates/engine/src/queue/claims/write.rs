//! One change of one line, made on the newest TODO.md that there is, and shared: read, decide, offer; and again when
//! another writer was faster.

use super::{
    ClaimFault,
    record::Record,
    shared::Shared,
    tip::{Look, Offer, Silence, Unreachable},
};
use crate::{Context, in_thread};
use shuntyard_core::{
    todo::{Document, Edited},
    work::task::TaskId,
};
use std::path::Path;

/// The first try and three more.
const TRIES: u32 = 4;

/// Whether the change is made, or only reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    Real,
    Dry,
}

/// What is to become of the line, seeing the file as it is now.
#[derive(Debug)]
pub(super) enum Decision {
    Change { document: Box<Document>, message: String },
    AsWanted,
    Held { by: String },
}

impl Decision {
    /// Claims and marks are no reason to build anything, and most services look for these words.
    pub(super) fn of(edited: Edited, message: &str) -> Self {
        match edited.line {
            None => Self::AsWanted,
            Some(_) => Self::Change { document: Box::new(edited.document), message: format!("{message}\n\n[skip ci]") },
        }
    }
}

#[derive(Debug)]
pub(super) enum Written {
    /// The remote has it; the note says why the local branch has not.
    Shared {
        note: Option<String>,
    },
    /// There is no remote, and the branch here has it.
    Local,
    AsWanted,
    Held {
        by: String,
    },
    Unreachable(Unreachable),
    /// Nothing was changed, since that was not asked for.
    Would,
}

/// What became of a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Marked {
    /// The remote has it. The note says why the local branch has not.
    Confirmed { note: Option<String> },
    /// There is no remote, and the branch here has it.
    Local,
    /// It was like that already, or there is no such line any more.
    Already,
    /// The task came from no TODO.md.
    NotNeeded,
    /// The line is another's, and was not changed.
    Anothers { by: String },
    /// The remote cannot be asked; it has to be tried again.
    Offline(String),
    /// It would be changed, had that been asked for.
    Would,
}

pub(super) fn marked(written: Written) -> Marked {
    match written {
        Written::Shared { note } => Marked::Confirmed { note },
        Written::Local => Marked::Local,
        Written::AsWanted => Marked::Already,
        Written::Held { by } => Marked::Anothers { by },
        Written::Unreachable(found) => Marked::Offline(found.why),
        Written::Would => Marked::Would,
    }
}

/// `record` is written down before anything can be seen by others.
pub(super) async fn write(
    context: &Context,
    shared: &Shared,
    id: &TaskId,
    run: Run,
    record: Option<&Record>,
    decide: impl Fn(&Document) -> Result<Decision, ClaimFault>,
) -> Result<Written, ClaimFault> {
    let _held = blocking(shared, Shared::hold).await?;
    let (mut unsure, mut refused) = (None, String::new());
    for _ in 0..TRIES {
        let tip = match blocking(shared, Shared::look).await? {
            Look::At(tip) => tip,
            Look::Unreachable(unreachable) => return Ok(Written::Unreachable(unreachable)),
        };
        let (document, message) = match decide(&tip.document)? {
            Decision::Change { document, message } => (document, message),
            Decision::AsWanted => return Ok(Written::AsWanted),
            Decision::Held { by } => return Ok(Written::Held { by }),
        };
        if run == Run::Dry {
            return Ok(Written::Would);
        }
        // An offer whose end is unknown has not arrived, or not yet. Another one would not fare better.
        if let Some(unreachable) = unsure {
            return Ok(Written::Unreachable(unreachable));
        }
        if let Some(record) = record {
            record.keep(context).await?;
        }
        match blocking(shared, move |shared| shared.offer(&tip, &document, &message)).await? {
            Offer::Taken { note } if shared.remote.is_some() => return Ok(Written::Shared { note }),
            Offer::Taken { .. } => return Ok(Written::Local),
            Offer::Refused(why) => refused = why,
            Offer::Unsure(why) => unsure = Some(Unreachable { why, how: Silence::Unreadable }),
        }
    }
    match unsure {
        Some(unreachable) => Ok(Written::Unreachable(unreachable)),
        None => Err(ClaimFault::Rejected { place: shared.place(), id: id.clone(), tries: TRIES, why: refused }),
    }
}

/// Git is waited for in a thread that may be blocked.
pub(super) async fn blocking<T: Send + 'static>(
    shared: &Shared,
    work: impl FnOnce(&Shared) -> Result<T, ClaimFault> + Send + 'static,
) -> Result<T, ClaimFault> {
    let shared = shared.clone();
    in_thread(move || work(&shared)).await.map_err(ClaimFault::Io)?
}

/// Where the file is shared, found in such a thread as well.
pub(super) async fn find(context: &Context, repository: &Path, base: &str) -> Result<Shared, ClaimFault> {
    let (context, repository, base) = (context.clone(), repository.to_owned(), base.to_owned());
    in_thread(move || Shared::find(&context, &repository, &base)).await.map_err(ClaimFault::Io)?
}
