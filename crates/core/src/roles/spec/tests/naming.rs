//! Names, numbers and paths.

use super::*;

#[test]
fn a_name_is_small_letters_digits_and_single_hyphens() {
    let longest = "a".repeat(48);
    for good in ["a", "add-export", "fix2", "a-2-b", longest.as_str()] {
        assert_eq!(good.parse::<Slug>().unwrap().as_str(), good);
    }
    let too_long = "a".repeat(49);
    let bad = ["", "-a", "a-", "a--b", "A", "2-a", "a_b", "a.b", "a/b", "..", "a b", "é", "a\n", too_long.as_str()];
    for bad in bad {
        assert!(bad.parse::<Slug>().is_err(), "{bad}");
    }
}

#[test]
fn a_bad_name_is_answered_with_one_that_would_do() {
    let table = [
        ("Add CSV Export!", Some("add-csv-export")),
        ("007-add_export", Some("add-export")),
        ("--", None),
        ("42", None),
        ("../../etc/passwd", Some("etc-passwd")),
    ];
    for (text, wanted) in table {
        assert_eq!(suggested(text).as_ref().map(Slug::as_str), wanted, "{text}");
        assert!(BadSlug(text.to_owned()).hint().contains(wanted.unwrap_or("add-export")));
    }
}

#[test]
fn directories_of_tasks_and_units_are_read_as_they_are_written() {
    for good in ["001-a", "042-add-export", "999-a", "1000-a", "4294967295-a"] {
        assert_eq!(TaskName::parse(good).unwrap().to_string(), good);
    }
    for bad in ["1-a", "01-a", "0001-a", "000-a", "001", "001-", "001-A", "001_a", "-a", "4294967296-a", "+01-a"] {
        assert_eq!(TaskName::parse(bad), None, "{bad}");
    }
    for good in ["01-a", "99-a-b", "100-a"] {
        assert_eq!(UnitName::parse(good).unwrap().to_string(), good);
    }
    for bad in ["1-a", "001-a", "00-a", "01-2"] {
        assert_eq!(UnitName::parse(bad), None, "{bad}");
    }
}

#[test]
fn the_next_number_is_above_all_that_are_taken_in_any_way() {
    let table: [(&[&str], Option<u32>); 7] = [
        (&[], Some(1)),
        (&["README.md", "x-9", ".git"], Some(1)),
        (&["001-a", "003-b"], Some(4)),
        (&["001-a", ".007"], Some(8)),
        (&["12_Old", "3"], Some(13)),
        (&["2things", "1-a"], Some(2)),
        (&["4294967295-a"], None),
    ];
    for (entries, wanted) in table {
        assert_eq!(next_number(entries.iter().copied()), wanted, "{entries:?}");
    }
}

#[test]
fn a_path_stays_in_the_repository() {
    let table = [
        ("tests/a.rs", Ok("tests/a.rs")),
        (" ./tests//b/../a.rs ", Ok("tests/a.rs")),
        ("src/", Ok("src")),
        ("", Err(PathFault::Empty)),
        ("./", Err(PathFault::Empty)),
        ("a/..", Err(PathFault::Empty)),
        ("/etc/passwd", Err(PathFault::Absolute)),
        ("~/a", Err(PathFault::Absolute)),
        ("C:/a", Err(PathFault::Absolute)),
        ("./~/a", Err(PathFault::Absolute)),
        ("../a", Err(PathFault::Escapes)),
        ("a/../../a", Err(PathFault::Escapes)),
        ("a/./../../a", Err(PathFault::Escapes)),
        (".git/hooks/a", Err(PathFault::Git)),
        ("a/../.GIT/config", Err(PathFault::Git)),
        ("a\\b", Err(PathFault::Letters)),
        ("a\u{1b}[31m", Err(PathFault::Letters)),
    ];
    for (text, wanted) in table {
        assert_eq!(inside(text), wanted.map(str::to_owned), "{text}");
    }
}
