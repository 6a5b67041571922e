//! Who merges the pull requests of a repository, how, and what is checked afterwards.

use serde::{Deserialize, Serialize};

/// When a supervisor merges a pull request that it opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Merging {
    /// People merge.
    Never,
    /// Once its checks passed and a person who may write to the repository approved its head.
    #[default]
    Approved,
    /// Once its checks passed.
    Ready,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MergeMethod {
    #[default]
    Squash,
    Merge,
    Rebase,
}

/// What has to hold in a checkout of the merge commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeCheck {
    FileExists(String),
    Grep(Grep),
    Command(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grep {
    /// An extended regular expression.
    pub pattern: String,
    pub file: String,
}

impl MergeMethod {
    /// The option of `gh pr merge`.
    #[must_use]
    pub fn option(self) -> &'static str {
        match self {
            Self::Squash => "--squash",
            Self::Merge => "--merge",
            Self::Rebase => "--rebase",
        }
    }
}

impl MergeCheck {
    /// The check as a shell's command line, so that its log, deadline and evidence are those of a verify command.
    #[must_use]
    pub fn command_line(&self) -> String {
        match self {
            Self::FileExists(path) => format!("test -e {}", quoted(path)),
            Self::Grep(Grep { pattern, file }) => format!("grep -E -e {} -- {}", quoted(pattern), quoted(file)),
            Self::Command(command) => command.clone(),
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_one_command_line() {
        let grep = |pattern: &str, file: &str| MergeCheck::Grep(Grep { pattern: pattern.into(), file: file.into() });
        for (check, line) in [
            (MergeCheck::FileExists("dist/a b".into()), "test -e 'dist/a b'"),
            (grep("^v[0-9]+", "it's"), r"grep -E -e '^v[0-9]+' -- 'it'\''s'"),
            (grep("-x", "-file"), "grep -E -e '-x' -- '-file'"),
            (MergeCheck::Command("make smoke && echo ok".into()), "make smoke && echo ok"),
        ] {
            assert_eq!(check.command_line(), line);
        }
    }
}
