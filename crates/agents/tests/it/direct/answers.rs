//! What a good answer brings: the text as it comes, every token once, the money exactly.

use super::{
    Question, class, keeping, scripted,
    station::{Act, DONE, Station, counts, event, finishes, good, response, says, stream},
};
use serde_json::json;
use shuntyard_agents::{
    openai::{Direct, Earlier},
    opencode::{Progress, Sink},
};
use shuntyard_core::{Nano, Usage, routing::request::Image};
use shuntyard_scripted::{Ending, Step, Tokens};
use std::sync::Arc;
use tokio::sync::Notify;

#[tokio::test]
async fn an_answer_is_streamed_and_every_token_is_counted_once() {
    let tokens = Tokens::new(1000, 50).cached(200).reasoning(10);
    let step = Step::chunks(["one ", "two ", "three"]).reasoning("hm").usage(tokens);
    let key = scripted().script("counted", vec![step]);
    let (sink, shown) = keeping();
    let question = Question { sink, ..Question::new(&scripted().base_url(), &key) };
    let answered = question.ask().await;
    assert_eq!(answered.outcome, Ok(()));
    assert_eq!(answered.text, "one two three");
    assert_eq!(*shown.lock().unwrap(), ["one ", "two ", "three"]);
    assert_eq!(answered.model.as_deref(), Some("alpha"));
    let expected = Usage { input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0 };
    assert_eq!((answered.usage, answered.usage_known), (expected, true));
    assert_eq!((answered.retries, answered.cost, answered.gave_up, answered.form), (0, None, None, None));
    assert!(answered.first_token.is_some());
    let ledger = scripted().requests(&key);
    assert_eq!(ledger.total_reported().usage, answered.usage, "as the provider itself counts");
    assert!(ledger.entries[0].authorization_present);
    assert_eq!(ledger.entries[0].ending, Ending::Complete);
}

#[tokio::test]
async fn the_first_piece_is_shown_while_the_stream_goes_on() {
    // The rest is sent only after the first piece was shown: a reader that waits for the end waits for ever.
    let shown = Arc::new(Notify::new());
    let rest = [says("rest"), finishes("stop"), DONE.to_owned()].concat();
    let reply = vec![Act::Send(stream(says("first "))), Act::WaitFor(Arc::clone(&shown)), Act::Send(rest.into_bytes())];
    let station = Station::start(vec![reply]).await;
    let sink: Sink = Arc::new(move |progress| {
        if progress == Progress::Text("first ".into()) {
            shown.notify_one();
        }
    });
    let answered = Question { sink, ..Question::new(&station.base_url(), "go") }.ask().await;
    assert_eq!((class(&answered), answered.text.as_str()), (Ok(()), "first rest"));
}

#[tokio::test]
async fn what_is_asked_reaches_the_provider() {
    let station = Station::start(vec![vec![Act::Send(good("yes"))]]).await;
    let images = [Image { name: "dot.png".into(), mime: "image/png", bytes: vec![0x89, b'P', b'N', b'G'] }];
    let extra = json!({"temperature": 0.5, "model": "other", "max_tokens": 9, "stream": false});
    let question = Question {
        system: Some("be brief"),
        earlier: &[Earlier { prompt: "what is this?", answer: "a dot" }],
        images: &images,
        max_output_tokens: Some(50),
        extra: extra.as_object(),
        ..Question::new(&station.base_url(), "sure?")
    };
    assert_eq!(class(&question.ask().await), Ok(()));
    let received = station.received();
    let expected = json!({
        "model": "alpha",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [
                {"type": "text", "text": "what is this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
            ]},
            {"role": "assistant", "content": "a dot"},
            {"role": "user", "content": "sure?"},
        ],
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_tokens": 50,
        "temperature": 0.5,
    });
    assert_eq!(received[0].body, expected);
    assert!(received[0].head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", received[0].head);
    assert!(received[0].head.contains(&format!("authorization: Bearer {}", super::KEY)));
}

#[tokio::test]
async fn a_cost_that_the_provider_names_is_exact() {
    let usage = r#"data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"cost":9007199.254740993}}"#;
    let body = [says("hi"), finishes("stop"), format!("{usage}\n\n"), DONE.to_owned()].concat();
    let station = Station::replying(stream(body)).await;
    let answered = Question::new(&station.base_url(), "go").ask().await;
    assert_eq!(answered.cost, Some(Nano(9_007_199_254_740_993)));
    assert_eq!(answered.model.as_deref(), Some("alpha-2"), "the model that answered, not the one that was asked for");
}

#[tokio::test]
async fn an_answer_without_counts_has_an_unknown_usage() {
    let key = scripted().script("uncounted", vec![Step::text("hi").no_usage()]);
    let answered = Question::new(&scripted().base_url(), &key).ask().await;
    assert_eq!((class(&answered), answered.usage, answered.usage_known), (Ok(()), Usage::default(), false));
    let zeros = [says("hi"), finishes("stop"), counts(0, 0), DONE.to_owned()].concat();
    let station = Station::replying(stream(zeros)).await;
    let answered = Question::new(&station.base_url(), "go").ask().await;
    assert_eq!((class(&answered), answered.usage_known), (Ok(()), false));
}

#[tokio::test]
async fn careless_providers_are_understood() {
    let message = json!({"role": "assistant", "content": "hi"});
    let whole = json!({"model": "m", "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 1}});
    let content = json!([{"type": "thinking", "thinking": []}, {"type": "text", "text": "hi"}]);
    let parts = json!({"choices": [{"delta": {"content": content}}]});
    let usage = counts(4, 1);
    let plain = [says("hi"), finishes("stop"), usage.clone(), DONE.to_owned()].concat();
    let table = [
        ("in one piece", response(200, "application/json", whole.to_string())),
        ("content type", response(200, "text/plain", &plain)),
        ("no content type", super::station::response_with(200, "", &plain)),
        ("carriage returns", stream(plain.replace('\n', "\r\n"))),
        ("comments", stream(format!(": ping\n\nretry: 5\n{}", plain.replace("\n\n", "\n\n: ping\n\n")))),
        ("unknown fields", stream(format!("hello\nfoo: bar\n\n{plain}"))),
        ("no end marker", stream([says("hi"), finishes("stop"), usage.clone()].concat())),
        ("no last line break", stream([says("hi"), finishes("stop"), usage.trim_end().to_owned()].concat())),
        ("parts", stream([event(&parts), finishes("stop"), usage.clone()].concat())),
        (
            "other choices",
            stream(plain.replace("data: [DONE]", "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}}]}")),
        ),
        ("odd counts", stream([says("hi"), finishes("stop"), "data: {\"usage\":[]}\n\n".into(), usage].concat())),
    ];
    for (name, bytes) in table {
        let station = Station::replying(bytes).await;
        let answered = Question::new(&station.base_url(), "go").ask().await;
        let expected = Usage { input: 4, output: 1, ..Usage::default() };
        assert_eq!((class(&answered), answered.text.as_str(), answered.usage), (Ok(()), "hi", expected), "{name}");
    }
}

#[tokio::test]
async fn a_connection_serves_many_requests() {
    let body = [says("hi"), finishes("stop"), counts(4, 1), DONE.to_owned()].concat();
    let reply = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let reply = vec![Act::Send(reply.into_bytes()), Act::KeepOpen];
    let station = Station::start(vec![reply; 5]).await;
    let direct = Direct::new().unwrap();
    for _ in 0..5 {
        let answered = Question::new(&station.base_url(), "go").ask_with(&direct).await;
        assert_eq!(class(&answered), Ok(()));
    }
    assert_eq!((station.received().len(), station.connections()), (5, 1));
}
