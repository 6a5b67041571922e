//! What came of it, for people and for scripts.

use super::{
    RunError, Step, Wish,
    look::Seen,
    plan::Plan,
    stuck::{Stuck, class},
};
use crate::Context;
use serde::Serialize;
use shuntyard_core::{
    Nano,
    roles::spec::{RoleOutcome, Verdict},
    values::Deliver,
    word_enum,
    work::task::{Delivered, State},
};
use shuntyard_store::{SpendKey, SpendKind};

word_enum! {
    /// The state of a step, a part or the whole.
    pub enum Stand {
        /// It has not begun.
        Open = "open",
        Waiting = "waiting",
        Running = "running",
        Done = "done",
        /// The validator's verdict.
        Pass = "pass",
        Fail = "fail",
        Failed = "failed",
        Blocked = "blocked",
        Cancelled = "cancelled",
        /// A person has to go on.
        Escalated = "escalated",
    }
}

impl Stand {
    pub(super) fn of(outcome: &RoleOutcome) -> Self {
        match outcome {
            RoleOutcome::Approved => Self::Done,
            RoleOutcome::Judged(Verdict::Pass) => Self::Pass,
            RoleOutcome::Judged(Verdict::Fail) => Self::Fail,
            RoleOutcome::Judged(Verdict::Blocked) | RoleOutcome::Blocked { .. } => Self::Blocked,
            RoleOutcome::Judged(Verdict::Unclear(_)) | RoleOutcome::Failed { .. } => Self::Failed,
            RoleOutcome::Cancelled { .. } => Self::Cancelled,
            RoleOutcome::Running => Self::Running,
            RoleOutcome::Waiting => Self::Waiting,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    pub id: String,
    /// `done` or `escalated`.
    pub outcome: Stand,
    /// Of what keeps it from going on: `budget_refused` when that is only money, or else `failed`.
    pub class: Option<&'static str>,
    /// What keeps it from going on.
    pub reason: Option<String>,
    /// What to do about that.
    pub next: Option<String>,
    /// Where the work is: the branch that is ready, or the one that it was merged into.
    pub branch: Option<String>,
    /// How it was delivered.
    pub delivered: Option<String>,
    pub cost_usd: f64,
    pub units: Vec<PartReport>,
    /// Branches of roles that were merged, and are gone.
    pub removed: Vec<String>,
    pub kept: Vec<Kept>,
}

/// A branch of work that was merged, which could not be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    pub branch: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartReport {
    /// None for a spec without units, and for the delivery of the whole.
    pub unit: Option<String>,
    pub outcome: Stand,
    pub reason: Option<String>,
    pub roles: Vec<RoleReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoleReport {
    pub role: &'static str,
    pub cycle: u32,
    pub task: String,
    pub outcome: Stand,
    pub reason: Option<String>,
    /// None when it was merged, and removed after that.
    pub branch: Option<String>,
    pub cost_usd: f64,
}

pub(super) async fn report(
    context: &Context,
    plan: &Plan,
    wish: &Wish,
    source: Option<String>,
    seen: &[Seen],
    stuck: &[Stuck],
) -> Result<RunReport, RunError> {
    let mut total = Nano::ZERO;
    let mut units = Vec::new();
    for (place, part) in plan.parts.iter().enumerate() {
        let (roles, cost) = roles(context, seen, |seen| seen.part == Some(place)).await?;
        total = total.saturating_add(cost);
        let why = stuck.iter().find(|stuck| stuck.part == Some(place)).map(|stuck| stuck.reason.clone());
        let passed = roles.iter().any(|role| role.outcome == Stand::Pass)
            || (roles.is_empty() && part.standing.state == shuntyard_core::roles::spec::State::Passed);
        let outcome = match (&why, passed, roles.last()) {
            (Some(_), ..) => Stand::Escalated,
            (None, true, _) => Stand::Done,
            (None, false, Some(last)) => last.outcome,
            (None, false, None) => Stand::Open,
        };
        units.push(PartReport { unit: part.unit.as_ref().map(ToString::to_string), outcome, reason: why, roles });
    }
    let (last, cost) = roles(context, seen, |seen| seen.part.is_none()).await?;
    total = total.saturating_add(cost);
    let whole = stuck.iter().find(|stuck| stuck.part.is_none()).map(|stuck| stuck.reason.clone());
    let delivery = seen.iter().find(|seen| seen.part.is_none() && seen.step == Step::Deliver);
    if let Some(role) = last.last() {
        units.push(PartReport { unit: None, outcome: role.outcome, reason: whole, roles: last });
    }
    let branch = match (wish.deliver, delivery.map(|seen| &seen.record.task.state)) {
        (Deliver::Merge | Deliver::Pr, Some(State::Done { .. })) => Some(plan.base.name().to_owned()),
        _ => source,
    };
    Ok(RunReport {
        id: plan.name.to_string(),
        outcome: if stuck.is_empty() { Stand::Done } else { Stand::Escalated },
        class: class(stuck),
        reason: joined(plan, stuck, |stuck| &stuck.reason),
        next: joined(plan, &stuck[..stuck.len().min(1)], |stuck| &stuck.next),
        branch,
        delivered: delivery.filter(|_| stuck.is_empty()).map(|seen| seen.record.task.state.reason()),
        cost_usd: total.as_usd(),
        units,
        removed: Vec::new(),
        kept: Vec::new(),
    })
}

async fn roles(
    context: &Context,
    seen: &[Seen],
    of: impl Fn(&Seen) -> bool,
) -> Result<(Vec<RoleReport>, Nano), RunError> {
    let mut roles = Vec::new();
    let mut total = Nano::ZERO;
    for seen in seen.iter().filter(|seen| of(seen)) {
        let cost = spent(context, seen).await?;
        total = total.saturating_add(cost);
        roles.push(RoleReport {
            role: seen.step.as_str(),
            cycle: seen.cycle,
            task: seen.id().to_string(),
            outcome: Stand::of(&seen.outcome),
            reason: reason(seen),
            branch: (!is_merged(seen)).then(|| seen.branch()),
            cost_usd: cost.as_usd(),
        });
    }
    Ok((roles, total))
}

/// The process that merges removes the own branch right after.
fn is_merged(seen: &Seen) -> bool {
    matches!(seen.record.task.state, State::Done { delivered: Delivered::Merged { .. } })
}

pub(super) async fn spent(context: &Context, seen: &Seen) -> Result<Nano, RunError> {
    let key = SpendKey { kind: SpendKind::Task, name: seen.id().to_string() };
    Ok(context.store.spent(&key, i64::MIN, i64::MAX).await?.cost)
}

/// Why a step is where it is, unless that says it all.
pub(super) fn reason(seen: &Seen) -> Option<String> {
    let reason = match &seen.outcome {
        RoleOutcome::Failed { reason } | RoleOutcome::Blocked { reason } | RoleOutcome::Cancelled { reason } => {
            reason.clone()
        }
        RoleOutcome::Approved | RoleOutcome::Judged(_) | RoleOutcome::Running | RoleOutcome::Waiting => {
            seen.record.task.state.reason()
        }
    };
    Some(reason).filter(|reason| !reason.is_empty())
}

fn joined<'s>(plan: &Plan, stuck: &'s [Stuck], what: impl Fn(&'s Stuck) -> &'s String) -> Option<String> {
    let lines = stuck.iter().map(|stuck| {
        let unit = stuck.part.and_then(|part| plan.parts.get(part)).and_then(|part| part.unit.as_ref());
        match unit {
            Some(unit) if what(stuck) == &stuck.reason => format!("{unit}: {}", what(stuck)),
            _ => what(stuck).clone(),
        }
    });
    let text = lines.collect::<Vec<_>>().join("; ");
    Some(text).filter(|text| !text.is_empty())
}
