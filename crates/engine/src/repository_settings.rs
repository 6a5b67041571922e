//! What the user has set for a repository, by whichever name of its top directory.

use std::path::Path;
use switchyard_core::config::{Config, Repository};

/// Tasks know a repository by its canonical path; a configuration may name a link that leads to it.
pub(crate) fn settings_of(config: &Config, top: &Path) -> Repository {
    let named = config.repository_named(&top.display().to_string());
    let led_to = || {
        let leads = |name: &String| std::fs::canonicalize(name).is_ok_and(|path| path == top);
        config.repository.iter().find(|(name, _)| leads(name)).map(|(_, found)| found)
    };
    named.or_else(led_to).cloned().unwrap_or_default()
}
