//! The newest TODO.md that is shared, and the offer of a newer one.
//!
//! Invariant: an offer is taken only if the branch has not moved since it was read: git refuses a push that does not
//! follow, and a local branch moves from the commit that was seen. So the second writer learns that it was refused.

use super::{
    ClaimFault,
    plumbing::{Draft, commit},
    shared::Shared,
};
use shuntyard_core::todo::Document;
use shuntyard_host::{
    git::{FastForward, Fetched, FileAt, Pushed},
    paths::private_dir,
};
use std::path::Path;

const FILE: &str = "TODO.md";

#[derive(Debug)]
pub(super) struct Tip {
    pub(super) document: Document,
    commit: String,
    mode: String,
}

#[derive(Debug)]
pub(super) enum Look {
    At(Box<Tip>),
    Unreachable(Unreachable),
}

/// The remote cannot be asked now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreachable {
    pub(super) why: String,
    pub(super) how: Silence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Silence {
    /// There is no way to it at the moment.
    Offline,
    /// It was reached, or is not there at all, and its content is unknown.
    Unreadable,
}

#[derive(Debug)]
pub(super) enum Offer {
    Taken {
        /// What the local branch could not follow in.
        note: Option<String>,
    },
    /// Another writer was faster, or the remote has a rule against it.
    Refused(String),
    /// It may have arrived, or not.
    Unsure(String),
}

impl Shared {
    /// Blocks, as everything here does.
    pub(super) fn look(&self) -> Result<Look, ClaimFault> {
        let unreachable = |why, how| Ok(Look::Unreachable(Unreachable { why, how }));
        let commit = match &self.remote {
            None => self.git.branch_commit(&self.repository, &self.branch)?,
            Some(remote) => match self.git.fetch(&self.repository, &remote.name, &remote.branch)? {
                Fetched::Done { commit } => Some(commit),
                Fetched::Absent => None,
                Fetched::Offline(why) => return unreachable(why, Silence::Offline),
                Fetched::Failed(why) => return unreachable(why, Silence::Unreadable),
            },
        };
        let Some(commit) = commit else {
            return Err(match &self.remote {
                Some(remote) => ClaimFault::NotShared { remote: remote.name.clone(), branch: remote.branch.clone() },
                None => ClaimFault::NoBranch(self.repository.clone()),
            });
        };
        self.read(commit).map(|tip| Look::At(Box::new(tip)))
    }

    fn read(&self, commit: String) -> Result<Tip, ClaimFault> {
        let file = self.git.file_at(&self.repository, &commit, FILE, u64::MAX)?;
        let FileAt { mode, bytes } = file.ok_or_else(|| ClaimFault::NoFile { place: self.place() })?;
        let bad = |problem| ClaimFault::BadFile { place: self.place(), problem };
        if !mode.starts_with("100") {
            return Err(bad("no plain file"));
        }
        let text = String::from_utf8(bytes).map_err(|_| bad("no text in UTF-8"))?;
        Ok(Tip { document: Document::parse(&text), commit, mode })
    }

    /// Offers a TODO.md in place of the one that was read. No other process may use the scratch directory meanwhile.
    pub(super) fn offer(&self, tip: &Tip, document: &Document, message: &str) -> Result<Offer, ClaimFault> {
        // What a killed process left would be in the way.
        drop(std::fs::remove_dir_all(&self.scratch));
        private_dir(&self.scratch)?;
        let file = FileAt { mode: tip.mode.clone(), bytes: document.text().as_bytes().to_vec() };
        let draft = Draft {
            parent: &tip.commit,
            path: FILE,
            file: &file,
            message,
            author: &self.author,
            scratch: &self.scratch,
        };
        let made = commit(&self.git, &self.repository, &draft);
        drop(std::fs::remove_dir_all(&self.scratch));
        self.publish(tip, &made?)
    }

    fn publish(&self, tip: &Tip, commit: &str) -> Result<Offer, ClaimFault> {
        let Some(remote) = &self.remote else { return self.advance(tip, commit) };
        let refspec = format!("{commit}:refs/heads/{}", remote.branch);
        Ok(match self.git.push(&self.repository, &remote.name, &refspec)? {
            Pushed::Done => Offer::Taken { note: self.follow(commit) },
            Pushed::Rejected(why) => Offer::Refused(why),
            Pushed::Offline(why) | Pushed::Failed(why) => Offer::Unsure(why),
        })
    }

    /// Moves the local branch, which is all that there is.
    fn advance(&self, tip: &Tip, commit: &str) -> Result<Offer, ClaimFault> {
        Ok(match self.git.fast_forward(&self.repository, &self.branch, &tip.commit, commit)? {
            FastForward::Done | FastForward::AlreadyThere => Offer::Taken { note: None },
            FastForward::Moved { .. } | FastForward::NotForward => Offer::Refused("somebody was faster".to_owned()),
            FastForward::CheckedOutDirty { path, .. } => return Err(ClaimFault::Dirty(path)),
            FastForward::Busy { path, operation } => {
                Offer::Refused(format!("{} cannot be moved now: {} {operation}", self.branch, path.display()))
            }
        })
    }

    /// Lets the local branch follow what the remote has by now. It is the user's, so it stays where that is not safe,
    /// and nothing that goes wrong here undoes what was shared.
    fn follow(&self, commit: &str) -> Option<String> {
        let (branch, place) = (&self.branch, self.place());
        let from = match self.git.branch_commit(&self.repository, branch) {
            Ok(Some(from)) => from,
            Ok(None) => return None,
            Err(error) => return Some(format!("{place} has it, but failed to look at {branch} here: {error}")),
        };
        let shown = |path: &Path| path.display().to_string();
        match self.git.fast_forward(&self.repository, branch, &from, commit) {
            Ok(FastForward::Done | FastForward::AlreadyThere) => None,
            Ok(FastForward::Moved { .. } | FastForward::NotForward) => {
                Some(format!("{place} has it; {branch} here has commits of its own and was left: pull when you like"))
            }
            Ok(FastForward::CheckedOutDirty { path, files }) => {
                let files: Vec<String> = files.iter().take(3).map(|file| shown(file)).collect();
                let (files, path) = (files.join(", "), shown(&path));
                Some(format!("{place} has it; {branch} was left, since {files} in {path} is not committed"))
            }
            Ok(FastForward::Busy { path, operation }) => {
                Some(format!("{place} has it; {branch} was left: {} {operation}", shown(&path)))
            }
            Err(error) => Some(format!("{place} has it, but failed to let {branch} here follow: {error}")),
        }
    }
}
