//! What there is, in eleven views: enough to see why a model was chosen, and what to choose from.

mod choice;
mod money;

pub use choice::recent_dispatches;

use super::{
    JobError,
    ensure::has_runner,
    op::{WorkerView, workers},
    show,
};
use crate::Context;
use serde_json::{Value, json};
use shuntyard_core::{
    word_enum,
    work::{
        job::{JobKind, JobState},
        task::Phase,
    },
};
use shuntyard_store::{JobFilter, TaskFilter, TaskRecord};
use std::path::Path;

word_enum! {
    pub enum View {
        Tasks = "tasks",
        Workers = "workers",
        Profiles = "profiles",
        Models = "models",
        Workflows = "workflows",
        Status = "status",
        Output = "output",
        Routes = "routes",
        Budget = "budget",
        Patterns = "patterns",
        Providers = "providers",
    }
}

/// Rows that are looked through for words.
const SEARCHED: u32 = 500;

/// What is to be listed, and what of it.
#[derive(Debug, Clone)]
pub struct Listing {
    pub view: View,
    pub status: Option<String>,
    pub kind: Option<String>,
    pub worker: Option<String>,
    /// Words that have to be in a row.
    pub query: Option<String>,
    /// Whose output.
    pub id: Option<String>,
    pub limit: u32,
}

/// One document, whose rows are under the name of the view.
pub async fn list(context: &Context, directory: &Path, listing: &Listing) -> Result<Value, JobError> {
    refuse_unused(listing)?;
    let rows = match listing.view {
        View::Tasks => tasks(context, listing).await?,
        View::Workers => {
            let found = workers(context, listing.status.as_deref() == Some("stopped")).await?;
            let fits = |worker: &WorkerView| {
                listing.worker.as_ref().is_none_or(|name| *name == worker.name)
                    && listing.status.as_ref().is_none_or(|status| *status == worker.state)
            };
            found.into_iter().filter(fits).filter_map(|worker| serde_json::to_value(worker).ok()).collect()
        }
        View::Profiles => choice::profiles(context, directory).await,
        View::Models => choice::models(context, directory).await?,
        View::Workflows => choice::workflows(context),
        View::Routes => recent_dispatches(context, listing.limit).await?,
        View::Budget => money::budget(context).await?,
        View::Patterns => money::patterns(context).await?,
        View::Providers => money::providers(context, directory).await?,
        View::Status => return status(context).await,
        View::Output => return output(context, listing).await,
    };
    let rows = matching(rows, listing);
    let (count, limit) = (rows.len(), listing.limit as usize);
    let shown: Vec<Value> = rows.into_iter().take(limit).collect();
    let name = listing.view.as_str();
    Ok(json!({"view": name, name: shown, "left_out": count.saturating_sub(limit)}))
}

/// A filter that a view has no use for is refused: an answer that ignores it is a wrong one.
fn refuse_unused(listing: &Listing) -> Result<(), JobError> {
    let given = [
        (listing.status.is_some(), "status", &[View::Tasks, View::Workers][..]),
        (listing.kind.is_some(), "kind", &[View::Tasks][..]),
        (listing.worker.is_some(), "workerId", &[View::Tasks, View::Workers][..]),
        (listing.id.is_some(), "taskId", &[View::Output][..]),
    ];
    match given.into_iter().find(|(is_given, _, views)| *is_given && !views.contains(&listing.view)) {
        None => Ok(()),
        Some((_, name, views)) => {
            let views: Vec<&str> = views.iter().map(|view| view.as_str()).collect();
            let message = format!("`{name}` means nothing for view \"{}\"", listing.view.as_str());
            Err(JobError::usage(message, format!("it is for: {}", views.join(", "))))
        }
    }
}

fn matching(rows: Vec<Value>, listing: &Listing) -> Vec<Value> {
    let words: Vec<String> =
        listing.query.as_deref().unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
    let has_all = |row: &Value| {
        let text = row.to_string().to_lowercase();
        words.iter().all(|word| text.contains(word.as_str()))
    };
    rows.into_iter().filter(has_all).collect()
}

async fn tasks(context: &Context, listing: &Listing) -> Result<Vec<Value>, JobError> {
    // Words are looked for in what is there, not only in what would be shown.
    let limit = if listing.query.is_some() { SEARCHED } else { listing.limit.saturating_add(1) };
    let mut views = Vec::new();
    let status = listing.status.as_deref();
    let (state, phase) = (
        status.and_then(JobState::parse),
        status.and_then(|word| Phase::ALL.into_iter().find(|phase| phase.as_str() == word)),
    );
    if let Some(word) = status.filter(|_| state.is_none() && phase.is_none()) {
        let known = Phase::ALL.into_iter().map(Phase::as_str).chain(["paused"]);
        return Err(JobError::choose(format!("there is no status `{word}`"), known));
    }
    let supervised_only = listing.kind.as_deref() == Some("supervised");
    let kind = match listing.kind.as_deref().filter(|_| !supervised_only) {
        None => None,
        Some(word) => Some(JobKind::parse(word).ok_or_else(|| {
            let kinds = JobKind::ALL.iter().map(|kind| kind.as_str()).chain(["supervised"]);
            JobError::choose(format!("there is no kind `{word}`"), kinds)
        })?),
    };
    if !supervised_only && (status.is_none() || state.is_some()) {
        let states = state.map(|state| vec![state]).unwrap_or_default();
        let filter = JobFilter { states, kind, worker: listing.worker.clone(), limit };
        for job in context.store.jobs(&filter).await? {
            views.push((job.created_at, show::of_job(context, job).await?));
        }
    }
    let with_tasks = listing.worker.is_none() && (supervised_only || listing.kind.is_none());
    if with_tasks && (status.is_none() || phase.is_some()) {
        for record in newest_tasks(context, phase, limit as usize).await? {
            views.push((record.task.created_at, show::of_task(context, &record).await?));
        }
    }
    views.sort_by_key(|(created, _)| std::cmp::Reverse(*created));
    Ok(views.iter().filter_map(|(_, view)| serde_json::to_value(view).ok()).collect())
}

/// The store reads tasks in the order in which they came; of those the last.
async fn newest_tasks(context: &Context, phase: Option<Phase>, most: usize) -> Result<Vec<TaskRecord>, JobError> {
    let mut found: std::collections::VecDeque<TaskRecord> = std::collections::VecDeque::new();
    let mut after = 0;
    loop {
        let filter = TaskFilter { phase, after, limit: SEARCHED, ..TaskFilter::default() };
        let page = context.store.tasks(&filter).await?;
        let Some(last) = page.last() else { break };
        after = last.number;
        let is_whole = page.len() == SEARCHED as usize;
        found.extend(page);
        while found.len() > most {
            found.pop_front();
        }
        if !is_whole {
            break;
        }
    }
    Ok(found.into())
}

async fn status(context: &Context) -> Result<Value, JobError> {
    let counts = context.store.job_counts().await?;
    let count = |wanted: JobState| counts.iter().find(|(state, _)| *state == wanted).map_or(0, |(_, count)| *count);
    let tasks: serde_json::Map<String, Value> = context
        .store
        .task_counts(None)
        .await?
        .into_iter()
        .map(|(phase, count)| (phase.as_str().to_owned(), json!(count)))
        .collect();
    let servers: Vec<Value> = context
        .store
        .servers()
        .await?
        .iter()
        .map(|server| json!({"slot": server.slot, "state": server.state.as_str(), "version": server.version}))
        .collect();
    let live = workers(context, false).await?;
    Ok(json!({"view": "status", "status": {
        "jobs": {"queued": count(JobState::Queued), "running": count(JobState::Running), "paused": count(JobState::Paused)},
        "supervised": tasks,
        "workers": live.iter().map(|worker| json!({"name": worker.name, "state": worker.state, "model": worker.model,
            "queued": worker.queued, "working_on": worker.working_on})).collect::<Vec<_>>(),
        "servers": servers,
        "runner": if has_runner(context) { "running" } else { "not running; it starts with the next job" },
    }}))
}

/// The whole answer of a job, from its file when it was too long for the row.
async fn output(context: &Context, listing: &Listing) -> Result<Value, JobError> {
    let Some(id) = &listing.id else {
        return Err(JobError::usage("whose output? give taskId", "see view \"tasks\" for the ids"));
    };
    let mut view = show::peek(context, id).await?;
    if let Some(path) = &view.full_text_path
        && let Ok(text) = std::fs::read_to_string(path)
    {
        view.text = Some(text);
    }
    Ok(json!({"view": "output", "output": view}))
}
