use super::*;
use shuntyard_core::work::task::{Delivered, Phase, TaskId};
use shuntyard_engine::ops::demo::{Checkout, CostCheck, TryReport};

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

fn task(tries: Vec<TryReport>, faults: Vec<String>) -> TaskReport {
    TaskReport {
        id: TaskId::numbered(3),
        description: "count".into(),
        depends_on: Vec::new(),
        phase: Phase::Done,
        tries,
        delivered: Some(Delivered::Merged { base: "main".into(), head: "0123456789abcdef".into() }),
        cost_nano_usd: None,
        tokens: 7,
        duration_ms: 1500,
        faults,
    }
}

fn report(ok: bool, ledger: i64, faults: &[&str], tasks: Vec<TaskReport>) -> String {
    let faults = faults.iter().map(|fault| (*fault).to_owned()).collect();
    let report = DemoReport {
        ok,
        opencode: "/bin/opencode".into(),
        opencode_version: "1".into(),
        stages: Vec::new(),
        tasks,
        main: Checkout { branch: "main".into(), commit: "1".into(), faults },
        cost: CostCheck {
            reported_nano_usd: Nano(5),
            ledger_nano_usd: Nano(ledger),
            provider_requests: 1,
            equal: ledger == 5,
        },
        duration_ms: 1200,
    };
    closing(&report).join("\n")
}

#[test]
fn a_wrong_end_is_never_called_right() {
    assert!(!report(true, 5, &[], Vec::new()).contains("WRONG"));
    let lost = "main does not have the work of t002";
    let slow = task(Vec::new(), vec!["it is running and not merged: ".into()]);
    let table = [
        (
            report(false, 6, &[], Vec::new()),
            "WRONG: 5 nano-dollars were reported, but the provider's own ledger says 6.",
        ),
        (report(false, 5, &[lost], Vec::new()), "WRONG: main does not have the work of t002."),
        (report(false, 5, &[], vec![slow]), "WRONG: t003: it is running and not merged: "),
    ];
    for (said, expected) in table {
        assert!(said.lines().any(|line| line == expected), "{expected}\n{said}");
        assert!(!said.contains("All as it should be"), "{said}");
    }
}

#[test]
fn a_task_is_told_in_a_line_for_each_thing_that_happens() {
    let told = |number: u64, news| tell(&TaskNews { task: TaskId::numbered(number), news }).join("\n");
    let claimed = |number| News::Claimed { number, model: "demo/swift".into() };
    let refused = News::Refused { why: "`sh a.sh` ended with exit 1:\nwhat it printed".into() };
    let delivered = News::Delivered { how: "merged into main at 0123456789".into() };
    let held = News::Held { state: "blocked".into(), why: "no model".into() };
    let table = [
        (told(1, claimed(1)), "   t001     claimed: demo/swift works in a worktree of its own"),
        (told(2, claimed(1)), "   t002     t001 is done: demo/swift works in a worktree of its own"),
        (told(2, claimed(2)), "   t002     try 2: demo/swift is told what went wrong, and goes on"),
        (told(3, refused), "   t003     red: `sh a.sh` ended with exit 1"),
        (told(3, delivered), "   t003     green, and merged into main at 0123456789"),
        (told(3, held), "   t003     blocked: no model"),
    ];
    for (seen, expected) in table {
        assert_eq!(seen, expected);
    }
    assert_eq!(queued().len(), Errand::ALL.len() + 1, "each fits a line: {:#?}", queued());
}

#[test]
fn the_row_of_a_task_says_how_it_ended() {
    let tried = |outcome: &str| TryReport { model: "demo/careful".into(), outcome: outcome.into(), why: String::new() };
    let good = task_row(&task(vec![tried("refused"), tried("approved")], Vec::new()));
    assert_eq!(good, ["t003", "demo/careful", "merged 0123456, at try 2", "1.5s", "7", "unknown"]);
    assert_eq!(task_row(&task(vec![tried("approved")], Vec::new()))[2], "merged 0123456");
    assert_eq!(task_row(&task(vec![tried("approved")], vec!["one".into()]))[2], "WRONG");
}
