//! `shuntyard spec status`: how far tasks are.

use super::{Where, read};
use crate::{
    cli::Global,
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use shuntyard_core::values::clean_line;
use shuntyard_engine::roles::spec::{Overview, Place, StoredTask, TaskStatus, status, with_stored};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// A task by number or name; all by default
    id: Option<String>,
    #[command(flatten)]
    at: Where,
}

pub async fn run(global: &Global, args: &StatusArgs) -> Result<ExitCode, Failure> {
    let (place, here) = args.at.place()?;
    let mut overview = status(&place, &here, args.id.as_deref()).map_err(read)?;
    match look_up(global, &place, overview.clone()).await {
        Ok(with_stored) => overview = with_stored,
        // The content of the files is valid without the store.
        Err(error) => overview.troubles.push(format!("what stands in the store is not known: {}", error.message)),
    }
    match global.format() {
        Format::Json => ui::json(&overview),
        Format::People => show(&overview),
    }
    Ok(ExitCode::SUCCESS)
}

/// Reading the files needs no store, so none is created.
async fn look_up(global: &Global, place: &Place, overview: Overview) -> Result<Overview, Failure> {
    let settings = global.settings()?;
    if !settings.store_path()?.exists() {
        return Ok(overview);
    }
    let context = settings.into_context().await?;
    Ok(with_stored(&context, place, overview).await?)
}

fn show(overview: &Overview) {
    for trouble in &overview.troubles {
        ui::warn(&clean_line(trouble, 300));
    }
    if overview.tasks.is_empty() {
        ui::result("there are no tasks; `shuntyard spec new ID` makes one");
    } else {
        let rows: Vec<Vec<String>> = overview.tasks.iter().flat_map(rows).collect();
        ui::result(&ui::table(&["TASK", "STATE", "NEXT", "TITLE", "WHY"], &rows));
    }
    let stored: Vec<Vec<String>> = match overview.tasks.as_slice() {
        [task] => task.stored.iter().map(stored_row).collect(),
        // Of several tasks, only the steps that are not done.
        all => {
            all.iter().flat_map(|task| &task.stored).filter(|stored| stored.state != "done").map(stored_row).collect()
        }
    };
    if !stored.is_empty() {
        ui::result(&format!("\n{}", ui::table(&["IN THE STORE", "STATE", "TRY", "WHY"], &stored)));
    }
    // Which units run together matters only when a single task is shown.
    if let [task] = overview.tasks.as_slice()
        && !task.waves.is_empty()
    {
        let waves: Vec<String> = task.waves.iter().map(|wave| wave.join(" + ")).collect();
        ui::result(&format!("order: {}", clean_line(&waves.join(", then "), 300)));
    }
    if !overview.context {
        ui::note("there is no .ai/context.md, which tells agents about the project");
    }
}

fn stored_row(stored: &StoredTask) -> Vec<String> {
    let reason = clean_line(stored.reason.as_deref().unwrap_or_default(), 120);
    vec![stored.task.clone(), stored.state.to_owned(), stored.attempt.to_string(), reason]
}

fn rows(task: &TaskStatus) -> Vec<Vec<String>> {
    let row = |id: String, state: &str, next: Option<&str>, title: Option<&String>, why: Option<&String>| {
        let text = |text: Option<&String>| text.map(|text| clean_line(text, 100)).unwrap_or_default();
        vec![clean_line(&id, 80), state.to_owned(), next.unwrap_or_default().to_owned(), text(title), text(why)]
    };
    let first = row(task.id.clone(), task.state.as_str(), task.next, task.title.as_ref(), task.reason.as_ref());
    let units = task.units.iter().map(|unit| {
        row(
            format!("{}/{}", task.id, unit.id),
            unit.state.as_str(),
            unit.next,
            unit.title.as_ref(),
            unit.reason.as_ref(),
        )
    });
    std::iter::once(first).chain(units).collect()
}
