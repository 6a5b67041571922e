//! Checks of how a run is steered: permissions, questions, the model, ending it, and giving up.

use super::{
    Seen, Surprise,
    station::{Ran, Station},
};
use serde_json::json;
use shuntyard_agents::opencode::{GiveUp, StopOutcome};
use shuntyard_core::{ErrorClass, values::duration};
use shuntyard_scripted::Step;
use std::{
    fs,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// An abort has to be quicker than this; one that is not followed never ends the answer.
const AT_ONCE: Duration = Duration::from_secs(15);
const AN_HOUR: u64 = 3600;

pub(super) async fn permission_ask(station: &Station) -> Result<Seen, Surprise> {
    let outside = station.scratch.path("outside.txt");
    fs::write(&outside, "not for the model")?;
    let read = Step::tool("read", json!({"filePath": outside}));
    let ran = station.prompt("alpha", "conformance-permission", vec![read, Step::text("went on")]).await?;
    if !ran.report.warnings.iter().any(|warning| warning.contains("external_directory")) {
        return Err(Surprise("reading outside the directory did not ask, although `ask` is configured".into()));
    }
    expect_text(&ran, "went on")?;
    Ok(Seen::WorkedAround {
        how: "agents are denied what would ask, and what still asks is refused at once, with a reason",
        detail: "what asks would wait for ever; after our refusal the run went on to its answer".into(),
    })
}

pub(super) async fn question_tool(station: &Station) -> Result<Seen, Surprise> {
    let ran = station.prompt("alpha", "conformance-question", vec![Step::text("asked nothing")]).await?;
    let ledger = station.provider.ledger().for_session(&ran.session);
    let tools = ledger.entries.first().map(|entry| entry.tools.clone()).unwrap_or_default();
    if !tools.iter().any(|tool| tool == "read") {
        return Err(Surprise(format!("the model was offered other tools than expected: {}", tools.join(", "))));
    }
    if tools.iter().any(|tool| tool == "question") {
        return Err(Surprise("the model is offered the question tool, which waits for a person".into()));
    }
    Ok(Seen::Holds(format!("the model is offered {} tools, none that waits for a person", tools.len())))
}

pub(super) async fn model_used(station: &Station) -> Result<Seen, Surprise> {
    let ran = station.prompt("beta", "conformance-model", vec![Step::text("from beta")]).await?;
    expect_text(&ran, "from beta")?;
    let said = ran.report.verdict.answered_by.as_ref().map(ToString::to_string).unwrap_or_default();
    let ledger = station.provider.ledger().for_session(&ran.session);
    let asked: Vec<&str> = ledger.entries.iter().map(|entry| entry.model.as_str()).collect();
    if said != "scripted/beta" || asked != ["beta"] {
        let asked = asked.join(", ");
        return Err(Surprise(format!(
            "beta was named; OpenCode says {said} answered, and the provider was asked for {asked}"
        )));
    }
    Ok(Seen::Holds("the named model was asked and is the one that the answer names".into()))
}

pub(super) async fn abort(station: &Station) -> Result<Seen, Surprise> {
    let key = "conformance-abort";
    station.provider.script(key, vec![Step::hang_mid_stream()]);
    let cancel = CancellationToken::new();
    let hanging = async {
        let begun =
            |ledger: &shuntyard_scripted::Ledger| ledger.for_key(key).entries.iter().any(|e| e.status.is_some());
        let arrived = station.provider.wait_until(Duration::from_secs(30), begun).await;
        cancel.cancel();
        arrived.map(|_| Instant::now())
    };
    let (ran, aborted_at) = tokio::join!(station.send("alpha", key, None, &cancel), hanging);
    let (ran, took) = (ran?, aborted_at?.elapsed());
    if ran.report.stop != Some(StopOutcome::Stopped) || took > AT_ONCE {
        let seen = format!("{:?} after {}", ran.report.stop, duration::show(took));
        return Err(Surprise(format!("the hanging answer was not ended at once: {seen}")));
    }
    let closed = |ledger: &shuntyard_scripted::Ledger| ledger.for_key(key).entries.iter().all(|e| e.client_closed());
    station
        .provider
        .wait_until(AT_ONCE, closed)
        .await
        .map_err(|_| Surprise("the session is idle, but the provider's answer was left open".into()))?;
    Ok(Seen::Holds(format!("a hanging answer ended {} ms after the abort, at the provider too", took.as_millis())))
}

pub(super) async fn retry_after(station: &Station) -> Result<Seen, Surprise> {
    let steps = vec![Step::status(429).retry_after(AN_HOUR).message("slow down")];
    let ran = station.prompt("alpha", "conformance-retry", steps).await?;
    let wait = match &ran.report.gave_up {
        Some(GiveUp::ProviderRetry { wait, .. }) => *wait,
        other => {
            return Err(Surprise(format!(
                "no retry in an hour was announced: {other:?}, {:?}",
                ran.report.verdict.outcome
            )));
        }
    };
    let class = ran.report.verdict.outcome.err().map(|failure| failure.class);
    if class != Some(ErrorClass::QuotaExhausted) || wait < Duration::from_secs(AN_HOUR / 2) {
        return Err(Surprise(format!("announced a wait of {}, classed {class:?}", duration::show(wait))));
    }
    Ok(Seen::WorkedAround {
        how: "the run is ended as soon as the wait is announced, and classed quota_exhausted",
        detail: format!(
            "OpenCode would wait {}; the run was ended after {} ms",
            duration::show(wait),
            ran.took.as_millis()
        ),
    })
}

pub(super) fn expect_text(ran: &Ran, text: &str) -> Result<(), Surprise> {
    match &ran.report.verdict.outcome {
        Ok(answer) if answer.text == text => Ok(()),
        Ok(answer) => Err(Surprise(format!("the answer is `{}` and not `{text}`", answer.text))),
        Err(failure) => Err(Surprise(format!("the run failed ({}): {}", failure.class, failure.message))),
    }
}
