//! Tables whose keys are names that a user may add, as opposed to settings that exist or not.

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
