//! Puts the pack into a target.

use super::{
    Bundle, Part,
    backup::Backup,
    config::{self, ConfigStep},
    disk::Disk,
    error::PackError,
    former_name::adopt_former,
    found::{Before, Found, hash},
    intent::Intent,
    manifest::{Entry, Manifest, State},
    place::Place,
    plan::{Step, look_again, plan},
    report::{Answer, Change, Conflict, FileReport, Report, Run},
    restore::finish_restore,
    rivals::rivals,
    trust::installed,
    undo::put_back,
};
use std::path::PathBuf;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Install<'i> {
    pub bundle: &'i Bundle,
    pub parts: &'i [Part],
    /// The command of the MCP server, when it is to be registered.
    pub mcp: Option<&'i [String]>,
    pub run: Run,
}

/// `decide` is asked about each file that the user has written or changed.
pub fn install(
    place: &Place,
    order: &Install<'_>,
    decide: &mut dyn FnMut(&Conflict<'_>) -> Answer,
) -> Result<Report, PackError> {
    install_on(&Disk::default(), place, order, decide)
}

pub(super) fn install_on(
    disk: &Disk,
    place: &Place,
    order: &Install<'_>,
    decide: &mut dyn FnMut(&Conflict<'_>) -> Answer,
) -> Result<Report, PackError> {
    let _lock = match order.run {
        Run::Real => Some(place.lock()?),
        Run::Dry => None,
    };
    if order.run == Run::Real {
        adopt_former(disk, place)?;
        finish_restore(disk, place)?;
        Intent::read(place).sweep(disk, place)?;
    }
    let manifest = installed(place)?;
    let mut steps = plan(place, order.bundle, order.parts, manifest.as_ref(), decide)?;
    let mine = manifest.as_ref().and_then(|manifest| manifest.config.as_ref());
    let mut config = order.mcp.map(|command| config::plan(place, command, mine, decide)).transpose()?;
    look_again(place, manifest.as_ref(), &mut steps)?;
    if let (Some(step), Some(command)) = (&mut config, order.mcp)
        && Found::at(&step.path)? != step.found
    {
        *step = config::plan(place, command, mine, &mut |_| Answer::Keep)?;
    }
    let mut files = told(place, &steps, config.as_ref());
    files.extend(rivals(place, steps.iter().filter(|step| step.text.is_some()).map(|step| step.path.as_str()))?);
    let mut report = Report::new(place.root().to_path_buf(), files);
    let settled = manifest.as_ref().is_some_and(|manifest| {
        manifest.state == State::Installed
            && manifest.version == order.bundle.version
            && manifest.format == order.bundle.format
            && steps.iter().all(|step| step.change.is_kept() || manifest.files.contains_key(&step.path))
    });
    let touches = report.files.iter().any(|file| file.change.touches());
    let adopts = steps.iter().any(|step| step.change == Change::Unchanged);
    if order.run == Run::Dry || (!touches && (settled || !adopts)) {
        return Ok(report);
    }
    let (mut journal, name) = begin(disk, place, order, manifest.clone(), &steps, config.as_ref())?;
    let kept = apply(disk, place, &journal, &steps, config.as_ref())?;
    let mut old = manifest.unwrap_or_else(|| Manifest::new(place, State::Installed, "", ""));
    for path in &kept {
        // It is as it was before this run, also in the manifest.
        match old.files.remove(path) {
            Some(entry) => journal.files.insert(path.clone(), entry),
            None => journal.files.remove(path),
        };
    }
    if config.as_ref().is_some_and(|step| kept.contains(&place.shown(&step.path))) {
        journal.config = old.config;
    }
    finish(disk, place, journal, &steps)?;
    report.keep(&kept);
    report.backup = Some(name);
    Ok(report)
}

fn told(place: &Place, steps: &[Step], config: Option<&ConfigStep>) -> Vec<FileReport> {
    let files = steps
        .iter()
        .map(|step| FileReport { diff: step.diff.clone(), ..FileReport::plain(step.path.clone(), step.change) });
    files.chain(config.map(|step| step.told(place))).collect()
}

/// Everything that comes before the first change: backup, intent, directories, and a manifest that says what will be.
fn begin(
    disk: &Disk,
    place: &Place,
    order: &Install<'_>,
    manifest: Option<Manifest>,
    steps: &[Step],
    config: Option<&ConfigStep>,
) -> Result<(Manifest, String), PackError> {
    let mut backup = Backup::begin(place, "install")?;
    backup.keep(&place.manifest(), &Found::at(&place.manifest())?)?;
    let mut journal = Manifest::new(place, State::Installing, &order.bundle.version, &order.bundle.format);
    let mut directories = Vec::new();
    if let Some(old) = manifest {
        journal.files = old.files;
        journal.config = old.config;
        directories = old.directories;
    }
    for step in steps.iter().filter(|step| !step.change.is_kept()) {
        let before = backup.keep(&place.file(&step.path), &step.found)?;
        let Some(text) = &step.text else { continue };
        let old = journal.files.get(&step.path);
        let entry = Entry {
            sha256: hash(text.as_bytes()),
            before: old.map_or(before, |old| old.before.clone()),
            replaces: step.replaces_ours.then(|| step.found.hash()).flatten(),
        };
        journal.files.insert(step.path.clone(), entry);
    }
    if let Some(step) = config.filter(|step| step.change.touches()) {
        journal.config = Some(step.entry(&mut backup)?);
    }
    let mut intent = Intent::read(place);
    // One that was made by us and is gone is none of ours when it is there again; what is missing is noted anew below.
    intent.directories.retain(|directory| directory.exists());
    for directory in directories.into_iter().filter(|directory| directory.exists()) {
        if !intent.directories.contains(&directory) {
            intent.directories.push(directory);
        }
    }
    for path in written(place, steps, config) {
        intent.directories_for(&path);
        intent.files.push(path);
    }
    intent.files.sort();
    intent.files.dedup();
    let absent: Vec<PathBuf> = intent.directories.iter().filter(|directory| !directory.exists()).cloned().collect();
    backup.without(&absent);
    let name = backup.finish()?;
    intent.write(place)?;
    for directory in &absent {
        disk.make_directory(directory)?;
    }
    disk.sweep(intent.files.iter().map(PathBuf::as_path))?;
    journal.directories = intent.directories;
    journal.write(disk, place)?;
    Ok((journal, name))
}

fn written(place: &Place, steps: &[Step], config: Option<&ConfigStep>) -> Vec<PathBuf> {
    let files = steps.iter().filter(|step| step.change.touches()).map(|step| place.file(&step.path));
    let config = config.filter(|step| step.change.touches()).map(|step| step.path.clone());
    files.chain(config).chain([place.manifest()]).collect()
}

/// Says what was kept, because it is no longer what was planned with.
fn apply(
    disk: &Disk,
    place: &Place,
    journal: &Manifest,
    steps: &[Step],
    config: Option<&ConfigStep>,
) -> Result<Vec<String>, PackError> {
    let mut kept = Vec::new();
    for step in steps.iter().filter(|step| step.change.touches()) {
        let path = place.file(&step.path);
        if Found::at(&path)? != step.found {
            kept.push(step.path.clone());
            continue;
        }
        match (step.change, &step.text) {
            (Change::Write | Change::Replace, Some(text)) => disk.write(&path, text.as_bytes(), step.found.mode())?,
            (Change::Remove | Change::PutBack, _) => {
                let before = journal.files.get(&step.path).map_or(&Before::Absent, |entry| &entry.before);
                put_back(disk, &path, before)?;
            }
            (Change::Write | Change::Replace, None)
            | (Change::Unchanged | Change::KeptForeign | Change::KeptEdited | Change::KeptLost, _) => {}
        }
    }
    if let Some(step) = config.filter(|step| step.change.touches()) {
        if Found::at(&step.path)? == step.found {
            disk.write(&step.path, step.text.as_bytes(), step.found.mode())?;
        } else {
            kept.push(place.shown(&step.path));
        }
    }
    Ok(kept)
}

fn finish(disk: &Disk, place: &Place, mut manifest: Manifest, steps: &[Step]) -> Result<(), PackError> {
    manifest.state = State::Installed;
    for step in steps.iter().filter(|step| step.text.is_none()) {
        // Gone, or the user's own from now on.
        manifest.files.remove(&step.path);
    }
    manifest.files.values_mut().for_each(|entry| entry.replaces = None);
    if let Some(config) = &mut manifest.config {
        config.replaces = None;
    }
    manifest.write(disk, place)?;
    // From here on the manifest says which directories are ours. One that a user makes after removing all of it is not.
    Intent::forget(place)
}
