//! A model's verdict about work that no command verifies. It is asked only where the evidence is silent, within a
//! deadline and in a fixed form, and it can only withdraw approval: an answer that cannot be read changes nothing.

use super::place::{Place, git};
use crate::{
    Context,
    dispatch::{
        Options,
        structured::{Asked, ask},
    },
};
use serde_json::{Value, json};
use shuntyard_core::{
    compare::{Part, fence},
    experience::FailureMode,
    routing::{Selector, request::Request},
    values::{Mode, duration::Limit},
    work::task::{Failure, Findings, Lift, Task},
};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const DEADLINE: Duration = Duration::from_secs(120);
/// Characters of the change that are shown; each takes up to four bytes.
const MOST_DIFF: usize = 100_000;

pub(super) enum Opinion {
    /// No model was asked, with nothing to report about it.
    NotAsked,
    /// It speaks for the work, or could not be read; a sentence for the receipt.
    Stands(String),
    Against(Failure),
}

pub(super) async fn opinion(
    context: &Context,
    task: &Task,
    place: &Place,
    findings: &Findings,
    stop: &CancellationToken,
) -> Opinion {
    let model = context.config.supervise.judge_model.as_str();
    let (Some(base), Some(head)) = (&findings.base, &findings.head) else { return Opinion::NotAsked };
    if model.is_empty() || !task.spec.verify.is_empty() {
        return Opinion::NotAsked;
    }
    let Ok(selector) = Selector::from_reference(model, &context.config) else {
        return Opinion::Stands(format!("{model}, which should have looked at it, is no model"));
    };
    let (directory, range) = (place.directory.clone(), format!("{}..{}", base.commit, head.commit));
    let diff = tokio::task::spawn_blocking(move || git().diff_start(&directory, &range, 4 * MOST_DIFF)).await;
    let Ok(Ok(diff)) = diff else { return Opinion::Stands("the change could not be shown to a judge".to_owned()) };
    let request = Request::plain(question(task, &diff), selector, Mode::Text, &place.repository);
    let options = Options {
        timeout: Some(Limit(Some(DEADLINE))),
        task: Some(task.charged_to().to_string()),
        batch: task.batch.clone(),
        ..Options::default()
    };
    let Asked { said, .. } = ask(context, request, &options, &form(), stop).await;
    heard(model, said)
}

/// The task and the change are others' words, and quoted as such.
fn question(task: &Task, diff: &str) -> String {
    let shown: String = diff.chars().take(MOST_DIFF).collect();
    let quoted = fence(
        Uuid::new_v4().as_u64_pair().0,
        &[Part::new("task", &task.spec.description), Part::new("change", &shown)],
    );
    format!(
        "A change was made for a task. Say whether it does what the task asks for: `done`, `not_done`, or `unclear` \
         when you cannot tell from the change alone. Give the reason in one or two sentences.\n\n{}\n\n{}",
        quoted.rule(),
        quoted.blocks.join("\n\n")
    )
}

fn form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "verdict": {"enum": ["done", "not_done", "unclear"]},
            "reason": {"type": "string"},
        },
        "required": ["verdict", "reason"],
        "additionalProperties": false,
    })
}

fn heard(model: &str, said: Result<Value, String>) -> Opinion {
    let said = match said {
        Ok(said) => said,
        Err(why) => return Opinion::Stands(format!("{model} could not be heard: {why}")),
    };
    let reason = said["reason"].as_str().unwrap_or_default();
    match said["verdict"].as_str() {
        Some("done") => Opinion::Stands(format!("{model} finds that it does what was asked: {reason}")),
        Some("not_done") => Opinion::Against(Failure {
            mode: FailureMode::Logic,
            class: None,
            signature: format!("judged {reason}"),
            detail: format!("{model} finds that it does not do what was asked: {reason}"),
            until: None,
            lift: Lift::Allowed,
        }),
        _ => Opinion::Stands(format!("{model} cannot tell: {reason}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_no_counts_against_the_work() {
        let stands = |said| matches!(heard("p/m", said), Opinion::Stands(_));
        assert!(stands(Ok(json!({"verdict": "done", "reason": "yes"}))));
        assert!(stands(Ok(json!({"verdict": "unclear", "reason": "?"}))));
        assert!(stands(Ok(json!({"verdict": "nonsense"}))));
        assert!(stands(Err("it timed out".into())));
        assert!(!stands(Ok(json!({"verdict": "not_done", "reason": "no"}))));
    }
}
