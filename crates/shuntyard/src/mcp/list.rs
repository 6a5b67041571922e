//! `task_list`: what there is, as a table that is short enough for a model, or as JSON.

use super::{answer::Answer, arguments::Arguments, questions::Question, table, telling, yard::Yard};
use serde_json::{Map, Value};
use shuntyard_engine::queue::jobs::{self, JobError, JobView, Listing, View};

const USUAL: u64 = 20;

pub async fn run(yard: &Yard, arguments: &Arguments) -> Result<Answer, JobError> {
    if let Some(question) = arguments.text("view").and_then(Question::parse) {
        return question.answer(yard, arguments).await;
    }
    let view = arguments.text("view").and_then(View::parse).unwrap_or(View::Tasks);
    match (view == View::Output, arguments.has("taskId")) {
        (true, false) => return Err(JobError::usage("view \"output\" needs `taskId`", "name the job, such as j17")),
        (false, true) => {
            let hint = "leave it out, or use task_peek to look at one job";
            return Err(JobError::usage("`taskId` is only for view \"output\"", hint));
        }
        _ => {}
    }
    let listing = Listing {
        view,
        status: arguments.owned("status"),
        kind: arguments.owned("kind"),
        worker: arguments.owned("workerId"),
        query: arguments.owned("query"),
        id: arguments.owned("taskId"),
        limit: u32::try_from(arguments.count("limit").unwrap_or(USUAL)).unwrap_or(u32::MAX),
    };
    let found = jobs::list(&yard.context, yard.fence.root(), &listing).await?;
    let text = match (arguments.text("format"), &listing.id) {
        (Some("json"), _) => serde_json::to_string_pretty(&found).unwrap_or_else(|_| found.to_string()),
        (_, Some(id)) => {
            // Here the whole of it is wanted, however long.
            let whole = found["output"]["text"].as_str().map(str::to_owned);
            let view = jobs::peek(&yard.context, id).await?;
            telling::whole(&JobView { text: whole, full_text_path: None, ..view })
        }
        (_, None) => table::markdown(&found),
    };
    let data = match found {
        Value::Object(fields) => fields,
        other => Map::from_iter([("rows".to_owned(), other)]),
    };
    Ok(Answer::new(text, data))
}
