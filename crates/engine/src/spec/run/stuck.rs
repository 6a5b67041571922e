//! What keeps a part from going on, and what a person can do about it.

use super::{
    Step,
    borders::report_of,
    look::Seen,
    moves::{Delivery, Sight},
    order::Turn,
    plan::Plan,
};
use shuntyard_core::{ErrorClass, Nano, spec::RoleOutcome, task::Phase};
use shuntyard_host::git::{Forecast, Git};

/// Files that are named in a sentence.
const NAMED: usize = 5;

/// A part that cannot go on, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stuck {
    /// None when it is the handing over of the whole.
    pub part: Option<usize>,
    pub reason: String,
    pub next: String,
    pub lack: Lack,
}

/// What is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    Money,
    /// Work that is good, or somebody who says how it goes on.
    Other,
}

/// The class of what keeps all of them.
pub(super) fn class(stuck: &[Stuck]) -> Option<&'static str> {
    match stuck {
        [] => None,
        all if all.iter().all(|stuck| stuck.lack == Lack::Money) => Some(ErrorClass::BudgetRefused.as_str()),
        _ => Some("failed"),
    }
}

/// A turn for which there is no money, or not more than was too little before.
pub(super) fn unpaid(plan: &Plan, turn: &Turn, spent: Nano) -> Stuck {
    let reason = match &turn.instead_of {
        Some(instead_of) => instead_of.reason.clone(),
        None => "what the spec may cost is spent".to_owned(),
    };
    let next =
        format!("it has cost {spent} until now; allow it more: `shuntyard spec run {} --max-cost USD`", plan.name);
    Stuck { part: Some(turn.place), reason, next, lack: Lack::Money }
}

impl Sight<'_> {
    /// The part cannot go on by itself.
    pub fn stuck(&self, place: usize, reason: String) -> Stuck {
        let lack = match self.newest(place) {
            Some(seen) if seen.is_out_of_money() => Lack::Money,
            Some(_) | None => Lack::Other,
        };
        Stuck { part: Some(place), reason, next: self.way_out(place), lack }
    }

    /// What was validated could not be handed over. Git itself is asked whether the two fit: what a command left of its
    /// words says less.
    pub fn cannot_go(&self, delivery: &Delivery, found: &Seen, reason: &str) -> Stuck {
        let Delivery { part, from, into, .. } = delivery;
        let (id, again) = (found.id(), format!("`shuntyard spec run {}`", self.plan.name));
        let forecast = Git::default().merge_forecast(&self.plan.repository, into, from).ok();
        let (reason, next) = match forecast {
            Some(Forecast::Conflict { paths, .. }) => {
                let named =
                    paths.iter().take(NAMED).map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
                let next = format!("merge {into} into {from}, so that both are in it");
                (format!("both have changed {named}"), next)
            }
            Some(Forecast::Clean { .. } | Forecast::Unknown { .. }) | None => {
                (reason.to_owned(), format!("see `shuntyard task why {id}`"))
            }
        };
        let next = format!("{next}, then `shuntyard task retry {id}` and {again}");
        Stuck { part: *part, reason: format!("{from} cannot go into {into}: {reason}"), next, lack: Lack::Other }
    }

    /// What a person can do about the newest step of a part.
    fn way_out(&self, place: usize) -> String {
        let again = format!("`shuntyard spec run {}`", self.plan.name);
        let (Some(newest), Some(part)) = (self.newest(place), self.plan.parts.get(place)) else {
            return format!("see `shuntyard spec check {}`, then {again}", self.plan.name);
        };
        let (id, base, branch) = (newest.id(), &newest.record.task.spec.base, newest.branch());
        let report = match newest.step {
            Step::Role(role) => report_of(role),
            Step::Deliver => None,
        };
        match (&newest.outcome, &newest.report, report) {
            (
                RoleOutcome::Judged(_) | RoleOutcome::Failed { .. } | RoleOutcome::Blocked { .. },
                Some(_),
                Some(report),
            ) => {
                format!(
                    "read `git show {branch}:{}`; mend it on {base}, then `shuntyard task reset {id}` and {again}",
                    part.report(report)
                )
            }
            _ if newest.record.task.state.phase() == Phase::Done => {
                format!("see `git diff {base}...{branch}`, then `shuntyard task reset {id}` and {again}")
            }
            _ => format!("see `shuntyard task why {id}`, then `shuntyard task retry {id}` and {again}"),
        }
    }
}
