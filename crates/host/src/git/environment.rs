//! The environment that git is run in.
//!
//! Invariant: no inherited variable points git at another repository, and what the user has set stays set, as far as
//! this git has no setting of its own for it.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use super::{Git, GitError};

/// Variables by which a hook or a shell would point git at another repository than the directory's own, or have it
/// read paths in another way.
pub const MISLEADING: [&str; 16] = [
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_QUARANTINE_PATH",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_PREFIX",
];

const COUNT: &str = "GIT_CONFIG_COUNT";

impl Git {
    /// The same git with one more setting. It overrides files and the environment.
    #[must_use]
    pub fn with_setting(mut self, key: &str, value: &str) -> Self {
        self.settings.push((key.to_owned(), value.to_owned()));
        self
    }

    /// The command, unless this git is bound to a repository that is not there.
    pub(super) fn checked_command<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Command, GitError> {
        if let Some(bound) = &self.bound {
            bound.check()?;
        }
        Ok(self.command(args))
    }

    pub(super) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(&self.program);
        for name in MISLEADING {
            command.env_remove(name);
        }
        // The language is fixed because a few messages are recognised by their wording.
        command
            .envs([("GIT_TERMINAL_PROMPT", "0"), ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_EDITOR", "true"), ("LC_ALL", "C")])
            // A commit is the object of its name, and not one that an agent's replace ref substitutes.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .envs(self.setting_pairs())
            .arg("--no-pager")
            .args(args);
        if let Some(bound) = &self.bound {
            bound.apply(&mut command, self.variable("GIT_CEILING_DIRECTORIES").as_deref());
        }
        command
    }

    /// The settings as pairs that come after those of the environment: of two with one key, git takes the later.
    fn setting_pairs(&self) -> Vec<(String, String)> {
        if self.settings.is_empty() {
            return Vec::new();
        }
        let inherited = self.variable(COUNT).and_then(|count| count.to_str()?.trim().parse::<usize>().ok());
        let first = inherited.unwrap_or(0);
        let pairs = self.settings.iter().enumerate().flat_map(|(index, (key, value))| {
            let number = first + index;
            [(format!("GIT_CONFIG_KEY_{number}"), key.clone()), (format!("GIT_CONFIG_VALUE_{number}"), value.clone())]
        });
        pairs.chain([(COUNT.to_owned(), (first + self.settings.len()).to_string())]).collect()
    }

    /// What git would see under this name: the last that was set here, or else what is inherited.
    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        let own = self.variables.iter().rev().find(|(other, _)| other == name);
        own.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(name))
    }
}
