//! The provider as a client sees it, one test for each kind of step.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use shuntyard_core::{
    Nano, Usage,
    values::money::{Price, round_exact},
};
use shuntyard_scripted::{Answer, Ending, Fault, Matched, Provider, ScriptFile, Step, Tokens};
use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

const SOON: Duration = Duration::from_secs(10);

async fn provider() -> Provider {
    Provider::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap()
}

fn client() -> Client {
    // The client is built without a TLS provider of its own; a second installation is refused, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::new()
}

fn request(text: &str) -> Value {
    json!({
        "model": "alpha", "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "system", "content": "be kind" }, { "role": "user", "content": text }],
    })
}

async fn post(provider: &Provider, body: &Value) -> Response {
    let url = format!("{}/chat/completions", provider.base_url());
    client().post(url).header("x-session-id", "ses_1").json(body).send().await.unwrap()
}

/// The data of every event; an end marker is the string `[DONE]`.
async fn events(response: Response) -> Vec<Value> {
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = response.text().await.unwrap();
    let data = text.split_terminator("\n\n").map(|event| event.strip_prefix("data: ").unwrap());
    data.map(|data| if data == "[DONE]" { json!(data) } else { serde_json::from_str(data).unwrap() }).collect()
}

fn chunk(ordinal: usize, delta: Value, finish: Option<&str>) -> Value {
    json!({
        "id": format!("chatcmpl-scripted-{ordinal}"), "object": "chat.completion.chunk", "created": 1, "model": "alpha",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    })
}

fn usage_chunk(ordinal: usize, prompt: u64, completion: u64, cached: u64, reasoning: u64) -> Value {
    json!({
        "id": format!("chatcmpl-scripted-{ordinal}"), "object": "chat.completion.chunk", "created": 1, "model": "alpha",
        "choices": [],
        "usage": {
            "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
            "prompt_tokens_details": { "cached_tokens": cached },
            "completion_tokens_details": { "reasoning_tokens": reasoning },
        },
    })
}

#[tokio::test]
async fn a_text_is_streamed_in_its_pieces() {
    let provider = provider().await;
    let tokens = Tokens::new(1000, 50).cached(200).reasoning(10);
    provider.script("hello", vec![Step::chunks(["wor", "ld"]).reasoning("hm").usage(tokens)]);
    let expected = vec![
        chunk(1, json!({ "role": "assistant", "reasoning_content": "hm" }), None),
        chunk(1, json!({ "content": "wor" }), None),
        chunk(1, json!({ "content": "ld" }), None),
        chunk(1, json!({}), Some("stop")),
        usage_chunk(1, 1000, 50, 200, 10),
        json!("[DONE]"),
    ];
    assert_eq!(events(post(&provider, &request("say hello")).await).await, expected);

    let ledger = provider.ledger();
    let entry = &ledger.entries[0];
    assert_eq!(entry.matched, Matched::Key("hello".to_owned()));
    assert_eq!((entry.answer, entry.ending, entry.status), (Answer::Scripted, Ending::Complete, Some(200)));
    assert_eq!(entry.usage, Usage { input: 800, output: 40, reasoning: 10, cache_read: 200, cache_write: 0 });
    // 800 × 3 + 50 × 15 + 200 × 0.3 dollars per million.
    assert_eq!(entry.cost(), Nano(3_210_000));
    assert_eq!((entry.session.as_deref(), entry.system_length), (Some("ses_1"), 7));
    assert_eq!(entry.last_user_text, "say hello");
    assert!(entry.usage_reported && !entry.authorization_present && entry.finished_at.is_some());
}

#[tokio::test]
async fn tool_calls_come_with_names_and_arguments() {
    let provider = provider().await;
    let step = Step::tool("bash", json!({ "command": "ls" })).and_tool("read", json!({ "filePath": "/a" })).no_usage();
    provider.script("go", vec![step]);
    let mut body = request("go");
    body["tools"] = json!([{ "type": "function", "function": { "name": "bash", "parameters": {} } }]);
    body["tool_choice"] = json!("auto");
    let call = |index: usize, name: &str, arguments: &str| {
        json!({
            "index": index, "id": format!("call_1_{index}"), "type": "function",
            "function": { "name": name, "arguments": arguments },
        })
    };
    let expected = vec![
        chunk(1, json!({ "role": "assistant", "tool_calls": [call(0, "bash", r#"{"command":"ls"}"#)] }), None),
        chunk(1, json!({ "tool_calls": [call(1, "read", r#"{"filePath":"/a"}"#)] }), None),
        chunk(1, json!({}), Some("tool_calls")),
        json!("[DONE]"),
    ];
    assert_eq!(events(post(&provider, &body).await).await, expected);
    let ledger = provider.ledger();
    assert_eq!(ledger.entries[0].tools, ["bash"]);
    assert_eq!(ledger.entries[0].tool_choice.as_deref(), Some("auto"));
    assert!(!ledger.entries[0].usage_reported);
}

#[tokio::test]
async fn an_answer_in_one_piece_holds_the_same() {
    let provider = provider().await;
    provider.script("go", vec![Step::chunks(["a", "b"]).reasoning("hm").usage(Tokens::new(10, 5))]);
    let mut body = request("go");
    body["stream"] = json!(false);
    let answer: Value = post(&provider, &body).await.json().await.unwrap();
    let message = json!({ "role": "assistant", "content": "ab", "reasoning_content": "hm" });
    assert_eq!(answer["choices"], json!([{ "index": 0, "message": message, "finish_reason": "stop" }]));
    assert_eq!(answer["usage"]["total_tokens"], 15);
    assert!(provider.ledger().entries[0].usage_reported);
}

#[tokio::test]
async fn usage_is_left_out_of_a_stream_that_did_not_ask_for_it() {
    let provider = provider().await;
    let mut body = request("go");
    body["stream_options"] = Value::Null;
    let events = events(post(&provider, &body).await).await;
    assert!(events.iter().all(|event| event.get("usage").is_none()), "{events:?}");
    assert!(!provider.ledger().entries[0].usage_reported);
}

#[tokio::test]
async fn a_structured_answer_takes_the_tool_when_it_is_offered() {
    let provider = provider().await;
    provider.script("score", vec![Step::structured(json!({ "score": 4 })), Step::structured(json!({ "score": 5 }))]);
    let mut body = request("score");
    body["tools"] = json!([{ "type": "function", "function": { "name": "StructuredOutput" } }]);
    let with_tool = events(post(&provider, &body).await).await;
    let function = &with_tool[0]["choices"][0]["delta"]["tool_calls"][0]["function"];
    assert_eq!(*function, json!({ "name": "StructuredOutput", "arguments": "{\"score\":4}" }));

    let mut body = request("score");
    body["response_format"] = json!({ "type": "json_schema", "json_schema": {} });
    let as_text = events(post(&provider, &body).await).await;
    assert_eq!(as_text[0]["choices"][0]["delta"]["content"], "{\"score\":5}");
}

#[tokio::test]
async fn finish_reasons_can_be_anything() {
    let provider = provider().await;
    let reasons = ["length", "content_filter", "banana"];
    provider.script("go", reasons.iter().map(|reason| Step::text("x").finish(*reason)).collect());
    provider.script("go", vec![Step::text("x").no_finish()]);
    for reason in reasons {
        let events = events(post(&provider, &request("go")).await).await;
        assert_eq!(events[1]["choices"][0]["finish_reason"], reason);
    }
    let events = events(post(&provider, &request("go")).await).await;
    assert!(events.iter().all(|event| event["choices"][0]["finish_reason"].is_null()), "{events:?}");
}

#[tokio::test]
async fn an_empty_answer_finishes_without_content() {
    let provider = provider().await;
    provider.script("go", vec![Step::empty().usage(Tokens::new(7, 0))]);
    let expected = vec![chunk(1, json!({}), Some("stop")), usage_chunk(1, 7, 0, 0, 0), json!("[DONE]")];
    assert_eq!(events(post(&provider, &request("go")).await).await, expected);
}

#[tokio::test]
async fn a_refusal_carries_its_headers_and_costs_nothing() {
    let provider = provider().await;
    let date = "Wed, 21 Oct 2026 07:28:00 GMT";
    provider.script(
        "go",
        vec![
            Step::status(429).retry_after(3600).message("slow down"),
            Step::status(503).retry_after_date(date),
            Step::status(502).body("<html>bad gateway</html>"),
        ],
    );
    let slow = post(&provider, &request("go")).await;
    assert_eq!((slow.status().as_u16(), slow.headers()["retry-after"].to_str().unwrap()), (429, "3600"));
    assert_eq!(slow.json::<Value>().await.unwrap()["error"]["message"], "slow down");
    let down = post(&provider, &request("go")).await;
    assert_eq!((down.status().as_u16(), down.headers()["retry-after"].to_str().unwrap()), (503, date));
    assert_eq!(down.json::<Value>().await.unwrap()["error"]["message"], "scripted error 503");
    let gateway = post(&provider, &request("go")).await;
    assert_eq!((gateway.status().as_u16(), gateway.headers()["content-type"].to_str().unwrap()), (502, "text/html"));
    assert_eq!(gateway.text().await.unwrap(), "<html>bad gateway</html>");
    assert_eq!(provider.ledger().total().exact, 0);
    assert_eq!(provider.ledger().requests_for_key("go"), 3);
}

#[tokio::test]
async fn a_dropped_connection_delivers_what_came_before() {
    let provider = provider().await;
    provider.script("go", vec![Step::drop_connection()]);
    let mut response = post(&provider, &request("go")).await;
    let first = response.chunk().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("partial "));
    assert!(response.chunk().await.is_err());
    let entry = &provider.ledger().entries[0];
    assert_eq!((entry.ending, entry.usage_reported), (Ending::Broken, false));
    assert!(entry.exact() > 0);
}

#[tokio::test]
async fn garbage_and_a_missing_end_are_delivered_as_such() {
    let provider = provider().await;
    provider.script("go", vec![Step::malformed(), Step::truncated()]);
    let garbage = post(&provider, &request("go")).await.text().await.unwrap();
    let last = garbage.split_terminator("\n\n").last().unwrap().strip_prefix("data: ").unwrap();
    assert!(serde_json::from_str::<Value>(last).is_err(), "{last}");
    let truncated = events(post(&provider, &request("go")).await).await;
    assert_eq!(truncated, vec![chunk(2, json!({ "role": "assistant", "content": "never finished" }), None)]);
    assert_eq!(provider.ledger().total_reported().requests, 0);
}

#[tokio::test]
async fn a_hang_lasts_until_the_client_leaves() {
    let hangs = [
        ("headers", Step::hang_before_headers(), None),
        ("first", Step::hang_before_first_byte(), Some(0)),
        ("middle", Step::hang_mid_stream(), Some(1)),
    ];
    for (key, step, pieces) in hangs {
        let provider = provider().await;
        provider.script(key, vec![step]);
        let url = format!("{}/chat/completions", provider.base_url());
        let sent = client().post(url).json(&request(key)).send();
        if let Some(pieces) = pieces {
            let mut response = sent.await.unwrap();
            for _ in 0..pieces {
                assert!(response.chunk().await.unwrap().is_some());
            }
            assert_eq!(provider.in_flight(), 1);
            drop(response);
        } else {
            let task = tokio::spawn(sent);
            provider.wait_for(key, 1, SOON).await.unwrap();
            assert_eq!(provider.in_flight(), 1);
            task.abort();
        }
        let ledger = provider.wait_until(SOON, |ledger| ledger.in_flight() == 0).await.unwrap();
        let entry = &ledger.entries[0];
        assert!(entry.client_closed() && !entry.usage_reported, "{key}: {:?}", entry.ending);
        assert_eq!(entry.status, pieces.map(|_| 200), "{key}");
    }
}

#[tokio::test]
async fn a_shutdown_ends_a_hang() {
    let provider = provider().await;
    provider.script("go", vec![Step::hang_mid_stream()]);
    let mut response = post(&provider, &request("go")).await;
    assert!(response.chunk().await.unwrap().is_some());
    tokio::time::timeout(SOON, provider.shutdown()).await.unwrap();
    assert!(response.chunk().await.is_err());
}

#[tokio::test]
async fn delays_are_kept() {
    let provider = provider().await;
    let delay = Duration::from_millis(30);
    provider.script("go", vec![Step::chunks(["a", "b"]).delay(delay).chunk_delay(delay)]);
    let begin = std::time::Instant::now();
    events(post(&provider, &request("go")).await).await;
    assert!(begin.elapsed() >= 2 * delay);
}

#[tokio::test]
async fn a_missing_or_wrong_key_is_refused_and_takes_no_step() {
    let provider = provider().await;
    provider.require_api_key("sk-right");
    provider.script("go", vec![Step::text("in")]);
    let url = format!("{}/chat/completions", provider.base_url());
    assert_eq!(post(&provider, &request("go")).await.status(), StatusCode::UNAUTHORIZED);
    let wrong = client().post(&url).bearer_auth("sk-wrong").json(&request("go")).send().await.unwrap();
    assert_eq!(wrong.status(), StatusCode::UNAUTHORIZED);
    let right = client().post(&url).bearer_auth("sk-right").json(&request("go")).send().await.unwrap();
    assert_eq!(events(right).await[0]["choices"][0]["delta"]["content"], "in");
    let models = client().get(format!("{}/models", provider.base_url())).send().await.unwrap();
    assert_eq!(models.status(), StatusCode::UNAUTHORIZED);

    let ledger = provider.ledger();
    let present: Vec<bool> = ledger.entries.iter().map(|entry| entry.authorization_present).collect();
    assert_eq!(present, [false, true, true]);
    assert_eq!(ledger.entries[1].answer, Answer::Unauthorized);
    assert!(!format!("{provider:?} {ledger:?}").contains("sk-"), "a key was kept");
}

#[tokio::test]
async fn known_models_are_listed() {
    let provider = provider().await;
    provider.price("beta", Price::default());
    provider.script_model("alpha", vec![]);
    let url = format!("{}/models", provider.base_url());
    let list: Value = client().get(url).send().await.unwrap().json().await.unwrap();
    let names: Vec<&str> = list["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(names, ["alpha", "beta"]);
}

#[tokio::test]
async fn the_default_answers_when_the_steps_run_out() {
    let provider = provider().await;
    provider.script_model("alpha", vec![Step::text("scripted")]);
    let content = async |text: &str| {
        events(post(&provider, &request(text)).await).await[0]["choices"][0]["delta"]["content"].clone()
    };
    assert_eq!(content("hello").await, "scripted");
    assert_eq!(content("hello").await, "ok: hello");
    provider.default_reply(Step::text("mine"));
    assert_eq!(content("hello").await, "mine");
    let ledger = provider.ledger();
    let answers: Vec<Answer> = ledger.entries.iter().map(|entry| entry.answer).collect();
    assert_eq!(answers, [Answer::Scripted, Answer::Unscripted, Answer::Unscripted]);
    assert_eq!(ledger.requests_for_key("alpha"), 3);
}

#[tokio::test]
async fn the_ledger_sums_exactly() {
    let provider = provider().await;
    // A third of a nano-dollar a token, so that rounding each entry would show.
    provider.price("alpha", Price { input: Nano(333_333), ..Price::default() });
    provider.script("go", (0..3).map(|_| Step::text("x").usage(Tokens::new(1, 0))).collect());
    provider.script("go", vec![Step::drop_connection().usage(Tokens::new(1, 0))]);
    for _ in 0..3 {
        events(post(&provider, &request("go")).await).await;
    }
    drop(post(&provider, &request("go")).await.text().await);
    let ledger = provider.ledger();
    assert_eq!((ledger.total().requests, ledger.total().exact), (4, 4 * 333_333));
    assert_eq!((ledger.total_reported().requests, ledger.total_reported().exact), (3, 3 * 333_333));
    assert_eq!(ledger.total_reported().cost, round_exact(999_999));
    assert_eq!(ledger.for_session("ses_1").total(), ledger.total());
    assert_eq!(ledger.for_session("ses_2").total().requests, 0);
    assert_eq!(ledger.for_key("go").entries.len(), 4);
}

#[tokio::test]
async fn derived_usage_depends_on_the_lengths_alone() {
    let provider = provider().await;
    provider.script("12345", vec![Step::text("123456789"), Step::text("123456789")]);
    for _ in 0..2 {
        events(post(&provider, &request("12345")).await).await;
    }
    let ledger = provider.ledger();
    // Seven characters of system prompt and five of the user's are three tokens; nine are three.
    assert_eq!(ledger.entries[0].usage, Usage { input: 3, output: 3, ..Usage::default() });
    assert_eq!(ledger.entries[1].usage, ledger.entries[0].usage);
}

#[tokio::test]
async fn images_are_noted_by_their_type() {
    let provider = provider().await;
    let mut body = request("");
    body["messages"][1]["content"] = json!([
        { "type": "text", "text": "look" },
        { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } },
        { "type": "image_url", "image_url": { "url": "http://127.0.0.1/a.png" } },
    ]);
    events(post(&provider, &body).await).await;
    let entry = &provider.ledger().entries[0];
    assert_eq!(entry.images, ["image/png", "url"]);
    assert_eq!(entry.last_user_text, "look");
}

#[tokio::test]
async fn a_wait_that_is_not_fulfilled_says_so() {
    let provider = provider().await;
    let error = provider.wait_for("never", 1, Duration::from_millis(10)).await.unwrap_err();
    assert_eq!(error.ledger.entries.len(), 0);
}

#[tokio::test]
async fn scripts_can_come_from_a_file() {
    let text = r#"{
        "default": { "text": "nothing" },
        "keys": { "go": [
            { "text": ["a", "b"], "usage": { "prompt_tokens": 4, "completion_tokens": 2 }, "finish": "length" },
            { "tools": [{ "name": "bash", "arguments": { "command": "ls" } }], "usage": "none" },
            { "fault": { "kind": "status", "code": 429, "retry_after": 5 } }
        ] },
        "models": { "beta": [{ "fault": { "kind": "hang_mid_stream", "after_chunks": 1 } }] }
    }"#;
    let file = ScriptFile::parse(text).unwrap();
    let expected = [
        Step::chunks(["a", "b"]).usage(Tokens::new(4, 2)).finish("length"),
        Step::tool("bash", json!({ "command": "ls" })).no_usage(),
        Step::status(429).retry_after(5),
    ];
    assert_eq!(file.keys["go"], expected);
    assert_eq!(file.models["beta"], [Step::default().fault(Fault::HangMidStream { after_chunks: 1 })]);
    let again = ScriptFile::parse(&serde_json::to_string(&file).unwrap()).unwrap();
    assert_eq!(again, file);
    assert!(ScriptFile::parse(r#"{ "keys": { "go": [{ "txet": "a" }] } }"#).is_err());

    let provider = provider().await;
    provider.load(file);
    assert_eq!(events(post(&provider, &request("other")).await).await[0]["choices"][0]["delta"]["content"], "nothing");
    assert_eq!(events(post(&provider, &request("go")).await).await[2]["choices"][0]["finish_reason"], "length");
}

#[test]
fn the_documented_script_file_is_valid() {
    let source = include_str!("../src/lib.rs");
    let example = source.split("```json\n").nth(1).unwrap().split("//! ```").next().unwrap();
    let file = ScriptFile::parse(&example.replace("//!", "")).unwrap();
    assert_eq!(file.keys["write the parser"].len(), 6);
}
