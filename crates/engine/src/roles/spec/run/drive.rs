//! The run itself: reads how far everything is, adds what may begin, waits, and reads again; beside it a supervisor for
//! the batch of this spec alone. It may end at any moment, and be begun again.

use super::{
    RunError, RunProgress, Teller, Wish,
    clear::clear,
    look::{Known, Seen, look},
    moves::{Delivery, Moves, Sight},
    names::Names,
    order::{Orders, Turn},
    plan::Plan,
    report::{RunReport, Stand, reason, report, spent},
    stuck::unpaid,
};
use crate::{
    Context, in_thread,
    queue::supervise::{self, AddError, NewTaskOrder, Watcher, pulse, supervise},
};
use shuntyard_core::{
    Nano,
    roles::spec::{Report, State as Files},
    values::Deliver,
    work::task::{Agent, TaskId},
};
use shuntyard_host::{clock::now_micros, git::Base};
use shuntyard_store::{BatchRecord, ErrorKind};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How often it is looked how far the tasks are.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Passes for what the last task leaves to be done.
const OWED: u32 = 20;

/// Runs until everything is delivered or nothing can go on without a person.
pub async fn run(context: &Context, plan: Plan, wish: &Wish, teller: &Teller) -> Result<RunReport, RunError> {
    if wish.deliver != Deliver::Branch && matches!(plan.base, Base::Commit(_)) {
        let message = "no branch is checked out, and only a branch can be delivered to".to_owned();
        return Err(RunError::Usage { message, hint: "check out a branch, or use `--deliver branch`".to_owned() });
    }
    let names = Names::choose(context, &plan).await?;
    let mut drive =
        Drive { context, plan: Arc::new(plan), names, wish, teller, known: Known::default(), told: HashMap::new() };
    drive.refuse_unready().await?;
    make_batch(context, &drive.names.batch).await?;
    let batch = drive.names.batch.clone();
    let cancel = CancellationToken::new();
    let watcher = watcher(teller);
    let driving = async {
        let ended = drive.finish().await;
        cancel.cancel();
        ended
    };
    let (ended, ()) = tokio::join!(driving, supervise(context, Some(&batch), &watcher, &cancel));
    for _ in 0..OWED {
        if pulse(context, Some(&batch)).await.map_or(true, |done| done.is_idle()) {
            break;
        }
    }
    let mut ended = ended?;
    let seen = look(context, &drive.plan, &drive.names, &mut drive.known).await?;
    let (plan, names) = (Arc::clone(&drive.plan), drive.names.clone());
    let clearing = in_thread(move || clear(&plan, &names, &seen, &mut ended).map(|()| ended));
    Ok(clearing.await.map_err(|_| RunError::CutOff)??)
}

async fn make_batch(context: &Context, name: &str) -> Result<(), RunError> {
    let batch = BatchRecord { name: name.to_owned(), concurrency: 0, paused: false, created_at: now_micros() };
    match context.store.create_batch(&batch).await {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::Conflict => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn watcher(teller: &Teller) -> Watcher {
    let teller = Arc::clone(teller);
    let last = std::sync::Mutex::new(None);
    Arc::new(move |told| match told {
        supervise::SupervisorReport::Trouble(error) => teller(RunProgress::Trouble(&error.to_string())),
        supervise::SupervisorReport::Todo(_) => {}
        supervise::SupervisorReport::Pulse(pulse) => {
            let Ok(mut last) = last.lock() else { return };
            if let Some(held) = pulse.held.as_deref().filter(|_| pulse.held != *last) {
                teller(RunProgress::Held(held));
            }
            last.clone_from(&pulse.held);
        }
    })
}

struct Drive<'a> {
    context: &'a Context,
    plan: Arc<Plan>,
    names: Names,
    wish: &'a Wish,
    teller: &'a Teller,
    known: Known,
    /// What was last reported of each task.
    told: HashMap<TaskId, Stand>,
}

impl Drive<'_> {
    /// A part whose files say that it cannot begin is refused, unless its work has begun.
    async fn refuse_unready(&mut self) -> Result<(), RunError> {
        let seen = look(self.context, &self.plan, &self.names, &mut self.known).await?;
        for (place, part) in self.plan.parts.iter().enumerate() {
            let begun = seen.iter().any(|seen| seen.part == Some(place));
            if begun || part.standing.next.is_some() || part.standing.state == Files::Passed {
                continue;
            }
            let why = part.standing.reason.clone().unwrap_or_else(|| part.standing.state.as_str().to_owned());
            let hint = match part.standing.state {
                Files::Failed => format!("take {} out of the way and commit that", part.report(Report::Validation)),
                _ => format!("fix that in {}, commit it, and run this again", part.directory),
            };
            return Err(RunError::Refused { message: format!("{}: {why}, so nothing runs", part.directory), hint });
        }
        Ok(())
    }

    async fn finish(&mut self) -> Result<RunReport, RunError> {
        loop {
            let seen = look(self.context, &self.plan, &self.names, &mut self.known).await?;
            self.tell(&seen);
            let seen = Arc::new(seen);
            let mut moves = self.see(&seen, |sight| sight.moves()).await?;
            let added = self.begin(&mut moves, &seen).await?;
            if !added && !moves.waits {
                let source = self.see(&seen, |sight| sight.source()).await?;
                return report(self.context, &self.plan, self.wish, source, &seen, &moves.stuck).await;
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Reads everything with git, in a thread: the supervisor beside this must not wait for it.
    async fn see<T: Send + 'static>(
        &self,
        seen: &Arc<Vec<Seen>>,
        look: impl FnOnce(&Sight<'_>) -> Result<T, RunError> + Send + 'static,
    ) -> Result<T, RunError> {
        let (plan, names, wish) = (Arc::clone(&self.plan), self.names.clone(), self.wish.clone());
        let seen = Arc::clone(seen);
        let looking = in_thread(move || look(&Sight { plan: &plan, names: &names, wish: &wish, seen: &seen }));
        looking.await.map_err(|_| RunError::CutOff)?
    }

    /// Makes an order, for which git is asked as well.
    async fn order(
        &self,
        make: impl FnOnce(&Orders<'_>) -> Result<NewTaskOrder, RunError> + Send + 'static,
    ) -> Result<NewTaskOrder, RunError> {
        let (plan, names, wish) = (Arc::clone(&self.plan), self.names.clone(), self.wish.clone());
        let context = self.context.clone();
        let making = in_thread(move || make(&Orders { context: &context, plan: &plan, names: &names, wish: &wish }));
        making.await.map_err(|_| RunError::CutOff)?
    }

    fn tell(&mut self, seen: &[Seen]) {
        for seen in seen {
            let stand = Stand::of(&seen.outcome);
            if self.told.insert(seen.id().clone(), stand) != Some(stand) {
                let why = reason(seen).unwrap_or_default();
                (self.teller)(RunProgress::Became { task: seen.id(), stand, reason: &why });
            }
        }
    }

    /// Adds what may begin; true when something was added.
    async fn begin(&self, moves: &mut Moves, seen: &[Seen]) -> Result<bool, RunError> {
        let mut added = false;
        for Delivery { part, from, into, deliver } in moves.deliveries.iter().cloned() {
            let order = self.order(move |orders| {
                let part = part.and_then(|part| orders.plan.parts.get(part));
                orders.deliver(part, &from, &into, deliver)
            });
            added |= self.add(order.await?).await?;
        }
        let mut turns = std::mem::take(&mut moves.turns);
        while !turns.is_empty() {
            let money = self.money(seen, turns.len()).await?;
            let (paid, poor): (Vec<Turn>, Vec<Turn>) = turns.into_iter().partition(|turn| money.is_enough(turn));
            match (money.share, money.is_bound, poor.as_slice()) {
                (share, _, []) => {
                    for turn in paid {
                        added |= self.add(self.order(move |orders| orders.role(&turn, share)).await?).await?;
                    }
                    break;
                }
                // What others may still spend, they perhaps do not.
                (_, true, _) => moves.waits = true,
                (_, false, poor) => {
                    moves.stuck.extend(poor.iter().map(|turn| unpaid(&self.plan, turn, money.spent)));
                }
            }
            turns = paid;
        }
        Ok(added)
    }

    /// Another process may have added the same in this moment; then it is there, which is all that matters.
    async fn add(&self, order: NewTaskOrder) -> Result<bool, RunError> {
        let (id, base) = (order.id.clone(), order.spec.base.clone());
        match supervise::add(self.context, vec![order]).await {
            Ok(ids) => {
                for task in &ids {
                    (self.teller)(RunProgress::Added { task, base: &base });
                }
                Ok(true)
            }
            Err(AddError::Store(error)) if error.kind() == ErrorKind::Conflict => {
                let there = match &id {
                    Some(id) => self.context.store.task(id).await.ok(),
                    None => None,
                };
                match there.filter(|record| self.names.is_ours(&self.plan, &record.task)) {
                    Some(_) => Ok(true),
                    None => Err(AddError::Store(error).into()),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What each of the next tasks may cost: its share of what is neither spent nor reserved for running ones.
    async fn money(&self, seen: &[Seen], turns: usize) -> Result<Money, RunError> {
        let mut money = Money { share: None, is_bound: false, spent: Nano::ZERO };
        let Some(most) = self.wish.max_cost else { return Ok(money) };
        let mut left = most;
        for seen in seen.iter().filter(|seen| matches!(seen.record.task.spec.agent, Agent::Opencode { .. })) {
            let spent = spent(self.context, seen).await?;
            let open = if seen.is_settled() { None } else { seen.record.task.spec.max_cost };
            money.is_bound |= !seen.is_settled();
            money.spent = money.spent.saturating_add(spent);
            left = left.less(open.map_or(spent, |open| if open.0 > spent.0 { open } else { spent }));
        }
        money.share = Some(Nano(left.0 / i64::try_from(turns.max(1)).unwrap_or(i64::MAX)));
        Ok(money)
    }
}

struct Money {
    /// For each turn; none without a limit.
    share: Option<Nano>,
    /// Whether others may still spend some of it.
    is_bound: bool,
    spent: Nano,
}

impl Money {
    /// A task that replaces one that had too little has to get more.
    fn is_enough(&self, turn: &Turn) -> bool {
        let had = turn.instead_of.as_ref().map_or(Nano::ZERO, |instead_of| instead_of.had);
        self.share.is_none_or(|share| share > had)
    }
}
