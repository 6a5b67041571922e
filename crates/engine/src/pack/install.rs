//! Puts the pack into a target.

use super::{
    Bundle, Part,
    backup::Backup,
    config::{self, ConfigStep},
    disk::Disk,
    error::PackError,
    found::{Before, Found, hash},
    intent::Intent,
    manifest::{Entry, Manifest, State, installed},
    place::Place,
    plan::{Step, plan},
    report::{Answer, Change, Conflict, FileReport, Report, Run},
    restore::finish_restore,
    undo::put_back,
};
use std::path::{Path, PathBuf};

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
        finish_restore(disk, place)?;
    }
    let manifest = installed(place)?;
    let steps = plan(place, order.bundle, order.parts, manifest.as_ref(), decide)?;
    let mine = manifest.as_ref().and_then(|manifest| manifest.config.as_ref());
    let config = order.mcp.map(|command| config::plan(place, command, mine, decide)).transpose()?;
    let mut report = Report::new(place.root().to_path_buf(), told(place, &steps, config.as_ref()));
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
    let (journal, name) = begin(disk, place, order, manifest, &steps, config.as_ref())?;
    apply(disk, place, &journal, &steps, config.as_ref())?;
    finish(disk, place, journal, &steps)?;
    report.backup = Some(name);
    Ok(report)
}

fn told(place: &Place, steps: &[Step], config: Option<&ConfigStep>) -> Vec<FileReport> {
    let files =
        steps.iter().map(|step| FileReport { path: step.path.clone(), change: step.change, diff: step.diff.clone() });
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
    let mut journal = Manifest::new(State::Installing, &order.bundle.version, &order.bundle.format);
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
    for directory in directories {
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

fn apply(
    disk: &Disk,
    place: &Place,
    journal: &Manifest,
    steps: &[Step],
    config: Option<&ConfigStep>,
) -> Result<(), PackError> {
    for step in steps {
        let path = place.file(&step.path);
        match (step.change, &step.text) {
            (Change::Write | Change::Replace, Some(text)) => write(disk, &path, text, &step.found)?,
            (Change::Remove | Change::PutBack, _) => {
                let before = journal.files.get(&step.path).map_or(&Before::Absent, |entry| &entry.before);
                put_back(disk, &path, before)?;
            }
            (Change::Write | Change::Replace, None)
            | (Change::Unchanged | Change::KeptForeign | Change::KeptEdited, _) => {}
        }
    }
    match config.filter(|step| step.change.touches()) {
        Some(step) => disk.write(&step.path, step.text.as_bytes(), step.found.mode()),
        None => Ok(()),
    }
}

fn write(disk: &Disk, path: &Path, text: &str, found: &Found) -> Result<(), PackError> {
    disk.write(path, text.as_bytes(), found.mode())
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
    manifest.write(disk, place)
}
