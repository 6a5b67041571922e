//! Puts a backup back: every file that was about to be touched then is again as it was.
//!
//! A restore that was interrupted is finished before anything else happens to the target. What the user has written
//! since stays, unless the user says otherwise.

use super::{
    backup::{Backup, Index, backups, index},
    config::ConfigUndo,
    disk::Disk,
    error::PackError,
    former_name::adopt_former,
    found::{Before, Found},
    intent::Intent,
    judge::{Judged, judge},
    later::undo_later,
    place::Place,
    report::{Answer, Conflict, FileReport, Report, Run},
    undo::put_back,
};
use serde::{Deserialize, Serialize};
use shuntyard_host::paths::write_private;
use std::path::{Path, PathBuf};

/// What is being put back.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Restoring {
    entries: Vec<Wanted>,
    /// Those that go when they are empty.
    directories: Vec<PathBuf>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Wanted {
    path: PathBuf,
    before: Before,
    /// What was there when it was decided. Anything else is newer, and stays.
    #[serde(default)]
    found: Option<Before>,
}

/// `name`: a moment as it is listed, or the beginning of one that fits a single backup; the newest without one.
/// `decide` is asked about each file that is neither as it was then nor as we left it.
pub fn restore(
    place: &Place,
    name: Option<&str>,
    run: Run,
    decide: &mut dyn FnMut(&Conflict<'_>) -> Answer,
) -> Result<Report, PackError> {
    restore_on(&Disk::default(), place, name, run, decide)
}

pub(super) fn restore_on(
    disk: &Disk,
    place: &Place,
    name: Option<&str>,
    run: Run,
    decide: &mut dyn FnMut(&Conflict<'_>) -> Answer,
) -> Result<Report, PackError> {
    let _lock = match run {
        Run::Real => Some(place.lock()?),
        Run::Dry => None,
    };
    if run == Run::Real {
        adopt_former(disk, place)?;
        finish_restore(disk, place)?;
    }
    let name = choose(place, name)?;
    let Index { mut entries, mut directories, .. } = index(place, &name)?;
    let config = undo_later(place, &name, &mut entries, &mut directories)?;
    let Judged { files, config: edited } = judge(place, entries, decide)?;
    let config = config.or(edited);
    let told = files.iter().map(|file| FileReport::plain(place.shown(&file.path), file.change));
    let told = told.chain(config.iter().map(|step| step.told(place)));
    let mut report = Report::new(place.root().to_path_buf(), told.collect());
    if run == Run::Dry {
        return Ok(report);
    }
    if !report.files.iter().any(|file| file.change.touches()) {
        // An interrupted change may have left an empty directory, or a file that is half written.
        let paths: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
        disk.sweep(paths.iter().map(PathBuf::as_path))?;
        carry_out(disk, place, &Restoring { entries: Vec::new(), directories })?;
        return Ok(report);
    }
    let mut backup = Backup::begin(place, &format!("restore {name}"))?;
    let mut wanted = Restoring { entries: Vec::new(), directories };
    // What stays is not kept either: a file that is in a backup counts as one that may be replaced.
    for file in files.into_iter().filter(|file| !file.change.is_kept()) {
        let found = Some(backup.keep(&file.path, &file.found)?);
        wanted.entries.push(Wanted { path: file.path, before: file.before, found });
    }
    wanted.entries.extend(config.as_ref().map(|step| by_text(step, &mut backup)).transpose()?.flatten());
    // What is missing now is missing again when this restore is undone.
    backup.without(&needed(&wanted));
    report.backup = Some(backup.finish()?);
    let bytes = serde_json::to_vec(&wanted).unwrap_or_default();
    write_private(&place.restoring(), &bytes).map_err(PackError::io("write", &place.restoring()))?;
    let kept: Vec<String> = finish_restore(disk, place)?.iter().map(|path| place.shown(path)).collect();
    report.keep(&kept);
    Ok(report)
}

fn by_text(step: &ConfigUndo, backup: &mut Backup) -> Result<Option<Wanted>, PackError> {
    let found = Some(step.keep(backup)?);
    let before = step.to_before(backup)?;
    Ok(before.map(|before| Wanted { path: step.path.clone(), before, found }))
}

/// Goes on with a restore that has begun, if there is one, and says what was kept because it is newer.
pub(super) fn finish_restore(disk: &Disk, place: &Place) -> Result<Vec<PathBuf>, PackError> {
    let path = place.restoring();
    let Ok(bytes) = std::fs::read(&path) else { return Ok(Vec::new()) };
    let begun: Restoring = serde_json::from_slice(&bytes)
        .map_err(|error| PackError::Unreadable { path: path.clone(), reason: error.to_string() })?;
    let kept = carry_out(disk, place, &begun)?;
    std::fs::remove_file(&path).map_err(PackError::io("remove", &path))?;
    Ok(kept)
}

/// Can be interrupted anywhere and done again.
fn carry_out(disk: &Disk, place: &Place, begun: &Restoring) -> Result<Vec<PathBuf>, PackError> {
    disk.sweep(begun.entries.iter().map(|entry| entry.path.as_path()))?;
    for directory in needed(begun) {
        disk.make_directory(&directory)?;
    }
    let mut kept = Vec::new();
    for entry in &begun.entries {
        let now = Found::at(&entry.path)?;
        if entry.before.matches(&now) {
            continue;
        }
        if entry.found.as_ref().is_some_and(|found| !found.matches(&now)) {
            kept.push(entry.path.clone());
            continue;
        }
        match put_back(disk, &entry.path, &entry.before) {
            // Its backup was removed since: that must not stop all that comes after this.
            Err(PackError::BackupLost(_)) => kept.push(entry.path.clone()),
            done => done?,
        }
    }
    for directory in begun.directories.iter().rev() {
        disk.remove_directory(directory)?;
    }
    if !place.manifest().exists() {
        // Nothing of ours is there any more that an uninstall could have to clear away.
        Intent::forget(place)?;
    }
    Ok(kept)
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
