//! What of a manifest may be believed. It lies in the target, which may be a repository that others have made, or the
//! copy of one: nothing in it may lead to a file that is not of the pack in this very place.

use super::{
    Part,
    error::PackError,
    found::{Before, Found},
    manifest::{ConfigEntry, Manifest, SCHEMA},
    place::Place,
};
use serde_json::Value;
use shuntyard_core::values::clean_line;
use std::path::{Path, PathBuf};

/// What is installed in a place, if anything is.
pub fn installed(place: &Place) -> Result<Option<Manifest>, PackError> {
    let path = place.manifest();
    let Found::File { bytes, .. } = Found::at(&path)? else { return former_manifest(place) };
    parsed(place, &bytes).map(Some)
}

/// What the former manifest says, with backups where they are now.
pub(super) fn former_manifest(place: &Place) -> Result<Option<Manifest>, PackError> {
    let Found::File { bytes, .. } = Found::at(&place.former_manifest())? else { return Ok(None) };
    let former = place.former_backups().display().to_string();
    let text = String::from_utf8_lossy(&bytes).replace(&former, &place.backups().display().to_string());
    parsed(place, text.as_bytes()).map(Some)
}

pub(super) fn parsed(place: &Place, bytes: &[u8]) -> Result<Manifest, PackError> {
    let path = place.manifest();
    // The reason may quote what is in the file, which is not trusted.
    let unreadable = |error: serde_json::Error| PackError::Unreadable {
        path: path.clone(),
        reason: clean_line(&error.to_string(), 300),
    };
    let value: Value = serde_json::from_slice(bytes).map_err(unreadable)?;
    if value.get("schema").and_then(Value::as_u64).is_some_and(|schema| schema > u64::from(SCHEMA)) {
        return Err(PackError::Newer(path));
    }
    trusted(place, serde_json::from_value(value).map_err(unreadable)?)
}

/// The manifest as it holds for this place, or why it cannot be gone by.
fn trusted(place: &Place, mut manifest: Manifest) -> Result<Manifest, PackError> {
    if let Some(name) = manifest.files.keys().find(|name| !is_plain(name)) {
        return Err(foreign(place, format!("{name:?} is no file of a pack")));
    }
    match manifest.root.take() {
        Some(root) if root != place.root() => move_here(place, &root, &mut manifest),
        Some(_) | None => keep_here(place, &mut manifest)?,
    }
    manifest.root = Some(place.root().to_path_buf());
    Ok(manifest)
}

/// `agents/NAME.md` or `commands/NAME.md`, and nothing that leads out of those two.
fn is_plain(name: &str) -> bool {
    let Some((directory, file)) = name.split_once('/') else { return false };
    let stem = file.strip_suffix(".md").unwrap_or_default();
    let odd = |character: char| matches!(character, '/' | '\\') || character.is_control();
    Part::ALL.iter().any(|part| part.directory() == directory)
        && !stem.is_empty()
        && !stem.starts_with('.')
        && !stem.contains(odd)
}

/// A manifest that says it was written here, or does not say where.
fn keep_here(place: &Place, manifest: &mut Manifest) -> Result<(), PackError> {
    let before = manifest.files.values().map(|entry| &entry.before);
    let before = before.chain(manifest.config.as_ref().map(|config| &config.before));
    for before in before {
        if let Before::File { backup, .. } = before
            && !place.is_backup(backup)
        {
            return Err(foreign(place, format!("{backup:?} is no backup of this place")));
        }
    }
    manifest.directories.retain(|directory| place.may_have_made(directory));
    if let Some(config) = &mut manifest.config
        && !is_own_config(place, config)
    {
        // A link that leads elsewhere since, or a lie: only the text of what is read here now can show that.
        config.path = place.config()?;
        config.before = Before::Lost { sha256: String::new() };
    }
    Ok(())
}

/// A manifest that came here with the files: its statements about other places have no effect.
fn move_here(place: &Place, root: &Path, manifest: &mut Manifest) {
    for entry in manifest.files.values_mut() {
        entry.before = without_backup(&entry.before);
    }
    let here = |path: &Path| path.strip_prefix(root).ok().map(|below| place.root().join(below));
    let directories: Vec<PathBuf> = manifest.directories.iter().filter_map(|path| here(path)).collect();
    manifest.directories = directories.into_iter().filter(|path| place.may_have_made(path)).collect();
    let beside = |path: &Path| {
        let below = path.strip_prefix(root.parent()?).ok()?;
        Some(place.root().parent()?.join(below))
    };
    manifest.config = manifest.config.take().and_then(|mut config| {
        let path = here(&config.path).or_else(|| beside(&config.path))?;
        config.path = place.configs().iter().find(|known| **known == path)?.clone();
        config.before = without_backup(&config.before);
        Some(config)
    });
}

fn is_own_config(place: &Place, config: &ConfigEntry) -> bool {
    let behind = |known: &PathBuf| known.is_symlink() && known.canonicalize().is_ok_and(|end| end == config.path);
    place.configs().contains(&config.path)
        // What a link leads to was there before us, so that it is never ours to remove.
        || (config.before != Before::Absent && place.configs().iter().any(behind))
}

fn without_backup(before: &Before) -> Before {
    match before {
        Before::File { sha256, .. } | Before::Lost { sha256 } => Before::Lost { sha256: sha256.clone() },
        Before::Absent | Before::Link { .. } => before.clone(),
    }
}

fn foreign(place: &Place, reason: String) -> PackError {
    PackError::Foreign { path: place.manifest(), reason }
}
