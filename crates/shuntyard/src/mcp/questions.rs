//! The views of `task_list` that answer a question as the command line does: the same functions, the same data.

use super::{answer::Answer, arguments::Arguments, table, yard::Yard};
use crate::{
    cli::{
        models,
        patterns::{SinceArgs, recommend, report, suggest},
        route,
    },
    failure::Failure,
};
use serde_json::{Map, Value};
use shuntyard_core::routing::{Needs, Selector};
use shuntyard_core::word_enum;
use shuntyard_engine::{
    queue::jobs::JobError,
    routing::{catalogue::Refresh, experience::repository_name},
};

word_enum! {
    pub enum Question {
        /// `shuntyard route TEXT`
        Route = "route",
        /// `shuntyard patterns recommend TYPE`
        Recommend = "recommend",
        /// `shuntyard patterns suggest TEXT`
        Similar = "similar",
        /// `shuntyard models compare A B`
        Compare = "compare",
        /// `shuntyard patterns report`
        Report = "report",
    }
}

impl Question {
    /// What `query` has to be; nothing when there is none.
    fn query(self) -> Option<&'static str> {
        match self {
            Self::Route => Some("the text of the task"),
            Self::Recommend => Some("a task type, such as code-review"),
            Self::Similar => Some("the text of the task"),
            Self::Compare => Some("two models or more, with commas between them"),
            Self::Report => None,
        }
    }

    pub async fn answer(self, yard: &Yard, arguments: &Arguments) -> Result<Answer, JobError> {
        let view = self.as_str();
        let meant: &[&str] = match self {
            Self::Route | Self::Recommend | Self::Compare => &["view", "format", "query"],
            Self::Similar => &["view", "format", "query", "limit"],
            Self::Report => &["view", "format"],
        };
        if let Some(other) = arguments.names().find(|name| !meant.contains(name)) {
            let message = format!("`{other}` means nothing for view \"{view}\"");
            return Err(JobError::choose(message, meant.iter().copied()));
        }
        let query = match (self.query(), arguments.text("query")) {
            (Some(what), None) => {
                return Err(JobError::usage(format!("view \"{view}\" needs `query`"), format!("give {what}")));
            }
            (_, query) => query.unwrap_or_default(),
        };
        let found = self.found(yard, query, arguments).await.map_err(refused)?;
        let data = Map::from_iter([("view".to_owned(), view.into()), (view.to_owned(), found)]);
        let whole = Value::Object(data.clone());
        let text = match arguments.text("format") {
            Some("json") => serde_json::to_string_pretty(&whole).unwrap_or_else(|_| whole.to_string()),
            _ => table::markdown(&whole),
        };
        Ok(Answer::new(text, data))
    }

    async fn found(self, yard: &Yard, query: &str, arguments: &Arguments) -> Result<Value, Failure> {
        let (context, directory) = (&yard.context, yard.fence.root());
        Ok(match self {
            Self::Route => {
                let question = route::Question {
                    selector: Selector::Default,
                    text: query,
                    needs: Needs::default(),
                    directory,
                    agent: None,
                    refresh: Refresh::IfStale,
                };
                route::document(&route::answer(context, question).await?)
            }
            Self::Recommend => {
                let repository = repository_name(directory);
                recommend::advise(context, query.trim(), None, Some(&repository)).await?.document()
            }
            Self::Similar => {
                let limit = arguments.count("limit").and_then(|limit| u32::try_from(limit).ok());
                suggest::find(context, query, limit.unwrap_or(suggest::USUAL)).await?.document()
            }
            Self::Compare => {
                let names: Vec<String> =
                    query.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
                if names.len() < 2 {
                    return Err(Failure::usage(
                        "there is nothing to compare",
                        "give two models or more, with commas between them",
                    ));
                }
                models::compared(context, directory, &names, Refresh::IfStale, models::comparison).await?
            }
            Self::Report => report::find(context, &SinceArgs::default()).await?.document(),
        })
    }
}

fn refused(failure: Failure) -> JobError {
    JobError { class: failure.class, message: failure.message, hint: failure.hint, valid: Vec::new() }
}
