//! The user's checkout before and after an attempt: no agent may change it.
//!
//! The user and deliveries of other tasks change it as well, so a change counts as a trespass only when the calls of
//! the agent show that it made it. Every other change is a note.

use super::place::{Place, git};
use shuntyard_core::work::task::checkout::{
    Call, Checkout, Disk, Evidence, FileState, Ours, Scene, Stamp, Tracking, Verdict, differences,
};
use shuntyard_host::git::{FileTrace, Footprint, GitError, Listing, OnDisk};
use std::{collections::BTreeSet, path::Path};

/// Changes that are listed one by one; the others are counted.
const LISTED: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parent {
    before: Footprint,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) trespass: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl Parent {
    /// None for work in place, where the checkout is what the task is to change.
    pub(super) async fn look(place: &Place) -> Option<Self> {
        place.branch.as_ref()?;
        let place = place.clone();
        let looked = tokio::task::spawn_blocking(move || before(&place)).await.ok()?;
        match looked {
            Ok(before) => Some(Self { before }),
            Err(error) => {
                tracing::warn!(%error, "the user's checkout could not be looked at, so its changes go unnoticed");
                None
            }
        }
    }

    pub(super) async fn compare(self, place: &Place, calls: Vec<Call>, home: &str) -> Changes {
        let scene = Scene {
            root: text(&place.repository),
            git_directory: text(&self.before.git_directory),
            workspace: text(&place.directory),
            home: home.to_owned(),
        };
        let place = place.clone();
        let compared = tokio::task::spawn_blocking(move || {
            let changes = changes(&self.before, &place.repository, &calls, &scene)?;
            if let Ok(workspace) = place.workspace() {
                workspace.forget_footprint();
            }
            Ok::<_, GitError>(changes)
        })
        .await;
        match compared {
            Ok(Ok(changes)) => changes,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the user's checkout could not be looked at again");
                Changes {
                    notes: vec![format!("the user's checkout could not be compared: failed to {error}")],
                    ..Changes::default()
                }
            }
            Err(error) => Changes { notes: vec![error.to_string()], ..Changes::default() },
        }
    }
}

/// As it is now, or as it was before an attempt whose worker died.
fn before(place: &Place) -> Result<Footprint, GitError> {
    let workspace = place.workspace()?;
    if let Some(before) = workspace.saved_footprint() {
        return Ok(before);
    }
    let before = git().not_above(&place.repository).footprint(&place.repository, None)?;
    if let Err(error) = workspace.save_footprint(&before) {
        tracing::warn!(%error, "what the user's checkout looks like is known only as long as this worker lives");
    }
    Ok(before)
}

fn changes(before: &Footprint, repository: &Path, calls: &[Call], scene: &Scene) -> Result<Changes, GitError> {
    let after = git().not_above(repository).footprint(repository, Some(before))?;
    let ours = deliveries(before, &after, repository)?;
    let evidence = Evidence::of(calls, scene);
    let mut changes = Changes::default();
    for difference in differences(&checkout(before), &checkout(&after), &ours) {
        match evidence.attribute(&difference) {
            Verdict::Agent { evidence } => {
                tracing::warn!(change = difference.done(), call = evidence, "the agent changed the user's checkout");
                changes.trespass.push(difference.done());
            }
            Verdict::Unknown => changes.notes.push(difference.note()),
        }
    }
    for list in [&mut changes.trespass, &mut changes.notes] {
        let more = list.len().saturating_sub(LISTED);
        list.truncate(LISTED);
        list.extend((more > 0).then(|| format!("{more} more changes in the user's checkout")));
    }
    Ok(changes)
}

/// What deliveries of other tasks did meanwhile.
fn deliveries(before: &Footprint, after: &Footprint, repository: &Path) -> Result<Ours, GitError> {
    let git = git().not_above(repository);
    let references = git.moved_by_deliveries(repository, before, after)?;
    let files = match (&before.commit, &after.commit) {
        (Some(from), Some(to)) if before.head == after.head && references.contains(&after.head) => {
            git.changed_between(repository, from, to)?.iter().map(|path| text(path)).collect()
        }
        _ => BTreeSet::new(),
    };
    Ok(Ours { references, files })
}

fn checkout(footprint: &Footprint) -> Checkout {
    Checkout {
        head: footprint.head.clone(),
        commit: footprint.commit.clone(),
        files: footprint.files.iter().map(|(path, trace)| (text(path), state(trace))).collect(),
        uncounted: footprint.uncounted,
        references: footprint.references.clone(),
        stashes: footprint.stashes.clone(),
        settings: footprint.settings.clone(),
        hooks: footprint.hooks.clone(),
    }
}

fn state(trace: &FileTrace) -> FileState {
    let tracking = match trace.listing {
        Listing::Unlisted => Tracking::Unlisted,
        Listing::Tracked => Tracking::Tracked,
        Listing::Added => Tracking::Added,
        Listing::Untracked => Tracking::Untracked,
        Listing::Ignored => Tracking::Ignored,
    };
    let disk = match trace.disk {
        OnDisk::Absent => Disk::Absent,
        OnDisk::Directory => Disk::Directory,
        OnDisk::File { size, modified_nanos, inode, content } => {
            Disk::File { stamp: Stamp { size, modified_nanos, inode }, content }
        }
    };
    FileState { tracking, staged: trace.staged.clone(), disk }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
