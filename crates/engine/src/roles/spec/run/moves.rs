//! What is to be done now, from the plan and from what has become of its steps. Only the branch on which units meet is
//! made here, because everything else rests on it.

use super::{
    RunError, Step, Wish,
    borders::report_of,
    look::{Seen, facts},
    names::Names,
    order::{InsteadOf, Turn},
    plan::Plan,
    stuck::{Lack, Stuck},
};
use shuntyard_core::{
    roles::spec::{Next, Role, RoleOutcome, next, steps},
    values::Deliver,
    work::task::{Phase, State},
};
use shuntyard_host::git::{Forecast, Git, UpdateRefError};

/// Files that are named in a sentence.
const NAMED: usize = 5;

/// What may begin, what cannot go on, and whether there is something to wait for.
#[derive(Debug, Default)]
pub(super) struct Moves {
    pub turns: Vec<Turn>,
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
    /// Blocks: git is asked.
    pub fn moves(&self) -> Result<Moves, RunError> {
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
            let judged = if self.plan.has_units() { None } else { self.validator(0) };
            let delivery = Delivery { part: None, from, into, deliver: self.wish.deliver };
            self.hand_over(delivery, judged, &mut moves)?;
        }
        Ok(moves)
    }

    /// One part; true when it is done and where it belongs.
    fn advance(&self, place: usize, moves: &mut Moves) -> Result<bool, RunError> {
        let plan: &'p Plan = self.plan;
        let Some(part) = plan.parts.get(place) else { return Ok(true) };
        match next(&part.pipeline, &facts(plan, place, self.seen)) {
            Next::Run { role, cycle } => {
                let before = self.before(place, role, cycle);
                if let Some(reason) = before.map_or(Ok(None), |seen| self.moved(seen))? {
                    moves.stuck.push(self.stuck(place, reason));
                    return Ok(false);
                }
                let base = before.map_or_else(|| self.beginning(), |seen| self.left_by(seen))?;
                let findings = self.findings(place, role, cycle);
                moves.turns.push(Turn { place, role, cycle, base, findings, instead_of: None });
                Ok(false)
            }
            Next::Wait => {
                moves.waits = true;
                Ok(false)
            }
            Next::Escalate { reason } => {
                match self.with_more_money(place, &reason)? {
                    Some(turn) => moves.turns.push(turn),
                    None => moves.stuck.push(self.stuck(place, reason)),
                }
                Ok(false)
            }
            Next::Finished => match self.validator(place) {
                Some(validator) if plan.has_units() => {
                    let (from, into) = (self.left_by(validator)?, self.names.meeting());
                    let delivery = Delivery { part: Some(place), from, into, deliver: Deliver::Merge };
                    self.hand_over(delivery, Some(validator), moves)
                }
                Some(_) | None => Ok(true),
            },
        }
    }

    /// The step that a task was too poor for, by another that goes on from what is there. Whether it has more to spend
    /// is for the caller to see to.
    fn with_more_money(&self, place: usize, reason: &str) -> Result<Option<Turn>, RunError> {
        let Some(poor) = self.newest(place).filter(|seen| seen.is_out_of_money()) else { return Ok(None) };
        let (Step::Role(role), Some(had)) = (poor.step, poor.record.task.spec.max_cost) else { return Ok(None) };
        let base = poor.unfinished.clone().unwrap_or_else(|| poor.record.task.spec.base.clone());
        let findings = self.findings(place, role, poor.cycle);
        let instead_of = Some(InsteadOf { again: poor.again + 1, had, reason: reason.to_owned() });
        Ok(Some(Turn { place, role, cycle: poor.cycle, base, findings, instead_of }))
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

    /// The branch with all of the work. Blocks: git is asked.
    pub fn source(&self) -> Result<Option<String>, RunError> {
        if !self.plan.has_units() {
            return Ok(self.validator(0).map(Seen::branch));
        }
        let meeting = self.names.meeting();
        let is_there = Git::default().branch_commit(&self.plan.repository, &meeting)?.is_some();
        Ok(is_there.then_some(meeting))
    }

    /// The same, or its commit when the branch was removed.
    fn whole(&self) -> Result<Option<String>, RunError> {
        if self.plan.has_units() {
            return self.source();
        }
        self.validator(0).map(|validator| self.left_by(validator)).transpose()
    }

    /// True when it is done.
    fn hand_over(&self, delivery: Delivery, judged: Option<&Seen>, moves: &mut Moves) -> Result<bool, RunError> {
        let is_it = |seen: &&Seen| seen.part == delivery.part && seen.step == Step::Deliver;
        let Some(found) = self.seen.iter().find(is_it) else {
            if Git::default().is_ancestor(&self.plan.repository, &delivery.from, &delivery.into)? {
                return Ok(true);
            }
            if let Some(reason) = judged.map_or(Ok(None), |seen| self.moved(seen))? {
                let next =
                    "look at what was added to it; `shuntyard task reset` of its validator has it judged as it is";
                let next = next.to_owned();
                moves.stuck.push(Stuck { part: delivery.part, reason, next, lack: Lack::Other });
                return Ok(false);
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

    /// The role whose work this one goes on from. A validator leaves nothing to go on from: without its commit an old
    /// verdict is out of the way when what it found is fixed.
    fn before(&self, place: usize, role: Role, cycle: u32) -> Option<&'p Seen> {
        let part = self.plan.parts.get(place)?;
        let all = steps(&part.pipeline);
        let place_of_step = all.iter().position(|step| *step == (role, cycle)).unwrap_or(0);
        let earlier = all[..place_of_step].iter().rev().filter(|(role, _)| *role != Role::Validator);
        earlier.into_iter().find_map(|(role, cycle)| {
            self.of(place).filter(|seen| seen.step == Step::Role(*role) && seen.cycle == *cycle).last()
        })
    }

    /// What a role has left: its branch, by which a person can fix it and have it judged again; or the commit that it
    /// was at, when the branch was removed.
    fn left_by(&self, seen: &Seen) -> Result<String, RunError> {
        let is_there = Git::default().branch_commit(&self.plan.repository, &seen.branch())?.is_some();
        Ok(head(seen).filter(|_| !is_there).unwrap_or_else(|| seen.branch()))
    }

    /// Whether a branch is elsewhere than its role left it. A role that was judged later has a shell, and could have
    /// moved it: no task goes on from unchecked work.
    fn moved(&self, seen: &Seen) -> Result<Option<String>, RunError> {
        let (branch, left) = (seen.branch(), head(seen));
        let now = Git::default().branch_commit(&self.plan.repository, &branch)?;
        Ok(match (left, now) {
            (Some(left), Some(now)) if left != now => {
                let short = |commit: &str| commit.chars().take(10).collect::<String>();
                let (left, now) = (short(&left), short(&now));
                Some(format!("{branch} was left at {left} and is at {now}: somebody has moved it"))
            }
            _ => None,
        })
    }

    /// Where the first role of a part begins.
    fn beginning(&self) -> Result<String, RunError> {
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

impl Sight<'_> {
    /// The part cannot go on by itself.
    pub fn stuck(&self, place: usize, reason: String) -> Stuck {
        let lack = match self.newest(place) {
            Some(seen) if seen.is_out_of_money() => Lack::Money,
            Some(_) | None => Lack::Other,
        };
        Stuck { part: Some(place), reason, next: self.way_out(place), lack }
    }

    /// What was validated could not be delivered. Git itself is asked whether the two fit: what a command left of its
    /// words shows less.
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
                    "read `git show {branch}:{}`; fix it on {base}, then `shuntyard task reset {id}` and {again}",
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

/// The commit that a role has left on its branch.
fn head(seen: &Seen) -> Option<String> {
    match &seen.record.task.state {
        State::Done { delivered } => delivered.head().map(str::to_owned),
        _ => None,
    }
}
