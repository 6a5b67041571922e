//! Lines, headings, code, comments, and what a spec is read as.

use super::*;

/// Level, title and line of each.
type Headings = &'static [(usize, &'static str, usize)];

fn headings(text: &str) -> Vec<(usize, String, usize)> {
    let document = Document::parse(text);
    document.headings().iter().map(|heading| (heading.level, heading.title.clone(), heading.line)).collect()
}

#[test]
fn only_what_a_reader_sees_as_a_heading_is_one() {
    let table: [(&str, Headings); 16] = [
        ("# A\n\n## B", &[(1, "A", 1), (2, "B", 3)]),
        ("\u{feff}# A\r\n## B\r\n", &[(1, "A", 1), (2, "B", 2)]),
        ("##B\n#\n####### C", &[(1, "", 2)]),
        ("   ## A ##\n    ## B", &[(2, "A", 1)]),
        ("## C#\n## D #", &[(2, "C#", 1), (2, "D", 2)]),
        ("```\n## A\n```\n## B", &[(2, "B", 4)]),
        ("~~~ sh\n```\n## A\n~~~\n## B", &[(2, "B", 5)]),
        ("````\n```\n## A\n````\n## B", &[(2, "B", 5)]),
        ("- ```sh\n  # A\n  ```\n## B", &[(2, "B", 4)]),
        ("``` in a `line`\n## B", &[(2, "B", 2)]),
        ("```\n## never closed", &[]),
        ("<!--\n## A\n-->\n## B", &[(2, "B", 4)]),
        ("<!-- a --> ## A\n<!-->\n## B", &[(2, "A", 1), (2, "B", 3)]),
        ("text <!-- a\n## A --> \n## B", &[(2, "B", 3)]),
        ("`<!--` is text\n## B", &[(2, "B", 2)]),
        ("`` ` <!-- `` and ` <!-- \n## B -->\n## C", &[(2, "C", 3)]),
    ];
    for (text, wanted) in table {
        let wanted: Vec<_> = wanted.iter().map(|(level, title, line)| (*level, (*title).to_owned(), *line)).collect();
        assert_eq!(headings(text), wanted, "{text}");
    }
}

#[test]
fn what_is_never_closed_is_told() {
    let table = [
        ("a\n```\n```\n<!-- -->", None),
        ("a\n```\nb", Some((2, "block of code"))),
        ("<!-- a -->\nb <!-- c\n```", Some((2, "comment"))),
    ];
    for (text, wanted) in table {
        let open = Document::parse(text).unclosed();
        assert_eq!(open.map(|open| (open.line, open.what)), wanted, "{text}");
    }
}

#[test]
fn a_section_goes_to_the_next_heading_of_its_level() {
    let document = Document::parse("## A\na\n### B\nb\n- \n```\n\nc\n```\n<!-- d -->\n# E\ne\n");
    let section = document.sections(2).next().unwrap();
    let said: Vec<_> = section.said().map(|said| (said.line, said.text, said.is_code)).collect();
    assert_eq!(said, [(2, "a", false), (4, "b", false), (6, "```", true), (8, "c", true), (9, "```", true)]);
    let parts: Vec<_> = section.parts().map(|part| part.heading.title.as_str()).collect();
    assert_eq!(parts, ["B"]);
}

#[test]
fn who_works_is_read_only_from_a_clean_list() {
    let table = [
        ("- implementer", "implementer validator"),
        ("* `test-writer`\n+ **implementer**", "test-writer implementer validator"),
        ("- test-writer\n- implementer\n- documentation", "test-writer implementer documentation validator"),
        ("<!-- - test-writer -->\n- documentation", "documentation validator"),
        ("", ""),
        ("None", ""),
        ("- implementer\n- validator", ""),
        ("- implementer\n- test-writer", ""),
        ("- implementer\n- implementer", ""),
        ("- implementer, carefully", ""),
        ("Run these:\n- implementer", ""),
        ("1. implementer", ""),
        ("- implementer\n### Notes\n", ""),
        ("```\n- implementer\n```", ""),
        ("- implementer\n## Execution\n- implementer", ""),
    ];
    for (list, wanted) in table {
        let spec = Spec::parse(&format!("# T\n## Execution\n{list}\n## Scope\n- implementer\n"));
        let names: Vec<&str> = spec.pipeline().into_iter().map(Role::as_str).collect();
        assert_eq!(names.join(" "), wanted, "{list}");
    }
    assert!(Spec::parse("# T\n").pipeline().is_empty());
    let manifest = "## Execution\n- implementer\n## Units\n";
    assert!(Spec::parse(manifest).pipeline().is_empty(), "a manifest runs nothing itself");
}

#[test]
fn test_files_are_read_from_their_list() {
    let spec = Spec::parse(
        "## Testable Acceptance Criteria\n- `not/this.rs`\n### Test File Paths\nThese:\n- `tests/a b.rs` for it\n\
         - tests/c.rs: more\n- None\n```\ntests/d.rs\n```\n### Else\n- tests/e.rs\n",
    );
    let paths: Vec<_> = spec.test_paths().iter().map(|path| (path.line, path.text.as_str())).collect();
    assert_eq!(paths, [(5, "tests/a b.rs"), (6, "tests/c.rs"), (9, "tests/d.rs")]);
}

#[test]
fn an_outcome_and_a_verdict_are_one_word() {
    let table = [
        ("## Outcome\n\n**Done.** All of it\n", "Done"),
        ("## Outcome\n- failed: two tests\n", "Failed"),
        ("## Outcome\n<!-- done -->\nBlocked by the network\n", "Blocked"),
        ("## Outcome\nneeds-decision\n", "NeedsDecision"),
        ("## Outcome\nIt is done\n", "Unclear(Some(\"It is done\"))"),
        ("## Outcome\n```\ndone\n```\n", "Unclear(None)"),
        ("done\n", "Unclear(None)"),
    ];
    for (text, wanted) in table {
        assert_eq!(format!("{:?}", outcome(&Document::parse(text))), wanted, "{text}");
    }
    let table = [
        ("Verdict: pass\n", "Pass"),
        ("# Report\n- **Verdict:** FAIL.\n", "Fail"),
        ("verdict : blocked\nVerdict: blocked", "Blocked"),
        ("Verdict: pass\nVerdict: fail\n", "Unclear(Some(\"pass, then fail\"))"),
        ("Verdict: pass|fail\n", "Unclear(Some(\"pass|fail\"))"),
        ("```\nVerdict: pass\n```\n<!-- Verdict: pass -->\n", "Unclear(None)"),
        ("The verdict: pass\n", "Unclear(None)"),
    ];
    for (text, wanted) in table {
        assert_eq!(format!("{:?}", verdict(&Document::parse(text))), wanted, "{text}");
    }
}
