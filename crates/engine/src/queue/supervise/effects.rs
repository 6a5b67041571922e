//! The pending effects outside the store: notices, outcomes of models, marks in TODO.md. Each is taken by one process,
//! done, and written down; one whose process died is taken again by the next.

use super::{change::ChangeError, contest, diagnose, fault::fault, orders::cancel_entries, reviews::rebase_siblings};
use crate::{
    Context,
    base::notify::{Notification, notify, retry_at},
    queue::claims::{self, Marked},
};
use shuntyard_core::{
    experience::{Evidence, Verdict},
    settings::micros,
    todo,
    work::task::{Delivered, Effect, Failure, Phase, State, TaskId},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{EffectRecord, Judgement};
use std::time::{Duration, Instant};

/// One at a time, so that none waits for another until its lease is over.
const AT_ONCE: u32 = 1;
const IN_A_PASS: u32 = 16;
/// A remote that hangs must not keep other work from starting: after this long the rest is for the next pass.
const PATIENCE: Duration = Duration::from_secs(2);

/// Performs the pending effects. Returns their number.
pub(crate) async fn perform_due(context: &Context) -> Result<u32, ChangeError> {
    let lease = micros(context.config.supervise.effect_lease);
    let (mut done, began) = (0, Instant::now());
    while done < IN_A_PASS && began.elapsed() < PATIENCE {
        let taken = context.store.take_effects(now_micros(), lease, AT_ONCE).await?;
        let Some(record) = taken.into_iter().next() else { break };
        fault(context, "effect");
        let performed = perform(context, &record).await;
        fault(context, "performed");
        match performed {
            Ok(result) => context.store.finish_effect(record.id, now_micros(), &result).await?,
            Err(problem) => {
                let now = now_micros();
                context.store.defer_effect(record.id, now, &problem, retry_at(record.tries, now)).await?;
            }
        }
        done += 1;
    }
    Ok(done)
}

/// The task that an effect concerns, at the claim that asked for it.
struct Concerned {
    task: TaskId,
    epoch: i64,
}

async fn perform(context: &Context, record: &EffectRecord) -> Result<String, String> {
    if let Effect::Notify { notice, detail } = &record.effect {
        let (task, detail) = (record.task.clone(), detail.clone());
        let notification = Notification { task, notice: *notice, detail, at: record.at, id: record.id };
        return notify(context, &notification, record.tries).await;
    }
    let Some(task) = record.task.clone() else { return Ok("it concerns no task".to_owned()) };
    let concerned = Concerned { task, epoch: record.epoch };
    match &record.effect {
        Effect::Notify { .. } => Ok("notified".to_owned()),
        Effect::Learn { good, failure } => learn(context, &concerned, *good, failure.as_ref()).await,
        Effect::Tidy => {
            diagnose::call_off(context, &concerned.task).await;
            super::worker::tidy(context, &concerned.task).await
        }
        Effect::RebaseSiblings => rebase_siblings(context, &concerned.task).await,
        Effect::Diagnose => diagnose::diagnose(context, &concerned.task).await,
        Effect::WakeContest => contest::entry_settled(context, &concerned.task).await,
        Effect::CancelEntries => cancel_entries(context, &concerned.task).await.map_err(|error| error.to_string()),
        Effect::Mark { done } => mark(context, &concerned, *done).await,
    }
}

/// Writes into TODO.md how the task has ended: done only with evidence, otherwise just no longer claimed.
async fn mark(context: &Context, record: &Concerned, done: bool) -> Result<String, String> {
    let task = context.store.task(&record.task).await.map_err(|error| error.to_string())?.task;
    // It may have been begun again, and then the claim is needed.
    if task.epoch != record.epoch || !task.state.phase().is_settled() {
        return Ok("it goes on".to_owned());
    }
    let evidence = match &task.state {
        State::Done { delivered: Delivered::PullRequest { url, .. } } if done => {
            url.rsplit('/').next().and_then(|number| number.parse().ok()).map(todo::Evidence::PullRequest)
        }
        State::Done { .. } if done && !task.spec.verify.is_empty() => Some(todo::Evidence::Verified),
        _ => None,
    };
    let marked = match evidence {
        Some(evidence) => claims::complete(context, &task, evidence).await,
        // It is done as far as the store knows: others must not be offered it.
        None if task.state.phase() == Phase::Done => return Ok("it stays claimed: nothing has verified it".to_owned()),
        None => claims::release(context, &task, todo::Force::No).await,
    };
    match marked {
        Ok(Marked::Offline(why)) => Err(why),
        Ok(marked) => Ok(format!("{marked:?}")),
        Err(fault) => Err(fault.to_string()),
    }
}

/// Corrects what was noted about the dispatch: then it was only known that an answer had come.
async fn learn(context: &Context, record: &Concerned, good: bool, failure: Option<&Failure>) -> Result<String, String> {
    let runs = context.store.runs(&record.task).await.map_err(|error| error.to_string())?;
    let Some(dispatch) = runs.iter().find(|run| run.epoch == record.epoch).and_then(|run| run.dispatch) else {
        return Ok("there was no dispatch to learn from".to_owned());
    };
    let task = context.store.task(&record.task).await.map_err(|error| error.to_string())?.task;
    // Without a verify command its quality is unknown.
    if good && task.spec.verify.is_empty() {
        return Ok("nothing was verified".to_owned());
    }
    let judgement = Judgement {
        verdict: if good { Verdict::Success } else { Verdict::Failure },
        failure_mode: failure.map(|failure| failure.mode),
        evidence: Evidence::Verified,
        quality: None,
    };
    let judged = context.store.judge_outcome(dispatch, None, now_micros(), &judgement).await;
    judged.map(|_| "noted".to_owned()).map_err(|error| error.to_string())
}
