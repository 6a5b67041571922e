//! What people write for the fields of an outcome, checked: nothing that is entered can break a name, a table or a
//! line elsewhere.

use super::super::input;
use crate::failure::Failure;
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use shuntyard_core::{
    DispatchId, ModelRef,
    experience::remembered,
    settings::Config,
    values::{clean, nearest::nearest},
};
use shuntyard_engine::routing::experience::repository_name;
use std::path::PathBuf;

const LONGEST_WORD: usize = 64;
const LONGEST_MODEL: usize = 256;

/// A kind of task or a strategy: one word, so that it can be a key anywhere.
pub fn word(text: &str) -> Result<String, String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || text.chars().count() > LONGEST_WORD || !text.chars().all(is_part) {
        return Err(format!("write one word of letters, digits, `-`, `_` and `.`, up to {LONGEST_WORD} characters"));
    }
    Ok(text.to_owned())
}

pub fn model(text: &str) -> Result<ModelRef, String> {
    if text.chars().count() > LONGEST_MODEL {
        return Err(format!("it is longer than {LONGEST_MODEL} characters"));
    }
    text.parse().map_err(|error: shuntyard_core::values::model::ModelRefError| error.to_string())
}

pub fn dispatch(text: &str) -> Result<DispatchId, String> {
    text.parse()
        .map_err(|_| "it is no id of a dispatch: one looks like 01a1e17e-7d98-72fb-a9e3-8b4f2a35018f".to_owned())
}

/// A tier's own name, for one of its names.
pub fn tier(config: &Config, name: &str) -> Result<String, Failure> {
    if let Some(tier) = config.tier_named(name) {
        return Ok(tier.to_owned());
    }
    let names = config.tiers.keys().chain(config.tier_aliases.keys()).map(String::as_str);
    let near = nearest(name, names, 1).first().map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(Failure::usage(format!("there is no tier `{name}`{near}"), "see `shuntyard tiers`"))
}

/// The warning about a kind of task that the configuration does not have.
pub fn unknown_type(config: &Config, name: &str) -> Option<String> {
    if config.task_types.contains_key(name) {
        return None;
    }
    let names = config.task_types.keys().map(String::as_str);
    let near = nearest(name, names, 1).first().map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Some(format!("the configuration has no task type `{name}`{near}"))
}

/// A moment of the past: `2026-02-01`, `2026-02-01 14:30`, or with an offset as in `2026-02-01T14:30:00Z`.
pub fn moment(text: &str, zone: &str, now: i64) -> Result<i64, Failure> {
    let bad = || {
        let example = "for example 2026-02-01, \"2026-02-01 14:30\" or 2026-02-01T14:30:00Z";
        Failure::usage(format!("`{text}` is no time"), example)
    };
    let text = text.trim();
    let at = match text.parse::<Timestamp>() {
        Ok(at) => at,
        Err(_) => {
            let zone = match zone {
                "local" => TimeZone::system(),
                name => TimeZone::get(name).map_err(|error| Failure::configuration(format!("[budget]: {error}")))?,
            };
            let here: DateTime = text.parse().map_err(|_| bad())?;
            here.to_zoned(zone).map_err(|_| bad())?.timestamp()
        }
    };
    let at = at.as_microsecond();
    if at > now {
        return Err(Failure::usage(format!("`{text}` lies in the future"), "an outcome is known when it is there"));
    }
    Ok(at)
}

/// The repository that an outcome belongs to. One that is named must be there; the current directory need not be in
/// one.
pub fn repository(named: Option<&PathBuf>) -> Result<String, Failure> {
    let Some(named) = named else {
        return Ok(input::directory(None).map(|here| repository_name(&here)).unwrap_or_default());
    };
    let directory = input::directory(Some(named))?;
    let found = repository_name(&directory);
    if !directory.is_dir() || found.is_empty() {
        let shown = clean(&named.to_string_lossy());
        return Err(Failure::usage(format!("{shown} is no directory of a git repository"), "leave --repo out"));
    }
    Ok(found)
}

/// What is kept of a text that was entered.
pub fn text(config: &Config, entered: &str) -> String {
    // A character that cannot be shown has no use in a stored text, and a NUL would end the text for some readers.
    let limit = config.patterns.text_limit;
    let head: String = entered.chars().take(limit.saturating_mul(2).saturating_add(8192)).collect();
    remembered(&clean(&head), limit)
}
