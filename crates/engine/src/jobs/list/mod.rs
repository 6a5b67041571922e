//! What there is, in eleven views: enough to see why a model was chosen, and what to choose from.

mod choice;
mod money;

use super::{JobError, ensure::has_runner, op::workers, show};
use crate::Context;
use serde_json::{Value, json};
use std::path::Path;
use switchyard_core::{
    job::{JobKind, JobState},
    task::Phase,
};
use switchyard_store::{JobFilter, TaskFilter};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    Tasks,
    Workers,
    Profiles,
    Models,
    Workflows,
    Status,
    Output,
    Routes,
    Budget,
    Patterns,
    Providers,
}

impl View {
    pub const ALL: &[Self] = &[
        Self::Tasks,
        Self::Workers,
        Self::Profiles,
        Self::Models,
        Self::Workflows,
        Self::Status,
        Self::Output,
        Self::Routes,
        Self::Budget,
        Self::Patterns,
        Self::Providers,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tasks => "tasks",
            Self::Workers => "workers",
            Self::Profiles => "profiles",
            Self::Models => "models",
            Self::Workflows => "workflows",
            Self::Status => "status",
            Self::Output => "output",
            Self::Routes => "routes",
            Self::Budget => "budget",
            Self::Patterns => "patterns",
            Self::Providers => "providers",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|view| view.as_str() == text)
    }
}

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
    let rows = match listing.view {
        View::Tasks => tasks(context, listing).await?,
        View::Workers => {
            let found = workers(context, listing.status.as_deref() == Some("stopped")).await?;
            let found =
                found.into_iter().filter(|worker| listing.worker.as_ref().is_none_or(|name| *name == worker.name));
            found.filter_map(|worker| serde_json::to_value(worker).ok()).collect()
        }
        View::Profiles => choice::profiles(context, directory).await,
        View::Models => choice::models(context, directory).await?,
        View::Workflows => choice::workflows(context),
        View::Routes => choice::routes(context, listing.limit).await?,
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
    let mut views = Vec::new();
    let supervised_only = listing.kind.as_deref() == Some("supervised");
    if !supervised_only {
        let states = match listing.status.as_deref() {
            None => Vec::new(),
            Some(word) => JobState::parse(word).map(|state| vec![state]).unwrap_or_default(),
        };
        let unknown_state = listing.status.is_some() && states.is_empty();
        let kind = match listing.kind.as_deref() {
            None => None,
            Some(word) => Some(JobKind::parse(word).ok_or_else(|| {
                let kinds = JobKind::ALL.iter().map(|kind| kind.as_str()).chain(["supervised"]);
                JobError::choose(format!("there is no kind `{word}`"), kinds)
            })?),
        };
        let filter = JobFilter { states, kind, worker: listing.worker.clone(), limit: listing.limit };
        if !unknown_state {
            for job in context.store.jobs(&filter).await? {
                views.push(show::of_job(context, job).await?);
            }
        }
    }
    if listing.worker.is_none() && (supervised_only || listing.kind.is_none()) {
        let phase = match listing.status.as_deref() {
            None => None,
            Some(word) => match Phase::ALL.into_iter().find(|phase| phase.as_str() == word) {
                Some(phase) => Some(phase),
                None if word == "paused" => {
                    return Ok(views.iter().filter_map(|view| serde_json::to_value(view).ok()).collect());
                }
                None => {
                    let known = Phase::ALL.into_iter().map(Phase::as_str).chain(["paused"]);
                    return Err(JobError::choose(format!("there is no status `{word}`"), known));
                }
            },
        };
        let filter = TaskFilter { phase, limit: listing.limit, ..TaskFilter::default() };
        for record in context.store.tasks(&filter).await? {
            views.push(show::of_task(context, &record).await?);
        }
    }
    Ok(views.iter().filter_map(|view| serde_json::to_value(view).ok()).collect())
}

async fn status(context: &Context) -> Result<Value, JobError> {
    let open = JobFilter {
        states: vec![JobState::Queued, JobState::Running, JobState::Paused],
        limit: 10_000,
        ..JobFilter::default()
    };
    let jobs = context.store.jobs(&open).await?;
    let count = |state: JobState| jobs.iter().filter(|job| job.state == state).count();
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
