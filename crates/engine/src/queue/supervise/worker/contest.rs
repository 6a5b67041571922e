//! The worker of a contest: finds the winner once, and takes its work as the work of the task.

use super::{
    WorkError,
    ended::Ended,
    life::Life,
    place::{Place, git, with_source},
    step,
};
use crate::{
    Context,
    dispatch::Options,
    fanout::batch::{CHARACTERS, Compared, Comparison, compare},
    queue::supervise::{
        change::With,
        contest::{self, is_undecided, keep, verdict_id},
        fault::fault,
    },
    routing::{
        budget::{Concern, CostCheck},
        catalogue::Refresh,
        choose::{self, decide as choose_model},
    },
};
use shuntyard_core::{
    ModelRef, Nano,
    routing::{Needs, Selector},
    values::duration::Limit,
    work::task::{
        Decided, End, Entry, Event, Field, Phase, Stop, Task, Verdict, Wait, by_judge, by_rule, field, no_winner,
        only_one,
    },
};
use shuntyard_host::git::GitError;
use shuntyard_store::{ContestRecord, TaskRecord};
use std::{path::Path, time::Duration};

const DEADLINE: Duration = Duration::from_secs(300);
const CRITERIA: &str = "Each answer is a change of a repository, as a unified diff, for the task that is the question. \
                        Doing exactly what the task asks counts most, then being correct, then being simple and easy to \
                        maintain.";

/// What came of looking for the winner.
pub(super) enum Found {
    /// It is written down.
    Winner(Box<TaskRecord>),
    /// An entry has another attempt since the claim.
    Later(Event),
    Nothing(Ended),
}

/// The winner whose work is not taken yet.
pub(super) fn to_take(task: &Task) -> Option<&Decided> {
    task.tally.contest.as_ref().filter(|decided| !decided.taken)
}

/// Finds the winner of a contest whose entries have all settled. What was found before is not found again.
pub(super) async fn find_winner(context: &Context, record: &TaskRecord, life: &Life) -> Result<Found, WorkError> {
    let task = &record.task;
    if !is_undecided(task) {
        return Ok(Found::Winner(Box::new(record.clone())));
    }
    let records = contest::records(context, task).await?;
    let entries = contest::entries(context, task).await?;
    if entries.iter().any(|entry| !entry.phase.is_settled()) {
        let detail = "an entry of the contest was tried again".to_owned();
        return Ok(Found::Later(Event::Postpone { until: contest::later(context), wait: Wait::Entries, detail }));
    }
    if field(&entries) == Field::Empty {
        return Ok(Found::Nothing(Ended::with(End::Blocked { message: no_winner(&task.id, &entries) })));
    }
    let known = context.store.contest(&verdict_id(task, &records)).await?;
    let winner = match known.as_ref().and_then(winner_of) {
        Some(winner) => winner,
        None => {
            fault(context, "judging");
            let verdict = verdict(context, task, &entries, life).await?;
            if life.is_over() {
                return Err(WorkError::Over);
            }
            if life.stop().is_cancelled() {
                let why = life.why_stopped().unwrap_or(Stop::Cancelled);
                return Ok(Found::Nothing(Ended::with(End::Stopped { why })));
            }
            let Some(verdict) = verdict else {
                return Ok(Found::Nothing(Ended::not_started("the contest has no winner".to_owned())));
            };
            keep(context, task, &records, &entries, Some(&verdict), &verdict.reason).await?;
            fault(context, "verdict");
            verdict.winner
        }
    };
    let Some((entry, work)) = entries.get(winner).and_then(|entry| Some((entry, entry.work.clone()?))) else {
        return Ok(Found::Nothing(Ended::not_started("the winner of the contest has no work any more".to_owned())));
    };
    let decided =
        Decided { entry: entry.id.clone(), model: entry.model.clone(), base: work.base, head: work.head, taken: false };
    Ok(Found::Winner(step(context, record, Event::Decide { decided }, With::default()).await?))
}

fn winner_of(record: &ContestRecord) -> Option<usize> {
    record.entries.as_array()?.iter().position(|entry| entry["won"] == true)
}

async fn verdict(context: &Context, task: &Task, entries: &[Entry], life: &Life) -> Result<Option<Verdict>, WorkError> {
    let tied = match field(entries) {
        Field::Empty => return Ok(None),
        Field::One(one) => return Ok(only_one(entries, one)),
        Field::Several(several) => several,
    };
    // Without verify commands those that failed have lost all the same.
    debug_assert!(tied.iter().all(|place| entries.get(*place).is_some_and(|entry| entry.phase == Phase::Done)));
    let left = contest::left(context, task).await?;
    if left == Some(Nano::ZERO) {
        return Ok(by_rule(entries, &tied, "the limit of the contest has nothing left for a judge"));
    }
    let judge = match judge(context, task, entries).await {
        Ok(judge) => judge,
        Err(why) => return Ok(by_rule(entries, &tied, &format!("no judge could be asked ({why})"))),
    };
    let answers = match changes(task, entries, &tied).await {
        Ok(answers) => answers,
        Err(why) => return Ok(by_rule(entries, &tied, &format!("the changes could not be shown to a judge ({why})"))),
    };
    let comparison = Comparison {
        question: &task.spec.description,
        criteria: Some(CRITERIA),
        directory: Path::new(&task.spec.repository),
        answers: &answers,
        judge: Selector::Exact(judge.clone()),
    };
    let options = Options {
        timeout: Some(Limit(Some(DEADLINE))),
        max_cost: left,
        urgency: task.spec.urgency,
        task: Some(task.charged_to().to_string()),
        batch: task.batch.clone(),
        ..Options::default()
    };
    let judge = judge.to_string();
    Ok(match compare(context, &comparison, &options, life.stop()).await {
        Ok(Compared { judgement, .. }) => by_judge(entries, &tied, &judge, &judgement),
        Err(why) => by_rule(entries, &tied, &format!("{judge} could not compare them ({why})")),
    })
}

/// The model that compares: the one that is set for that, or the strongest that takes no part.
async fn judge(context: &Context, task: &Task, entries: &[Entry]) -> Result<ModelRef, String> {
    let set = context.config.supervise.judge_model.as_str();
    let selector = match context.config.tier_order.last() {
        _ if !set.is_empty() => Selector::from_reference(set, &context.config).map_err(|error| error.to_string())?,
        Some(strongest) => Selector::Tier(strongest.clone()),
        None => Selector::Default,
    };
    let takes_part: Vec<ModelRef> = entries.iter().filter_map(|entry| entry.model.parse().ok()).collect();
    let wanted = choose::Task {
        selector,
        text: None,
        needs: Needs { structured: true, ..Needs::default() },
        directory: Path::new(&task.spec.repository),
        agent: None,
        avoid: &takes_part,
        cost_check: CostCheck {
            concern: Concern { task: Some(task.charged_to().as_str()), batch: task.batch.as_deref(), everybody: false },
            urgency: task.spec.urgency,
        },
    };
    let chosen = choose_model(context, &wanted, Refresh::IfStale).await.map_err(|refusal| refusal.to_string())?;
    Ok(chosen.resolution.model)
}

/// What each of them changed.
async fn changes(task: &Task, entries: &[Entry], shown: &[usize]) -> Result<Vec<(String, ModelRef)>, String> {
    let repository = task.spec.repository.clone();
    let shown: Vec<Entry> = shown.iter().filter_map(|place| entries.get(*place)).cloned().collect();
    let read = crate::in_thread(move || {
        let (git, repository) = (git(), Path::new(&repository));
        let each = |entry: &Entry| {
            let work = entry.work.as_ref().ok_or_else(|| format!("{} has no work", entry.id))?;
            // A character takes up to four bytes.
            let range = format!("{}..{}", work.base, work.head);
            let diff = git.diff_start(repository, &range, 4 * CHARACTERS);
            let diff = diff.map_err(|error| format!("failed to {}", with_source(&error)))?;
            let model = entry.model.parse().map_err(|error| format!("{}: {error}", entry.model))?;
            Ok::<_, String>((diff, model))
        };
        shown.iter().map(each).collect()
    });
    read.await.map_err(|error| error.to_string())?
}

/// Takes the commits of the winner: its branch is in the user's repository, or else its workspace has them.
pub(super) async fn take(context: &Context, record: &TaskRecord, place: &Place, decided: &Decided) -> Ended {
    let source = match context.store.task(&decided.entry).await {
        Ok(entry) => {
            let runs = context.store.runs(&decided.entry).await.unwrap_or_default();
            Place::of_run(&entry.task, &runs)
        }
        Err(error) => return Ended::not_started(error.to_string()),
    };
    let reason = context.store.contest_of_task(&record.task.id).await.ok().flatten().map(|contest| contest.reason);
    let (place, head) = (place.clone(), decided.head.clone());
    let taken = crate::in_thread(move || {
        let (git, repository) = (git(), place.repository.as_path());
        if !git.has_commit(repository, &head)?
            && let Some(source) = source
        {
            source.workspace()?.deliver_objects(repository, &head, &head)?;
        }
        let mut workspace = place.workspace()?;
        workspace.adopt(repository, &head)?;
        // The commits are this task's own from here on, also for its later attempts.
        workspace.deliver_objects(repository, &head, &head)
    });
    let failed = |error: GitError| {
        let message = format!("the work of {} could not be taken: failed to {}", decided.entry, with_source(&error));
        Ended::not_started(message)
    };
    match taken.await {
        Ok(Ok(())) => Ended {
            said: reason.unwrap_or_default(),
            asked: Some(decided.model.clone()),
            answered: Some(decided.model.clone()),
            ..Ended::with(End::Answered)
        },
        Ok(Err(error)) => failed(error),
        Err(error) => Ended::not_started(error.to_string()),
    }
}
