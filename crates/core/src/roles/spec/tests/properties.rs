//! What holds for any text: reading never fails, edits keep every other byte, waves keep their promises.

use super::*;
use proptest::{collection::vec, prelude::*, sample::select};
use std::collections::HashSet;

const PIECES: [&str; 26] = [
    "## Scope",
    "## Execution",
    "## Outcome",
    "# Title",
    "### Part",
    "## Open Questions",
    "- implementer",
    "- ",
    "None",
    "```",
    "~~~",
    "````sh",
    "<!--",
    "-->",
    "<!-- x -->",
    "`<!--`",
    "|a|b|",
    "|---|",
    "text",
    "",
    "",
    "   ",
    "\u{feff}",
    "é → ü",
    "## Scope ##",
    "    ## Scope",
];

fn any_text() -> impl Strategy<Value = String> {
    let line =
        (select(&PIECES), select(&["\n", "\r\n", "\n", "\r", ""])).prop_map(|(line, end)| format!("{line}{end}"));
    vec(line, 0..24).prop_map(|lines| lines.concat())
}

/// A file that usually has the section once, and something that can usually be set.
fn an_edit() -> impl Strategy<Value = (String, String)> {
    let other = |text: String| text.replace("Scope", "Other");
    let file = (any_text(), any_text(), any_text(), select(&["\n", "\r\n", "\n\n", ""]));
    let file = file.prop_map(move |(before, body, after, end)| {
        format!("{}{end}\n## Scope{end}{}{end}\n## Next\n{}", other(before), other(body), other(after))
    });
    let content =
        vec(select(&["text", "- a", "", "  b ", "```\ncode\n```", "### Part", "<!-- c -->", "é", "~~~", "## B"]), 0..5);
    (file, content, select(&["\n", "\r\n"])).prop_map(|(file, content, end)| (file, content.join(end)))
}

/// The bytes of a file before the content of a section, and behind it.
fn around<'t>(text: &'t str, title: &str) -> Option<(&'t str, &'t str)> {
    let document = Document::parse(text);
    let said = section_text(&document, title).ok().filter(|said| !said.is_empty())?;
    let from = said.as_ptr() as usize - document.text().as_ptr() as usize;
    Some((&text[..from], &text[from + said.len()..]))
}

proptest! {
    #[test]
    fn reading_and_checking_any_text_ends(text in any_text()) {
        let document = Document::parse(&text);
        let lines = text.split('\n').count();
        prop_assert!(document.headings().iter().all(|heading| (1..=lines).contains(&heading.line)));
        let spec = Spec::parse(&text);
        for fault in check_spec(&spec, Place::Alone).iter().chain(&check_handoff(&Handoff::parse(&text))) {
            prop_assert!((1..=lines.max(1)).contains(&fault.line), "{fault:?}");
        }
        let clean = spec.pipeline().is_empty() || spec.pipeline().last() == Some(&Role::Validator);
        prop_assert!(clean);
    }

    #[test]
    fn an_edit_keeps_every_other_byte((text, content) in prop_oneof![an_edit(), (any_text(), any_text())]) {
        let Ok(edited) = set_section(&text, "Scope", &content) else { return Ok(()) };
        let document = Document::parse(&edited);
        let said = section_text(&document, "Scope").unwrap();
        let wanted = |text: &str| -> Vec<String> {
            text.trim().lines().map(|line| line.trim().to_owned()).collect()
        };
        prop_assert_eq!(wanted(said), wanted(&content));
        if let (Some(before), Some(after)) = (around(&text, "Scope"), around(&edited, "Scope")) {
            prop_assert_eq!(before, after);
        }
        let titles = |text: &str| -> Vec<String> {
            let document = Document::parse(text);
            document.sections(2).map(|section| section.heading.title.clone()).collect()
        };
        prop_assert_eq!(titles(&text), titles(&edited));
        // Once more changes nothing.
        prop_assert_eq!(set_section(&edited, "Scope", &content), Ok(edited.clone()));
        // The content may be set to itself.
        prop_assert_eq!(set_section(&edited, "Scope", said), Ok(edited.clone()));
    }

    #[test]
    fn an_edit_and_its_way_back_give_the_same_bytes(end in select(&["\n", "\r\n"]), content in "[a-z -]{1,20}(\n[a-z]{1,9}){0,3}") {
        let text = GOOD.replace('\n', end);
        let before = section_text(&Document::parse(&text), "Scope").unwrap().to_owned();
        prop_assume!(!content.trim().is_empty());
        let edited = set_section(&text, "scope", &content).unwrap();
        prop_assert_eq!(edited.matches("\r\n").count(), edited.matches('\n').count() * (end.len() - 1));
        prop_assert_eq!(set_section(&edited, "Scope", &before).unwrap(), text);
    }

    #[test]
    fn waves_keep_their_promises(rows in vec((vec(0_usize..6, 0..3), vec(0_usize..8, 0..3), any::<bool>()), 0..8)) {
        let units: Vec<Unit> = rows.iter().enumerate().map(|(place, (files, after, parallel))| Unit {
            line: place + 1,
            name: format!("u{place}"),
            number: None,
            files: files.iter().map(|file| format!("f{file}")).collect(),
            depends_on: after.iter().filter(|other| **other < rows.len()).map(|other| format!("u{other}")).collect(),
            parallel: if *parallel { Parallel::Yes } else { Parallel::No },
        }).collect();
        let by_name = |name: &String| units.iter().find(|unit| unit.name == *name).unwrap();
        match waves(&units) {
            Err(NoOrder::Cycle(cycle)) => {
                for (place, name) in cycle.iter().enumerate() {
                    let next = &cycle[(place + 1) % cycle.len()];
                    prop_assert!(by_name(name).depends_on.contains(next), "{cycle:?}");
                }
            }
            Err(other) => prop_assert!(false, "{other}"),
            Ok(waves) => {
                let mut done: HashSet<String> = HashSet::new();
                for wave in &waves {
                    prop_assert!(!wave.is_empty());
                    let units: Vec<&Unit> = wave.iter().map(by_name).collect();
                    prop_assert!(wave.len() == 1 || units.iter().all(|unit| unit.parallel == Parallel::Yes));
                    prop_assert!(units.iter().all(|unit| unit.depends_on.iter().all(|name| done.contains(name))));
                    let files: Vec<&String> = units.iter().flat_map(|unit| unit.files.iter().collect::<HashSet<_>>()).collect();
                    prop_assert_eq!(files.iter().collect::<HashSet<_>>().len(), files.len());
                    prop_assert!(wave.iter().all(|name| done.insert(name.clone())));
                }
                prop_assert_eq!(done.len(), units.len());
            }
        }
    }

    #[test]
    fn what_is_suggested_as_a_name_is_one(text in ".{0,80}") {
        if let Some(slug) = suggested(&text) {
            prop_assert_eq!(slug.as_str().parse::<Slug>(), Ok(slug.clone()));
            let task = TaskName { number: 7, id: slug };
            prop_assert_eq!(TaskName::parse(&task.to_string()), Some(task));
        }
    }

    #[test]
    fn a_path_that_is_inside_stays_so(text in "[./a~-]{0,12}") {
        if let Ok(path) = inside(&text) {
            prop_assert_eq!(inside(&path), Ok(path.clone()));
            prop_assert!(!path.split('/').any(|part| part == ".." || part == "." || part.is_empty()));
        }
    }
}

#[test]
fn edits_that_would_reach_further_are_refused() {
    let table = [
        ("## A\n", EditError::Missing("Scope".into())),
        ("```\n## Scope\n```\n", EditError::Missing("Scope".into())),
        ("## Scope\n## B\n## scope:\n", EditError::Twice { title: "Scope".into(), lines: vec![1, 3] }),
    ];
    for (text, wanted) in table {
        assert_eq!(set_section(text, "Scope", "x"), Err(wanted), "{text}");
    }
    for content in ["## B", "# B", "a\n```\nb", "<!-- a", "a `b\n<!--"] {
        for text in ["## Scope\n\nold\n\n## C\n", "## C\n\n## Scope\n", "## Scope"] {
            assert_eq!(set_section(text, "Scope", content), Err(EditError::Breaks("Scope".into())), "{text} {content}");
        }
    }
}

#[test]
fn an_empty_section_is_filled_where_it_stands() {
    let table = [
        ("## Scope\n## B\n", "## Scope\n\nx\n\n## B\n"),
        ("## Scope\n\n\n\n## B\n", "## Scope\n\nx\n\n## B\n"),
        ("## Scope", "## Scope\n\nx"),
        ("## Scope\r\n", "## Scope\r\n\r\nx\r\n"),
        ("\u{feff}## Scope\r\n\r\n<!-- what? -->\r\n## B", "\u{feff}## Scope\r\n\r\nx\r\n## B"),
        ("## Scope\n\n\n  old  \n\n\n## B", "## Scope\n\n\nx\n\n\n## B"),
    ];
    for (text, wanted) in table {
        assert_eq!(set_section(text, "Scope", "\n\nx\n").unwrap(), wanted, "{text:?}");
    }
    assert_eq!(set_section("## Scope\n\nold\n\n## B\n", "Scope", "").unwrap(), "## Scope\n\n\n\n## B\n");
}
