//! What differs between two snapshots of a checkout.

use super::{Checkout, Disk, FileState, Tracking};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    pub kind: Kind,
    /// The path from the top, the full name of the reference, the commit of the stash, or the file in git's own
    /// directory.
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Modified,
    /// A change that was not committed is gone, and the file is as committed.
    Reverted,
    Deleted,
    Created,
    Staged,
    Unstaged,
    RefMoved,
    RefCreated,
    RefDeleted,
    StashAdded,
    StashDropped,
    ConfigChanged,
    HookChanged,
    HeadMoved,
}

/// What deliveries of other tasks changed between the two snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ours {
    pub references: BTreeSet<String>,
    /// Paths that differ between the two commits of a checked-out branch that a delivery moved.
    pub files: BTreeSet<String>,
}

impl Difference {
    /// As in "the task deleted notes.txt".
    #[must_use]
    pub fn done(&self) -> String {
        let (verb, noun) = self.words();
        format!("{verb} {noun}{}", self.name)
    }

    /// A sentence for a difference that nothing attributes to the task.
    #[must_use]
    pub fn note(&self) -> String {
        let (verb, noun) = self.words();
        let name = &self.name;
        format!(
            "while the task ran, {noun}{name} was {verb} in the user's checkout; nothing shows that the task did it"
        )
    }

    fn words(&self) -> (&'static str, &'static str) {
        match self.kind {
            Kind::Modified => ("modified", ""),
            Kind::Reverted => ("reverted", ""),
            Kind::Deleted | Kind::RefDeleted => ("deleted", ""),
            Kind::Created | Kind::RefCreated => ("created", ""),
            Kind::Staged => ("staged", ""),
            Kind::Unstaged => ("unstaged", ""),
            Kind::RefMoved | Kind::HeadMoved => ("moved", ""),
            Kind::StashAdded => ("added", "the stash "),
            Kind::StashDropped => ("dropped", "the stash "),
            Kind::ConfigChanged => ("changed", "git's "),
            Kind::HookChanged => ("changed", "the hook "),
        }
    }
}

/// `after` has looked at every path that `before` lists.
#[must_use]
pub fn differences(before: &Checkout, after: &Checkout, ours: &Ours) -> Vec<Difference> {
    let mut found = files(before, after, ours);
    if before.head != after.head {
        found.push(Difference { kind: Kind::HeadMoved, name: "HEAD".to_owned() });
    }
    let references = changes(&before.references, &after.references);
    found.extend(references.into_iter().filter(|(name, _)| !ours.references.contains(*name)).map(|(name, change)| {
        let kind = match change {
            Change::Added => Kind::RefCreated,
            Change::Removed => Kind::RefDeleted,
            Change::Other => Kind::RefMoved,
        };
        Difference { kind, name: name.to_owned() }
    }));
    found.extend(stashes(&before.stashes, &after.stashes, Kind::StashDropped));
    found.extend(stashes(&after.stashes, &before.stashes, Kind::StashAdded));
    for (kind, before, after) in
        [(Kind::ConfigChanged, &before.settings, &after.settings), (Kind::HookChanged, &before.hooks, &after.hooks)]
    {
        let changed = changes(before, after).into_iter();
        found.extend(changed.map(|(name, _)| Difference { kind, name: name.to_owned() }));
    }
    found
}

fn files(before: &Checkout, after: &Checkout, ours: &Ours) -> Vec<Difference> {
    let mut found = Vec::new();
    for (path, now) in &after.files {
        let past = before.files.get(path);
        let on_disk = match past {
            Some(past) => changed(past, now),
            None => appeared(before, path, now),
        };
        // A delivery leaves the file exactly as its commit has it, which git does not list.
        let delivered = ours.files.contains(path) && now.tracking == Tracking::Unlisted;
        let on_disk = on_disk.filter(|_| !delivered);
        let staged = match (past.and_then(|past| past.staged.as_ref()), now.staged.as_ref()) {
            (past, now) if past == now => None,
            // A commit empties the list of staged files and leaves the index as it was.
            (Some(_), None) => (before.commit == after.commit).then_some(Kind::Unstaged),
            (_, _) => Some(Kind::Staged),
        };
        found.extend(on_disk.into_iter().chain(staged).map(|kind| Difference { kind, name: path.clone() }));
    }
    found
}

/// A path that the earlier snapshot lists.
fn changed(past: &FileState, now: &FileState) -> Option<Kind> {
    if past.disk.is_same(&now.disk) {
        return None;
    }
    Some(match (&past.disk, &now.disk, now.tracking) {
        (_, Disk::Absent, _) => Kind::Deleted,
        (_, _, Tracking::Unlisted) if past.tracking == Tracking::Tracked => Kind::Reverted,
        (Disk::Absent, _, _) => Kind::Created,
        (_, _, _) => Kind::Modified,
    })
}

/// A path that the earlier snapshot does not list: it was as committed, or was not there.
fn appeared(before: &Checkout, path: &str, now: &FileState) -> Option<Kind> {
    match now.tracking {
        Tracking::Unlisted => None,
        Tracking::Tracked if now.disk == Disk::Absent => Some(Kind::Deleted),
        Tracking::Tracked => Some(Kind::Modified),
        Tracking::Added => (now.disk != Disk::Absent).then_some(Kind::Created),
        // Only the index forgot a file of the commit.
        Tracking::Untracked | Tracking::Ignored if now.staged.is_some() => None,
        Tracking::Untracked | Tracking::Ignored => (!known_otherwise(before, path, now)).then_some(Kind::Created),
    }
}

/// Changed rules about what is ignored list the same files in another way: one by one, or by their directory. Entries
/// beyond the limit were never listed, and would all look new.
fn known_otherwise(before: &Checkout, path: &str, now: &FileState) -> bool {
    let below = format!("{path}/");
    let listed_inside =
        || before.files.range(below.clone()..).next().is_some_and(|(known, _)| known.starts_with(&below));
    let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
    before.uncounted > 0
        || now.disk == Disk::Absent
        || (now.disk == Disk::Directory && listed_inside())
        || above.any(|directory| before.files.get(directory).is_some_and(|known| known.disk == Disk::Directory))
}

enum Change {
    Added,
    Removed,
    Other,
}

fn changes<'a, T: PartialEq>(
    before: &'a BTreeMap<String, T>,
    after: &'a BTreeMap<String, T>,
) -> Vec<(&'a str, Change)> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |name: &String| match (before.get(name), after.get(name)) {
        (None, Some(_)) => Some(Change::Added),
        (Some(_), None) => Some(Change::Removed),
        (Some(past), Some(now)) if past != now => Some(Change::Other),
        (Some(_) | None, _) => None,
    };
    names.into_iter().filter_map(|name| Some((name.as_str(), change(name)?))).collect()
}

/// The stashes that only the first list has.
fn stashes<'a>(these: &'a [String], those: &'a [String], kind: Kind) -> impl Iterator<Item = Difference> + 'a {
    these.iter().filter(|stash| !those.contains(stash)).map(move |stash| Difference { kind, name: stash.clone() })
}
