//! Each behaviour, observed through a plain HTTP client.

use super::{Behaviour, Events, FakeOpencode, PermissionReply, Run, Serving};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);
/// Long enough to distinguish "never" from "at once" on a busy machine.
const A_WHILE: Duration = Duration::from_millis(100);

fn client() -> Client {
    // The client is built without a TLS provider of its own; a second installation is refused, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::new()
}

fn fake(behaviour: Behaviour) -> FakeOpencode {
    FakeOpencode::start(behaviour).unwrap()
}

fn serving(serving: Serving) -> FakeOpencode {
    fake(Behaviour { serving, ..Behaviour::default() })
}

fn running(run: Run) -> FakeOpencode {
    fake(Behaviour { run, ..Behaviour::default() })
}

async fn get(fake: &FakeOpencode, path: &str) -> Response {
    client().get(fake.url() + path).send().await.unwrap()
}

async fn read(fake: &FakeOpencode, path: &str) -> Value {
    get(fake, path).await.json().await.unwrap()
}

async fn post(fake: &FakeOpencode, path: &str, body: &Value) -> Response {
    let request = client().post(fake.url() + path).header("x-opencode-directory", "/repo");
    request.json(body).send().await.unwrap()
}

async fn create(fake: &FakeOpencode) -> String {
    let info: Value = post(fake, "/session", &json!({ "title": "t" })).await.json().await.unwrap();
    assert_eq!(info["directory"], "/repo");
    info["id"].as_str().unwrap().to_owned()
}

fn prompt() -> Value {
    json!({
        "messageID": "msg_1", "model": { "providerID": "scripted", "modelID": "beta" },
        "parts": [{ "type": "text", "text": "hello" }],
    })
}

async fn send(fake: &FakeOpencode, session: &str) {
    let response = post(fake, &format!("/session/{session}/prompt_async"), &prompt()).await;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
}

/// The event stream, read one event at a time.
struct Stream {
    response: Response,
    buffer: String,
}

impl Stream {
    async fn open(fake: &FakeOpencode) -> Self {
        let mut stream = Self { response: get(fake, "/global/event").await, buffer: String::new() };
        assert_eq!(stream.next().await.unwrap()["payload"]["type"], "server.connected");
        stream
    }

    /// None when the stream has ended, politely or not.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let event = serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap();
                self.buffer = rest.to_owned();
                return Some(event);
            }
            let piece = tokio::time::timeout(SOON, self.response.chunk()).await.unwrap().ok()??;
            self.buffer += std::str::from_utf8(&piece).unwrap();
        }
    }

    /// Reads up to the first event of a kind and returns its properties.
    async fn until(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next().await.unwrap();
            if event["payload"]["type"] == kind {
                return event["payload"]["properties"].clone();
            }
        }
    }

    async fn is_silent(&mut self) -> bool {
        tokio::time::timeout(A_WHILE, self.next()).await.is_err()
    }
}

async fn wait_until_idle(fake: &FakeOpencode) {
    let idle = async { while read(fake, "/session/status").await != json!({}) {} };
    tokio::time::timeout(SOON, idle).await.unwrap();
}

async fn last_message(fake: &FakeOpencode, session: &str) -> Value {
    let messages = read(fake, &format!("/session/{session}/message")).await;
    messages.as_array().unwrap().last().unwrap().clone()
}

#[tokio::test]
async fn a_good_server_answers_and_tells() {
    let fake = fake(Behaviour { password: Some("pw".to_owned()), ..Behaviour::default() });
    assert_eq!(get(&fake, "/global/health").await.status(), StatusCode::UNAUTHORIZED);
    // base64 of `opencode:pw`
    let token = "b3BlbmNvZGU6cHc=";
    let health = client().get(fake.url() + "/global/health").basic_auth("opencode", Some("pw")).send().await.unwrap();
    assert_eq!(health.json::<Value>().await.unwrap(), json!({ "healthy": true, "version": "1.18.33" }));
    assert_eq!(get(&fake, &format!("/agent?auth_token={token}")).await.status(), StatusCode::OK);

    let fake = running(Run::Answers);
    let mut stream = Stream::open(&fake).await;
    let session = create(&fake).await;
    send(&fake, &session).await;
    assert_eq!(stream.until("message.part.delta").await["delta"], "ok: hello");
    assert_eq!(stream.until("session.idle").await["sessionID"], session.as_str());
    let message = last_message(&fake, &session).await;
    assert_eq!(message["info"]["parentID"], "msg_1");
    assert_eq!((&message["info"]["modelID"], &message["info"]["finish"]), (&json!("beta"), &json!("stop")));
    assert_eq!(message["parts"][1]["text"], "ok: hello");
    assert_eq!(read(&fake, &format!("/session/{session}")).await["tokens"]["input"], 800);

    let path = format!("/session/{session}/command");
    let body = json!({ "command": "hey", "arguments": "you", "model": "scripted/beta" });
    let answer: Value = post(&fake, &path, &body).await.json().await.unwrap();
    assert_eq!(answer["parts"][1]["text"], "ok: /hey you");
    assert_eq!(fake.count("POST", &path), 1);
    let recorded = fake.requests().into_iter().find(|request| request.is("POST", &path)).unwrap();
    assert_eq!((recorded.body, recorded.directory.as_deref()), (body, Some("/repo")));

    let deleted = client().delete(format!("{}/session/{session}", fake.url())).send().await.unwrap();
    assert_eq!(deleted.json::<Value>().await.unwrap(), json!(true));
    assert_eq!(get(&fake, &format!("/session/{session}")).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn providers_come_in_both_shapes() {
    let fake =
        fake(Behaviour { models: vec!["p/a".to_owned(), "p/b".to_owned(), "q/c".to_owned()], ..Behaviour::default() });
    let configured = read(&fake, "/config/providers").await;
    let all = read(&fake, "/provider").await;
    assert_eq!(configured["providers"], all["all"]);
    assert_eq!(all["connected"], json!(["p", "q"]));
    assert_eq!(all["all"][0]["models"].as_object().unwrap().len(), 2);
}

#[tokio::test]
async fn another_version_is_reported() {
    let fake = fake(Behaviour { version: "2.0.0".to_owned(), ..Behaviour::default() });
    assert_eq!(read(&fake, "/global/health").await["version"], "2.0.0");
}

#[tokio::test]
async fn empty_objects_follow_the_creation_of_a_session() {
    let fake = serving(Serving::EmptyObjectsAfterCreate);
    assert_eq!(read(&fake, "/global/health").await["healthy"], true);
    let session = create(&fake).await;
    let path = format!("/session/{session}/message");
    assert_eq!(post(&fake, &path, &prompt()).await.json::<Value>().await.unwrap(), json!({}));
    assert_eq!(read(&fake, &path).await, json!({}));
    assert_eq!(read(&fake, "/global/health").await, json!({}));
}

#[tokio::test]
async fn a_web_page_answers_everything_or_a_mistyped_path() {
    for (fake, path) in [(serving(Serving::Html), "/global/health"), (serving(Serving::Normal), "/sesion")] {
        let response = get(&fake, path).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/html"));
        assert!(response.text().await.unwrap().contains("<html>"));
    }
}

#[tokio::test]
async fn an_unauthorized_client_stays_out_with_any_password() {
    let fake = serving(Serving::Unauthorized);
    let response = client().get(fake.url() + "/agent").basic_auth("opencode", Some("pw")).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(response.headers()["www-authenticate"], "Basic realm=\"Secure Area\"");
}

#[tokio::test]
async fn a_wedged_server_accepts_and_is_silent() {
    let fake = serving(Serving::Wedged);
    let health = client().get(fake.url() + "/global/health").timeout(A_WHILE).send().await;
    assert!(health.unwrap_err().is_timeout());
    assert!(fake.wait_for("GET", "/global/health", 1, SOON).await);
}

#[tokio::test]
async fn a_server_can_wedge_after_a_prompt() {
    let fake = fake(Behaviour {
        serving: Serving::WedgesAfterPrompt,
        heartbeat: Duration::from_millis(5),
        ..Behaviour::default()
    });
    let mut stream = Stream::open(&fake).await;
    stream.until("server.heartbeat").await;
    let session = create(&fake).await;
    send(&fake, &session).await;
    let health = client().get(fake.url() + "/global/health").timeout(A_WHILE).send().await;
    assert!(health.unwrap_err().is_timeout());
    // An event in transit may still arrive; then there are not even heartbeats.
    let quiet = async { while !stream.is_silent().await {} };
    tokio::time::timeout(SOON, quiet).await.unwrap();
}

#[tokio::test]
async fn a_server_can_die_after_a_prompt() {
    let fake = serving(Serving::DiesAfterPrompt);
    let mut stream = Stream::open(&fake).await;
    let session = create(&fake).await;
    send(&fake, &session).await;
    assert_eq!(stream.until("session.status").await["status"]["type"], "busy");
    while stream.next().await.is_some() {}
    fake.kill();
    let error = client().get(fake.url() + "/global/health").send().await.unwrap_err();
    assert!(error.is_connect(), "{error:?}");
}

#[tokio::test]
async fn the_answer_may_come_from_another_model() {
    let fake = running(Run::IgnoresModel { provider: "scripted".to_owned(), model: "alpha".to_owned() });
    let session = create(&fake).await;
    let answer: Value = post(&fake, &format!("/session/{session}/message"), &prompt()).await.json().await.unwrap();
    assert_eq!((&answer["info"]["modelID"], &answer["info"]["finish"]), (&json!("alpha"), &json!("stop")));
}

#[tokio::test]
async fn an_abort_ends_what_never_finishes() {
    let fake = running(Run::NeverFinishes);
    let session = create(&fake).await;
    send(&fake, &session).await;
    assert_eq!(read(&fake, "/session/status").await[&session]["type"], "busy");
    let aborted = post(&fake, &format!("/session/{session}/abort"), &json!({})).await;
    assert_eq!(aborted.json::<Value>().await.unwrap(), json!(true));
    wait_until_idle(&fake).await;
    assert_eq!(last_message(&fake, &session).await["info"]["error"]["name"], "MessageAbortedError");
}

#[tokio::test]
async fn an_answer_may_come_after_the_abort() {
    let fake = running(Run::FinishesAfterAbort);
    let mut stream = Stream::open(&fake).await;
    let session = create(&fake).await;
    send(&fake, &session).await;
    assert!(last_message(&fake, &session).await["info"]["finish"].is_null());
    post(&fake, &format!("/session/{session}/abort"), &json!({})).await;
    stream.until("session.idle").await;
    let message = last_message(&fake, &session).await;
    assert!(message["info"]["error"].is_null());
    assert_eq!(message["parts"][1]["text"], "late answer");
}

#[tokio::test]
async fn an_error_may_come_without_idle() {
    let fake = running(Run::ErrorWithoutIdle);
    let mut stream = Stream::open(&fake).await;
    let session = create(&fake).await;
    send(&fake, &session).await;
    assert_eq!(stream.until("session.error").await["error"]["name"], "UnknownError");
    assert!(stream.is_silent().await);
    assert_eq!(read(&fake, "/session/status").await, json!({}));
    assert_eq!(last_message(&fake, &session).await["info"]["role"], "user");
}

#[tokio::test]
async fn a_child_session_asks_and_the_reply_lets_the_run_go_on() {
    let fake = running(Run::AsksInChild);
    let mut stream = Stream::open(&fake).await;
    let session = create(&fake).await;
    send(&fake, &session).await;
    let asked = stream.until("permission.asked").await;
    let children = read(&fake, &format!("/session/{session}/children")).await;
    assert_eq!(asked["sessionID"], children[0]["id"]);
    assert_eq!(children[0]["parentID"], session.as_str());
    assert_eq!(read(&fake, "/permission").await[0]["id"], asked["id"]);
    let path = format!("/permission/{}/reply", asked["id"].as_str().unwrap());
    assert_eq!(post(&fake, &path, &json!({ "reply": "once" })).await.status(), StatusCode::OK);
    assert_eq!(post(&fake, &path, &json!({ "reply": "once" })).await.status(), StatusCode::NOT_FOUND);
    wait_until_idle(&fake).await;
    assert_eq!(last_message(&fake, &session).await["info"]["finish"], "stop");
}

#[tokio::test]
async fn a_reply_to_a_permission_can_fail() {
    let fake =
        fake(Behaviour { run: Run::AsksInChild, permission_reply: PermissionReply::Fails, ..Behaviour::default() });
    let mut stream = Stream::open(&fake).await;
    let session = create(&fake).await;
    send(&fake, &session).await;
    let asked = stream.until("permission.asked").await;
    let path = format!("/permission/{}/reply", asked["id"].as_str().unwrap());
    let reply = post(&fake, &path, &json!({ "reply": "reject" })).await;
    assert_eq!(reply.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(read(&fake, "/permission").await[0]["id"], asked["id"]);
    assert_eq!(read(&fake, "/session/status").await.as_object().unwrap().len(), 2);
    post(&fake, &format!("/session/{session}/abort"), &json!({})).await;
    wait_until_idle(&fake).await;
    assert_eq!(read(&fake, "/permission").await, json!([]));
}

#[tokio::test]
async fn the_event_stream_can_drop_again_and_again() {
    let fake = fake(Behaviour { events: Events::DropEvery(2), ..Behaviour::default() });
    for _ in 0..2 {
        let mut stream = Stream::open(&fake).await;
        for kind in ["first", "second", "third"] {
            fake.emit("/repo", kind, json!({}));
        }
        assert_eq!(stream.next().await.unwrap()["payload"]["type"], "first");
        assert_eq!(stream.next().await.unwrap()["payload"]["type"], "second");
        assert_eq!(stream.next().await, None);
    }
}

#[tokio::test]
async fn the_event_stream_can_fall_silent() {
    let heartbeat = Duration::from_millis(5);
    let fake = fake(Behaviour { events: Events::SilentAfter(1), heartbeat, ..Behaviour::default() });
    let mut stream = Stream::open(&fake).await;
    stream.until("server.heartbeat").await;
    fake.emit("/repo", "session.idle", json!({}));
    assert!(stream.is_silent().await);
}

#[tokio::test]
async fn the_last_event_can_be_missing() {
    let fake = fake(Behaviour { events: Events::WithoutFinalIdle, ..Behaviour::default() });
    let mut stream = Stream::open(&fake).await;
    let session = create(&fake).await;
    send(&fake, &session).await;
    let mut kinds = vec![];
    // The update of the session is the last event but for the idle ones.
    while kinds.last().is_none_or(|kind| kind != "session.updated") {
        kinds.push(stream.next().await.unwrap()["payload"]["type"].as_str().unwrap().to_owned());
    }
    assert!(stream.is_silent().await);
    assert!(!kinds.iter().any(|kind| kind == "session.idle"), "{kinds:?}");
    assert_eq!(read(&fake, "/session/status").await, json!({}));
    assert_eq!(last_message(&fake, &session).await["info"]["finish"], "stop");
}
