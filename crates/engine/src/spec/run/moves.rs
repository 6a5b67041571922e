//! What is to be done now, from the plan and from what has become of its steps. Only the branch on which units meet is
//! made here, because everything else rests on it.

use super::{
    RunError, Step, Wish,
    look::{Seen, facts},
    names::Names,
    order::{InsteadOf, Turn},
    plan::{Part, Plan},
    stuck::Stuck,
};
use switchyard_core::{
    spec::{Next, Role, RoleOutcome, next, steps},
    task::{Deliver, State},
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
        if let (Some(from), true) = (self.whole()?, self.wish.deliver != Deliver::Branch) {
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
                let findings = self.findings(place, role, cycle);
                moves.turns.push(Turn { place, part, role, cycle, base, findings, instead_of: None });
                Ok(false)
            }
            Next::Wait => {
                moves.waits = true;
                Ok(false)
            }
            Next::Escalate { reason } => {
                match self.with_more_money(place, part, &reason)? {
                    Some(turn) => moves.turns.push(turn),
                    None => moves.stuck.push(self.stuck(place, reason)),
                }
                Ok(false)
            }
            Next::Finished => match self.validator(place) {
                Some(validator) if plan.has_units() => {
                    let (from, into) = (left_by(validator), self.names.meeting());
                    self.hand_over(Delivery { part: Some(place), from, into, deliver: Deliver::Merge }, moves)
                }
                Some(_) | None => Ok(true),
            },
        }
    }

    /// The step that a task was too poor for, by another that goes on from what is there. Whether it has more to spend
    /// is for the caller to see to.
    fn with_more_money(&self, place: usize, part: &'p Part, reason: &str) -> Result<Option<Turn<'p>>, RunError> {
        let Some(poor) = self.newest(place).filter(|seen| seen.is_out_of_money()) else { return Ok(None) };
        let (Step::Role(role), Some(had)) = (poor.step, poor.record.task.spec.max_cost) else { return Ok(None) };
        let is_there = Git::default().branch_commit(&self.plan.repository, &poor.branch())?.is_some();
        let base = if is_there { poor.branch() } else { poor.record.task.spec.base.clone() };
        let findings = self.findings(place, role, poor.cycle);
        let instead_of = Some(InsteadOf { again: poor.again + 1, had, reason: reason.to_owned() });
        Ok(Some(Turn { place, part, role, cycle: poor.cycle, base, findings, instead_of }))
    }

    /// What the validator of the cycle before found.
    fn findings(&self, place: usize, role: Role, cycle: u32) -> Option<String> {
        let judges = self.of(place).filter(|seen| seen.step == Step::Role(Role::Validator));
        let before = judges.filter(|seen| seen.cycle + 1 == cycle && role != Role::Validator).last();
        before.and_then(|seen| seen.report.clone())
    }

    /// The newest validator of a part; none when its files alone say that it passed.
    fn validator(&self, place: usize) -> Option<&'p Seen> {
        self.of(place).filter(|seen| seen.step == Step::Role(Role::Validator)).max_by_key(|seen| seen.cycle)
    }

    /// The branch with all of the work.
    pub fn source(&self) -> Result<Option<String>, RunError> {
        if !self.plan.has_units() {
            return Ok(self.validator(0).map(Seen::branch));
        }
        let meeting = self.names.meeting();
        let is_there = Git::default().branch_commit(&self.plan.repository, &meeting)?.is_some();
        Ok(is_there.then_some(meeting))
    }

    /// All of the work, as it was validated: not what somebody may have put on its branch since.
    fn whole(&self) -> Result<Option<String>, RunError> {
        if self.plan.has_units() { self.source() } else { Ok(self.validator(0).map(left_by)) }
    }

    /// True when it is done.
    fn hand_over(&self, delivery: Delivery, moves: &mut Moves<'_>) -> Result<bool, RunError> {
        let is_it = |seen: &&Seen| seen.part == delivery.part && seen.step == Step::Deliver;
        let Some(found) = self.seen.iter().find(is_it) else {
            if Git::default().is_ancestor(&self.plan.repository, &delivery.from, &delivery.into)? {
                return Ok(true);
            }
            // One after the other: each is then merged with all that is there, and stays what was validated.
            if moves.deliveries.is_empty() && !self.hands_over() {
                moves.deliveries.push(delivery);
            } else {
                moves.waits = true;
            }
            return Ok(false);
        };
        match &found.outcome {
            RoleOutcome::Approved | RoleOutcome::Judged(_) => return Ok(true),
            RoleOutcome::Running | RoleOutcome::Waiting => moves.waits = true,
            RoleOutcome::Failed { reason } | RoleOutcome::Blocked { reason } | RoleOutcome::Cancelled { reason } => {
                moves.stuck.push(self.cannot_go(&delivery, found, reason));
            }
        }
        Ok(false)
    }

    /// Whether something is on its way into another branch.
    fn hands_over(&self) -> bool {
        let is_open = |seen: &&Seen| matches!(seen.outcome, RoleOutcome::Running | RoleOutcome::Waiting);
        self.seen.iter().filter(is_open).any(|seen| seen.step == Step::Deliver)
    }

    /// A role begins from what the one before it left. A validator leaves nothing to go on from: without its commit an
    /// old verdict is out of the way when what it found is mended.
    fn base_of(&self, place: usize, role: Role, cycle: u32) -> Result<String, RunError> {
        let Some(part) = self.plan.parts.get(place) else { return Ok(String::new()) };
        let all = steps(&part.pipeline);
        let place_of_step = all.iter().position(|step| *step == (role, cycle)).unwrap_or(0);
        for (role, cycle) in all[..place_of_step].iter().rev().filter(|(role, _)| *role != Role::Validator) {
            let by = self.of(place).filter(|seen| seen.step == Step::Role(*role) && seen.cycle == *cycle);
            if let Some(newest) = by.last() {
                return Ok(left_by(newest));
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

    /// The role that was begun last.
    pub fn newest(&self, place: usize) -> Option<&'p Seen> {
        let roles = self.of(place).filter(|seen| matches!(seen.step, Step::Role(_)));
        roles.max_by_key(|seen| seen.record.number)
    }

    fn of(&self, place: usize) -> impl Iterator<Item = &'p Seen> {
        self.seen.iter().filter(move |seen| seen.part == Some(place))
    }
}

/// What a role has left: the commit that was judged, and not the name of its branch, which others can move.
fn left_by(seen: &Seen) -> String {
    let head = match &seen.record.task.state {
        State::Done { delivered } => delivered.head().map(str::to_owned),
        _ => None,
    };
    head.unwrap_or_else(|| seen.branch())
}
