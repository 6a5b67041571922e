//! Takes the pack away, so that what was there before is there again.

use super::{
    backup::Backup,
    config::{self, ConfigUndo},
    disk::Disk,
    error::PackError,
    former_name::adopt_former,
    found::Found,
    intent::Intent,
    manifest::{Manifest, State},
    place::Place,
    report::{Answer, Change, Conflict, FileReport, Outcome, Report, Run},
    restore::finish_restore,
    trust::installed,
    undo::{self, put_back, way_back},
};

/// `decide` is asked about each file of ours that the user has changed; one that is kept is theirs from then on.
pub fn uninstall(
    place: &Place,
    run: Run,
    decide: &mut dyn FnMut(&Conflict<'_>) -> Answer,
) -> Result<Report, PackError> {
    uninstall_on(&Disk::default(), place, run, decide)
}

pub(super) fn uninstall_on(
    disk: &Disk,
    place: &Place,
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
        Intent::read(place).sweep(disk, place)?;
    }
    let Some(mut manifest) = installed(place)? else {
        let mut report = Report::new(place.root().to_path_buf(), Vec::new());
        report.outcome = Outcome::NotInstalled;
        if run == Run::Real {
            // An earlier run was interrupted before there was a manifest, or after it was removed.
            clear(disk, place, Intent::read(place))?;
        }
        return Ok(report);
    };
    let steps = plan(place, &manifest, decide)?;
    let config = manifest.config.as_ref().map(config::undo).transpose()?;
    let files = steps.iter().map(|(path, _, change)| FileReport::plain(path.clone(), *change));
    let files = files.chain(config.iter().map(|step| step.told(place))).collect();
    let mut report = Report::new(place.root().to_path_buf(), files);
    if report.outcome == Outcome::Unchanged {
        // The files were back already; taking the manifest away is still a change.
        report.outcome = Outcome::Changed;
    }
    if run == Run::Dry {
        return Ok(report);
    }
    report.backup = Some(back_up(place, &steps, config.as_ref())?);
    let mut intent = Intent::read(place);
    for directory in &manifest.directories {
        if !intent.directories.contains(directory) {
            intent.directories.push(directory.clone());
        }
    }
    intent.files.extend(manifest.files.keys().map(|path| place.file(path)));
    intent.files.extend(config.iter().map(|step| step.path.clone()));
    intent.write(place)?;
    manifest.state = State::Removing;
    manifest.write(disk, place)?;
    let kept = apply(disk, place, &manifest, &steps)?;
    if let (Some(step), Some(mine)) = (&config, &manifest.config) {
        step.apply(disk, mine)?;
    }
    report.keep(&kept);
    disk.remove(&place.manifest())?;
    clear(disk, place, intent)?;
    Ok(report)
}

fn plan(
    place: &Place,
    manifest: &Manifest,
    decide: &mut dyn FnMut(&Conflict<'_>) -> Answer,
) -> Result<Vec<(String, Found, Change)>, PackError> {
    let mut steps = Vec::new();
    for (path, entry) in &manifest.files {
        let found = Found::at(&place.file(path))?;
        let at = place.file(path);
        let mut change = undo::change(&at, entry, &found);
        if change.is_kept() && decide(&Conflict { path, change, diff: "" }) == Answer::Replace {
            change = match way_back(&at, &entry.before) {
                // There is nothing that could be put back.
                Change::KeptLost => Change::Remove,
                way => way,
            };
        }
        steps.push((path.clone(), found, change));
    }
    Ok(steps)
}

/// Says what was kept, because it is no longer what was planned with.
fn apply(
    disk: &Disk,
    place: &Place,
    manifest: &Manifest,
    steps: &[(String, Found, Change)],
) -> Result<Vec<String>, PackError> {
    let mut kept = Vec::new();
    for (path, found, change) in steps.iter().filter(|(.., change)| change.touches()) {
        let at = place.file(path);
        match (change, manifest.files.get(path)) {
            _ if Found::at(&at)? != *found => kept.push(path.clone()),
            (Change::Remove, _) | (_, None) => disk.remove(&at)?,
            (_, Some(entry)) => put_back(disk, &at, &entry.before)?,
        }
    }
    Ok(kept)
}

fn back_up(place: &Place, steps: &[(String, Found, Change)], config: Option<&ConfigUndo>) -> Result<String, PackError> {
    let mut backup = Backup::begin(place, "uninstall")?;
    backup.keep(&place.manifest(), &Found::at(&place.manifest())?)?;
    for (path, found, _) in steps.iter().filter(|(.., change)| change.touches()) {
        backup.keep(&place.file(path), found)?;
    }
    if let Some(step) = config.filter(|step| step.change.touches()) {
        step.keep(&mut backup)?;
    }
    backup.finish()
}

/// Removes what is half written, then the directories that were made, the innermost first.
pub(super) fn clear(disk: &Disk, place: &Place, intent: Intent) -> Result<(), PackError> {
    intent.sweep(disk, place)?;
    for directory in intent.directories.iter().rev() {
        disk.remove_directory(directory)?;
    }
    Intent::forget(place)
}
