//! Operations that an attempt left before all of their commits were applied: what is checked out is a part of the work.

use std::fs;
use std::path::Path;

/// Words of a to-do list that apply a commit, and their short forms.
const APPLIES: [&str; 13] =
    ["pick", "p", "reword", "r", "edit", "e", "squash", "s", "fixup", "f", "merge", "m", "revert"];

/// Names the operation that has commits left, and which these are.
pub(super) fn unfinished(git_dir: &Path) -> Option<String> {
    let read = |name: &str| fs::read_to_string(git_dir.join(name)).unwrap_or_default();
    let left = |list: &str| -> Vec<String> {
        let lines = list.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines
            .filter(|words| words.first().is_some_and(|word| APPLIES.contains(word)))
            .map(|words| words.join(" "))
            .collect()
    };
    let rebase = left(&read("rebase-merge/git-rebase-todo"));
    // The first one of this list is the one that is being applied, if any is.
    let is_applying = ["CHERRY_PICK_HEAD", "REVERT_HEAD"].iter().any(|name| git_dir.join(name).exists());
    let sequence: Vec<String> = left(&read("sequencer/todo")).into_iter().skip(usize::from(is_applying)).collect();
    let number = |name: &str| read(name).trim().parse::<usize>().unwrap_or(0);
    let patches = number("rebase-apply/last").saturating_sub(number("rebase-apply/next"));
    let (operation, count, named) = match (rebase.len(), sequence.len(), patches) {
        (0, 0, 0) => return None,
        (0, 0, count) => ("applying patches", count, String::new()),
        (0, count, _) => ("a cherry-pick or revert", count, format!(": {}", sequence.join("; "))),
        (count, ..) => ("a rebase", count, format!(": {}", rebase.join("; "))),
    };
    let named: String = named.chars().take(500).collect();
    Some(format!("{operation} is not finished, {count} commits are not applied yet{named}"))
}

#[cfg(test)]
mod tests {
    use super::unfinished;
    use std::fs;

    #[test]
    fn what_is_left_is_named_and_what_applies_no_commit_is_not() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let write = |name: &str, text: &str| {
            let path = scratch.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(unfinished(scratch.path()), None);
        write("sequencer/todo", "pick aaa one\n");
        write("CHERRY_PICK_HEAD", "aaa\n");
        write("rebase-merge/git-rebase-todo", "break\nexec true\n# pick x\n");
        assert_eq!(unfinished(scratch.path()), None, "the last one is in the work tree");
        write("sequencer/todo", "pick aaa one\npick bbb two\n");
        let said = "a cherry-pick or revert is not finished, 1 commits are not applied yet: pick bbb two";
        assert_eq!(unfinished(scratch.path()).as_deref(), Some(said));
        write("rebase-merge/git-rebase-todo", "break\nf ccc three\n");
        assert!(unfinished(scratch.path()).unwrap().starts_with("a rebase is not finished, 1 commits"));
    }
}
