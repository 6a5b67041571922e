//! Answers that are none: each ends in a class, in time and in bounded memory, and never in success.

use super::{
    DEADLINE, Limits, Question, class, limits, scripted,
    station::{Act, DONE, Station, event, finishes, good, response, says, stream},
};
use serde_json::json;
use shuntyard_core::ErrorClass;
use shuntyard_scripted::Step;
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket},
};

/// Asks a test server that always answers the same, without retries.
async fn hear(bytes: Vec<u8>) -> (Result<(), ErrorClass>, String) {
    let station = Station::replying(bytes).await;
    let limits = Limits { provider_retries: 0, ..limits() };
    let answered = Question { limits, ..Question::new(&station.base_url(), "go") }.ask().await;
    (class(&answered), answered.text)
}

#[tokio::test]
async fn a_table_of_answers_that_are_none() {
    let error = |code| event(&json!({"error": {"message": "scripted", "code": code}}));
    let body_error = json!({"error": {"message": "Rate limit reached", "type": "x"}}).to_string();
    let tool = json!({"choices": [{"delta": {"tool_calls": [{"index": 0}]}, "finish_reason": "tool_calls"}]});
    let refusal = json!({"choices": [{"delta": {"refusal": "I will not"}, "finish_reason": "stop"}]});
    let choice_error =
        json!({"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 503, "message": "x"}}]});
    let not_utf8 =
        [b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n".to_vec(), finishes("stop").into_bytes()];
    let cut = says("more");
    let table = [
        ("error after text", stream([says("hal"), error(json!(503))].concat()), ErrorClass::Overloaded, "hal"),
        (
            "error after the finish",
            stream([says("hal"), finishes("stop"), error(json!(500))].concat()),
            ErrorClass::ServerError,
            "hal",
        ),
        (
            "error by its name",
            stream("event: error\ndata: {\"message\":\"too many requests\"}\n\n"),
            ErrorClass::RateLimited,
            "",
        ),
        ("error in words", stream("event: error\ndata: out of quota\n\n"), ErrorClass::QuotaExhausted, ""),
        ("error code", stream(error(json!("context_length_exceeded"))), ErrorClass::ContextOverflow, ""),
        ("error in a choice", stream([says("hal"), event(&choice_error)].concat()), ErrorClass::Overloaded, "hal"),
        ("error body with status 200", response(200, "application/json", body_error), ErrorClass::RateLimited, ""),
        (
            "unwrapped error body",
            response(200, "application/json", r#"{"object":"error","message":"x","code":404}"#),
            ErrorClass::ModelNotFound,
            "",
        ),
        (
            "unwrapped error event",
            stream("data: {\"object\":\"error\",\"message\":\"no\",\"code\":401}\n\n"),
            ErrorClass::AuthInvalid,
            "",
        ),
        ("other JSON", response(200, "application/json", "{}"), ErrorClass::ServerError, ""),
        (
            "half of a JSON body",
            response(200, "application/json", r#"{"choices":[{"mess"#),
            ErrorClass::ServerError,
            "",
        ),
        ("web page", response(200, "text/html", "<!doctype html><p>hello"), ErrorClass::ServerError, ""),
        ("picture", response(200, "image/png", b"\x89PNG\r\n\x1a\n\0\0"), ErrorClass::Network, ""),
        ("nothing", stream(""), ErrorClass::Network, ""),
        ("only comments", stream(": ping\n\n: ping\n\n"), ErrorClass::Network, ""),
        ("no end", stream(says("hal")), ErrorClass::Network, "hal"),
        ("cut in a line", stream([says("hal").as_str(), &cut[..cut.len() / 2]].concat()), ErrorClass::Network, "hal"),
        ("not UTF-8", stream(not_utf8.concat()), ErrorClass::ServerError, ""),
        (
            "not JSON",
            stream(format!("{}data: <garbage>\n\n{}", says("hal"), finishes("stop"))),
            ErrorClass::ServerError,
            "hal",
        ),
        ("a list", stream("data: [1,2]\n\n"), ErrorClass::ServerError, ""),
        ("only the end marker", stream(DONE), ErrorClass::EmptyResponse, ""),
        ("a tool call", stream(event(&tool)), ErrorClass::EmptyResponse, ""),
        ("a refusal", stream(event(&refusal)), ErrorClass::ContentFiltered, ""),
        (
            "white space",
            stream([says(" \n"), finishes("stop"), DONE.to_owned()].concat()),
            ErrorClass::EmptyResponse,
            " \n",
        ),
        ("no HTTP", b"what do you want?\r\n\r\n".to_vec(), ErrorClass::Network, ""),
    ];
    for (name, bytes, expected, text) in table {
        assert_eq!(hear(bytes).await, (Err(expected), text.to_owned()), "{name}");
    }
}

#[tokio::test]
async fn nothing_is_asked_again_after_text() {
    for (step, expected) in [
        (Step::drop_connection(), ErrorClass::Network),
        (Step::malformed(), ErrorClass::ServerError),
        (Step::truncated(), ErrorClass::Network),
    ] {
        let key = scripted().script("broken", vec![step, Step::text("never")]);
        let answered = Question::new(&scripted().base_url(), &key).ask().await;
        assert_eq!((class(&answered), answered.retries), (Err(expected), 0));
        assert!(!answered.text.is_empty(), "what was said is kept");
        assert!(!answered.usage_known, "what was used of it is not");
        assert_eq!(scripted().requests(&key).entries.len(), 1);
    }
    let thinks = event(&json!({"choices": [{"delta": {"reasoning_content": "hm"}}]}));
    let station = Station::start(vec![vec![Act::Send(stream(thinks))], vec![Act::Send(good("never"))]]).await;
    let answered = Question::new(&station.base_url(), "go").ask().await;
    assert_eq!(
        (class(&answered), station.received().len()),
        (Err(ErrorClass::Network), 1),
        "thoughts are paid for too"
    );
}

#[tokio::test]
async fn what_breaks_before_the_answer_is_asked_again() {
    let overloaded = event(&json!({"error": {"message": "overloaded"}}));
    let table = [
        ("closed", vec![]),
        ("reset", vec![Act::Reset]),
        ("reset after the headers", vec![Act::Send(stream("")), Act::Reset]),
        ("an error for an answer", vec![Act::Send(stream(overloaded))]),
        ("garbage", vec![Act::Send(stream("data: <garbage>\n\n"))]),
    ];
    for (name, reply) in table {
        let station = Station::start(vec![reply, vec![Act::Send(good("at last"))]]).await;
        let answered = Question::new(&station.base_url(), "go").ask().await;
        assert_eq!((class(&answered), answered.text.as_str(), answered.retries), (Ok(()), "at last", 1), "{name}");
    }
}

#[tokio::test]
async fn nobody_listens_at_the_address() {
    // Bound and not listening: no other test can be given this port meanwhile.
    let bound = TcpSocket::new_v4().unwrap();
    bound.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let base_url = format!("http://{}/v1", bound.local_addr().unwrap());
    let answered = Question::new(&base_url, "go").ask().await;
    assert_eq!((class(&answered), answered.retries, answered.usage_known), (Err(ErrorClass::Network), 1, true));
    let message = answered.outcome.unwrap_err().message;
    assert!(message.contains("no connection to 127.0.0.1:"), "{message}");
}

#[tokio::test]
async fn what_speaks_no_tls_is_no_provider_of_https() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("https://{}/v1", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(&good("in clear")).await.unwrap();
        let mut greeting = Vec::new();
        drop(stream.read_to_end(&mut greeting).await);
        greeting
    });
    let limits = Limits { provider_retries: 0, ..limits() };
    let answered = Question { limits, ..Question::new(&base_url, "go") }.ask().await;
    assert_eq!((class(&answered), answered.text.as_str()), (Err(ErrorClass::Network), ""));
    let greeting = tokio::time::timeout(DEADLINE, serving).await.expect("we hang up").unwrap();
    assert!(!greeting.windows(7).any(|window| window == b"hunter2"), "the key is not sent in clear");
}

#[tokio::test]
async fn an_answer_without_an_end_is_cut() {
    let block = "x".repeat(64 * 1024);
    let table = [
        ("text", says(&block).into_bytes(), 8 * 1024 * 1024),
        ("a line", block.clone().into_bytes(), 0),
        ("lines of one event", format!("data: {block}\n").into_bytes(), 0),
    ];
    for (name, piece, expected) in table {
        let mut station = Station::start(vec![vec![
            Act::Send(stream("data: ")),
            Act::Send(b"\n\n".to_vec()),
            Act::SendEndlessly(piece),
        ]])
        .await;
        let answered = Question::new(&station.base_url(), "go").ask().await;
        assert_eq!((class(&answered), answered.text.len()), (Err(ErrorClass::Truncated), expected), "{name}");
        station.wait_closed(1).await;
    }
    let mut station = Station::start(vec![vec![
        Act::Send(response(200, "application/json", "{")),
        Act::SendEndlessly(block.into_bytes()),
    ]])
    .await;
    let limits = Limits { first_token: Some(Duration::from_secs(20)), ..limits() };
    let answered = Question { limits, ..Question::new(&station.base_url(), "go") }.ask().await;
    assert_eq!(class(&answered), Err(ErrorClass::Truncated), "a body in one piece");
    station.wait_closed(1).await;
}
