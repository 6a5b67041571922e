//! Tables whose keys are names that a user may add, as opposed to settings that exist or not.

const OPEN: [&str; 9] = [
    "tiers",
    "tier_scores",
    "tier_aliases",
    "task_types",
    "tags",
    "profiles",
    "scores",
    "fallback.tiers",
    "fallback.agents",
];

pub(super) fn is_open(path: &str) -> bool {
    OPEN.contains(&path)
}
