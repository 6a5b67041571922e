//! Checks of what a run leaves behind: structured values, money, and answers that are none.

use super::{Seen, Surprise, behaviour::expect_text, station::Station};
use serde_json::json;
use shuntyard_agents::opencode::read_tree;
use shuntyard_core::ErrorClass;
use shuntyard_scripted::{Step, Tokens};
use std::fs;
use tokio_util::sync::CancellationToken;

pub(super) async fn structured_output(station: &Station) -> Result<Seen, Surprise> {
    let key = "conformance-structured";
    let wrong = json!({"score": "four"});
    station.provider.script(key, vec![Step::structured(wrong.clone())]);
    let schema = json!({"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]});
    let ran = station.send("alpha", key, Some(schema), &CancellationToken::new()).await?;
    match ran.report.verdict.outcome {
        Ok(answer) if answer.structured.as_ref() == Some(&wrong) => Ok(Seen::WorkedAround {
            how: "Shuntyard checks every value against its schema and asks again",
            detail: "a text in place of a number was accepted: OpenCode does not check the value".into(),
        }),
        Ok(answer) => Err(Surprise(format!("another value came back: {:?}", answer.structured))),
        Err(failure) if failure.class == ErrorClass::StructuredOutputFailed && was_called(station, &ran.session) => {
            Ok(Seen::Holds("a value that does not fit its schema was refused by OpenCode itself".into()))
        }
        Err(failure) => Err(Surprise(format!("the run failed ({}): {}", failure.class, failure.message))),
    }
}

/// Whether the model was offered the tool for structured answers at all.
fn was_called(station: &Station, session: &str) -> bool {
    let ledger = station.provider.ledger().for_session(session);
    ledger.entries.iter().any(|entry| entry.tools.iter().any(|tool| tool == "StructuredOutput"))
}

pub(super) async fn cost(station: &Station) -> Result<Seen, Surprise> {
    let notes = station.scratch.path("project").join("notes.txt");
    fs::write(&notes, "two steps cost more than one")?;
    let steps = vec![
        Step::tool("read", json!({"filePath": notes})).usage(Tokens::new(1234, 56)),
        Step::text("counted").usage(Tokens::new(2345, 67).cached(1001).reasoning(13)),
    ];
    let ran = station.prompt("alpha", "conformance-cost", steps).await?;
    expect_text(&ran, "counted")?;
    let booked = read_tree(&station.client, &ran.session).await?;
    let spent = station.provider.ledger().for_session(&ran.session).total_reported();
    if spent.requests != 2 || booked.cost != spent.cost || booked.usage != spent.usage {
        let (booked, spent, requests) = (booked.cost.0, spent.cost.0, spent.requests);
        return Err(Surprise(format!(
            "OpenCode booked {booked} nano-dollars; the provider counted {spent} in {requests} requests"
        )));
    }
    Ok(Seen::Holds(format!("{} booked for two steps, the provider's own sum to the nano-dollar", booked.cost)))
}

pub(super) async fn empty_answer(station: &Station) -> Result<Seen, Surprise> {
    let ran = station.prompt("alpha", "conformance-empty", vec![Step::empty()]).await?;
    let messages = station.client.messages(&ran.session).await?;
    let last = messages.last().map(|message| &message.info);
    let unmarked = last.is_some_and(|info| info.finish.as_deref() == Some("stop") && info.error.is_none());
    match ran.report.verdict.outcome.map_err(|failure| failure.class) {
        Err(ErrorClass::EmptyResponse) if unmarked => Ok(Seen::WorkedAround {
            how: "an answer without text is a failure, classed empty_response",
            detail: "OpenCode calls an answer without any text a success".into(),
        }),
        Err(ErrorClass::EmptyResponse) => Ok(Seen::Holds("an answer without text is marked as such".into())),
        other => Err(Surprise(format!("an answer without text was judged {other:?}"))),
    }
}
