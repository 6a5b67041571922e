//! What a pattern covers, and above all what it does not.

use super::*;
use proptest::{collection::vec, prelude::*, sample::select, test_runner::Config as Run};

#[test]
fn paths_that_git_refuses_to_check_out() {
    let refused = [
        ".git",
        ".GIT/config",
        "a/.Git",
        "a/b/git~1/x",
        ".git./x",
        ".git /x",
        ".git::$INDEX_ALLOCATION/x",
        ".g\u{200c}it/x",
        "a\\.git\\x",
        "..",
        "a/../b",
        "./a",
        "a//b",
    ];
    let fine =
        [".gitignore", ".github/x", "a.git/x", "git/x", "gitx~1", "...", "a\\", "x:.git", "ä/.gitkeep", "git~12"];
    assert_eq!(not_checked_out(&texts(&refused)), refused);
    assert_eq!(not_checked_out(&texts(&fine)), [""; 0]);
}

#[test]
fn covers_table() {
    let table = [
        // A file, or a directory with all that is in it.
        ("src/a.rs", "src/a.rs", true),
        ("src/a.rs", "src/a.rsx", false),
        ("src/a.rs", "src/b.rs", false),
        ("src", "src/a/b/c", true),
        ("src", "src", true),
        // The names of others that begin or end the same way.
        ("src", "srcx/a", false),
        ("src", "xsrc/a", false),
        ("src", "a/src", false),
        ("src/a", "src/ab", false),
        ("src/a", "src", false),
        ("src", "Src/a", false),
        // However it is written.
        ("src/", "src/a", true),
        ("/src", "src/a", true),
        ("./src", "src/a", true),
        ("././src//", "src/a", true),
        ("src/./a", "src/a/b", true),
        ("src", "./src//a", true),
        ("src/", "srcx/a", false),
        // What would lead out of the repository.
        ("..", "../a", false),
        ("../src", "src/a", false),
        ("src/..", "src/a", false),
        ("src/../..", "etc/passwd", false),
        ("src", "src/../etc/passwd", false),
        ("**", "../etc/passwd", false),
        ("**", "a/../../b", false),
        ("*", "..", false),
        ("etc", "/etc/passwd", false),
        ("**", "/etc/passwd", false),
        // Names that only look like it.
        ("src", "src/..a", true),
        ("src", "src/a..", true),
        ("...", "...", true),
        // A part of a name.
        ("*", "a", true),
        ("*", "a/b", true),
        ("*.rs", "a.rs", true),
        ("*.rs", ".rs", true),
        ("*.rs", "a.rs.bak", false),
        ("*.rs", "src/a.rs", false),
        ("src/*.rs", "src/a.rs", true),
        ("src/*.rs", "src/b/a.rs", false),
        ("src/*/a.rs", "src/b/a.rs", true),
        ("src/*/a.rs", "src/a.rs", false),
        ("src/*/a.rs", "src/b/c/a.rs", false),
        ("a*b*c", "abc", true),
        ("a*b*c", "aXbYbZc", true),
        ("a*b*c", "acb", false),
        ("a*", "b", false),
        ("*a*", "bab", true),
        ("***", "a", true),
        ("grün*", "grünlich", true),
        ("*", "ä", true),
        // Any number of directories.
        ("**", "a", true),
        ("**", "a/b/c", true),
        ("src/**", "src/a/b", true),
        ("src/**", "srcx/a", false),
        ("src/**", "xsrc/src/a", false),
        ("**/a.rs", "a.rs", true),
        ("**/a.rs", "b/c/a.rs", true),
        ("**/a.rs", "b/a.rsx", false),
        ("**/test/**", "a/test/b", true),
        ("**/test/**", "a/tests/b", false),
        ("src/**/a.rs", "src/a.rs", true),
        ("src/**/a.rs", "src/b/c/a.rs", true),
        ("src/**/a.rs", "other/a.rs", false),
        ("**/**/**/a", "a", true),
        ("a/**/b/**/c", "a/x/b/y/z/c", true),
        ("a/**/b/**/c", "a/x/c/y/b", false),
        // An empty pattern covers nothing; the top covers all.
        ("", "a", false),
        ("  ", "a", false),
        (".", "a/b", true),
        ("./", "a", true),
        ("/", "a", true),
        ("**", "", false),
        (".", "", false),
        ("src", "", false),
        // Only stars are special.
        ("a?c", "abc", false),
        ("[ab]", "a", false),
        ("a?c", "a?c", true),
        ("{a,b}", "a", false),
        ("a\\b", "a/b", false),
    ];
    for (pattern, path, wanted) in table {
        assert_eq!(covers(pattern, path), wanted, "`{pattern}` and `{path}`");
    }
}

#[test]
fn outside_names_what_no_pattern_covers() {
    let paths = texts(&["src/a", "srcx/a", "docs/b", "../x"]);
    let none: [&str; 0] = [];
    assert_eq!(outside(&[], &paths), none);
    assert_eq!(outside(&texts(&["src"]), &paths), ["srcx/a", "docs/b", "../x"]);
    assert_eq!(outside(&texts(&["src", "docs/*"]), &paths), ["srcx/a", "../x"]);
    assert_eq!(outside(&texts(&["**"]), &paths), ["../x"]);
    // A list of nothing but nonsense is a list: it allows nothing.
    assert_eq!(outside(&texts(&["", ".."]), &paths), paths);
}

/// The same by trying everything, which is slow and plain.
fn plainly(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], _) => true,
        (["**", rest @ ..], _) => (0..=path.len()).any(|skip| plainly(rest, &path[skip..])),
        (_, []) => false,
        ([part, rest @ ..], [name, deeper @ ..]) => {
            let (part, name): (Vec<char>, Vec<char>) = (part.chars().collect(), name.chars().collect());
            letters(&part, &name) && plainly(rest, deeper)
        }
    }
}

fn letters(part: &[char], name: &[char]) -> bool {
    match part {
        [] => name.is_empty(),
        ['*', rest @ ..] => (0..=name.len()).any(|skip| letters(rest, &name[skip..])),
        [letter, rest @ ..] => name.first() == Some(letter) && letters(rest, &name[1..]),
    }
}

proptest! {
    #![proptest_config(Run { cases: 8 * Run::default().cases, ..Run::default() })]

    #[test]
    fn the_quick_way_finds_what_the_plain_one_finds(
        pattern in vec(select(vec!["a", "b", "ab", "*", "**", "a*", "*b", "a*b", "*a*b*", "ä*"]), 1..5),
        path in vec(select(vec!["a", "b", "ab", "aab", "abab", "ba", "ä", "äb"]), 1..6),
    ) {
        prop_assert_eq!(covers(&pattern.join("/"), &path.join("/")), plainly(&pattern, &path));
    }

    #[test]
    fn no_text_makes_it_fall_over(pattern in "\\PC{0,20}", path in "[a-z./*ä]{0,20}") {
        let dotted = path.split('/').any(|part| part == "..");
        prop_assert!(!(covers(&pattern, &path) && (dotted || path.starts_with('/'))));
    }
}

#[test]
fn many_stars_are_told_from_what_they_do_not_cover() {
    let deep = format!("{}b", "a/".repeat(300));
    let long = format!("{}b", "a".repeat(1000));
    let cases = [
        (format!("{}c", "**/".repeat(300)), &deep, false),
        (format!("{}b", "**/".repeat(300)), &deep, true),
        (format!("{}c", "**/a/".repeat(100)), &deep, false),
        (format!("{}c", "**/*/".repeat(100)), &deep, false),
        (format!("{}c", "*a".repeat(200)), &long, false),
        (format!("{}b", "*a".repeat(200)), &long, true),
        (format!("{}c", "*".repeat(1000)), &long, false),
        (format!("**/{}c/**", "*a*".repeat(100)), &format!("{long}/{long}/{long}"), false),
    ];
    for (pattern, path, wanted) in cases {
        assert_eq!(covers(&pattern, path), wanted, "{pattern:.30}…");
    }
}

/// Patterns come from any source, and paths from an agent: no pair of them may take for ever to compare.
#[test]
fn a_part_of_a_pattern_meets_a_part_of_a_path_at_most_once() {
    for pattern in ["**/".repeat(100), "**/a/".repeat(50), "a/**/".repeat(50)] {
        let pattern: Vec<&str> = pattern.split_terminator('/').collect();
        let path = vec!["a"; 100];
        let met = std::cell::Cell::new(0);
        let fits = |part: &&str, name: &&str| {
            met.set(met.get() + 1);
            part == name
        };
        super::super::paths::used(&pattern, &path, |part| *part == "**", fits);
        assert!(met.get() <= pattern.len() * path.len(), "{} of {pattern:?}", met.get());
    }
}
