//! Tables whose keys are names that a user may add, as opposed to settings that exist or not.

use toml::{Table, Value};

const OPEN: [&str; 16] = [
    "repository",
    "tiers",
    "tier_scores",
    "tier_aliases",
    "task_types",
    "tags",
    "profiles",
    "workers",
    "workflows",
    "jobs.auto",
    "via",
    "batch.lists",
    "scores",
    "fallback.tiers",
    "fallback.agents",
    "classifier.words",
];

pub(super) fn is_open(path: &str) -> bool {
    // The signs themselves are recognised by code; what each is worth to whom is open.
    OPEN.contains(&path) || path.starts_with("classifier.signs.")
}

/// The settings of a table that have a place of their own, with their paths.
pub(super) fn collect_leaves<'a>(path: &str, table: &'a Table, out: &mut Vec<(String, &'a Value)>) {
    for (key, value) in table {
        let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            Value::Table(_) if is_open(&full) => {}
            Value::Table(inner) => collect_leaves(&full, inner, out),
            _ => out.push((full, value)),
        }
    }
}
