//! What a patch shows that must not go along: secrets, and conflicts that were left standing.

use switchyard_core::{redact::committed_secret, task::Secret};

/// Suspicious lines that are named.
pub(super) const SECRETS: usize = 20;

/// Added lines that have a secret in them, by the patch's own numbering.
pub(super) fn secrets(patch: &str) -> Vec<Secret> {
    let (mut path, mut line) = (String::new(), 0_u64);
    let mut found = Vec::new();
    for text in patch.lines() {
        if let Some(name) = text.strip_prefix("+++ ") {
            name.trim_start_matches("b/").clone_into(&mut path);
        } else if let Some(hunk) = text.strip_prefix("@@ ") {
            line = hunk
                .split_once('+')
                .and_then(|(_, rest)| rest.split([',', ' ']).next()?.parse().ok())
                .unwrap_or_default();
        } else if let Some(added) = text.strip_prefix('+') {
            if let Some(looks_like) = committed_secret(added) {
                found.push(Secret { path: path.clone(), line, looks_like: looks_like.to_owned() });
            }
            line += 1;
        } else if text.starts_with(' ') {
            line += 1;
        }
        if found.len() >= SECRETS {
            break;
        }
    }
    found
}

/// Files to which both marks of a conflict were added: an agent that gave up in the middle of a merge leaves them, and
/// so does a command.
pub(super) fn unmerged(patch: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut path, mut begun) = (String::new(), false);
    for text in patch.lines() {
        if let Some(name) = text.strip_prefix("+++ ") {
            name.trim_start_matches("b/").clone_into(&mut path);
            begun = false;
        } else if text.starts_with("+<<<<<<< ") {
            begun = true;
        } else if begun && text.starts_with("+>>>>>>> ") && found.last() != Some(&path) {
            found.push(path.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{secrets, unmerged};

    #[test]
    fn both_marks_of_a_conflict_show_one_that_was_left() {
        let patch = |lines: &str| format!("--- a/x\n+++ b/src/x.rs\n@@ -1,1 +1,9 @@\n{lines}");
        let conflict = "+<<<<<<< HEAD\n+a\n+=======\n+b\n+>>>>>>> other\n";
        assert_eq!(unmerged(&patch(conflict)), ["src/x.rs"]);
        assert_eq!(unmerged(&patch(&conflict.replace('+', "-"))).len(), 0, "one that was taken out");
        assert_eq!(unmerged(&patch("+=======\n+a title\n+=======\n")).len(), 0);
        assert_eq!(unmerged(&patch("+<<<<<<< HEAD in a text\n")).len(), 0);
    }

    #[test]
    fn an_added_secret_is_named_with_its_place() {
        let patch = "--- a/x\n+++ b/config/x.env\n@@ -1,2 +1,3 @@\n context\n+KEY=sk-proj-0123456789abcdefghij\n-old sk-proj-0123456789abcdefghij\n";
        let found = secrets(patch);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("config/x.env", 2));
    }
}
