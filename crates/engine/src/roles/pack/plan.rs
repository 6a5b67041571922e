//! What has to happen to each file so that a target has the pack. Reads files and changes none.

use super::{
    Bundle, Part,
    diff::unified,
    error::PackError,
    found::{Found, hash},
    manifest::{Entry, Manifest, State},
    place::Place,
    report::{Answer, Change, Conflict},
    undo,
};

/// One file of the pack, or one of an older pack that is no longer in it.
#[derive(Debug)]
pub struct Step {
    pub path: String,
    pub found: Found,
    pub change: Change,
    /// What will be there; none for what leaves.
    pub text: Option<String>,
    pub diff: Option<String>,
    /// Whether what is replaced is an older version of ours, which may be replaced again after an interruption.
    pub replaces_ours: bool,
}

pub fn plan(
    place: &Place,
    bundle: &Bundle,
    parts: &[Part],
    manifest: Option<&Manifest>,
    decide: &mut dyn FnMut(&Conflict<'_>) -> Answer,
) -> Result<Vec<Step>, PackError> {
    let wanted = |path: &str| Part::of(path).is_some_and(|part| parts.contains(&part));
    let unfinished = manifest.is_some_and(|manifest| manifest.state != State::Installed);
    let mut steps = Vec::new();
    for file in bundle.files.iter().filter(|file| wanted(&file.path)) {
        let found = Found::at(&place.file(&file.path))?;
        let entry = manifest.and_then(|manifest| manifest.files.get(&file.path));
        let (mut change, replaces_ours) = change(entry, &found, &hash(file.text.as_bytes()), unfinished);
        let diff = difference(change, &file.path, &found, &file.text);
        if change.is_kept() {
            let conflict = Conflict { path: &file.path, change, diff: diff.as_deref().unwrap_or_default() };
            if decide(&conflict) == Answer::Replace {
                change = Change::Replace;
            }
        }
        steps.push(Step { path: file.path.clone(), found, change, text: Some(file.text.clone()), diff, replaces_ours });
    }
    let stale = manifest.into_iter().flat_map(|manifest| &manifest.files);
    let stale = stale.filter(|(path, _)| wanted(path) && !bundle.files.iter().any(|file| file.path == **path));
    for (path, entry) in stale {
        let found = Found::at(&place.file(path))?;
        let change = undo::change(&place.file(path), entry, &found);
        steps.push(Step { path: path.clone(), found, change, text: None, diff: None, replaces_ours: false });
    }
    Ok(steps)
}

/// Checks again what is about to be touched, because a question may have been open for long. What has changed since is
/// planned anew without another question: what the user has just written stays.
pub fn look_again(place: &Place, manifest: Option<&Manifest>, steps: &mut [Step]) -> Result<(), PackError> {
    let unfinished = manifest.is_some_and(|manifest| manifest.state != State::Installed);
    for step in steps.iter_mut().filter(|step| !step.change.is_kept()) {
        let path = place.file(&step.path);
        let found = Found::at(&path)?;
        if found == step.found {
            continue;
        }
        let entry = manifest.and_then(|manifest| manifest.files.get(&step.path));
        match (&step.text, entry) {
            (Some(text), _) => {
                (step.change, step.replaces_ours) = change(entry, &found, &hash(text.as_bytes()), unfinished);
                step.diff = difference(step.change, &step.path, &found, text);
            }
            (None, Some(entry)) => step.change = undo::change(&path, entry, &found),
            (None, None) => step.change = Change::KeptForeign,
        }
        step.found = found;
    }
    Ok(())
}

fn difference(change: Change, path: &str, found: &Found, text: &str) -> Option<String> {
    match change {
        Change::Replace | Change::KeptForeign | Change::KeptEdited | Change::KeptLost => {
            Some(unified(path, &found.text(), text))
        }
        Change::Write | Change::Unchanged | Change::Remove | Change::PutBack => None,
    }
}

/// What becomes of a file of the pack, and whether an older one of ours is there.
fn change(entry: Option<&Entry>, found: &Found, wanted: &str, unfinished: bool) -> (Change, bool) {
    let is_wanted = found.is(wanted);
    match (entry, found) {
        (_, Found::Absent) => (Change::Write, false),
        (_, _) if is_wanted => (Change::Unchanged, false),
        (None, _) => (Change::KeptForeign, false),
        (Some(entry), _) if entry.is_ours(found) => (Change::Replace, true),
        // An interrupted change had not come to this file yet, or had already put it back.
        (Some(entry), _) if unfinished && entry.before.matches(found) => (Change::Replace, false),
        (Some(_), _) => (Change::KeptEdited, false),
    }
}
