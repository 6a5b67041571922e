//! The crontab of this user, which only the program `crontab` may read and write.
//!
//! Invariant: a crontab that could not be read is never written.

use super::{
    Change, Outcome, Place, ServiceError, Standing, Step, ToolError,
    plan::crontab_command,
    tools::{Tools, failure},
};
use shuntyard_host::service::{
    Manager, Service, Work,
    cron::{Crontab, SURE_LENGTH, block},
};
use std::{io::Write, time::UNIX_EPOCH};

const READ: [&str; 2] = ["crontab", "-l"];

/// The crontab, empty when there is none.
pub fn read(tools: &Tools) -> Result<Vec<u8>, ToolError> {
    let finished = tools.ask(&READ)?;
    if finished.status.success() {
        return Ok(finished.stdout);
    }
    let said = String::from_utf8_lossy(&finished.stderr).trim().to_lowercase();
    if is_none(&said) { Ok(Vec::new()) } else { Err(failure(&READ, &finished)) }
}

/// Whether this says that there is no crontab yet, and not that it is out of reach.
fn is_none(said: &str) -> bool {
    // The second is what BusyBox says, about a file that is named like the user.
    let bare = said.strip_prefix("crontab: can't open '").and_then(|rest| rest.split_once("': "));
    said.contains("no crontab for")
        || bare.is_some_and(|(name, why)| !name.contains('/') && why == "no such file or directory")
}

pub fn plan_install(place: Place<'_>, service: &Service) -> Result<Change, ServiceError> {
    let before = read(place.tools)?;
    let crontab = Crontab::read(&before)?;
    let text = block(service)?;
    let blocks = crontab.blocks(place.instance);
    if blocks == [text.as_bytes()] {
        return Ok(Change::nothing(Outcome::Unchanged));
    }
    let outcome = if blocks.is_empty() { Outcome::Installed } else { Outcome::Updated };
    let mut steps = Vec::new();
    // The shell of cron opens the log before our program could make its directory.
    let data_dir = &place.installation.paths.data_dir;
    if !data_dir.is_dir() {
        steps.push(Step::Directory(data_dir.clone()));
    }
    let mut warnings = Vec::new();
    if text.lines().any(|line| line.len() > SURE_LENGTH) {
        warnings.push(format!(
            "the entry is longer than {SURE_LENGTH} bytes, which some crons refuse; a shorter PATH makes it shorter"
        ));
    }
    let after = crontab.with(place.instance, &text);
    steps.push(Step::Crontab { before, after, shown: text });
    Ok(Change { outcome, steps, warnings })
}

pub fn plan_uninstall(place: Place<'_>) -> Result<Change, ServiceError> {
    let before = read(place.tools)?;
    let crontab = Crontab::read(&before)?;
    if crontab.blocks(place.instance).is_empty() {
        return Ok(Change::nothing(Outcome::Absent));
    }
    let after = crontab.without(place.instance);
    let steps = vec![Step::Crontab { before, after, shown: String::new() }];
    Ok(Change { outcome: Outcome::Removed, steps, warnings: Vec::new() })
}

/// Writes the crontab if it still is what the plan was made from.
pub fn replace(tools: &Tools, before: &[u8], after: &[u8], block: &str) -> Result<(), ServiceError> {
    if read(tools)? != before {
        return Err(ServiceError::CrontabChanged);
    }
    let scratch = tools.scratch();
    let failing = |source| ServiceError::File { what: "write into", path: scratch.to_owned(), source };
    let mut file = tempfile::NamedTempFile::new_in(scratch).map_err(failing)?;
    file.write_all(after).and_then(|()| file.flush()).map_err(failing)?;
    let path = file.path().to_str().ok_or_else(|| ServiceError::NotText(file.path().to_owned()))?;
    tools.run(&crontab_command(after, path))?;
    let taken = read(tools)?;
    if !block.is_empty() && !taken.windows(block.len()).any(|part| part == block.as_bytes()) {
        return Err(ServiceError::CrontabLost);
    }
    Ok(())
}

pub fn standing(place: Place<'_>) -> Result<Option<Standing>, ServiceError> {
    let bytes = read(place.tools)?;
    let crontab = Crontab::read(&bytes)?;
    let blocks = crontab.blocks(place.instance);
    let Some(first) = blocks.first() else { return Ok(None) };
    let name = String::from_utf8_lossy(first).lines().next().unwrap_or_default().to_owned();
    let wanted = place.installation.service(Work::Pulse).ok().and_then(|service| block(&service).ok());
    let modified = place.installation.log().metadata().and_then(|metadata| metadata.modified()).ok();
    let since = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Ok(Some(Standing {
        current: wanted.is_some_and(|wanted| blocks == [wanted.as_bytes()]),
        said: "in the crontab; whether a cron daemon runs, `crontab` does not tell".to_owned(),
        last_run: since.and_then(|since| i64::try_from(since.as_micros()).ok()),
        ..Standing::new(Manager::Cron, Work::Pulse, name)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_missing_crontab_is_an_empty_one() {
        let table = [
            ("no crontab for ann", true),
            ("crontab: no crontab for ann", true),
            ("crontab: can't open 'ann': no such file or directory", true),
            ("crontab: can't open '/var/spool/cron/ann': no such file or directory", false),
            ("crontab: can't open 'ann': permission denied", false),
            ("you (ann) are not allowed to use this program (crontab)", false),
            ("", false),
        ];
        for (said, expected) in table {
            assert_eq!(is_none(said), expected, "{said}");
        }
    }
}
