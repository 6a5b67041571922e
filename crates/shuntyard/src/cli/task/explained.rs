//! The attempts of a task with their explanation: how the model was chosen, and which models were asked.

use super::document;
use crate::{cli::route, ui};
use serde_json::{Value, json};
use shuntyard_core::{routing::TraceStep, values::clean, work::task::Change};
use shuntyard_engine::Context;
use shuntyard_store::{DispatchRecord, Event, RunRecord};

/// One attempt and its explanation.
pub struct Explained<'a> {
    pub run: &'a RunRecord,
    /// The decision at the claim; of a task from an earlier release that of its dispatch.
    pub route: Option<Value>,
    dispatch: Option<DispatchRecord>,
}

/// Every attempt, the oldest first.
pub async fn attempts<'a>(context: &Context, runs: &'a [RunRecord], events: &[Event]) -> Vec<Explained<'a>> {
    let mut explained = Vec::with_capacity(runs.len());
    for run in runs {
        let dispatch = match run.dispatch {
            Some(id) => context.store.dispatch(id).await.ok(),
            None => None,
        };
        let route = claimed(events, run.epoch).or_else(|| dispatch.as_ref().map(|dispatch| dispatch.route.clone()));
        explained.push(Explained { run, route, dispatch });
    }
    explained
}

fn claimed(events: &[Event], epoch: i64) -> Option<Value> {
    let changes = events.iter().filter_map(|event| serde_json::from_value::<Change>(event.data.clone()).ok());
    changes.filter(|change| change.epoch == epoch).find_map(|change| change.route)
}

impl Explained<'_> {
    pub fn document(&self) -> Value {
        let mut attempt = document::attempt(self.run);
        attempt["route"] = json!(self.route);
        attempt["models"] = self.models();
        attempt
    }

    /// The models that were asked, in order: more than one when the first could not answer.
    fn models(&self) -> Value {
        let asked = self.dispatch.iter().flat_map(|dispatch| &dispatch.attempts);
        asked
            .map(|asked| {
                json!({"model": asked.model, "status": asked.status, "error_class": asked.error_class,
                    "message": asked.message})
            })
            .collect()
    }

    /// Why this model, step by step; nothing for an attempt without a model.
    pub fn show(&self) {
        let Some(route) = &self.route else { return };
        let reason = route["reason"].as_str().unwrap_or("the reason was not recorded");
        let model = document::model(self.run).unwrap_or("a model");
        ui::frame(&format!("\nattempt {}: {model}, because {}", self.run.epoch, clean(reason)));
        if let Ok(trace) = serde_json::from_value::<Vec<TraceStep>>(route["trace"].clone()) {
            ui::result(&route::steps(&trace));
        }
        let asked = self.dispatch.iter().flat_map(|dispatch| &dispatch.attempts);
        for failed in asked.filter(|asked| asked.error_class.is_some()) {
            let class = failed.error_class.map_or("", |class| class.as_str());
            let message = failed.message.as_deref().unwrap_or_default();
            ui::result(&format!("{}: {class}: {}", failed.model, clean(message)));
        }
    }
}
