//! The variables that a service is given. A scheduler starts programs with hardly any, and what is in its files can
//! be read by others and is kept in backups.
//!
//! Invariant: a closed list of names that hold paths. Nothing else of the caller's environment gets into a text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where things are kept: Shuntyard's own, and those of OpenCode.
const PLACES: [&str; 6] =
    ["SHUNTYARD_CONFIG", "SHUNTYARD_DATA_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];
/// What every system has, in case that the caller has no search path.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const SECRET_ENDINGS: [&str; 6] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_CREDENTIALS", "_PAT"];

/// The variables with their values, by name. Relative paths count from `here`.
#[must_use]
pub fn variables(
    environment: &BTreeMap<String, String>,
    here: &Path,
    is_directory: impl Fn(&Path) -> bool,
) -> Vec<(String, String)> {
    let mut variables = BTreeMap::new();
    if let Some(home) = environment.get("HOME") {
        variables.insert("HOME".to_owned(), home.clone());
    }
    variables.insert("PATH".to_owned(), search_path(environment, is_directory));
    for name in PLACES {
        let Some(value) = environment.get(name).filter(|value| !value.is_empty()) else { continue };
        let path = if name == "SHUNTYARD_CONFIG" { here.join(value) } else { PathBuf::from(value) };
        // By their own rules the others count only when absolute.
        if let Some(path) = path.to_str().filter(|_| path.is_absolute()) {
            variables.insert(name.to_owned(), path.to_owned());
        }
    }
    variables.into_iter().collect()
}

/// A relative directory would be another one wherever the service runs, and any user could make one that is missing.
fn search_path(environment: &BTreeMap<String, String>, is_directory: impl Fn(&Path) -> bool) -> String {
    let mut seen = BTreeSet::new();
    let given = environment.get("PATH").map(String::as_str).unwrap_or_default();
    let kept = given.split(':').filter(|entry| {
        let path = Path::new(entry);
        path.is_absolute() && is_directory(path) && seen.insert(*entry)
    });
    let kept: Vec<&str> = kept.collect();
    if kept.is_empty() { USUAL_PATH.to_owned() } else { kept.join(":") }
}

/// The names of variables that mean something to a command in this shell, and that a service will not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub secrets: Vec<String>,
    /// Settings of Shuntyard.
    pub settings: Vec<String>,
}

#[must_use]
pub fn left_out(environment: &BTreeMap<String, String>) -> LeftOut {
    let mut left = LeftOut::default();
    for (name, value) in environment {
        if value.is_empty() || PLACES.contains(&name.as_str()) {
            continue;
        }
        if SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            left.secrets.push(name.clone());
        } else if name.starts_with("SHUNTYARD_") {
            left.settings.push(name.clone());
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> BTreeMap<String, String> {
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn kept(given: &[(&str, &str)]) -> String {
        let exists = |path: &Path| !path.starts_with("/gone");
        let kept = variables(&environment(given), Path::new("/here"), exists);
        kept.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
    }

    #[test]
    fn paths_are_absolute_exist_and_come_once() {
        let table = [
            ("/usr/bin:/bin:/usr/bin", "/usr/bin:/bin"),
            (".:bin:::/a b:/gone/bin:~/x:/bin", "/a b:/bin"),
            ("", USUAL_PATH),
            ("bin:/gone", USUAL_PATH),
        ];
        for (given, expected) in table {
            assert_eq!(kept(&[("PATH", given)]), format!("PATH={expected}\n"), "{given}");
        }
    }

    #[test]
    fn places_are_taken_and_nothing_else_is() {
        let given = [
            ("HOME", "/h"),
            ("PATH", "/bin"),
            ("SHUNTYARD_CONFIG", "own.toml"),
            ("SHUNTYARD_DATA_DIR", "/data"),
            ("XDG_CONFIG_HOME", "/c"),
            ("XDG_DATA_HOME", "relative"),
            ("XDG_STATE_HOME", ""),
            ("XDG_RUNTIME_DIR", "/run/user/1"),
            ("ACME_API_KEY", "sk-1"),
            ("GITHUB_TOKEN", "ghp_1"),
            ("SHUNTYARD_OPENCODE_PASSWORD", "hunter2"),
            ("SHUNTYARD_STORE", "postgres://me:pw@host/db"),
            ("EMPTY_KEY", ""),
            ("EDITOR", "vi"),
        ];
        let expected =
            "HOME=/h\nPATH=/bin\nSHUNTYARD_CONFIG=/here/own.toml\nSHUNTYARD_DATA_DIR=/data\nXDG_CONFIG_HOME=/c\n";
        assert_eq!(kept(&given), expected);
        let left = left_out(&environment(&given));
        assert_eq!(left.secrets, ["ACME_API_KEY", "GITHUB_TOKEN", "SHUNTYARD_OPENCODE_PASSWORD"]);
        assert_eq!(left.settings, ["SHUNTYARD_STORE"]);
    }
}
