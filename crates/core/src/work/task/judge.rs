//! Whether the evidence shows that the work is done.
//!
//! Invariant: no diff, a verify that is red or was not run, a secret, an unresolved conflict,
//! a path that is not allowed, a claim that was tampered with or a changed parent checkout is never good, whatever the
//! agent claims.

use super::{Agent, Check, End, Exit, Failure, Findings, Gate, Lift, Place, Stop, TaskSpec, not_checked_out, outside};
use crate::{
    ErrorClass,
    experience::{Deadline, FailureMode},
};

/// Paths that are named in a sentence, at most.
const NAMED: usize = 5;
/// Characters of a failed check in the prompt of the next try.
const TAIL: usize = 1500;
/// The file that claims are made in.
const TODO: &str = "TODO.md";

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
    if let Some(unfinished) = &findings.unfinished {
        let detail = format!("{unfinished}; finish or abort it, so that all of the work is judged");
        return Some(logic(with_tree("unfinished", findings), detail, Lift::Useless));
    }
    if !findings.dangling.is_empty() {
        let detail = format!(
            "the content of {} would not be delivered: a nested repository or a submodule commit exists only in the \
             workspace; add its files without a .git directory, or use a commit that the submodule has",
            named(&findings.dangling)
        );
        return Some(logic(with_tree("nested repository", findings), detail, Lift::Useless));
    }
    if !findings.astray.is_empty() {
        let detail = format!(
            "{} leads to a place in a workspace, which is gone after the delivery; link to what is in the repository, or \
             copy it",
            named(&findings.astray)
        );
        return Some(logic(with_tree("link astray", findings), detail, Lift::Useless));
    }
    let refused = not_checked_out(&findings.changed);
    if !refused.is_empty() {
        let detail = format!("git refuses to check out {}: rename or remove it", named(&refused));
        return Some(logic(with_tree("refused path", findings), detail, Lift::Useless));
    }
    let may_merge = spec.verification.allow_other_branches || matches!(spec.agent, Agent::Command { .. });
    if !findings.foreign.is_empty() && !may_merge {
        let short: Vec<String> = findings.foreign.iter().map(|commit| commit.chars().take(10).collect()).collect();
        let detail = format!(
            "the work contains commits of another branch that were not made for this task: {}; a task that may merge \
             other branches is added with --allow-other-branches",
            named(&short)
        );
        return Some(logic(with_tree("foreign commits", findings), detail, Lift::Useless));
    }
    if is_mass_deletion(findings.deleted, findings.files) && !spec.verification.allow_mass_deletion {
        let (deleted, files) = (findings.deleted, findings.files);
        let detail = format!(
            "{deleted} of {files} files were deleted or emptied; a task that may do that is added with --allow-mass-deletion"
        );
        return Some(logic(with_tree("mass deletion", findings), detail, Lift::Useless));
    }
    if changes_todo(spec, findings) {
        let detail = format!(
            "{TODO} was changed, which only the supervisor writes: undo that; a task that may change it is added with \
             --allow-path {TODO}"
        );
        return Some(logic(with_tree("todo", findings), detail, Lift::Useless));
    }
    let outside = outside(&spec.allow_paths, &findings.changed);
    if !outside.is_empty() {
        let detail = format!("files were changed that this task may not change: {}", named(&outside));
        return Some(logic(with_tree("outside", findings), detail, Lift::Useless));
    }
    None
}

/// Claims and ticks of all stores are in that file. A command that came from no line of it declares what it writes.
fn changes_todo(spec: &TaskSpec, findings: &Findings) -> bool {
    let is_bound = matches!(spec.agent, Agent::Opencode { .. }) || spec.todo.is_some();
    spec.place == Place::Worktree
        && is_bound
        && !spec.may_change_todo()
        && findings.changed.iter().any(|path| path == TODO)
}

/// A large share of the tree: more than half of it, unless that is one file or two.
fn is_mass_deletion(deleted: u64, files: u64) -> bool {
    deleted >= 3 && deleted.saturating_mul(2) > files
}

/// An agent that did not end by itself has not reported success.
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
        End::Blocked { message } => {
            let blocked = Failure::environment("blocked before the work", message.clone());
            Some(Failure { mode: FailureMode::Blocked, ..blocked })
        }
        End::RepositoryLost => {
            let detail = "the git directory of the workspace was removed or replaced; leave .git alone".to_owned();
            Some(logic("repository lost".to_owned(), detail, Lift::Useless))
        }
        End::GreenBefore => {
            let detail = "every verify command succeeds before the work, so none can prove it".to_owned();
            let ambiguous = Failure::environment("green before the work", detail);
            Some(Failure { mode: FailureMode::Ambiguous, ..ambiguous })
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

/// A change is any difference of content: a mode, an empty file, a name, a link or a submodule is one, too.
fn nothing_done(findings: &Findings) -> Option<Failure> {
    if findings.changed.is_empty() {
        return Some(logic(with_tree("no change", findings), "nothing was changed".to_owned(), Lift::Useless));
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
    let red_before = |check: &&Check| {
        findings.before.iter().any(|before| before.command == check.command && !before.exit.is_green())
    };
    reasons.extend(
        findings
            .checks
            .iter()
            .filter(red_before)
            .map(|check| format!("`{}` failed before the work and succeeds after it", check.command)),
    );
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

/// Numbers differ from time to time in otherwise equal messages.
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
