//! What has become of the steps until now: the tasks in the store, and for those that are done what their branches
//! hold. What a model says of itself counts for nothing.

use super::{
    RunError, Step,
    borders::{CONTEXT, borders, report_of},
    git::{changed, text_at},
    names::{Labelled, Names},
    plan::{Part, Plan},
};
use crate::{Context, in_thread, queue::supervise::publish_unfinished};
use shuntyard_core::{
    roles::spec::{Document, Done, Outcome, Report, Role, RoleOutcome, Verdict, outcome, switches_agy_on, verdict},
    work::task::{Cause, Delivered, Phase, State, TaskId, TaskSpec},
};
use shuntyard_host::git::{Git, GitError};
use shuntyard_store::{TaskFilter, TaskRecord};
use std::{collections::HashMap, sync::Arc};

/// More tasks than a spec can have.
const MOST_TASKS: u32 = 5000;
/// Paths that are named in a sentence.
const NAMED: usize = 5;

/// A step that was begun.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// The place of its part in the plan; none for the delivery of the whole.
    pub part: Option<usize>,
    pub step: Step,
    pub cycle: u32,
    pub again: u32,
    pub record: TaskRecord,
    pub outcome: RoleOutcome,
    /// The report of a role that is done.
    pub report: Option<String>,
    /// The branch with the work of a role that ran out of money.
    pub unfinished: Option<String>,
}

impl Seen {
    pub fn id(&self) -> &TaskId {
        &self.record.task.id
    }

    pub fn is_settled(&self) -> bool {
        self.record.task.state.phase().is_settled()
    }

    /// The branch that has its work, or is to have it.
    pub fn branch(&self) -> String {
        match &self.record.task.state {
            State::Done { delivered: Delivered::Branch { branch, .. } } => branch.clone(),
            _ => TaskSpec::branch(self.id()),
        }
    }

    pub fn is_out_of_money(&self) -> bool {
        matches!(self.record.task.state, State::Blocked { cause: Cause::Budget, .. })
    }
}

/// What was found out about work that is done. It does not change as long as the commit is the same.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<(TaskId, String), (RoleOutcome, Option<String>)>);

pub(super) async fn look(
    context: &Context,
    plan: &Arc<Plan>,
    names: &Names,
    known: &mut Known,
) -> Result<Vec<Seen>, RunError> {
    let filter = TaskFilter {
        batch: Some(names.batch.clone()),
        repository: Some(plan.repository_name()),
        limit: MOST_TASKS,
        ..TaskFilter::default()
    };
    let mut seen: Vec<Seen> = Vec::new();
    for record in context.store.tasks(&filter).await? {
        let Some(Labelled { unit, step, cycle, again }) = names.read(plan, &record.task) else { continue };
        let part = match (&unit, plan.has_units(), step) {
            (None, false, Step::Role(_)) => Some(0),
            (None, _, Step::Deliver) => None,
            (Some(slug), true, _) => {
                let is_it = |part: &Part| part.unit.as_ref().is_some_and(|unit| unit.slug.as_str() == slug);
                let Some(place) = plan.parts.iter().position(is_it) else { continue };
                Some(place)
            }
            // A spec that had other parts when its work began.
            (None, true, Step::Role(_)) | (Some(_), false, _) => continue,
        };
        let (outcome, report) = match (step, &record.task.state, part) {
            (Step::Role(role), State::Done { delivered: Delivered::Branch { head, .. } }, Some(part)) => {
                let is_same = |seen: &&Seen| (seen.part, seen.step, seen.cycle) == (Some(part), step, cycle);
                let first = seen.iter().find(is_same).map_or(&record, |seen| &seen.record);
                judged(plan, (part, role), &record.task.id, first, head, known).await?
            }
            (_, state, _) => (plain(state), None),
        };
        let mut found = Seen { part, step, cycle, again, record, outcome, report, unfinished: None };
        if found.is_out_of_money() {
            found.unfinished = publish_unfinished(context, &found.record.task).await;
        }
        seen.push(found);
    }
    Ok(seen)
}

/// By the state of its task alone. A pull request that is open is delivered: what becomes of it is not our work.
fn plain(state: &State) -> RoleOutcome {
    let reason = state.reason();
    match state.phase() {
        _ if matches!(state, State::Review { .. }) => RoleOutcome::Approved,
        Phase::Queued | Phase::Waiting => RoleOutcome::Waiting,
        Phase::Running => RoleOutcome::Running,
        Phase::Done => RoleOutcome::Approved,
        Phase::Failed => RoleOutcome::Failed { reason },
        Phase::Blocked => RoleOutcome::Blocked { reason },
        Phase::Cancelled => RoleOutcome::Cancelled { reason },
    }
}

/// `first` is who began the step: what was done before another task continued it is checked as well.
async fn judged(
    plan: &Arc<Plan>,
    (part, role): (usize, Role),
    id: &TaskId,
    first: &TaskRecord,
    head: &str,
    known: &mut Known,
) -> Result<(RoleOutcome, Option<String>), RunError> {
    let key = (id.clone(), head.to_owned());
    if let Some(found) = known.0.get(&key) {
        return Ok(found.clone());
    }
    let (plan, first, head) = (Arc::clone(plan), first.clone(), head.to_owned());
    let looking = in_thread(move || {
        let Some(part) = plan.parts.get(part) else { return Ok((RoleOutcome::Waiting, None)) };
        judge(&plan, part, role, &first, &head)
    });
    let found = looking.await.map_err(|_| RunError::CutOff)??;
    known.0.insert(key, found.clone());
    Ok(found)
}

fn judge(
    plan: &Plan,
    part: &Part,
    role: Role,
    first: &TaskRecord,
    head: &str,
) -> Result<(RoleOutcome, Option<String>), GitError> {
    let from = begun_from(plan, first, head)?;
    let touched = changed(&plan.repository, &from, head)?;
    let trespass = borders(part, role, &plan.closed()).trespass(&touched);
    if !trespass.is_empty() {
        let named = trespass.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = trespass.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        return Ok((RoleOutcome::Failed { reason: format!("it changed what is not its own: {named}{more}") }, None));
    }
    // Only the user switches that program on, and never an agent that may write into the same file.
    let context = |commit: &str| text_at(&plan.repository, commit, CONTEXT).map(Option::unwrap_or_default);
    if touched.iter().any(|path| path == CONTEXT) && switches_agy_on(&context(&from)?, &context(head)?) {
        let reason = format!("it switched agy on in {CONTEXT}, which only the user does");
        return Ok((RoleOutcome::Failed { reason }, None));
    }
    let Some(report) = report_of(role) else { return Ok((RoleOutcome::Approved, None)) };
    let text = text_at(&plan.repository, head, &part.report(report))?;
    Ok((said(report, text.as_deref()), text))
}

/// The commit that the work began from, as it was found when the work was judged.
fn begun_from(plan: &Plan, record: &TaskRecord, head: &str) -> Result<String, GitError> {
    let receipt = record.receipt.as_ref().and_then(|receipt| receipt.pointer("/findings/base/commit"));
    let git = Git::default();
    if let Some(commit) = receipt.and_then(serde_json::Value::as_str)
        && git.is_ancestor(&plan.repository, commit, head)?
    {
        return Ok(commit.to_owned());
    }
    let base = &record.task.spec.base;
    Ok(match git.merge_base(&plan.repository, base, head)? {
        Some(commit) => commit,
        None => git.empty_tree(&plan.repository)?,
    })
}

fn said(report: Report, text: Option<&str>) -> RoleOutcome {
    let document = Document::parse(text.unwrap_or_default());
    let file = report.file();
    match report {
        Report::Validation => RoleOutcome::Judged(verdict(&document)),
        Report::Implementation | Report::Documentation => match outcome(&document) {
            Outcome::Done => RoleOutcome::Approved,
            Outcome::Failed => RoleOutcome::Failed { reason: format!("{file} says failed") },
            Outcome::Blocked => RoleOutcome::Blocked { reason: format!("{file} says blocked") },
            Outcome::NeedsDecision => RoleOutcome::Blocked { reason: format!("{file} asks for a decision") },
            Outcome::Unclear(_) => RoleOutcome::Failed { reason: format!("{file} does not say how it went") },
        },
    }
}

/// The facts about one part: what its tasks have come to, and before them what its files say was done without one.
pub(super) fn facts(plan: &Plan, place: usize, seen: &[Seen]) -> Vec<Done> {
    let Some(part) = plan.parts.get(place) else { return Vec::new() };
    let of_tasks: Vec<Done> = seen
        .iter()
        .filter(|seen| seen.part == Some(place))
        .filter_map(|seen| match seen.step {
            Step::Role(role) => Some(Done { role, cycle: seen.cycle, outcome: seen.outcome.clone() }),
            Step::Deliver => None,
        })
        .collect();
    let ahead = part.standing.next.and_then(|next| part.pipeline.iter().position(|role| *role == next)).unwrap_or(0);
    let by_files =
        part.pipeline.iter().take(ahead).map(|role| Done { role: *role, cycle: 1, outcome: RoleOutcome::Approved });
    let passed = of_tasks.is_empty() && part.standing.state == shuntyard_core::roles::spec::State::Passed;
    let passed: Vec<Done> = if passed {
        let agents = part.pipeline.iter().filter(|role| **role != Role::Validator);
        let agents = agents.map(|role| Done { role: *role, cycle: 1, outcome: RoleOutcome::Approved });
        let verdict = Done { role: Role::Validator, cycle: 1, outcome: RoleOutcome::Judged(Verdict::Pass) };
        agents.chain([verdict]).collect()
    } else {
        Vec::new()
    };
    by_files.chain(passed).chain(of_tasks).collect()
}
