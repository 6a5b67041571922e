//! What is to be done now, from the plan and from what has become of its steps. Only the branch on which units meet is
//! made here, because everything else rests on it.

use super::{
    RunError, Step, Wish,
    borders::report_of,
    look::{Seen, facts},
    names::Names,
    order::Turn,
    plan::Plan,
    report::Stuck,
};
use switchyard_core::{
    spec::{Next, Role, RoleOutcome, next, steps},
    task::{Deliver, Phase, TaskSpec},
};
use switchyard_host::git::{Git, UpdateRefError};

/// What may begin, what cannot go on, and whether there is something to wait for.
#[derive(Debug, Default)]
pub(super) struct Moves<'p> {
    pub turns: Vec<Turn<'p>>,
    pub deliveries: Vec<Delivery>,
    pub stuck: Vec<Stuck>,
    pub waits: bool,
}

/// Validated work that goes from one branch into another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Delivery {
    /// None for the whole.
    pub part: Option<usize>,
    pub from: String,
    pub into: String,
    pub deliver: Deliver,
}

/// Everything that is known at one moment.
#[derive(Debug)]
pub(super) struct Sight<'p> {
    pub plan: &'p Plan,
    pub names: &'p Names,
    pub wish: &'p Wish,
    pub seen: &'p [Seen],
}

impl<'p> Sight<'p> {
    pub fn moves(&self) -> Result<Moves<'p>, RunError> {
        let mut moves = Moves::default();
        for wave in &self.plan.waves {
            let mut complete = true;
            for place in wave {
                complete &= self.advance(*place, &mut moves)?;
            }
            // What comes later may rest on any of these.
            if !complete {
                return Ok(moves);
            }
        }
        if let (Some(from), true) = (self.source()?, self.wish.deliver != Deliver::Branch) {
            let into = self.plan.base.name().to_owned();
            self.hand_over(Delivery { part: None, from, into, deliver: self.wish.deliver }, &mut moves)?;
        }
        Ok(moves)
    }

    /// One part; true when it is done and where it belongs.
    fn advance(&self, place: usize, moves: &mut Moves<'p>) -> Result<bool, RunError> {
        let plan: &'p Plan = self.plan;
        let Some(part) = plan.parts.get(place) else { return Ok(true) };
        match next(&part.pipeline, &facts(plan, place, self.seen)) {
            Next::Run { role, cycle } => {
                let base = self.base_of(place, role, cycle)?;
                let judges = self.of(place).filter(|seen| seen.step == Step::Role(Role::Validator));
                let before = judges.filter(|seen| seen.cycle + 1 == cycle && role != Role::Validator).last();
                let findings = before.and_then(|seen| seen.report.clone());
                moves.turns.push(Turn { part, role, cycle, base, findings });
                Ok(false)
            }
            Next::Wait => {
                moves.waits = true;
                Ok(false)
            }
            Next::Escalate { reason } => {
                let next = self.way_out(place);
                moves.stuck.push(Stuck { part: Some(place), reason, next });
                Ok(false)
            }
            Next::Finished => match self.validated(place) {
                Some(from) if plan.has_units() => {
                    let into = self.names.meeting();
                    self.hand_over(Delivery { part: Some(place), from, into, deliver: Deliver::Merge }, moves)
                }
                Some(_) | None => Ok(true),
            },
        }
    }

    /// The branch that the newest validator of a part has left; none when its files alone say that it passed.
    fn validated(&self, place: usize) -> Option<String> {
        let judges = self.of(place).filter(|seen| seen.step == Step::Role(Role::Validator));
        let newest = judges.max_by_key(|seen| seen.cycle)?;
        Some(TaskSpec::branch(newest.id()))
    }

    /// The branch with all of the work.
    pub fn source(&self) -> Result<Option<String>, RunError> {
        if !self.plan.has_units() {
            return Ok(self.validated(0));
        }
        let meeting = self.names.meeting();
        let is_there = Git::default().branch_commit(&self.plan.repository, &meeting)?.is_some();
        Ok(is_there.then_some(meeting))
    }

    /// True when it is done.
    fn hand_over(&self, delivery: Delivery, moves: &mut Moves<'_>) -> Result<bool, RunError> {
        let is_it = |seen: &&Seen| seen.part == delivery.part && seen.step == Step::Deliver;
        let Some(found) = self.seen.iter().find(is_it) else {
            // Somebody may have merged it by hand.
            if Git::default().is_ancestor(&self.plan.repository, &delivery.from, &delivery.into)? {
                return Ok(true);
            }
            moves.deliveries.push(delivery);
            return Ok(false);
        };
        let Delivery { part, from, into, .. } = delivery;
        match &found.outcome {
            RoleOutcome::Approved | RoleOutcome::Judged(_) => return Ok(true),
            RoleOutcome::Running | RoleOutcome::Waiting => moves.waits = true,
            RoleOutcome::Failed { reason } | RoleOutcome::Blocked { reason } | RoleOutcome::Cancelled { reason } => {
                let id = found.id();
                let next = format!(
                    "see `switchyard task why {id}`; join {from} with {into} so that they fit, then `switchyard task \
                     retry {id}` and `switchyard spec run {}`",
                    self.plan.name
                );
                moves.stuck.push(Stuck { part, reason: format!("{from} cannot go into {into}: {reason}"), next });
            }
        }
        Ok(false)
    }

    /// A role begins from what the one before it left. A validator leaves nothing to go on from: without its commit an
    /// old verdict is out of the way when what it found is mended.
    fn base_of(&self, place: usize, role: Role, cycle: u32) -> Result<String, RunError> {
        let Some(part) = self.plan.parts.get(place) else { return Ok(String::new()) };
        let all = steps(&part.pipeline);
        let place_of_step = all.iter().position(|step| *step == (role, cycle)).unwrap_or(0);
        for (role, cycle) in all[..place_of_step].iter().rev().filter(|(role, _)| *role != Role::Validator) {
            if self.of(place).any(|seen| seen.step == Step::Role(*role) && seen.cycle == *cycle) {
                return self.names.branch(part.unit.as_ref(), Step::Role(*role), *cycle);
            }
        }
        if !self.plan.has_units() {
            return Ok(self.plan.base.name().to_owned());
        }
        let meeting = self.names.meeting();
        match Git::default().branch_create(&self.plan.repository, &meeting, &self.plan.at) {
            // It is there from another unit, or an earlier run.
            Ok(()) | Err(UpdateRefError::Moved { at: Some(_), .. }) => Ok(meeting),
            Err(UpdateRefError::Git(error)) => Err(error.into()),
            Err(UpdateRefError::Moved { at: None, .. }) => Err(RunError::CutOff),
        }
    }

    /// What a person can do about the newest step of a part.
    fn way_out(&self, place: usize) -> String {
        let again = format!("`switchyard spec run {}`", self.plan.name);
        let roles = self.of(place).filter(|seen| matches!(seen.step, Step::Role(_)));
        let newest = roles.max_by_key(|seen| seen.record.number);
        let (Some(newest), Some(part)) = (newest, self.plan.parts.get(place)) else {
            return format!("see `switchyard spec check {}`, then {again}", self.plan.name);
        };
        let (id, base) = (newest.id(), &newest.record.task.spec.base);
        let branch = TaskSpec::branch(id);
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
                    "read `git show {branch}:{}`; mend it on {base}, then `switchyard task reset {id}` and {again}",
                    part.report(report)
                )
            }
            _ if newest.record.task.state.phase() == Phase::Done => {
                format!("see `git diff {base}...{branch}`, then `switchyard task reset {id}` and {again}")
            }
            _ => format!("see `switchyard task why {id}`, then `switchyard task retry {id}` and {again}"),
        }
    }

    fn of(&self, place: usize) -> impl Iterator<Item = &'p Seen> {
        self.seen.iter().filter(move |seen| seen.part == Some(place))
    }
}
