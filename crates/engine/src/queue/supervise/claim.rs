//! Claiming a task: last of all, after everything that could prevent it was checked.

use super::{
    change::{Became, ChangeError, With, attempt},
    contest::{self, before_claim, is_undecided},
    fault::fault,
    reaper::reap,
    spawn::spawn_worker,
};
use crate::{
    Context,
    base::{
        owner::{here, owner_of, this_process},
        refusal::Refusal,
    },
    dispatch::ask_ahead,
    in_thread,
    routing::{
        budget::{self, CostCheck, Reservation},
        catalogue::Refresh,
        choose::{self, Decision, decide},
    },
};
use shuntyard_core::{
    DispatchId, ErrorClass, ModelRef,
    routing::{Needs, Selector, request::Request},
    settings::micros,
    values::{Mode, size},
    work::task::{Agent, Candidate, Cause, Event, Limits, Place, Slot, Task, TaskSpec, Wait, prompt, slots},
};
use shuntyard_host::{
    ProcessIdentity,
    clock::now_micros,
    git::{Git, GitError},
    space::free_bytes,
};
use shuntyard_store::{NewRun, RunNote, TaskRecord};
use std::path::Path;
use uuid::Uuid;

/// What became of trying to start a task.
#[derive(Debug)]
pub(crate) enum Claimed {
    /// Its worker is on its way.
    Started,
    NoSlot(Slot),
    /// It was put off, or a person is needed; the task itself says why.
    PutOff,
    /// Another process was faster.
    Gone,
    /// Nothing can be started here at the moment, whatever the task.
    Nowhere(String),
}

pub(crate) async fn claim(context: &Context, candidate: &Candidate, limits: &Limits) -> Result<Claimed, ChangeError> {
    let record = context.store.task(&candidate.id).await?;
    if let Some(problem) = no_space(context) {
        return Ok(Claimed::Nowhere(problem));
    }
    let spec = record.task.spec.clone();
    if let Some((cause, detail)) = in_thread(move || unfit(&spec)).await.ok().flatten() {
        return put_off(context, &record, Event::Block { cause, detail }).await;
    }
    // Work that is done is delivered, however late. The entries of a contest have its deadline; what they did in time
    // is compared.
    let is_begun = record.task.tally.resume.is_some() || is_undecided(&record.task);
    if record.task.spec.is_over(now_micros()) && !is_begun {
        return put_off(context, &record, Event::Expire).await;
    }
    if let Some(event) = before_claim(context, &record).await? {
        let put_off = put_off(context, &record, event).await?;
        // The last entry may have settled just before.
        contest::wake(context, &record.task.id).await?;
        return Ok(put_off);
    }
    // Work that is done and only has to be evaluated or delivered needs no model, nor does the search for a winner.
    let chosen = match record.task.tally.resume {
        Some(_) => Ok(None),
        None if is_undecided(&record.task) => Ok(None),
        None => choose_model(context, &record.task).await,
    };
    let chosen = match chosen {
        Ok(chosen) => chosen,
        Err(event) => return put_off(context, &record, *event).await,
    };
    let reservation = match &chosen {
        Some(decision) => match reserve(context, &record.task, decision).await {
            Ok(reservation) => reservation,
            Err(event) => return put_off(context, &record, *event).await,
        },
        None => None,
    };
    let dispatch = reservation.as_ref().map(|_| DispatchId(Uuid::now_v7()));
    let route = chosen.as_ref().and_then(|decision| serde_json::to_value(&decision.resolution).ok());
    let (model, tier) = chosen.map(|decision| (decision.resolution.model, decision.resolution.tier)).unzip();
    let model = model.map(|model: ModelRef| model.to_string());
    let now = now_micros();
    let run = NewRun {
        dispatch,
        tier: tier.flatten(),
        slots: slots(candidate, model.as_deref(), limits),
        model,
        host: here(),
        worker: this_process().ok(),
        at: now,
        lease_until: now.saturating_add(micros(context.config.supervise.start_timeout)),
        reserve: reservation.as_ref().map(|reservation| reservation.reserve.clone()),
    };
    let with = With { run: Some(Box::new(run)), route, ..With::default() };
    fault(context, "claim");
    match attempt(context, &record, &Event::Claim, &with).await {
        Ok(Some(Became::Done(claimed))) => {
            fault(context, "claimed");
            launch(context, &claimed).await
        }
        Ok(Some(Became::NoSlot(slot))) => Ok(Claimed::NoSlot(slot)),
        Ok(Some(Became::NoMoney { ceiling, settled, reserved })) => {
            let until = now.saturating_add(micros(context.config.supervise.look_every));
            let limit = reservation.as_ref().is_some_and(|reservation| reservation.is_of_task(ceiling));
            let is_spent = record.task.spec.entry_of.is_some() && limit && reserved == 0;
            let over = reservation.map(|reservation| reservation.refused(ceiling, settled, reserved));
            let detail = match over {
                Some(over) => format!("the budget has no room for it now: {}", over.why),
                None => "the budget has no room for it now".to_owned(),
            };
            // Nothing that runs gives any of it back, and no new day does.
            let event = if is_spent {
                Event::Block { cause: Cause::Budget, detail }
            } else {
                Event::Postpone { until, wait: Wait::Budget, detail }
            };
            put_off(context, &record, event).await
        }
        Ok(None) | Err(ChangeError::Illegal(_)) => Ok(Claimed::Gone),
        Err(error) => Err(error),
    }
}

/// A worker that cannot be started gives its claim back at once.
pub(super) async fn launch(context: &Context, claimed: &TaskRecord) -> Result<Claimed, ChangeError> {
    let (id, epoch) = (&claimed.task.id, claimed.task.epoch);
    match spawn_worker(context, id, epoch) {
        Ok(child) => {
            fault(context, "spawned");
            // So that its death is seen at once, also before it has reported.
            if let Some(process) = ProcessIdentity::of(child.id()) {
                let note = RunNote { worker: Some(owner_of(process)), ..RunNote::default() };
                context.store.note_run(id, epoch, &note).await?;
            }
            reap(child);
            Ok(Claimed::Started)
        }
        Err(error) => {
            let detail = format!("its worker could not be started: {error}");
            let note = RunNote { outcome: Some("lost".to_owned()), detail: Some(detail.clone()), ..RunNote::default() };
            let lease_until = now_micros();
            attempt(
                context,
                claimed,
                &Event::Lose { detail: detail.clone() },
                &With { note, lease_until, ..With::default() },
            )
            .await?;
            Ok(Claimed::Nowhere(detail))
        }
    }
}

async fn put_off(context: &Context, record: &TaskRecord, event: Event) -> Result<Claimed, ChangeError> {
    match attempt(context, record, &event, &With::default()).await {
        Ok(Some(_)) => Ok(Claimed::PutOff),
        Ok(None) | Err(ChangeError::Illegal(_)) => Ok(Claimed::Gone),
        Err(error) => Err(error),
    }
}

fn no_space(context: &Context) -> Option<String> {
    let least = context.config.supervise.disk_reserve_mib.saturating_mul(1024 * 1024);
    match free_bytes(&context.paths.data_dir) {
        Ok(free) if free < least => {
            let (free, least) = (size::show(free), size::show(least));
            Some(format!("only {free} are free in {}, less than {least}", context.paths.data_dir.display()))
        }
        // One that cannot be asked is no reason to stop everything.
        _ => None,
    }
}

/// What is wrong with the place that a task is for.
fn unfit(spec: &TaskSpec) -> Option<(Cause, String)> {
    let repository = Path::new(&spec.repository);
    let wrong = |problem| Some((Cause::Repository, problem));
    if !repository.is_dir() {
        return wrong(format!("{} is not there", spec.repository));
    }
    if spec.place == Place::Directory {
        return None;
    }
    let git = Git::default();
    // Git would take the repository that is around it instead.
    match git.toplevel(repository) {
        Ok(Some(top)) if top == repository => {}
        Ok(_) => return wrong(format!("{} is no repository any more", spec.repository)),
        Err(error) => return wrong(format!("git could not look into {}: {error}", spec.repository)),
    }
    match git.commit_of(repository, &spec.base) {
        Ok(_) => None,
        Err(GitError::Failed { code: Some(1 | 128), .. }) => {
            wrong(format!("{} has no branch or commit `{}`", spec.repository, spec.base))
        }
        Err(error) => wrong(format!("git could not look into {}: {error}", spec.repository)),
    }
}

/// The model that the task would go to now, with its tier; an event for the task when there is none.
async fn choose_model(context: &Context, task: &Task) -> Result<Option<Decision>, Box<Event>> {
    let Agent::Opencode { agent } = &task.spec.agent else { return Ok(None) };
    let selector = selector(context, task).map_err(|refusal| Box::new(refused(context, &refusal)))?;
    if selector == Selector::Default {
        ask_ahead(context, &task.spec.description, 0, Path::new(&task.spec.repository)).await;
    }
    let tools = Needs { tools: true, ..Needs::default() };
    let avoid = avoided(task);
    let wanted = choose::Task {
        avoid: &avoid,
        needs: task.spec.needs.iter().fold(tools, |needs, capability| needs.and(*capability)),
        text: (selector == Selector::Default).then_some(task.spec.description.as_str()),
        selector,
        directory: Path::new(&task.spec.repository),
        agent: agent.as_deref(),
        cost_check: CostCheck { concern: concern(task), urgency: task.spec.urgency },
    };
    match decide(context, &wanted, Refresh::IfStale).await {
        Ok(decision) => Ok(Some(decision)),
        Err(refusal) => Err(Box::new(refused(context, &refusal))),
    }
}

/// What the claim reserves in its own transaction, so that no two claims count on the same money.
async fn reserve(context: &Context, task: &Task, decision: &Decision) -> Result<Option<Reservation>, Box<Event>> {
    let refuse = |refusal: &Refusal| Box::new(refused(context, refusal));
    let mut lines = budget::lines(context, concern(task)).await.map_err(|refusal| refuse(&refusal))?;
    let mut left = None;
    if let (Some(_), Some(limit)) = (&task.spec.entry_of, task.spec.max_cost) {
        left = contest::left(context, task).await.map_err(|error| refuse(&error.into()))?;
        lines.push(budget::limit_of_task(context, task.charged_to().as_str(), limit));
    }
    let Ok(model) = decision.listed.catalogue.find(&decision.resolution.model) else { return Ok(None) };
    let exact = Selector::Exact(decision.resolution.model.clone());
    let request = Request::plain(prompt(task), exact, Mode::Agent, &task.spec.repository);
    let planned = budget::Planned {
        lines: &lines,
        urgency: task.spec.urgency,
        request: &request,
        resolution: &decision.resolution,
        model,
        left,
        steps: context.config.supervise.steps,
    };
    match budget::reserve_for(context, &planned).await {
        Ok(reservation) => Ok(Some(reservation)),
        // What the share of an entry does not allow now, it never will.
        Err(over) if left.is_some() => Err(Box::new(Event::Block { cause: Cause::Budget, detail: over.why })),
        Err(over) => Err(refuse(&over.into())),
    }
}

/// Whose limits hold for it.
fn concern(task: &Task) -> budget::Concern<'_> {
    budget::Concern { task: Some(task.charged_to().as_str()), batch: task.batch.as_deref(), everybody: false }
}

fn avoided(task: &Task) -> Vec<ModelRef> {
    task.tally.avoid.iter().filter_map(|model| model.parse().ok()).collect()
}

/// What the task asks for. A tier that it has risen to comes first.
pub(crate) fn selector(context: &Context, task: &Task) -> Result<Selector, Refusal> {
    let (spec, tally) = (&task.spec, &task.tally);
    let winner = tally.contest.as_ref().map(|decided| &decided.model);
    let model = winner.or(tally.pinned.as_ref()).or(spec.model.as_ref());
    let by_strategy = spec.strategy().first_tier(&context.config.tier_order);
    let tier = tally.tier.as_deref().or(by_strategy);
    Ok(match (tier, model, &spec.tier, &spec.task_type) {
        (Some(tier), ..) => Selector::Tier(tier.to_owned()),
        (None, Some(model), ..) => Selector::from_reference(model, &context.config)?,
        (None, None, Some(tier), _) => Selector::Tier(tier.clone()),
        (None, None, None, Some(task_type)) => Selector::TaskType(task_type.clone()),
        (None, None, None, None) => Selector::Default,
    })
}

/// What follows when no model can be had: a rest when that passes by itself, a person when not.
fn refused(context: &Context, refusal: &Refusal) -> Event {
    let detail = refusal.to_string();
    let rest = |wait| {
        let until = now_micros().saturating_add(context.config.supervise.rests.first().copied().map_or(0, micros));
        Event::Postpone { until, wait, detail: detail.clone() }
    };
    match refusal.class() {
        Some(ErrorClass::BudgetRefused) => rest(Wait::Budget),
        Some(ErrorClass::RateLimited | ErrorClass::QuotaExhausted | ErrorClass::Overloaded) => rest(Wait::Limit),
        Some(ErrorClass::OpencodeUnhealthy | ErrorClass::Network | ErrorClass::ServerError | ErrorClass::Timeout) => {
            rest(Wait::Trouble)
        }
        _ => Event::Block { cause: Cause::Access, detail },
    }
}
