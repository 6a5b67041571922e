//! What is found wrong with a spec.

use super::*;

#[test]
fn a_good_spec_has_no_faults_in_any_order_and_with_any_line_ends() {
    assert_eq!(faults(GOOD), [""; 0]);
    assert_eq!(faults(&GOOD.replace('\n', "\r\n")), [""; 0]);
    for alias in ["Handoff Context", "Source Artifacts / Handoff Context", "source artifacts:", "**Source Artifacts**"]
    {
        assert_eq!(faults(&with("Source Artifacts", alias)), [""; 0], "{alias}");
    }
    let (title, rest) = GOOD.split_once("\n## ").unwrap();
    let reversed: Vec<&str> = rest.split("\n## ").filter(|part| *part != "not a heading").collect();
    let reversed: Vec<&str> = reversed.into_iter().rev().collect();
    let text =
        format!("{title}\n## {}", reversed.join("\n## ")).replace("```sh", "run").replace("cargo test\n```", "it");
    assert_eq!(faults(&text), [""; 0], "{text}");
}

#[test]
fn each_fault_has_its_line_its_rule_and_its_words() {
    let table: &[(String, &[&str])] = &[
        (with("## Scope\n\n`export` writes CSV.\n", ""), &["1: section-missing: there is no section Scope"]),
        (with("`export` writes CSV.", "<!-- what? -->"), &["7: section-empty: Scope says nothing yet"]),
        (with("`export` writes CSV.", "None"), &["7: section-empty: Scope cannot be None"]),
        (with("## Scope", "### Scope"), &["1: section-missing: there is no section Scope"]),
        (with("## Non-Goals\n\nNone.", "## Non-Goals\n- \n"), &["17: section-empty: Non-Goals says nothing yet"]),
        (format!("{GOOD}\n## Scope\n\nmore\n"), &["48: section-twice: Scope is there again; it began on line 7"]),
        (
            with("## Execution\n\n- test-writer\n- implementer\n- documentation\n", ""),
            &["1: nothing-would-run: there is no section Execution, so nothing would run"],
        ),
        (
            with("- test-writer\n- implementer\n- documentation\n", "<!-- who? -->"),
            &["11: nothing-would-run: Execution names nobody, so nothing would run"],
        ),
        (
            with("- test-writer\n- implementer\n- documentation\n", "None"),
            &["11: nothing-would-run: Execution names nobody, so nothing would run"],
        ),
        (
            with("- documentation\n", "- documentation\n- validator\n"),
            &["16: execution-validator: the validator is not named: it always runs, as the last"],
        ),
        (with("- implementer", "- implementor"), &["14: execution-agent: `implementor` is no agent"]),
        (
            with("- implementer", "- implementer: the \u{1b}[31mexporter"),
            &["14: execution-agent: `implementer: the \u{fffd}[31mexporter` is no agent"],
        ),
        (with("- documentation", "- test-writer"), &["15: execution-order: test-writer works before implementer"]),
        (with("- documentation", "- implementer"), &["15: execution-order: implementer is named twice"]),
        (
            with("- test-writer\n", "First the tests:\n- test-writer\n"),
            &["13: execution-text: Execution is a list of agents and nothing else: `First the tests:`"],
        ),
        (
            with("### Test File Paths\n\n- `tests/export.rs`\n", ""),
            &["21: test-paths-missing: test-writer is to work, and no test file is named"],
        ),
        (
            with("- `tests/export.rs`", "None"),
            &["21: test-paths-missing: test-writer is to work, and no test file is named"],
        ),
        (
            with("- `tests/export.rs`", "- `../export.rs`\n- /tmp/a.rs"),
            &[
                "27: test-path: the test file `../export.rs` leads out of the repository",
                "28: test-path: the test file `/tmp/a.rs` is absolute",
            ],
        ),
        (
            with("- A comma in a value is quoted.", "None"),
            &[
                "21: nothing-to-validate: both criteria are None, so the validator could not tell good work from bad",
                "21: nothing-to-test: test-writer is to work, and there is nothing to test",
            ],
        ),
        (
            with("- A comma in a value is quoted.\n", ""),
            &["21: section-empty: Testable Acceptance Criteria says nothing yet"],
        ),
        (
            with("## Open Questions", "<!-- ## Open Questions"),
            &[
                "1: section-missing: there is no section Open Questions",
                "44: unclosed: the comment that begins here is never closed, and hides the rest of the file",
            ],
        ),
    ];
    for (text, wanted) in table {
        assert_eq!(faults(text), *wanted, "{text}");
    }
}

#[test]
fn without_a_test_writer_no_test_file_is_asked_for() {
    let text = with("- test-writer\n", "").replace("### Test File Paths\n\n- `tests/export.rs`\n", "");
    assert_eq!(faults(&text), [""; 0]);
    let text = text.replace("- A comma in a value is quoted.", "None").replace(
        "## Inspectable Acceptance Criteria\n\nNone",
        "## Inspectable Acceptance Criteria\n\n- It reads well.",
    );
    assert_eq!(faults(&text), [""; 0]);
}

#[test]
fn an_empty_file_lacks_everything() {
    let rules: Vec<Rule> = check_spec(&Spec::parse(""), Place::Alone).into_iter().map(|fault| fault.rule).collect();
    assert_eq!(rules.iter().filter(|rule| **rule == Rule::SectionMissing).count(), 8);
    assert_eq!(rules.iter().filter(|rule| **rule == Rule::NothingWouldRun).count(), 1);
    assert_eq!(rules.len(), 9);
}

#[test]
fn a_hint_names_the_heading_that_was_probably_meant() {
    let hint = |text: &str| check_spec(&Spec::parse(text), Place::Alone).remove(0).hint;
    assert_eq!(hint(&with("## Scope", "#### Scope")), "line 7 has it with 4 `#`; write `## Scope`");
    assert_eq!(hint(&with("## Non-Goals", "## Non Goals")), "if line 17 is meant, write `## Non-Goals`");
    assert!(hint(&with("## Scope", "## Beginning")).starts_with("add `## Scope`: say what"));
    assert_eq!(hint(&with("- implementer", "- implementor")), "did you mean implementer?");
}

#[test]
fn the_rules_have_names_of_their_own() {
    let json = serde_json::to_value(Fault::new(3, Rule::NothingWouldRun, "m", "h")).unwrap();
    assert_eq!(json, serde_json::json!({"line": 3, "rule": "nothing-would-run", "message": "m", "hint": "h"}));
}

#[test]
fn a_report_has_to_say_how_it_went() {
    let rules = |report, text: &str| told(&check_report(report, text));
    assert_eq!(rules(Report::Implementation, "## Outcome\ndone\n"), [""; 0]);
    assert_eq!(rules(Report::Validation, "Verdict: fail\n"), [""; 0]);
    assert_eq!(
        rules(Report::Validation, "## Outcome\ndone\n"),
        ["1: report-unclear: the report does not say how it went"]
    );
    assert_eq!(
        rules(Report::Documentation, "## Outcome\nmostly\n"),
        ["1: report-unclear: the report does not say how it went: `mostly`"]
    );
}
