use super::*;

fn finding(area: Area, subject: &str, state: State, detail: &str, fix: Option<&str>) -> Finding {
    Finding { area, subject: subject.into(), state, detail: detail.into(), fix: fix.map(Into::into) }
}

fn sample() -> Diagnosis {
    let findings = vec![
        finding(Area::Opencode, "binary", State::Problem, "not found", Some("shuntyard opencode install")),
        finding(Area::Machine, "git", State::Ok, "2.47.3", None),
        finding(Area::Machine, "npm", State::Warning, "not found", None),
    ];
    let check = |name, outcome, detail: &str| Check { name, outcome, detail: detail.into() };
    let conformance = vec![
        check("abort", Outcome::Holds, "12 ms"),
        check("cost", Outcome::Fails { problem: "half".into() }, "the whole"),
        check("retry-after", Outcome::WorkedAround { how: "ended".into() }, "sleeps"),
    ];
    Diagnosis { findings, conformance, conformance_skipped: None }
}

#[test]
fn people_see_words_and_the_next_command() {
    let rows = finding_rows(&sample().findings);
    let expected = [
        ["OpenCode", "problem", "binary", "not found\nnext: shuntyard opencode install"],
        ["Tools", "ok", "git", "2.47.3"],
        ["", "warning", "npm", "not found"],
    ];
    assert_eq!(rows, expected);
    let expected = [
        ["abort", "holds", "12 ms"],
        ["cost", "fails", "half\nrelied on: the whole"],
        ["retry-after", "worked around", "sleeps\nso: ended"],
    ];
    assert_eq!(check_rows(&sample().conformance), expected);
}

#[test]
fn the_last_line_counts_what_is_wrong() {
    assert_eq!(summary(&sample()), "Not ready: 1 problem, 1 failing conformance check, 1 warning.");
    let mut fine = sample();
    fine.conformance.clear();
    fine.findings.remove(0);
    assert_eq!(summary(&fine), "Ready, with 1 warning.");
    fine.findings.pop();
    assert_eq!(summary(&fine), "All is well.");
}

#[test]
fn the_document_has_its_documented_fields() {
    let document = document(&sample());
    assert_eq!(document["ok"], false);
    assert_eq!(
        document["findings"][0],
        json!({"area": "opencode", "subject": "binary", "state": "problem", "detail": "not found",
            "fix": "shuntyard opencode install"})
    );
    assert_eq!(document["conformance"][1]["problem"], "half");
    assert_eq!(document["conformance_skipped"], serde_json::Value::Null);
}

#[test]
fn a_store_is_set_aside_with_its_log() {
    let fix = set_aside(Path::new("/my data/shuntyard.db"));
    assert_eq!(fix, "mkdir -p '/my data/unusable' && mv '/my data/shuntyard.db'* '/my data/unusable'");
}
