//! Many tasks from a text: one description on each line, one JSON object on each line, or a JSON array of objects.
//!
//! Invariant: no part of such a text is ignored. What is not understood is refused, with its line.

use super::wanted::{How, StrategyName, Wanted, deadline, estimate};
use crate::{
    cli::{input, route::Need},
    failure::Failure,
};
use clap::ValueEnum;
use serde_json::{Map, Value, value::RawValue};
use shuntyard_core::{Nano, values::nearest::nearest, work::task::TaskId};
use shuntyard_engine::queue::supervise::NewTaskOrder;
use std::fmt::Display;

/// The keys that a JSON object may have: the flags, with `_` for `-`.
const KEYS: [&str; 32] = [
    "deadline",
    "with_issue",
    "id",
    "description",
    "repo",
    "base",
    "batch",
    "verify",
    "tier",
    "model",
    "models",
    "strategy",
    "task_type",
    "need",
    "depends_on",
    "priority",
    "max_cost",
    "critical",
    "estimate",
    "allow_path",
    "allow_mass_deletion",
    "allow_other_branches",
    "expect_red_first",
    "setup",
    "deliver",
    "attempts",
    "label",
    "parent",
    "agent",
    "command",
    "in_place",
    "no_gate",
];

const HINT: &str = "see the end of `shuntyard task add --help`";

/// Reads a file, or standard input. The flags are the defaults of every entry.
pub fn read(from: &str, flags: &Wanted) -> Result<Vec<NewTaskOrder>, Failure> {
    let argument = if from == "-" { "-".to_owned() } else { format!("@{from}") };
    let text = input::text(&argument, "the tasks")?;
    let orders = orders(text.trim_start_matches('\u{feff}'), flags)?;
    if orders.is_empty() {
        return Err(Failure::usage("there is no task in it", HINT));
    }
    Ok(orders)
}

fn orders(text: &str, flags: &Wanted) -> Result<Vec<NewTaskOrder>, Failure> {
    match text.trim_start().chars().next() {
        Some('{') => numbered(text).map(|(line, entry)| from_json(line, entry, flags)).collect(),
        // A line like `[ ] fix it` is a description.
        Some('[') if is_array(text) => {
            let entries: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| {
                Failure::usage(format!("line {}: this is no JSON array: {error}", error.line()), HINT)
            })?;
            entries.iter().map(|entry| from_json(line_of(text, entry.get()), entry.get(), flags)).collect()
        }
        _ => numbered(text).map(|(line, entry)| at(line, flags.order(None, entry.to_owned()))).collect(),
    }
}

/// Whether a text that begins with a bracket is meant as JSON: `[]` alone, or a brace as the first thing in it.
fn is_array(text: &str) -> bool {
    let inside = text.trim().strip_prefix('[').unwrap_or_default().trim_start();
    inside.starts_with('{') || inside == "]"
}

/// The lines that have something on them, with their numbers.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line.trim())).filter(|(_, line)| !line.is_empty())
}

/// The line that a part of a text begins on.
fn line_of(text: &str, part: &str) -> usize {
    let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

fn at<T>(line: usize, result: Result<T, Failure>) -> Result<T, Failure> {
    result.map_err(|failure| Failure { message: format!("line {line}: {}", failure.message), ..failure })
}

fn bad(line: usize, problem: impl Display) -> Failure {
    Failure::usage(format!("line {line}: {problem}"), HINT)
}

fn from_json(line: usize, entry: &str, flags: &Wanted) -> Result<NewTaskOrder, Failure> {
    let keys: Map<String, Value> = serde_json::from_str(entry)
        .map_err(|error| bad(line + error.line().saturating_sub(1), format!("this is no JSON object: {error}")))?;
    let mut wanted = flags.clone();
    let (mut id, mut description) = (None, None);
    for (key, value) in keys {
        let name = key.replace('-', "_");
        if !KEYS.contains(&name.as_str()) {
            let near =
                nearest(&name, KEYS, 1).first().map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let hint = format!("the keys are: {}", KEYS.join(", "));
            return Err(Failure { hint, ..bad(line, format!("there is no key `{key}`{near}")) });
        }
        if value.is_null() {
            continue;
        }
        let set = match name.as_str() {
            "id" => word(&value).map(|word| id = Some(word)),
            "description" => text(&value).map(|text| description = Some(text)),
            _ => set(&mut wanted, &name, &value),
        };
        set.map_err(|problem| bad(line, format!("`{key}`: {problem}")))?;
    }
    let description = description.or_else(|| wanted.command.clone()).unwrap_or_default();
    at(line, wanted.order(id, description))
}

fn set(wanted: &mut Wanted, key: &str, value: &Value) -> Result<(), String> {
    match key {
        "repo" => wanted.repo = Some(text(value)?.into()),
        "base" => wanted.base = Some(text(value)?),
        "batch" => wanted.batch = Some(text(value)?),
        "verify" => wanted.verify = list(value)?,
        "tier" => wanted.tier = Some(text(value)?),
        "model" | "models" => wanted.model = list(value)?,
        "strategy" => wanted.strategy = Some(StrategyName::from_str(&text(value)?, true)?),
        "task_type" => wanted.task_type = Some(text(value)?),
        "need" => wanted.need = words(value, |word| Need::from_str(word, true))?,
        "depends_on" => wanted.depends_on = words(value, |word| word.parse::<TaskId>().map_err(|bad| bad.to_string()))?,
        "priority" => wanted.priority = value.as_i64().ok_or("write a whole number")?,
        "max_cost" => wanted.max_cost = Some(dollars(value)?),
        "critical" => wanted.critical = value.as_bool().ok_or("write true or false")?,
        "estimate" => wanted.estimate = Some(estimate(&text_or_number(value)?)?),
        "deadline" => wanted.deadline = Some(deadline(&text_or_number(value)?)?),
        "with_issue" => wanted.with_issue = value.as_bool().ok_or("write true or false")?,
        "allow_path" => wanted.allow_path = list(value)?,
        "deliver" => wanted.deliver = Some(How::from_str(&text(value)?, true)?),
        "attempts" => {
            let count = value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
            wanted.attempts = Some(count.ok_or("write a whole number from 1 on")?);
        }
        "label" => wanted.label = list(value)?,
        "parent" => wanted.parent = Some(word(value)?),
        "agent" => wanted.agent = Some(text(value)?),
        "command" => wanted.command = Some(text(value)?),
        "in_place" => wanted.in_place = value.as_bool().ok_or("write true or false")?,
        "allow_mass_deletion" => wanted.allow_mass_deletion = value.as_bool().ok_or("write true or false")?,
        "allow_other_branches" => wanted.allow_other_branches = value.as_bool().ok_or("write true or false")?,
        "expect_red_first" => wanted.expect_red_first = value.as_bool().ok_or("write true or false")?,
        "setup" => wanted.setup = Some(value.as_str().ok_or("write a command")?.to_owned()),
        "no_gate" => wanted.no_gate = value.as_bool().ok_or("write true or false")?,
        _ => return Err("it is not known here".to_owned()),
    }
    Ok(())
}

fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| "write a text".to_owned())
}

fn word(value: &Value) -> Result<TaskId, String> {
    text(value)?.parse().map_err(|bad: shuntyard_core::work::task::BadTaskId| bad.to_string())
}

fn text_or_number(value: &Value) -> Result<String, String> {
    if value.is_number() { Ok(value.to_string()) } else { text(value) }
}

fn dollars(value: &Value) -> Result<Nano, String> {
    input::dollars(&text_or_number(value)?)
}

/// A list, or the one thing that would be in it.
fn list(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(entries) => entries.iter().map(text).collect(),
        one => Ok(vec![text(one)?]),
    }
}

/// The same, of words that a comma parts as on the command line.
fn words<T>(value: &Value, parse: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    let entries = list(value)?;
    let words = entries.iter().flat_map(|entry| entry.split(',')).map(str::trim).filter(|word| !word.is_empty());
    words.map(parse).collect()
}

#[cfg(test)]
#[path = "bulk_tests.rs"]
mod tests;
