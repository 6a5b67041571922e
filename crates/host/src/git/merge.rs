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
    /// `tree` has the content with the conflicts marked in it.
    Conflict {
        tree: String,
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
            (Some(code @ (0 | 1)), Some(tree)) => {
                let tree = String::from_utf8_lossy(tree).into_owned();
                let paths = answer.map(path_of).collect();
                Ok(if code == 0 { Forecast::Clean { tree } } else { Forecast::Conflict { tree, paths } })
            }
            _ => self.too_old()?.map_or_else(|| Err(failed(&args, &finished)), |why| Ok(Forecast::Unknown { why })),
        }
    }

    /// A commit with this content and two parents, on no branch. Made again, it is the same commit.
    pub fn merge_commit(
        &self,
        repository: &Path,
        tree: &str,
        parents: [&str; 2],
        message: &str,
    ) -> Result<String, GitError> {
        let words = ["show", "--no-patch", "--format=%ct", "--end-of-options", parents[0], parents[1]];
        let times = String::from_utf8_lossy(&self.succeed(&alone(repository, &words))?).into_owned();
        let newest = times.lines().filter_map(|line| line.trim().parse::<i64>().ok()).max().unwrap_or_default();
        let mut git = self.clone();
        for role in ["AUTHOR", "COMMITTER"] {
            for (name, value) in
                [("NAME", "Shuntyard"), ("EMAIL", "shuntyard@localhost"), ("DATE", &format!("{newest} +0000"))]
            {
                git.variables.push((format!("GIT_{role}_{name}").into(), value.into()));
            }
        }
        let words = ["commit-tree", "-p", parents[0], "-p", parents[1], "-m", message, tree];
        git.line(&alone(repository, &words))
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
        let scratch = shuntyard_testkit::Scratch::of_test();
        let program = scratch.path().join("git");
        let script = "#!/bin/sh\ncase \"$*\" in *--version) echo git version 2.37.2;; *) exit 129;; esac\n";
        crate::bounded::install_script(&program, script);
        let git = Git { program, ..Git::default() };
        let forecast = git.merge_forecast(scratch.path(), "a", "b").unwrap();
        assert_eq!(forecast, Forecast::Unknown { why: "git 2.37.2 cannot tell; it takes 2.38 or newer".to_owned() });
    }
}
