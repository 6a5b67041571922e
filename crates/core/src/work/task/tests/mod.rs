//! Tables and properties of the rules about tasks, and the samples that they are made from.

mod breaker;
mod checkout;
mod circles;
mod contest;
mod defaults;
mod dependency;
mod effects;
mod evidence;
mod id;
mod json;
mod judge;
mod ladder;
mod load;
mod paths;
mod permission;
mod prompt;
mod pull_request;
mod rests;
mod resuming;
mod schedule;
mod sequences;
mod signature;
mod state;
mod step;

use super::*;
use crate::values::Deliver;
use crate::values::Rules;
use crate::{
    ErrorClass, Nano,
    experience::FailureMode,
    settings::{Config, DEFAULTS},
    values::Urgency,
    work::pull_request::{Assessed, PullRequestRecord, PullRequestState},
};

const NOW: i64 = 1_800_000_000_000_000;
const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

/// The built-in ones, with tiers that sort by their names.
fn rules() -> Rules {
    let config: Config = toml::from_str(DEFAULTS).unwrap();
    config.supervise.rules(&texts(&["a", "b", "c", "d", "e"]))
}

fn spec() -> TaskSpec {
    TaskSpec {
        description: "mend the fence".into(),
        repository: "/srv/garden".into(),
        base: "main".into(),
        agent: Agent::Opencode { agent: None },
        place: Place::Worktree,
        model: None,
        tier: None,
        task_type: None,
        needs: Vec::new(),
        verify: Vec::new(),
        allow_paths: Vec::new(),
        max_cost: None,
        urgency: Urgency::Normal,
        estimate_seconds: None,
        attempts: None,
        labels: Vec::new(),
        deliver: Deliver::Pr,
        gate: Gate::Closed,
        verification: Verification::default(),
        diagnoses: None,
        strategy: None,
        contest: None,
        entry_of: None,
        todo: None,
        deadline: None,
        with_issue: false,
    }
}

fn task(state: State) -> Task {
    Task {
        id: id("t007"),
        batch: None,
        parent: None,
        priority: 0,
        depends_on: Vec::new(),
        spec: spec(),
        state,
        tally: Tally::default(),
        epoch: 3,
        created_at: NOW - HOUR,
        changed_at: NOW - MINUTE,
    }
}

/// The model's own fault.
fn logic(signature: &str) -> Failure {
    Failure {
        mode: FailureMode::Logic,
        class: None,
        signature: signature.into(),
        detail: format!("detail of {signature}"),
        until: None,
        lift: Lift::Allowed,
    }
}

/// What an error class comes to by itself.
fn of_class(class: ErrorClass, mode: FailureMode) -> Failure {
    Failure { mode, class: Some(class), ..logic(class.as_str()) }
}

fn request() -> PermissionRequest {
    PermissionRequest {
        id: "per_1".into(),
        permission: "bash".into(),
        pattern: "make gate".into(),
        digest: "d1".into(),
    }
}

fn every_state() -> Vec<State> {
    let (by, head, detail) = ("ann".to_owned(), "abc".to_owned(), "why".to_owned());
    vec![
        State::Queued,
        State::Waiting { until: NOW, wait: Wait::Trouble, detail: detail.clone() },
        State::Waiting { until: NOW + 1, wait: Wait::Limit, detail: detail.clone() },
        State::Starting { stage: Stage::Work },
        State::Starting { stage: Stage::Evaluate },
        State::Starting { stage: Stage::Deliver { head: head.clone() } },
        State::Running,
        State::Asking { request: request(), until: NOW + 2 * HOUR, answer: None },
        State::Asking { request: request(), until: NOW + 2 * HOUR, answer: Some(PermissionReply::Allow) },
        State::Evaluating,
        State::Delivering { head: head.clone() },
        State::Review { url: "https://forge/1".into(), head: head.clone(), until: NOW + 1 },
        State::Stopping { by: by.clone(), head: None },
        State::Stopping { by: by.clone(), head: Some(head.clone()) },
        State::Done { delivered: Delivered::Merged { base: "main".into(), head } },
        State::Failed { detail: detail.clone() },
        State::Blocked { cause: Cause::Needs, detail },
        State::Cancelled { by },
    ]
}

/// One of each kind, such that a task that wants a pull request can meet it.
fn every_event() -> Vec<Event> {
    vec![
        Event::Claim,
        Event::Start,
        Event::Ask { request: request(), until: NOW + 2 * HOUR },
        Event::Answer { request: request().id, answer: PermissionReply::Allow, by: "bob".into() },
        Event::Proceed { request: request().id, answer: Some(PermissionReply::Allow) },
        Event::Decide { decided: decided() },
        Event::Worked,
        Event::Approve { head: "def".into() },
        Event::Refuse { failure: logic("red"), tier: Some("b".into()), model: Some("acme/b".into()), resume: None },
        Event::Deliver { delivered: Delivered::PullRequest { url: "https://forge/1".into(), head: "def".into() } },
        Event::Propose { url: "https://forge/2".into(), head: "def".into(), until: NOW + HOUR, assessed: Assessed::No },
        Event::Revise {
            failure: logic("ci"),
            asked: Asked::ByChecks,
            assessment: PullRequestState::CiFailed.into(),
            answers: texts(&["checks abc"]),
            tier: Some("b".into()),
            model: None,
        },
        Event::Redeliver { why: Redelivery::Rebase },
        Event::Reject { detail: "closed".into() },
        Event::Return { failure: logic("conflict") },
        Event::Lose { detail: "gone".into() },
        Event::Wake,
        Event::Postpone { until: NOW + MINUTE, wait: Wait::Budget, detail: "later".into() },
        Event::Block { cause: Cause::Repository, detail: "no repository".into() },
        Event::Cancel { by: "bob".into() },
        Event::Stopped,
        Event::Retry,
        Event::Reset,
    ]
}

fn decided() -> Decided {
    let (base, head) = ("c0".into(), "c1".into());
    Decided { entry: id("t001.2"), model: "acme/b".into(), base, head, taken: false }
}

/// Of work that is good.
fn findings() -> Findings {
    Findings {
        end: End::Answered,
        said: "done".into(),
        base: Some(Commit { commit: "c0".into(), tree: "tree0".into() }),
        head: Some(Commit { commit: "c1".into(), tree: "tree1".into() }),
        commits: 1,
        changed: texts(&["src/fence.rs"]),
        lines: 12,
        binaries: 0,
        trespass: Vec::new(),
        secrets: Vec::new(),
        unmerged: Vec::new(),
        checks: Vec::new(),
        before: Vec::new(),
        deleted: 0,
        files: 20,
        foreign: Vec::new(),
        dangling: Vec::new(),
        astray: Vec::new(),
        unfinished: None,
        notes: Vec::new(),
        asked: Some("acme/b".into()),
        answered: Some("acme/b".into()),
        cost: Nano(5),
        cost_known: true,
    }
}

fn check(command: &str, exit: Exit) -> Check {
    Check { command: command.into(), exit, tail: format!("tail of {command}"), took_ms: 5 }
}

fn secret() -> Secret {
    Secret { path: "src/fence.rs".into(), line: 3, looks_like: "a private key".into() }
}
