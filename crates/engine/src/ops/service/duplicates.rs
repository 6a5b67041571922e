//! What supervises already, apart from what is being installed: two that do the same are harmless and never wanted.

use super::{Duplicate, Place, ServiceError, cron, launchd, systemd};
use shuntyard_core::values::redact::redact;
use shuntyard_host::{
    service::{Manager, cron::Crontab, in_property_list, in_unit, is_marked},
    text_file::{MOST_CONFIG_BYTES, read_text},
};
use std::{fs, path::Path};

/// What there is beside `manager`, and what could not be looked at.
pub fn find(place: Place<'_>, manager: Manager) -> Result<(Vec<Duplicate>, Vec<String>), ServiceError> {
    let mut found = Vec::new();
    let mut warnings = Vec::new();
    match cron::read(place.tools) {
        Ok(bytes) => {
            let crontab = Crontab::read(&bytes)?;
            if manager != Manager::Cron && !crontab.blocks(place.instance).is_empty() {
                found.push(Duplicate::Installed { manager: Manager::Cron });
            }
            found.extend(in_crontab(&crontab));
        }
        Err(error) if manager == Manager::Cron => return Err(error.into()),
        Err(error) if error.is_missing() => {}
        Err(error) => warnings.push(format!("whether the crontab has an entry already is not known: {error}")),
    }
    if manager != Manager::Systemd && systemd::is_there(place) {
        found.push(Duplicate::Installed { manager: Manager::Systemd });
    }
    if manager != Manager::Launchd && launchd::is_there(place) {
        found.push(Duplicate::Installed { manager: Manager::Launchd });
    }
    found.extend(in_files(place)?);
    Ok((found, warnings))
}

/// All entries that a user has written by hand.
pub fn by_hand(place: Place<'_>) -> Result<Vec<Duplicate>, ServiceError> {
    let mut found = Vec::new();
    // Status says by itself when the crontab cannot be read.
    if let Ok(bytes) = cron::read(place.tools)
        && let Ok(crontab) = Crontab::read(&bytes)
    {
        found.extend(in_crontab(&crontab));
    }
    found.extend(in_files(place)?);
    Ok(found)
}

fn in_crontab(crontab: &Crontab<'_>) -> Vec<Duplicate> {
    let lines = crontab.by_hand().into_iter();
    lines.map(|text| Duplicate::ByHand { place: "the crontab".into(), text: without_values(&text) }).collect()
}

/// Variables in a command may be secrets, and need not be seen to find the line.
fn without_values(line: &str) -> String {
    let words = line.split_whitespace().map(|word| match word.split_once('=') {
        Some((name, _)) if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => format!("{name}=…"),
        _ => word.to_owned(),
    });
    redact(&words.collect::<Vec<_>>().join(" "))
}

fn in_files(place: Place<'_>) -> Result<Vec<Duplicate>, ServiceError> {
    let mut found = foreign(&systemd::directory(place), ".service", |text| in_unit(text).map(str::to_owned));
    let list = |text: &str| in_property_list(text).then(|| "shuntyard".to_owned());
    found.extend(foreign(&launchd::directory(place)?, ".plist", list));
    Ok(found)
}

/// Looks into the files of a directory that are not ours.
fn foreign(directory: &Path, ending: &str, look: impl Fn(&str) -> Option<String>) -> Vec<Duplicate> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with(ending));
    let mut found: Vec<Duplicate> = paths
        .filter_map(|path| {
            let text = read_text(&path, MOST_CONFIG_BYTES).ok().filter(|text| !is_marked(text))?;
            Some(Duplicate::ByHand { place: path.display().to_string(), text: without_values(&look(&text)?) })
        })
        .collect();
    found.sort_by_key(ToString::to_string);
    found
}
