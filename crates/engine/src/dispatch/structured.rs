//! One call whose answer has a form of ours: a judge's verdict, a council's answer.

use super::{DispatchReport, Learning, Options, run::run_dispatch, transport::Company};
use crate::{Context, base::refusal::Refusal};
use serde_json::Value;
use shuntyard_agents::opencode::Sink;
use shuntyard_core::{ErrorClass, routing::request::Request, values::schema::AnswerSchema};
use std::{sync::Arc, time::Instant};
use tokio_util::sync::CancellationToken;

/// The answer, or why there is none; and the bill, when there is one.
pub(crate) struct Asked {
    pub(crate) said: Result<Value, String>,
    /// The class of a failure that has one.
    pub(crate) class: Option<ErrorClass>,
    pub(crate) report: Option<DispatchReport>,
}

impl Asked {
    /// It was never asked.
    pub(crate) fn refused(refusal: &Refusal) -> Self {
        Self { said: Err(format!("it was not asked: {refusal}")), class: refusal.class(), report: None }
    }
}

pub(crate) async fn ask(
    context: &Context,
    request: Request,
    options: &Options,
    schema: &Value,
    cancel: &CancellationToken,
) -> Asked {
    let schema = match AnswerSchema::parse(&schema.to_string()) {
        Ok(schema) => schema,
        Err(error) => return Asked { said: Err(error.to_string()), class: None, report: None },
    };
    let request = Request { schema: Some(schema), ..request };
    // What is asked here is our own frame around a question: how well it is answered teaches nothing about tasks.
    let options = Options { company: Company::Many, learning: Learning::Nothing, ..options.clone() };
    let silent: Sink = Arc::new(|_| {});
    match run_dispatch(context, &request, &options, None, &silent, cancel, Instant::now()).await {
        Err(refusal) => Asked::refused(&refusal),
        Ok(report) => {
            let said = match (&report.error, &report.structured) {
                (Some(error), _) => Err(error.message.clone()),
                (None, Some(value)) => Ok(value.clone()),
                (None, None) => Err("its answer has no structure".to_owned()),
            };
            let class = report.error.as_ref().map(|error| error.class);
            Asked { said, class, report: Some(report) }
        }
    }
}
