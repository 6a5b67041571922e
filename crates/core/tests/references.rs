//! The description of tasks in `docs/states.md` is true of `step`.
//!
//! The table of moves is between two markers. `UPDATE_REFERENCES=1 cargo test -p shuntyard-core --test references`
//! writes it anew; the text around it is written by hand, and is checked here for states that it forgets or
//! invents.

#![expect(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

use serde_json::json;
use shuntyard_core::{
    ErrorClass,
    experience::FailureMode,
    values::{Deliver, Rules},
    work::{
        pull_request::{Assessed, Assessment, PullRequestState},
        task::{
            Asked, Cause, Contest, Decided, Delivered, Event, Failure, Lift, PermissionReply, PermissionRequest, Phase,
            Place, Redelivery, Stage, State, Tally, Task, TaskId, TaskSpec, Wait, step,
        },
    },
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

const BEGIN: &str = "<!-- generated: UPDATE_REFERENCES=1 cargo test -p shuntyard-core --test references -->\n";
const END: &str = "<!-- end of the generated part -->\n";
const NOW: i64 = 1_800_000_000_000_000;

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/states.md")
}

fn read() -> String {
    std::fs::read_to_string(page()).expect("docs/states.md is there")
}

fn request() -> PermissionRequest {
    let text = String::from;
    PermissionRequest { id: text("per_1"), permission: text("bash"), pattern: text("make"), digest: text("d") }
}

fn states() -> Vec<State> {
    let (by, head, detail) = (String::from("ann"), String::from("abc"), String::from("why"));
    vec![
        State::Queued,
        State::Waiting { until: NOW, wait: Wait::Limit, detail: detail.clone() },
        State::Starting { stage: Stage::Work },
        State::Starting { stage: Stage::Evaluate },
        State::Starting { stage: Stage::Deliver { head: head.clone() } },
        State::Running,
        State::Asking { request: request(), until: NOW + 1, answer: None },
        State::Asking { request: request(), until: NOW + 1, answer: Some(PermissionReply::Allow) },
        State::Evaluating,
        State::Delivering { head: head.clone() },
        State::Review { url: "u".into(), head: head.clone(), until: NOW },
        State::Stopping { by: by.clone(), head: None },
        State::Stopping { by: by.clone(), head: Some(head) },
        State::Done { delivered: Delivered::Nothing },
        State::Failed { detail: detail.clone() },
        State::Blocked { cause: Cause::Needs, detail },
        State::Cancelled { by },
    ]
}

/// Each kind of failure that leads somewhere else.
fn failures() -> Vec<Failure> {
    let plain = || Failure::environment("signature", "detail");
    vec![
        plain(),
        Failure { mode: FailureMode::Logic, lift: Lift::Allowed, ..plain() },
        Failure { mode: FailureMode::Transient, class: Some(ErrorClass::RateLimited), ..plain() },
        Failure { class: Some(ErrorClass::AuthMissing), ..plain() },
    ]
}

fn events() -> Vec<Event> {
    let (head, detail) = (String::from("def"), String::from("why"));
    let mut events = vec![
        Event::Claim,
        Event::Postpone { until: NOW, wait: Wait::Limit, detail: detail.clone() },
        Event::Block { cause: Cause::Access, detail: detail.clone() },
        Event::Wake,
        Event::Start,
        Event::Ask { request: request(), until: NOW + 1 },
        Event::Ask { request: PermissionRequest { id: "per_2".into(), ..request() }, until: NOW + 1 },
        Event::Answer { request: request().id, answer: PermissionReply::Allow, by: "ann".into() },
        Event::Proceed { request: request().id, answer: None },
        Event::Proceed { request: request().id, answer: Some(PermissionReply::Allow) },
        Event::Decide { decided: decided() },
        Event::Worked,
        Event::Approve { head: head.clone() },
    ];
    events.extend(failures().into_iter().map(|failure| Event::Refuse {
        failure,
        tier: None,
        model: None,
        resume: None,
    }));
    events.push(Event::Propose { url: "u".into(), head: head.clone(), until: NOW, assessed: Assessed::No });
    let asked = Asked::ByReviewer;
    let assessment = Assessment::from(PullRequestState::ChangesRequested);
    let revise = |failure| Event::Revise {
        failure,
        asked,
        assessment: assessment.clone(),
        answers: Vec::new(),
        tier: None,
        model: None,
    };
    events.extend(failures().into_iter().take(1).map(revise));
    events.push(Event::Redeliver { why: Redelivery::Rebase });
    events.extend([
        Event::Deliver { delivered: Delivered::Merged { base: "main".into(), head } },
        Event::Deliver { delivered: Delivered::Nothing },
        Event::Reject { detail: detail.clone() },
    ]);
    events.extend(failures().into_iter().map(|failure| Event::Return { failure }));
    events.extend([
        Event::Lose { detail },
        Event::Cancel { by: "ann".into() },
        Event::Stopped,
        Event::Retry,
        Event::Reset,
    ]);
    events
}

fn decided() -> Decided {
    let entry = "t001.1".parse().expect("an id");
    Decided { entry, model: "p/m".into(), base: "abc".into(), head: "def".into(), taken: false }
}

fn tasks(state: &State) -> Vec<Task> {
    let id: TaskId = "t001".parse().expect("an id");
    let spec = json!({"description": "d", "repository": "/r", "base": "main", "agent": {"kind": "opencode"}});
    let spec: TaskSpec = serde_json::from_value(spec).expect("the least that a task needs");
    let mut tasks = Vec::new();
    for deliver in [Deliver::Branch, Deliver::Merge, Deliver::Pr] {
        for (place, attempts, losses) in
            [(Place::Worktree, None, 0), (Place::Worktree, Some(1), 1), (Place::Directory, None, 0)]
        {
            let contest = (place == Place::Worktree && losses == 0).then(|| Contest { models: Vec::new() });
            tasks.push(Task {
                id: id.clone(),
                batch: None,
                parent: None,
                priority: 0,
                depends_on: Vec::new(),
                spec: TaskSpec { deliver, place, attempts, contest: contest.clone(), ..spec.clone() },
                state: state.clone(),
                tally: Tally { losses, ..Tally::default() },
                epoch: 1,
                created_at: NOW,
                changed_at: NOW,
            });
        }
    }
    tasks
}

fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = states().iter().map(State::name).collect();
    names.dedup();
    names
}

/// Every event in every state, tried.
fn moves() -> String {
    let rules = Rules {
        reinforcements: 1,
        rises: 2,
        tier_order: Vec::new(),
        rests: vec![1],
        trouble_rests: vec![1],
        losses: 1,
        diagnose: shuntyard_core::values::Diagnose::Never,
    };
    let places: BTreeMap<&str, usize> = names().into_iter().zip(0..).collect();
    let mut order: Vec<&str> = events().iter().map(Event::name).collect();
    order.dedup();
    let mut found: BTreeMap<(usize, usize), BTreeSet<usize>> = BTreeMap::new();
    for state in states() {
        for (task, event) in tasks(&state).iter().flat_map(|task| events().into_iter().map(move |event| (task, event)))
        {
            let column = order.iter().position(|name| *name == event.name()).expect("an event of ours");
            if let Ok(step) = step(task, event, &rules, NOW) {
                found.entry((places[state.name()], column)).or_default().insert(places[step.task.state.name()]);
            }
        }
    }
    let names = names();
    let mut text = String::from("| from | event | to |\n| --- | --- | --- |\n");
    for ((from, event), to) in found {
        let to: Vec<String> = to.into_iter().map(|to| format!("`{}`", names[to])).collect();
        text.push_str(&format!("| `{}` | `{}` | {} |\n", names[from], order[event], to.join(", ")));
    }
    text
}

#[test]
fn the_moves_are_documented() {
    let text = read();
    let (before, rest) = text.split_once(BEGIN).expect("the beginning of the generated part");
    let (written, after) = rest.split_once(END).expect("the end of the generated part");
    let expected = format!("\n{}\n\n", moves().trim());
    if written != expected && std::env::var_os("UPDATE_REFERENCES").is_some() {
        std::fs::write(page(), format!("{before}{BEGIN}{expected}{END}{after}")).expect("the page is written");
        return;
    }
    assert_eq!(
        written, expected,
        "write it anew with UPDATE_REFERENCES=1 cargo test -p shuntyard-core --test references"
    );
}

/// The rows of the first table below a heading, each as its cells.
fn rows(text: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, section) = text.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let section = section.split("\n## ").next().unwrap_or_default();
    let table = section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    table.skip(2).map(cells).collect()
}

fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_state_has_its_meaning_and_its_phase() {
    let written: Vec<(String, String)> =
        rows(&read(), "States").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    let mut wanted: Vec<(String, String)> =
        states().iter().map(|state| (format!("`{}`", state.name()), state.phase().to_string())).collect();
    wanted.dedup();
    assert_eq!(written, wanted);
    for phase in Phase::ALL {
        assert!(wanted.iter().any(|(_, own)| own == phase.as_str()), "no state is {phase}");
    }
}

#[test]
fn every_event_has_its_meaning() {
    let written: Vec<String> = rows(&read(), "Events").into_iter().map(|row| row[0].clone()).collect();
    let mut wanted: Vec<String> = events().iter().map(|event| format!("`{}`", event.name())).collect();
    wanted.dedup();
    assert_eq!(written, wanted);
}

#[test]
fn the_older_states_lead_to_states_that_there_are() {
    let older = [
        "queued",
        "dispatched",
        "running",
        "evaluating",
        "retrying",
        "complete",
        "pr_review",
        "review_triage",
        "merging",
        "merged",
        "deploying",
        "deployed",
        "verifying",
        "verified",
        "verify_failed",
        "blocked",
        "failed",
        "cancelled",
    ];
    let text = read();
    let rows = rows(&text, "Coming from the older supervisor");
    let written: Vec<&str> = rows.iter().map(|row| quoted(&row[0])[0]).collect();
    assert_eq!(written, older);
    for row in rows {
        let ours = quoted(&row[1]);
        assert!(!ours.is_empty() || row[1].starts_with('–'), "{} leads nowhere", row[0]);
        for name in ours {
            assert!(names().contains(&name), "{} leads to {name}, which there is not", row[0]);
        }
    }
}
