//! A diff turns the old text into the new one.

use crate::roles::pack::diff::unified;
use proptest::prelude::*;

#[test]
fn places_are_shown_with_what_is_around_them() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
    let new = "1\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\n12\n13";
    let expected = "--- f\n+++ f\n@@ -3,10 +3,11 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9\n 10\n 11\n 12\n+13\n\\ No newline at end of file\n";
    assert_eq!(unified("f", old, new), expected);
    assert_eq!(unified("f", "", "a\n"), "--- f\n+++ f\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!(unified("f", "a\n", "a\n"), "");
}

/// Follows the diff over the old text.
fn applied(old: &str, diff: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut new, mut at) = (String::new(), 0);
    for line in diff.split_inclusive('\n').skip(2) {
        if let Some(range) = line.strip_prefix("@@ -") {
            let range = range.split(' ').next().expect("a range");
            let (start, count) = range.split_once(',').unwrap_or((range, "1"));
            let (start, count): (usize, usize) = (start.parse().expect("a line"), count.parse().expect("a count"));
            let start = if count == 0 { start } else { start - 1 };
            new.extend(old[at..start].iter().copied());
            at = start;
        } else if line.starts_with('\\') {
            assert_eq!(new.pop(), Some('\n'));
        } else if let Some(line) = line.strip_prefix('+') {
            new.push_str(line);
        } else if let Some(line) = line.strip_prefix(' ') {
            assert_eq!(old[at], line);
            new.push_str(line);
            at += 1;
        } else {
            assert_eq!(old[at], &line[1..]);
            at += 1;
        }
    }
    new.extend(old[at..].iter().copied());
    new
}

proptest! {
    #[test]
    fn a_diff_can_be_followed(
        old in prop::collection::vec("[a-c]{0,2}\n", 0..30),
        new in prop::collection::vec("[a-c]{0,2}\n", 0..30),
    ) {
        let (old, new) = (old.concat(), new.concat());
        prop_assert_eq!(applied(&old, &unified("f", &old, &new)), new);
    }
}
