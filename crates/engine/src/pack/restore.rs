//! Puts a backup back: every file that was about to be touched then is again as it was.
//!
//! A restore that was interrupted is finished before anything else happens to the target.

use super::{
    backup::{Backup, Index, IndexEntry, backups, index},
    disk::Disk,
    error::PackError,
    found::{Before, Found},
    intent::Intent,
    later::undo_later,
    place::Place,
    report::{Change, FileReport, Report, Run},
    undo::put_back,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use switchyard_host::paths::write_private;

/// What is being put back.
#[derive(Debug, Serialize, Deserialize)]
struct Restoring {
    entries: Vec<IndexEntry>,
    /// Those that go when they are empty.
    directories: Vec<PathBuf>,
}

/// `name`: a moment as it is listed, or the beginning of one that fits a single backup; the newest without one.
pub fn restore(place: &Place, name: Option<&str>, run: Run) -> Result<Report, PackError> {
    restore_on(&Disk::default(), place, name, run)
}

pub(super) fn restore_on(disk: &Disk, place: &Place, name: Option<&str>, run: Run) -> Result<Report, PackError> {
    let _lock = match run {
        Run::Real => Some(place.lock()?),
        Run::Dry => None,
    };
    if run == Run::Real {
        finish_restore(disk, place)?;
    }
    let name = choose(place, name)?;
    let Index { entries, directories, .. } = index(place, &name)?;
    let mut wanted = Restoring { entries, directories };
    let config = undo_later(place, &name, &mut wanted.entries, &mut wanted.directories)?;
    let mut found = Vec::new();
    for entry in &wanted.entries {
        found.push((entry.path.clone(), Found::at(&entry.path)?, entry.before.clone()));
    }
    let files = found.iter().map(|(path, now, before)| FileReport {
        path: shown(place, path),
        change: change(now, before),
        diff: None,
    });
    let files = files.chain(config.iter().map(|step| step.told(place)));
    let mut report = Report::new(place.root().to_path_buf(), files.collect());
    if run == Run::Dry {
        return Ok(report);
    }
    if !report.files.iter().any(|file| file.change.touches()) {
        // An interrupted change may have left an empty directory, or a file that is half written.
        carry_out(disk, place, &wanted)?;
        return Ok(report);
    }
    let mut backup = Backup::begin(place, &format!("restore {name}"))?;
    for (path, now, _) in &found {
        backup.keep(path, now)?;
    }
    if let Some(step) = &config {
        backup.keep(&step.path, &step.found)?;
        let before = step.to_before(&mut backup)?;
        wanted.entries.extend(before.map(|before| IndexEntry { path: step.path.clone(), before }));
    }
    // What is missing now is missing again when this restore is taken back.
    backup.without(&needed(&wanted));
    report.backup = Some(backup.finish()?);
    let bytes = serde_json::to_vec(&wanted).unwrap_or_default();
    write_private(&place.restoring(), &bytes).map_err(PackError::io("write", &place.restoring()))?;
    finish_restore(disk, place)?;
    Ok(report)
}

/// Goes on with a restore that has begun, if there is one.
pub(super) fn finish_restore(disk: &Disk, place: &Place) -> Result<(), PackError> {
    let path = place.restoring();
    let Ok(bytes) = std::fs::read(&path) else { return Ok(()) };
    let begun: Restoring = serde_json::from_slice(&bytes)
        .map_err(|error| PackError::Unreadable { path: path.clone(), reason: error.to_string() })?;
    carry_out(disk, place, &begun)?;
    std::fs::remove_file(&path).map_err(PackError::io("remove", &path))
}

/// Can be interrupted anywhere and done again.
fn carry_out(disk: &Disk, place: &Place, begun: &Restoring) -> Result<(), PackError> {
    disk.sweep(begun.entries.iter().map(|entry| entry.path.as_path()))?;
    for directory in needed(begun) {
        disk.make_directory(&directory)?;
    }
    for entry in &begun.entries {
        if !entry.before.matches(&Found::at(&entry.path)?) {
            put_back(disk, &entry.path, &entry.before)?;
        }
    }
    for directory in begun.directories.iter().rev() {
        disk.remove_directory(directory)?;
    }
    if !place.manifest().exists() {
        // Nothing of ours is there any more that an uninstall could have to clear away.
        Intent::forget(place)?;
    }
    Ok(())
}

/// The directories that have to be there for what is put back, the outermost first.
fn needed(wanted: &Restoring) -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = Vec::new();
    for entry in wanted.entries.iter().filter(|entry| entry.before != Before::Absent) {
        let above: Vec<&Path> = entry.path.ancestors().skip(1).take_while(|directory| !directory.exists()).collect();
        for directory in above.into_iter().rev() {
            if !directories.iter().any(|known| known == directory) {
                directories.push(directory.to_path_buf());
            }
        }
    }
    directories
}

fn choose(place: &Place, name: Option<&str>) -> Result<String, PackError> {
    let there: Vec<String> = backups(place).into_iter().map(|backup| backup.name).collect();
    let Some(newest) = there.first() else { return Err(PackError::NoBackups(place.root().to_path_buf())) };
    let Some(wanted) = name else { return Ok(newest.clone()) };
    let fitting: Vec<&String> = there.iter().filter(|name| name.starts_with(wanted)).collect();
    match there.iter().find(|name| *name == wanted).or(if let [only] = fitting[..] { Some(only) } else { None }) {
        Some(name) => Ok(name.clone()),
        None => Err(PackError::NoBackup { wanted: wanted.to_owned(), target: place.root().to_path_buf(), there }),
    }
}

fn change(now: &Found, before: &Before) -> Change {
    if before.matches(now) {
        return Change::Unchanged;
    }
    match (before, now) {
        (Before::Absent, _) => Change::Remove,
        (Before::File { .. } | Before::Link { .. }, _) => Change::PutBack,
    }
}

fn shown(place: &Place, path: &Path) -> String {
    path.strip_prefix(place.root()).unwrap_or(path).display().to_string()
}
