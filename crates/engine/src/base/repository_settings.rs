//! What the user has set for a repository, by its top directory or by the address of one of its remotes.

use shuntyard_core::settings::{Config, Repository, remote_name};
use shuntyard_host::git::Git;
use std::path::Path;

/// Tasks know a repository by its canonical path; a configuration may name a link that leads to it.
pub(crate) fn settings_of(config: &Config, top: &Path) -> Repository {
    let named = config.repository_named(&top.display().to_string());
    let led_to = || {
        let leads = |name: &String| std::fs::canonicalize(name).is_ok_and(|path| path == top);
        config.repository.iter().find(|(name, _)| leads(name)).map(|(_, found)| found)
    };
    match named.or_else(led_to) {
        Some(found) => found.clone(),
        // Only a path opts in to TODO.md: a supervisor has to know where the file is.
        None => {
            by_remote(config, top).map_or_else(Repository::default, |found| Repository { todo: false, ..found.clone() })
        }
    }
}

/// Git is asked only when the configuration names a remote at all.
fn by_remote<'a>(config: &'a Config, top: &Path) -> Option<&'a Repository> {
    let named: Vec<(String, &Repository)> =
        config.repository.iter().filter_map(|(name, found)| Some((remote_name(name)?, found))).collect();
    if named.is_empty() {
        return None;
    }
    let urls = Git::default().remote_urls(top).unwrap_or_default();
    let of_here: Vec<String> = urls.iter().filter_map(|url| remote_name(url)).collect();
    named.into_iter().find(|(name, _)| of_here.contains(name)).map(|(_, found)| found)
}
