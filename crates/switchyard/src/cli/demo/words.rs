//! What the demo says: the lines of a stage, its row in the table, and the end. Pure; nothing is printed here.

use std::time::Duration;
use switchyard_core::{Nano, duration, route::Step};
use switchyard_engine::demo::{DemoReport, Stage, StageReport};

/// Narrower than most terminals, so that the indented lines stay indented.
const WIDTH: usize = 78;
const INDENT: usize = 12;

/// What a stage was asked, where it went and why, and what came of it.
pub fn narrate(report: &StageReport, tools: &[String]) -> Vec<String> {
    let dispatch = &report.dispatch;
    let mut lines = Vec::new();
    let mut tell = |label: &str, text: &str| lines.extend(labelled(label, text));
    tell("asked", report.prompt);
    tell("route", &dispatch.route.reason);
    if report.stage == Stage::Routed {
        for step in dispatch.route.trace.iter().filter(|step| !step.chosen) {
            if let (Step::Tier, Some(candidate)) = (step.step, &step.candidate) {
                tell("", &format!("({candidate} was passed over: {})", step.why));
            }
        }
    }
    report.refused_values().for_each(|fault| tell("refused", fault));
    if report.stage == Stage::Agent && !tools.is_empty() {
        tell("tools", &tools.join(", "));
    }
    match (&dispatch.structured, &dispatch.error) {
        (_, Some(error)) => {
            tell("error", &format!("{}: {}", error.class, error.message));
            tell("next", &error.hint);
        }
        (Some(value), None) => tell("answer", &value.to_string()),
        (None, None) => tell("answer", &dispatch.text),
    }
    if let Some(proof) = &report.commit {
        let changes =
            proof.files.iter().map(|(path, added, deleted)| format!("{} +{added} -{deleted}", path.display()));
        let changes = changes.collect::<Vec<_>>().join(", ");
        tell("commit", &format!("{} {} ({changes})", proof.commit, proof.subject));
        if proof.main_untouched {
            tell("", &format!("on branch {} in its worktree; the main checkout is untouched", proof.branch));
        }
    }
    report.faults.iter().for_each(|fault| tell("WRONG", fault));
    lines
}

/// A label, and the text beside it in as many lines as it needs.
fn labelled(label: &str, text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH - INDENT => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let width = INDENT - 4;
    labels.zip(lines).map(|(label, line)| format!("   {label:<width$} {line}")).collect()
}

pub fn row(report: &StageReport) -> Vec<String> {
    let dispatch = &report.dispatch;
    let what = match report.stage {
        Stage::Routed => "routed",
        Stage::Structured => "structured",
        Stage::Agent => "agent",
        Stage::Quota => "used up",
    };
    let result = match (&dispatch.error, &report.commit) {
        _ if !report.faults.is_empty() => "WRONG".to_owned(),
        (Some(error), _) => format!("{} (expected)", error.class),
        (None, Some(proof)) => format!("ok, commit {}", proof.commit),
        (None, None) => match report.refused_values().count() {
            0 => "ok".to_owned(),
            refused => format!("ok, at try {}", refused + 1),
        },
    };
    let took = duration::show(Duration::from_millis(dispatch.duration_ms));
    let cost = Nano::from_usd(dispatch.cost_usd).map_or_else(|| "unknown".to_owned(), |cost| cost.to_string());
    vec![what.into(), dispatch.model.to_string(), result, took, dispatch.usage.total().to_string(), cost]
}

pub fn closing(report: &DemoReport) -> Vec<String> {
    let cost = &report.cost;
    let took = duration::show(Duration::from_millis(report.duration_ms));
    let bill = if cost.equal {
        format!(
            "{} for {} requests at the scripted prices.\n\
             The cost equals the provider's own ledger, to the nano-dollar.",
            cost.reported_nano_usd, cost.provider_requests
        )
    } else {
        format!(
            "WRONG: {} nano-dollars were reported, but the provider's own ledger says {}.",
            cost.reported_nano_usd.0, cost.ledger_nano_usd.0
        )
    };
    let verdict = match report.stages.iter().filter(|stage| !stage.faults.is_empty()).count() {
        0 if report.ok => "All as it should be".to_owned(),
        0 => "The stages are right, but the costs are WRONG".to_owned(),
        wrong => format!("{wrong} of {} stages went WRONG", report.stages.len()),
    };
    let next: &[&str] = if report.ok {
        &[
            "Next, with your own models:",
            "  switchyard doctor",
            "  switchyard dispatch --task-type code-review @main.rs",
        ]
    } else {
        &["Next, to find the cause:", "  switchyard doctor"]
    };
    let ended = format!("{verdict}, in {took}. What ran is ended, and the scratch files are gone.");
    [bill, ended, String::new()].into_iter().chain(next.iter().map(|line| (*line).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchyard_engine::demo::CostCheck;

    #[test]
    fn long_texts_stay_beside_their_label() {
        let text = "word ".repeat(30) + &"x".repeat(90);
        let lines = labelled("label", &text);
        assert!(lines[0].starts_with("   label    word"), "{lines:#?}");
        let indented = |line: &String| line.starts_with(&" ".repeat(INDENT)) && !line.ends_with(' ');
        assert!(lines[1..].iter().all(indented), "{lines:#?}");
        assert!(lines[..lines.len() - 1].iter().all(|line| line.chars().count() <= WIDTH), "{lines:#?}");
        let words = lines.join(" ").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words.len(), 32, "nothing is lost");
        assert_eq!(labelled("empty", ""), ["   empty    "]);
    }

    #[test]
    fn a_wrong_end_is_never_called_right() {
        let report = |ok, ledger| DemoReport {
            ok,
            opencode: "/bin/opencode".into(),
            opencode_version: "1".into(),
            stages: Vec::new(),
            cost: CostCheck {
                reported_nano_usd: Nano(5),
                ledger_nano_usd: Nano(ledger),
                provider_requests: 1,
                equal: ledger == 5,
            },
            duration_ms: 1200,
        };
        assert!(!closing(&report(true, 5)).join(" ").contains("WRONG"));
        let wrong = closing(&report(false, 6)).join(" ");
        assert!(
            wrong.contains("WRONG: 5 nano-dollars were reported, but the provider's own ledger says 6."),
            "{wrong}"
        );
        assert!(!wrong.contains("All as it should be"), "{wrong}");
    }
}
