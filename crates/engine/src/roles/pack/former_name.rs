//! A pack that was installed under the program's former name: its manifest gets the present name, and the entry for MCP
//! too, so that the next install, uninstall or restore goes on from it.
//!
//! Invariant: the former manifest goes last, so what was cut off begins again. As with every manifest, its content
//! causes no read or write outside of the place.

use super::{
    config_text::{self, ConfigTextError},
    disk::Disk,
    error::PackError,
    found::{Found, hash},
    manifest::ConfigEntry,
    place::Place,
    trust::former_manifest,
};

/// Gives an installed pack the present name.
pub(super) fn adopt_former(disk: &Disk, place: &Place) -> Result<(), PackError> {
    if Found::at(&place.manifest())? == Found::Absent
        && let Some(mut manifest) = former_manifest(place)?
    {
        if let Some(entry) = &mut manifest.config {
            rename_entry(disk, place, entry)?;
        }
        manifest.write(disk, place)?;
    }
    if Found::at(&place.manifest())? != Found::Absent && Found::at(&place.former_manifest())? != Found::Absent {
        disk.remove(&place.former_manifest())?;
    }
    Ok(())
}

fn rename_entry(disk: &Disk, place: &Place, entry: &mut ConfigEntry) -> Result<(), PackError> {
    let found = Found::at(&entry.path)?;
    let (true, Found::File { bytes, mode, .. }) = (place.configs().contains(&entry.path), &found) else {
        return Ok(());
    };
    let failing = |source| PackError::Config { path: entry.path.clone(), source };
    let Ok(text) = std::str::from_utf8(bytes) else { return Err(failing(ConfigTextError::NotText)) };
    // Another command under the former name is the user's own.
    if let Some(renamed) = config_text::with_present_name(text, &entry.value).map_err(failing)? {
        disk.write(&entry.path, renamed.as_bytes(), Some(*mode))?;
        if found.is(&entry.sha256) {
            entry.sha256 = hash(renamed.as_bytes());
        }
    }
    Ok(())
}
