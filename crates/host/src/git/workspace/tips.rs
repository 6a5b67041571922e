//! Every tip that an attempt left: branches, stash, detached commits, unfinished operations, what only a reflog knows,
//! and commits that nothing leads to any more.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use super::super::{Git, GitError, within};
use super::collect::AT_ONCE;
use super::made_objects::made_objects;
use super::{KEPT, SOURCE, Workspace};

/// Objects in one command line.
const MADE_AT_ONCE: usize = 10 * AT_ONCE;

/// Files in which git notes commits of an operation that is not finished.
pub(super) const NOTES: [&str; 15] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "ORIG_HEAD",
    "BISECT_HEAD",
    "BISECT_START",
    "MERGE_AUTOSTASH",
    "rebase-merge/orig-head",
    "rebase-merge/stopped-sha",
    "rebase-merge/autostash",
    "rebase-apply/orig-head",
    "rebase-apply/autostash",
    "sequencer/head",
    "sequencer/abort-safety",
];

impl Workspace {
    /// Gives every tip a ref of ours, and adds it to those that are known. May be repeated. Returns the commits that
    /// were made here.
    pub(super) fn keep_tips(
        &self,
        git: &Git,
        known: &mut HashMap<String, String>,
    ) -> Result<HashSet<String>, GitError> {
        let source = format!("--glob={SOURCE}/*");
        let not = ["--not", &self.record.base, &source, "--"];
        let noted = self.noted();
        let words: Vec<&str> = ["--all", "--reflog"].into_iter().chain(noted.iter().map(String::as_str)).collect();
        let listed = git.all_tips(&self.git_dir(), &words, &not, &self.record.base)?;
        for tip in tips(&listed) {
            let name = format!("{KEPT}/{tip}");
            if known.get(&name).is_none_or(|at| at != tip) {
                git.succeed(&["update-ref", &name, tip])?;
                known.insert(name, tip.to_owned());
            }
        }
        Ok(listed.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
    }

    /// Commits that an attempt has fetched were not made in it. They are noted beside those of the user's repository,
    /// because a later fetch may forget where they came from.
    pub(super) fn note_fetched(&self, git: &Git, refs: &HashMap<String, String>) -> Result<Vec<String>, GitError> {
        let text = fs::read_to_string(self.git_dir().join("FETCH_HEAD")).unwrap_or_default();
        let is_new = |(name, at): (&String, &String)| {
            let remote = name.strip_prefix("refs/remotes/");
            remote.is_some_and(|remote| refs.get(&format!("{SOURCE}/remotes/{remote}")) != Some(at))
        };
        if text.is_empty() && !refs.iter().any(is_new) {
            return Ok(Vec::new());
        }
        let heads: Vec<&str> =
            text.lines().filter_map(|line| line.split('\t').next()).filter(|word| is_hex(word)).collect();
        let source = format!("--glob={SOURCE}/*");
        let mut words = vec!["rev-list", "--parents", "--ignore-missing", "--remotes"];
        words.extend(heads);
        words.extend(["--not", &self.record.base, &source, "--"]);
        let listed = git.succeed(&within(&self.directory, &words))?;
        let listed = String::from_utf8_lossy(&listed);
        for tip in tips(&listed) {
            git.succeed(&["update-ref", &format!("{SOURCE}/fetched/{tip}"), tip])?;
        }
        Ok(listed.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
    }

    /// What may be the name of a commit; git leaves out those that are none.
    fn noted(&self) -> Vec<String> {
        let mut found = Vec::new();
        for name in NOTES {
            let text = fs::read_to_string(self.git_dir().join(name)).unwrap_or_default();
            found.extend(text.split_whitespace().filter(|word| word.len() >= 40 && is_hex(word)).map(str::to_owned));
        }
        found
    }
}

impl Git {
    /// Lists commits with their parents: those that these words lead to, and those that nothing leads to any more.
    pub(super) fn all_tips(
        &self,
        git_dir: &Path,
        words: &[&str],
        not: &[&str],
        like: &str,
    ) -> Result<String, GitError> {
        let made = made_objects(git_dir, like);
        let list = |made: &[&str], words: &[&str]| {
            let listed = self.succeed(&[&["rev-list", "--parents", "--ignore-missing"], words, made, not].concat());
            listed.map(|listed| String::from_utf8_lossy(&listed).into_owned())
        };
        let made: Vec<&str> = made.iter().map(String::as_str).collect();
        let (first, rest) = made.split_at(made.len().min(MADE_AT_ONCE));
        // One that is damaged or lacks what came before it cannot be kept.
        let mut listed = match list(first, words) {
            Err(GitError::Failed { .. }) if !first.is_empty() => list(&[], words)?,
            listed => listed?,
        };
        for part in rest.chunks(MADE_AT_ONCE) {
            listed.push_str(&list(part, &[]).unwrap_or_default());
        }
        Ok(listed)
    }
}

pub(super) fn is_hex(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The commits that are no parent of another. Each line has a commit and its parents.
pub(super) fn tips(listed: &str) -> Vec<&str> {
    let parents: HashSet<&str> = listed.lines().flat_map(|line| line.split(' ').skip(1)).collect();
    listed.lines().filter_map(|line| line.split(' ').next()).filter(|commit| !parents.contains(commit)).collect()
}

#[cfg(test)]
mod tests {
    use super::tips;

    #[test]
    fn a_tip_is_the_parent_of_no_other() {
        assert_eq!(tips("c b\nb a\nd a\n"), ["c", "d"]);
        assert_eq!(tips(""), [""; 0]);
        assert_eq!(tips("m c d\nc b\nd b\nb\n"), ["m"]);
    }
}
