//! What a merge would come to, without a working tree and without moving anything.

use std::path::{Path, PathBuf};

use super::{Git, GitError, alone, failed, path_of, records};

/// The first version that can merge without a working tree.
const SINCE: (u32, u32) = (2, 38);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forecast {
    /// `tree` is the name of the merged content, which is in the repository already.
    Clean {
        tree: String,
    },
    Conflict {
        paths: Vec<PathBuf>,
    },
    Unknown {
        why: String,
    },
}

impl Git {
    /// Merges two commits in memory.
    pub fn merge_forecast(&self, repository: &Path, ours: &str, theirs: &str) -> Result<Forecast, GitError> {
        let how = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--end-of-options"];
        let words: Vec<&str> = how.into_iter().chain([ours, theirs]).collect();
        let args = alone(repository, &words);
        let finished = self.finish(&args)?;
        let mut answer = records(&finished.stdout);
        match (finished.status.code(), answer.next()) {
            (Some(0), Some(tree)) => Ok(Forecast::Clean { tree: String::from_utf8_lossy(tree).into_owned() }),
            (Some(1), Some(_)) => Ok(Forecast::Conflict { paths: answer.map(path_of).collect() }),
            _ => self.too_old()?.map_or_else(|| Err(failed(&args, &finished)), |why| Ok(Forecast::Unknown { why })),
        }
    }

    fn too_old(&self) -> Result<Option<String>, GitError> {
        let version = self.version()?;
        let (major, minor) = SINCE;
        let why = || format!("git {version} cannot tell; it takes {major}.{minor} or newer");
        Ok((release(&version).is_some_and(|release| release < SINCE)).then(why))
    }
}

/// `2.39.5 (Apple Git-154)` is release 2.39.
fn release(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_told_apart() {
        let table = [
            ("2.47.3", Some((2, 47))),
            ("2.39.5 (Apple Git-154)", Some((2, 39))),
            ("2.9", Some((2, 9))),
            ("3.0.0.rc1", Some((3, 0))),
            ("2.38-dirty", Some((2, 38))),
            ("two", None),
            ("", None),
        ];
        for (version, wanted) in table {
            assert_eq!(release(version), wanted, "{version}");
        }
        assert!(Some((2, 9)) < Some(SINCE) && Some((3, 0)) > Some(SINCE));
    }

    #[test]
    fn an_old_git_does_not_know() {
        let scratch = tempfile::tempdir().unwrap();
        let program = scratch.path().join("git");
        let script = "#!/bin/sh\ncase \"$*\" in *--version) echo git version 2.37.2;; *) exit 129;; esac\n";
        crate::bounded::install_script(&program, script);
        let git = Git { program, ..Git::default() };
        let forecast = git.merge_forecast(scratch.path(), "a", "b").unwrap();
        assert_eq!(forecast, Forecast::Unknown { why: "git 2.37.2 cannot tell; it takes 2.38 or newer".to_owned() });
    }
}
