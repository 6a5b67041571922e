//! The state of a job as text for a model. The first line always has the id and the state.

use jiff::Timestamp;
use serde_json::Value;
use shuntyard_core::{Nano, values::duration};
use shuntyard_engine::queue::jobs::{JobView, Started};
use std::{str::FromStr, time::Duration};

/// Such as `j3 running 12s: bash cargo test`.
pub fn headline(view: &JobView) -> String {
    let JobView { id, status, .. } = view;
    match status.as_str() {
        "queued" => match view.position {
            Some(before) if before > 0 => format!("{id} queued, {before} before it"),
            _ => format!("{id} queued"),
        },
        "done" => format!("{id} done{}{}", on_model(view), bill(view)),
        "failed" => format!("{id} failed{}{}{}", class_of(view), on_model(view), bill(view)),
        "cancelled" => format!("{id} cancelled{}", bill(view)),
        "paused" => format!("{id} paused after {} of its steps{}", view.steps.len(), bill(view)),
        _ => {
            let elapsed = elapsed(view).filter(|elapsed| elapsed.as_secs() > 0);
            let elapsed = elapsed.map(|elapsed| format!(" {}", seconds(elapsed))).unwrap_or_default();
            let doing = view.progress.as_deref().map(|progress| format!(": {}", one_line(progress, 160)));
            format!("{id} {status}{elapsed}{}", doing.unwrap_or_default())
        }
    }
}

/// Everything that is worth reading about a job, its state first.
pub fn whole(view: &JobView) -> String {
    let mut lines = vec![headline(view)];
    if view.forgotten {
        lines.push("Its texts were removed: it has been over for longer than they are kept.".into());
    }
    lines.extend(failure(view));
    lines.extend(answer(view));
    lines.extend(remarks(view));
    lines.extend(next(view));
    lines.join("\n")
}

/// The text of the result: of a workflow step by step, of a batch model by model, else the answer.
pub fn answer(view: &JobView) -> Vec<String> {
    let mut lines = Vec::new();
    for step in &view.steps {
        let model = step["model"].as_str().map(|model| format!(" on {model}")).unwrap_or_default();
        lines.push(format!("--- step {}: {}{model} ---", word(step, "name"), word(step, "status")));
        // The last one is the answer.
        if !view.over || view.text.is_none() {
            lines.extend(step["text"].as_str().map(str::to_owned));
        }
    }
    lines.extend(view.answers.iter().flat_map(section));
    match (&view.structured, &view.text) {
        // What a supervised task leaves behind as data is its receipt, not its answer.
        (Some(value), _) if view.kind != "supervised" => {
            lines.push(serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()))
        }
        (_, Some(text)) if view.answers.is_empty() => lines.push(text.clone()),
        _ => {}
    }
    lines
}

/// `--- dispatch response from p/m [OK] ---` and the text of the answer.
fn section(answer: &Value) -> Vec<String> {
    let error = &answer["error"];
    let state = match answer["status"].as_str() {
        Some("ok") => "OK".to_owned(),
        Some("timeout") => "TIMEOUT".to_owned(),
        _ => format!("ERROR: {}", error["class"].as_str().unwrap_or("failed")),
    };
    let mut lines = vec![format!("--- dispatch response from {} [{state}] ---", word(answer, "model"))];
    let text = answer["text"].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    lines.extend(text.or_else(|| error["message"].as_str().map(str::to_owned)));
    lines
}

pub fn failure(view: &JobView) -> Vec<String> {
    let Some(error) = &view.error else { return Vec::new() };
    let message = error["message"].as_str().map(str::to_owned);
    let hint = error["hint"].as_str().filter(|hint| !hint.is_empty()).map(|hint| format!("next: {hint}"));
    message.into_iter().chain(hint).collect()
}

pub fn remarks(view: &JobView) -> Vec<String> {
    let warnings = view.warnings.iter().map(|warning| format!("warning: {warning}"));
    let full = view.full_text_path.as_ref().map(|path| format!("(the answer is cut; the whole of it is in {path})"));
    full.into_iter().chain(warnings).collect()
}

/// The possible actions on a job that is not over.
fn next(view: &JobView) -> Option<String> {
    let id = &view.id;
    match (view.status.as_str(), view.over) {
        (_, true) => None,
        ("paused", _) => Some(format!(
            "Continue it with task_start {{\"kind\":\"workflow\",\"runId\":\"{id}\"}}, or end it with task_cancel."
        )),
        _ => Some(format!("It goes on by itself; wait for it with task_await {{\"taskId\":\"{id}\"}}.")),
    }
}

/// The text right after a start.
pub fn started(started: &Started) -> String {
    let Started { id, status, .. } = started;
    let line = match started.position {
        Some(before) if before > 0 => format!("{id} {status}, {before} before it"),
        _ => format!("{id} {status}"),
    };
    let worker = started.worker.as_ref().map(|worker| format!("worker {worker}"));
    let model = started.model.as_ref().map(|model| match &started.reason {
        Some(reason) => format!("{model} ({reason})"),
        None => model.clone(),
    });
    let who: Vec<String> = worker.into_iter().chain(model).collect();
    let line = if who.is_empty() { line } else { format!("{line}: {}", who.join(" on ")) };
    let notes = started.notes.iter().map(|note| format!("note: {note}"));
    let wait =
        format!("Wait for it with task_await {{\"taskId\":\"{id}\"}}; look with task_peek, stop with task_cancel.");
    [line].into_iter().chain(notes).chain([wait]).collect::<Vec<_>>().join("\n")
}

/// `12s, $0.0032`, as far as it is known.
pub fn time_and_cost(view: &JobView) -> String {
    let cost = match (view.cost_usd.and_then(Nano::from_usd), view.cost_known) {
        (Some(cost), true) => cost.to_string(),
        (Some(cost), false) if cost != Nano::ZERO => format!("estimated {cost}"),
        _ => "cost unknown".to_owned(),
    };
    elapsed(view).map(|elapsed| format!("{}, {cost}", duration::show(elapsed))).unwrap_or(cost)
}

fn bill(view: &JobView) -> String {
    if view.started_at.is_none() { String::new() } else { format!(" ({})", time_and_cost(view)) }
}

fn on_model(view: &JobView) -> String {
    let worker = view.worker.as_ref().map(|worker| format!(" by worker {worker}")).unwrap_or_default();
    let model = view.model.as_ref().map(|model| format!(" on {model}")).unwrap_or_default();
    format!("{worker}{model}")
}

fn class_of(view: &JobView) -> String {
    let class = view.error.as_ref().and_then(|error| error["class"].as_str());
    class.map(|class| format!(" [{class}]")).unwrap_or_default()
}

/// Since it began, up to its end or until now.
fn elapsed(view: &JobView) -> Option<Duration> {
    let moment = |text: &Option<String>| text.as_deref().and_then(|text| Timestamp::from_str(text).ok());
    let began = moment(&view.started_at)?;
    let ended = moment(&view.ended_at).unwrap_or_else(Timestamp::now);
    Some(ended.duration_since(began).try_into().unwrap_or_default())
}

/// Whole seconds: tenths that change with every read have no information.
fn seconds(elapsed: Duration) -> String {
    duration::show(Duration::from_secs(elapsed.as_secs()))
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or("?")
}

pub fn one_line(text: &str, most: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= most {
        return flat;
    }
    let cut: String = flat.chars().take(most.saturating_sub(1)).collect();
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn view(status: &str) -> JobView {
        JobView {
            id: "j3".into(),
            kind: "dispatch".into(),
            status: status.into(),
            over: matches!(status, "done" | "failed" | "cancelled"),
            task: "x".into(),
            directory: "/".into(),
            worker: None,
            position: None,
            reference: None,
            model: Some("p/m".into()),
            policy: None,
            reason: None,
            progress: None,
            steps: Vec::new(),
            text: None,
            structured: None,
            answers: Vec::new(),
            error: None,
            warnings: Vec::new(),
            cost_usd: Some(0.0032),
            cost_known: true,
            session_id: None,
            full_text_path: None,
            created_at: "2026-01-02T03:04:05Z".into(),
            started_at: Some("2026-01-02T03:04:05Z".into()),
            ended_at: Some("2026-01-02T03:04:06.2Z".into()),
            forgotten: false,
        }
    }

    #[test]
    fn the_first_line_has_the_id_and_the_state() {
        let error = Some(json!({"class": "rate_limited", "message": "too many", "hint": "wait"}));
        let progress = Some("bash\ncargo test".into());
        let table = [
            (JobView { position: Some(2), ..view("queued") }, "j3 queued, 2 before it"),
            (JobView { position: Some(0), ..view("queued") }, "j3 queued"),
            (JobView { progress, ..view("running") }, "j3 running 1s: bash cargo test"),
            (view("done"), "j3 done on p/m (1.2s, $0.0032)"),
            (
                JobView { worker: Some("coder".into()), ..view("done") },
                "j3 done by worker coder on p/m (1.2s, $0.0032)",
            ),
            (JobView { error, ..view("failed") }, "j3 failed [rate_limited] on p/m (1.2s, $0.0032)"),
            (JobView { started_at: None, ..view("cancelled") }, "j3 cancelled"),
            (JobView { cost_known: false, ..view("done") }, "j3 done on p/m (1.2s, estimated $0.0032)"),
        ];
        for (view, expected) in table {
            assert_eq!(headline(&view), expected);
        }
    }

    #[test]
    fn what_was_said_follows() {
        let error = Some(json!({"class": "timeout", "message": "too late", "hint": "give it more time"}));
        assert!(whole(&JobView { error, ..view("failed") }).ends_with("\ntoo late\nnext: give it more time"));
        let answers = vec![
            json!({"model": "p/a", "status": "ok", "text": "yes"}),
            json!({"model": "p/b", "status": "error", "text": "", "error": {"class": "network", "message": "gone"}}),
        ];
        let batch = whole(&JobView { answers, model: None, ..view("done") });
        let heading = "--- dispatch response from p";
        let expected = format!("\n{heading}/a [OK] ---\nyes\n{heading}/b [ERROR: network] ---\ngone");
        assert!(batch.ends_with(&expected), "{batch}");
        let receipt = JobView {
            kind: "supervised".into(),
            structured: Some(json!({"a": 1})),
            text: Some("t".into()),
            ..view("done")
        };
        assert_eq!(answer(&receipt), ["t"]);
        let paused = whole(&JobView {
            steps: vec![json!({"name": "plan", "status": "done", "text": "first this"})],
            ..view("paused")
        });
        assert!(paused.contains("--- step plan: done ---\nfirst this\nContinue it with task_start"), "{paused}");
        assert!(whole(&view("running")).contains("task_await {\"taskId\":\"j3\"}"));
    }
}
