//! `task_peek` and `task_cancel`: one job, by its id.

use super::{
    answer::{Answer, named},
    arguments::Arguments,
    telling,
    yard::Yard,
};
use serde_json::json;
use shuntyard_engine::queue::jobs::{self, JobError, JobView};
use std::time::Duration;

/// How long a cancellation is waited for. Clients wait longer than that without progress.
const CONFIRMATION: Duration = Duration::from_secs(20);

pub async fn peek(yard: &Yard, arguments: &Arguments) -> Result<Answer, JobError> {
    let view = jobs::peek(&yard.context, arguments.text("taskId").unwrap_or_default()).await?;
    Ok(Answer::new(telling::whole(&view), named(&view)))
}

pub async fn cancel(yard: &Yard, arguments: &Arguments) -> Result<Answer, JobError> {
    let id = arguments.text("taskId").unwrap_or_default();
    let before = jobs::peek(&yard.context, id).await?;
    if before.over {
        return Ok(over_before(&before));
    }
    let view = jobs::cancel(&yard.context, &yard.notifier, id, CONFIRMATION).await?;
    if view.status == "cancelled" {
        return Ok(Answer::new(telling::headline(&view), named(&view)));
    }
    if view.over {
        return Ok(over_before(&view));
    }
    let mut data = named(&view);
    data.insert("status".into(), json!("cancelling"));
    let text = format!(
        "{id} cancelling: it was told to stop, and its stop is not confirmed yet.\nLook again with task_peek {{\"taskId\":\"{id}\"}}."
    );
    Ok(Answer::new(text, data))
}

fn over_before(view: &JobView) -> Answer {
    let text = format!("{} was over before: {}. Nothing was cancelled.", view.id, telling::headline(view));
    Answer::new(text, named(view))
}
