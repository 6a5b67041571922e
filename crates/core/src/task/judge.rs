//! Whether the evidence shows that the work is done.
//!
//! Invariant: no diff, a trivial one, a verify that is red or was not run, a secret, a conflict that was left standing,
//! a path that is not allowed or a changed parent checkout is never good, whatever the agent said.

use super::{Agent, Check, End, Exit, Failure, Findings, Gate, Lift, Place, Stop, TaskSpec, outside};
use crate::{
    ErrorClass,
    pattern::{Deadline, FailureMode},
};

/// Paths that are named in a sentence, at most.
const NAMED: usize = 5;
/// Characters of a failed check that the next try is told.
const TAIL: usize = 1500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    Good { reasons: Vec<String> },
    Bad(Failure),
}

#[must_use]
pub fn judge(spec: &TaskSpec, findings: &Findings) -> Judgement {
    if let Some(failure) = forbidden(spec, findings).or_else(|| ended_badly(findings)) {
        return Judgement::Bad(failure);
    }
    if let Some(red) = findings.checks.iter().find(|check| !check.exit.is_green()) {
        return Judgement::Bad(red_check(red, findings));
    }
    let idle = match (spec.place, spec.gate) {
        (Place::Worktree, Gate::Closed) => nothing_done(findings),
        (Place::Worktree, Gate::Open) | (Place::Directory, _) => None,
    };
    match idle.or_else(|| unverified(spec, findings)) {
        Some(failure) => Judgement::Bad(failure),
        None => Judgement::Good { reasons: reasons(spec, findings) },
    }
}

/// What must never happen, however good the rest is.
fn forbidden(spec: &TaskSpec, findings: &Findings) -> Option<Failure> {
    if !findings.trespass.is_empty() {
        let detail = format!("the parent checkout was changed: {}", named(&findings.trespass));
        return Some(Failure::trespass(detail));
    }
    if let Some(secret) = findings.secrets.first() {
        let detail = format!("{}:{} adds what looks like {}", secret.path, secret.line, secret.looks_like);
        return Some(logic(with_tree("secret", findings), detail, Lift::Useless));
    }
    if !findings.unmerged.is_empty() {
        let detail = format!("the marks of a conflict are still in {}", named(&findings.unmerged));
        return Some(logic(with_tree("unmerged", findings), detail, Lift::Useless));
    }
    let outside = outside(&spec.allow_paths, &findings.changed);
    if !outside.is_empty() {
        let detail = format!("files were changed that this task may not change: {}", named(&outside));
        return Some(logic(with_tree("outside", findings), detail, Lift::Useless));
    }
    None
}

/// An agent that did not end by itself has not said that it is done.
fn ended_badly(findings: &Findings) -> Option<Failure> {
    match &findings.end {
        End::Answered => None,
        End::Exit { exit } if exit.is_green() => None,
        End::Exit { exit } => {
            let detail = format!("the command ended with {}", exit.shown());
            let signature = with_tree(&exit.shown(), findings);
            Some(Failure { mode: mode_of(*exit), ..logic(signature, detail, Lift::Allowed) })
        }
        End::NotStarted { message } => {
            let signature = format!("not started {}", with_tree(&digits_apart(message), findings));
            Some(Failure::environment(signature, message.clone()))
        }
        End::Failed { class, message, deadline, until } => {
            let mode =
                FailureMode::of(*class, deadline.unwrap_or(Deadline::Silence)).unwrap_or(FailureMode::Environment);
            let lift = if *class == ErrorClass::EmptyResponse { Lift::Useless } else { Lift::Allowed };
            Some(Failure {
                mode,
                class: Some(*class),
                signature: format!("{class} {}", with_tree(&digits_apart(message), findings)),
                detail: message.clone(),
                until: *until,
                lift,
            })
        }
        End::Stopped { why } => Some(stopped(*why, findings)),
    }
}

fn stopped(why: Stop, findings: &Findings) -> Failure {
    let (mode, class, signature, detail) = match why {
        Stop::Circles => (FailureMode::Logic, None, "circles", "it went in circles: the same call again and again"),
        Stop::Deadline => (FailureMode::Logic, Some(ErrorClass::Timeout), "deadline", "it was not done in time"),
        Stop::Silence => {
            (FailureMode::Transient, Some(ErrorClass::Timeout), "silence", "nothing was heard for too long")
        }
        Stop::Money => (FailureMode::Resource, Some(ErrorClass::BudgetRefused), "money", "what it may cost is spent"),
        Stop::Cancelled => (FailureMode::Environment, Some(ErrorClass::Cancelled), "cancelled", "it was stopped"),
    };
    let signature = with_tree(signature, findings);
    Failure { mode, class, signature, detail: detail.to_owned(), until: None, lift: Lift::Allowed }
}

fn red_check(check: &Check, findings: &Findings) -> Failure {
    let tail: String = {
        let from = check.tail.chars().count().saturating_sub(TAIL);
        check.tail.chars().skip(from).collect()
    };
    let said = if tail.trim().is_empty() { String::new() } else { format!(":\n{}", tail.trim()) };
    let detail = format!("`{}` ended with {}{said}", check.command, check.exit.shown());
    let signature = with_tree(&format!("{} {}", check.command, check.exit.shown()), findings);
    Failure { mode: mode_of(check.exit), ..logic(signature, detail.trim().to_owned(), Lift::Allowed) }
}

fn mode_of(exit: Exit) -> FailureMode {
    match exit {
        // A shell's words for "there is no such program" and "it may not be run".
        Exit::Code(126 | 127) => FailureMode::Environment,
        Exit::Code(_) | Exit::Signal(_) | Exit::Deadline => FailureMode::Logic,
    }
}

/// What was to be verified and was not is not green.
fn unverified(spec: &TaskSpec, findings: &Findings) -> Option<Failure> {
    let was_run = |command: &String| findings.checks.iter().any(|check| check.command == *command);
    let missing = spec.verify.iter().find(|command| !was_run(command))?;
    let signature = with_tree(&format!("not run {missing}"), findings);
    Some(Failure::environment(signature, format!("`{missing}` was not run, so nothing shows that the work is good")))
}

fn nothing_done(findings: &Findings) -> Option<Failure> {
    if findings.changed.is_empty() {
        return Some(logic(with_tree("no change", findings), "nothing was changed".to_owned(), Lift::Useless));
    }
    if findings.lines == 0 && findings.binaries == 0 {
        return Some(logic(
            with_tree("trivial", findings),
            "no line of any file was changed".to_owned(),
            Lift::Useless,
        ));
    }
    None
}

fn reasons(spec: &TaskSpec, findings: &Findings) -> Vec<String> {
    let mut reasons = Vec::new();
    match (&spec.agent, spec.place) {
        (Agent::Command { .. }, Place::Directory) => reasons.push("the command ended with exit 0".to_owned()),
        _ => reasons.push(format!(
            "{} commits, {} files, {} lines changed",
            findings.commits,
            findings.changed.len(),
            findings.lines
        )),
    }
    reasons
        .extend(findings.checks.iter().map(|check| format!("`{}` ended with {}", check.command, check.exit.shown())));
    if spec.verify.is_empty() && spec.place == Place::Worktree {
        reasons.push("no verify command was asked for".to_owned());
    }
    reasons
}

/// Failures are the same only when they left the same files behind.
fn with_tree(signature: &str, findings: &Findings) -> String {
    let tree = findings.head.as_ref().map_or("", |head| head.tree.as_str());
    format!("{signature} @{tree}")
}

/// Numbers differ from time to time in messages that say the same.
fn digits_apart(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).take(200).collect()
}

fn logic(signature: String, detail: String, lift: Lift) -> Failure {
    Failure { mode: FailureMode::Logic, class: None, signature, detail, until: None, lift }
}

fn named(paths: &[String]) -> String {
    let mut shown = paths.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if paths.len() > NAMED {
        shown.push_str(&format!(" and {} more", paths.len() - NAMED));
    }
    shown
}
