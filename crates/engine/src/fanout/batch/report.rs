//! What a batch came to, in the form that scripts rely on.

use super::Target;
use crate::{
    base::refusal::Refusal,
    dispatch::{DispatchReport, ErrorReport, Status},
};
use serde::Serialize;
use serde_json::{Value, json};
use shuntyard_core::{ErrorClass, Nano, Usage};
use std::time::Duration;

#[derive(Debug, Clone, Serialize)]
pub struct BatchReport {
    pub results: Vec<TargetReport>,
    pub summary: Summary,
    /// The verdict of a comparison, when one was asked for.
    pub verdict: Option<Value>,
    /// What should be known about the choice of the targets.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    pub ok: usize,
    pub errors: usize,
    pub timeouts: usize,
    pub wall_ms: u64,
    pub usage: Usage,
    pub cost_usd: f64,
    pub cost_known: bool,
}

/// One target: what became of it, or why it was never asked.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum TargetReport {
    Ran(Box<DispatchReport>),
    Refused(Box<RefusedTarget>),
}

/// A target that nothing was sent to, with the same fields as one that ran.
#[derive(Debug, Clone, Serialize)]
pub struct RefusedTarget {
    pub status: Status,
    pub text: String,
    pub structured: Option<Value>,
    pub model: Value,
    pub requested: Value,
    pub route: Option<Value>,
    pub attempts: Vec<Value>,
    pub usage: Usage,
    pub cost_usd: f64,
    pub cost_known: bool,
    pub duration_ms: u64,
    pub session_id: String,
    pub via: Option<&'static str>,
    pub kept: bool,
    pub truncated: bool,
    pub full_text_path: Option<String>,
    pub warnings: Vec<String>,
    pub error: RefusedError,
    #[serde(skip)]
    pub name: String,
}

/// The error of a target that was not asked. A mistyped name has no class of its own.
#[derive(Debug, Clone, Serialize)]
pub struct RefusedError {
    pub class: Option<ErrorClass>,
    pub message: String,
    pub hint: String,
    pub retryable: bool,
}

impl RefusedTarget {
    pub(super) fn new(target: &Target, refusal: &Refusal, took: Duration) -> Box<Self> {
        let class = refusal.class();
        let status = if class == Some(ErrorClass::Timeout) { Status::Timeout } else { Status::Error };
        let model = match &target.chosen {
            Ok(model) => json!(model),
            Err(_) => Value::Null,
        };
        Box::new(Self {
            status,
            text: String::new(),
            structured: None,
            model,
            requested: json!({ "model": target.name }),
            route: None,
            attempts: Vec::new(),
            usage: Usage::default(),
            cost_usd: 0.0,
            cost_known: true,
            duration_ms: millis(took),
            session_id: String::new(),
            via: None,
            kept: false,
            truncated: false,
            full_text_path: None,
            warnings: Vec::new(),
            error: RefusedError {
                class,
                message: refusal.to_string(),
                hint: match refusal {
                    Refusal::NotDirect(_) => "leave out --via, or name another model",
                    _ => class.map_or("see `shuntyard models`", ErrorClass::hint),
                }
                .to_owned(),
                retryable: class.is_some_and(ErrorClass::retryable),
            },
            name: target.name.clone(),
        })
    }
}

impl TargetReport {
    /// The model, as it is called in a heading.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Ran(report) => report.route.model.to_string(),
            Self::Refused(refused) => refused.name.clone(),
        }
    }

    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::Ran(report) => report.status,
            Self::Refused(refused) => refused.status,
        }
    }

    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.status() == Status::Ok
    }

    /// The answer of one that gave one.
    #[must_use]
    pub fn answer(&self) -> Option<&DispatchReport> {
        match self {
            Self::Ran(report) if report.status == Status::Ok => Some(report),
            _ => None,
        }
    }

    #[must_use]
    pub fn error(&self) -> Option<(Option<ErrorClass>, &str)> {
        match self {
            Self::Ran(report) => {
                report.error.as_ref().map(|ErrorReport { class, message, .. }| (Some(*class), message.as_str()))
            }
            Self::Refused(refused) => Some((refused.error.class, refused.error.message.as_str())),
        }
    }
}

impl BatchReport {
    pub(super) fn new(results: Vec<TargetReport>, wall: Duration) -> Self {
        let count = |status: Status| results.iter().filter(|result| result.status() == status).count();
        let ran = || {
            results.iter().filter_map(|result| match result {
                TargetReport::Ran(report) => Some(report),
                TargetReport::Refused(_) => None,
            })
        };
        let summary = Summary {
            ok: count(Status::Ok),
            errors: count(Status::Error),
            timeouts: count(Status::Timeout),
            wall_ms: millis(wall),
            usage: ran().fold(Usage::default(), |sum, report| sum + report.usage),
            cost_usd: sum(ran().map(|report| report.cost_usd)),
            cost_known: ran().all(|report| report.cost_known),
        };
        Self { results, summary, verdict: None, warnings: Vec::new() }
    }
}

/// Added up to the nano-dollar: a sum of fractions would show how it was made.
pub(super) fn sum(costs: impl IntoIterator<Item = f64>) -> f64 {
    costs.into_iter().filter_map(Nano::from_usd).sum::<Nano>().as_usd()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
