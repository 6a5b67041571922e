//! The fake as a program: it reads configuration, asks the provider, executes tools, and keeps its sessions.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

use reqwest::{Client, Method};
use serde_json::{Value, json};
use shuntyard_scripted::{Provider, Step};
use std::{
    io::{BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

struct Server {
    child: Child,
    url: String,
    client: Client,
    directory: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Server {
    fn start(home: &Path) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut command = Command::new(env!("CARGO_BIN_EXE_fake-opencode"));
        command.args(["serve", "--port", "0", "--hostname", "127.0.0.1"]).env_clear().stdout(Stdio::piped());
        command.env("HOME", home).env("PATH", "/usr/bin:/bin").env("OPENCODE_CLIENT", "test").current_dir(home);
        command.env("OPENCODE_DB", home.join("sessions.db")).env("FAKE_OPENCODE_RETRY_SCALE", "0.01");
        let mut child = command.spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let url = line.trim().split(' ').next_back().expect("an address").to_owned();
        let directory = home.join("project").to_string_lossy().into_owned();
        Self { child, url, client: Client::new(), directory }
    }

    async fn call(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let request = self.client.request(method, format!("{}{path}", self.url)).json(body);
        let response = request.header("x-opencode-directory", &self.directory).send().await.expect("an answer");
        (response.status().as_u16(), response.json().await.unwrap_or_default())
    }

    async fn session(&self) -> String {
        let (_, session) = self.call(Method::POST, "/session", &json!({ "title": "t" })).await;
        session["id"].as_str().expect("an id").to_owned()
    }

    async fn ask(&self, session: &str, text: &str) -> Value {
        let body = json!({ "parts": [{ "type": "text", "text": text }] });
        self.call(Method::POST, &format!("/session/{session}/message"), &body).await.1
    }

    async fn messages(&self, session: &str) -> Value {
        self.call(Method::GET, &format!("/session/{session}/message"), &json!({})).await.1
    }
}

async fn place(config: impl FnOnce(&mut Value)) -> (TempDir, Provider) {
    let provider = Provider::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.expect("a provider");
    let home = tempfile::tempdir().expect("a directory");
    std::fs::create_dir_all(home.path().join(".config/opencode")).expect("a directory");
    std::fs::create_dir_all(home.path().join("project/.git")).expect("a directory");
    let mut written = json!({
        "model": "scripted/alpha",
        "provider": { "scripted": {
            "options": { "baseURL": provider.base_url() },
            "models": { "alpha": { "limit": { "context": 128_000, "output": 8192 }, "cost": { "input": 3, "output": 15 } } },
        } },
    });
    config(&mut written);
    std::fs::write(home.path().join(".config/opencode/opencode.json"), written.to_string()).expect("a file");
    (home, provider)
}

#[tokio::test]
async fn tools_are_executed_and_sessions_outlive_a_kill() {
    let (home, provider) = place(|_| {}).await;
    let file = home.path().join("project/made.txt");
    let write = Step::tool("write", json!({ "filePath": file, "content": "made" }));
    let shell = Step::tool("bash", json!({ "command": "cat made.txt; exit 3" }));
    provider.script("<<work>>", vec![write, Step::status(503), shell, Step::text("done")]);
    let server = Server::start(home.path());
    let session = server.session().await;
    let answer = server.ask(&session, "<<work>>").await;
    assert_eq!(answer["info"]["finish"], "stop", "{answer:#}");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "made");
    let messages = server.messages(&session).await;
    assert_eq!(messages.as_array().map(Vec::len), Some(4), "one prompt and three steps: {messages:#}");
    let state = &messages[2]["parts"][1]["state"];
    assert_eq!((&state["output"], &state["metadata"]["exit"]), (&json!("made"), &json!(3)), "{messages:#}");
    drop(server);
    let again = Server::start(home.path());
    assert_eq!(again.messages(&session).await, messages);
}

#[tokio::test]
async fn a_permission_is_asked_for_and_a_rejection_is_read_by_the_model() {
    let (home, provider) = place(|config| config["permission"] = json!({ "bash": { "*": "ask" } })).await;
    provider.script("<<ask>>", vec![Step::tool("bash", json!({ "command": "true" })), Step::text("went on")]);
    let server = Server::start(home.path());
    let session = server.session().await;
    let reply = async {
        loop {
            let (_, pending) = server.call(Method::GET, "/permission", &json!({})).await;
            if let Some(id) = pending[0]["id"].as_str() {
                assert_eq!(pending[0]["patterns"], json!(["true"]));
                let body = json!({ "reply": "reject", "message": "not that" });
                return server.call(Method::POST, &format!("/permission/{id}/reply"), &body).await.0;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let (answer, status) = tokio::join!(server.ask(&session, "<<ask>>"), reply);
    assert_eq!((status, &answer["parts"][1]["text"]), (200, &json!("went on")), "{answer:#}");
    let messages = server.messages(&session).await;
    let error = messages[1]["parts"][1]["state"]["error"].as_str().expect("an error");
    assert!(error.ends_with("feedback: not that"), "{error}");
}

#[tokio::test]
async fn an_abort_ends_a_command_and_what_it_started() {
    let (home, provider) = place(|_| {}).await;
    let started = home.path().join("project/started");
    let line = format!("sleep 600 & echo $! > {}; wait", started.display());
    provider.script("<<long>>", vec![Step::tool("bash", json!({ "command": line }))]);
    let server = Server::start(home.path());
    let session = server.session().await;
    let abort = async {
        while !std::fs::read_to_string(&started).is_ok_and(|pid| pid.ends_with('\n')) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        server.call(Method::POST, &format!("/session/{session}/abort"), &json!({})).await
    };
    let (answer, _) = tokio::join!(server.ask(&session, "<<long>>"), abort);
    assert_eq!(answer["info"]["error"]["name"], "MessageAbortedError", "{answer:#}");
    let pid = std::fs::read_to_string(&started).expect("a pid");
    let stat = format!("/proc/{}/stat", pid.trim());
    let is_gone = || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
    // A killed process ends only when it is next scheduled. Without the kill, this one would run for ten minutes.
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_gone() {
        assert!(Instant::now() < deadline, "the command's child still runs");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_broken_configuration_is_remembered() {
    let (home, _provider) = place(|_| {}).await;
    let file = home.path().join("project/opencode.json");
    std::fs::write(&file, "{\"model\": 5}").expect("a file");
    let server = Server::start(home.path());
    for text in ["{\"model\": 5}", "{}"] {
        std::fs::write(&file, text).expect("a file");
        let (status, body) = server.call(Method::GET, "/session/status", &json!({})).await;
        assert_eq!((status, &body["name"]), (400, &json!("ConfigInvalidError")), "{body}");
        assert_eq!(body["data"]["issues"][0]["message"], "Expected string | undefined, got 5");
    }
}
