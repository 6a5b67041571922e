//! What the store knows of the tasks of specs, beside what their files say.

use super::{
    place::Place,
    run::{labelled, spec_label},
    status::{Overview, StoredTask, TaskStatus},
};
use crate::Context;
use shuntyard_core::values::clean_line;
use shuntyard_host::repository::repository_of;
use shuntyard_store::{StoreError, TaskFilter, TaskRecord};

/// Tasks that are read in one go.
const PAGE: u32 = 500;

/// Looks up what has become of the specs of an overview.
pub async fn with_stored(context: &Context, place: &Place, mut overview: Overview) -> Result<Overview, StoreError> {
    let root = repository_of(place.root()).unwrap_or_else(|| place.root().to_owned());
    let root = std::fs::canonicalize(&root).unwrap_or(root);
    let mut filter = TaskFilter { repository: Some(root.display().to_string()), limit: PAGE, ..TaskFilter::default() };
    loop {
        let page = context.store.tasks(&filter).await?;
        let Some(last) = page.last() else { return Ok(overview) };
        filter.after = last.number;
        for record in &page {
            let is_of = |task: &&mut TaskStatus| record.task.spec.labels.contains(&spec_label(&task.id));
            let Some(task) = overview.tasks.iter_mut().find(is_of) else { continue };
            task.stored.extend(stored(record));
        }
    }
}

fn stored(record: &TaskRecord) -> Option<StoredTask> {
    let task = &record.task;
    let labelled = labelled(task)?;
    let reason = Some(clean_line(&task.state.reason(), 300)).filter(|reason| !reason.is_empty());
    Some(StoredTask {
        task: task.id.to_string(),
        unit: labelled.unit,
        role: labelled.step.as_str(),
        cycle: labelled.cycle,
        state: task.state.name(),
        attempt: task.epoch,
        reason,
    })
}
