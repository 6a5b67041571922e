//! Globs against a slow model that is easy to believe.

use crate::roles::pack::wildcard::{covers, matches};
use proptest::prelude::*;

/// The meaning of a glob, by trying everything.
fn naive(text: &[u16], pattern: &[u16]) -> bool {
    let (star, one, space) = (u16::from(b'*'), u16::from(b'?'), u16::from(b' '));
    if pattern == [space, star] && text.is_empty() {
        return true;
    }
    match pattern.split_first() {
        None => text.is_empty(),
        Some((first, rest)) if *first == star => (0..=text.len()).any(|taken| naive(&text[taken..], rest)),
        Some((first, rest)) => match text.split_first() {
            Some((unit, left)) => (*first == one || first == unit) && naive(left, rest),
            None => false,
        },
    }
}

fn model(text: &str, pattern: &str) -> bool {
    let units = |text: &str| text.replace('\\', "/").encode_utf16().collect::<Vec<u16>>();
    naive(&units(text), &units(pattern))
}

#[test]
fn what_fits() {
    let table = [
        ("git status", "git *", true),
        ("git", "git *", true),
        ("git ", "git *", true),
        ("gitk", "git *", false),
        ("gitk", "git*", true),
        ("git log", "git", false),
        (" git", "git *", false),
        ("a\nb", "a*", true),
        ("", "*", true),
        ("", " *", true),
        ("src/a/b.rs", "src/*.rs", true),
        ("src/a.rs", "src/**/*.rs", false),
        ("a.b", "a?b", true),
        ("ab", "a?b", false),
        ("a+b", "a+b", true),
        ("aab", "a+b", false),
        ("(x)", "(x)", true),
        ("a\\b", "a/b", true),
        ("a/b", "a\\b", true),
        ("GIT status", "git *", false),
        // One character outside of the basic plane is two to OpenCode.
        ("\u{1F600}", "?", false),
        ("\u{1F600}", "??", true),
    ];
    for (text, pattern, fits) in table {
        assert_eq!(matches(text, pattern), fits, "{text:?} with {pattern:?}");
    }
}

#[test]
fn what_covers() {
    let table = [
        ("*", "git *", true),
        ("git *", "git status", true),
        ("git *", "git", true),
        ("git *", "git log *", true),
        ("git log *", "git *", false),
        ("git", "git *", false),
        ("git*", "git *", true),
        ("?", "*", false),
        ("*", "", true),
    ];
    for (wide, narrow, yes) in table {
        assert_eq!(covers(wide, narrow), yes, "{wide:?} over {narrow:?}");
    }
}

proptest! {
    #[test]
    fn fits_as_the_model_says(text in "[ab/\\\\ ]{0,7}", pattern in "[ab*? /]{0,6}") {
        prop_assert_eq!(matches(&text, &pattern), model(&text, &pattern));
    }

    #[test]
    fn what_is_covered_fits(wide in "[ab*? ]{0,5}", narrow in "[ab*? ]{0,5}", text in "[ab ]{0,6}") {
        if covers(&wide, &narrow) && matches(&text, &narrow) {
            prop_assert!(matches(&text, &wide));
        }
    }
}
