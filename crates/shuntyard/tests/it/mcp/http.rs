//! The server over HTTP: on this machine only, with a token, and closed to web pages.

use crate::mcp::{own_env, web};
use serde_json::{Value, json};
use shuntyard_testkit::TestEnv;
use std::{
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    process::{Child, Stdio},
};

struct Station {
    child: Child,
    /// Such as `127.0.0.1:4711`.
    address: String,
    token: String,
    token_file: Option<String>,
}

impl Station {
    fn start(env: &TestEnv) -> Self {
        let mut command = env.command(&["mcp", "--json", "--http", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        stderr.read_line(&mut line).expect("a line");
        // Whatever comes later must not fill the pipe.
        std::thread::spawn(move || for _ in stderr.lines() {});
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let url = said["url"].as_str().expect("an address");
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        let token_file = said["token_file"].as_str().map(str::to_owned);
        let token = token_file.as_ref().map(|file| std::fs::read_to_string(file).expect("the token"));
        Self { child, address, token: token.unwrap_or_default(), token_file }
    }

    fn post(&self, token: &str, more: &[(&str, &str)], body: &Value) -> web::Response {
        self.post_to(&self.address.clone(), token, more, &body.to_string())
    }

    fn post_to(&self, host: &str, token: &str, more: &[(&str, &str)], body: &str) -> web::Response {
        let bearer = format!("Bearer {token}");
        let usual = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        web::request(&self.address, host, "POST", &[usual.as_slice(), more].concat(), body)
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
}

#[test]
fn a_session_with_the_token() {
    let env = own_env("mcp-http");
    let station = Station::start(&env);
    let welcome = station.post(&station.token, &[], &hello());
    assert_eq!((welcome.status, &welcome.message(1)["result"]["serverInfo"]["name"]), (200, &json!("shuntyard")));
    let session = welcome.header("mcp-session-id").expect("a session").to_owned();
    let version = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-06-18")];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(station.post(&station.token, &version, &ready).status, 202);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let tools = station.post(&station.token, &version, &list).message(2);
    assert_eq!(tools["result"]["tools"].as_array().map(Vec::len), Some(7));
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "task_peek", "arguments": {"taskId": "j9"}}});
    let result = station.post(&station.token, &version, &call).message(3)["result"].clone();
    crate::mcp::client::expect_refusal(&result, "there is no job or task `j9`");
}

#[test]
fn nothing_without_the_token() {
    let env = own_env("mcp-http-token");
    let station = Station::start(&env);
    let none = web::request(&station.address, &station.address, "POST", &[], &hello().to_string());
    assert_eq!(none.status, 401, "{none:?}");
    let shorter = &station.token[..station.token.len() - 1];
    for wrong in ["", "wrong", shorter, &format!("{}x", station.token), &station.token.to_uppercase()] {
        let refused = station.post(wrong, &[], &hello());
        assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")), "{wrong:?}");
        assert!(!refused.body.contains("shuntyard"), "{refused:?}");
    }
    for method in ["GET", "DELETE", "OPTIONS", "PUT"] {
        assert_eq!(web::request(&station.address, &station.address, method, &[], "").status, 401, "{method}");
    }
}

#[test]
fn web_pages_are_kept_out() {
    let env = own_env("mcp-http-origin");
    let station = Station::start(&env);
    for origin in ["http://evil.example", "null", "https://localhost", "http://localhost:1"] {
        let refused = station.post(&station.token, &[("Origin", origin)], &hello());
        assert_eq!(refused.status, 403, "{origin}: {refused:?}");
    }
    let port = station.address.rsplit_once(':').map(|(_, port)| port.to_owned()).expect("a port");
    let own = format!("http://localhost:{port}");
    assert_eq!(station.post(&station.token, &[("Origin", &own)], &hello()).status, 200);
    for host in ["evil.example", "127.0.0.1:1", "192.168.0.1"] {
        let refused = station.post_to(host, &station.token, &[], &hello().to_string());
        assert_eq!(refused.status, 403, "{host}: {refused:?}");
    }
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    let env = own_env("mcp-http-body");
    let station = Station::start(&env);
    let large = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y".repeat(5 << 20)}});
    assert_eq!(station.post(&station.token, &[], &large).status, 413);
}

#[test]
fn the_token_is_private_and_goes_with_the_server() {
    let env = own_env("mcp-http-file");
    let mut station = Station::start(&env);
    let file = station.token_file.clone().expect("a file");
    assert!(file.starts_with(&*env.data_dir().to_string_lossy()), "{file}");
    assert_eq!(std::fs::metadata(&file).expect("metadata").permissions().mode() & 0o777, 0o600);
    assert_eq!(station.token.len(), 64);
    let id = station.child.id().to_string();
    std::process::Command::new("kill").args(["-TERM", &id]).status().expect("a signal");
    assert_eq!(station.child.wait().expect("an end").code(), Some(0));
    assert!(!std::path::Path::new(&file).exists(), "the token is of no use any more");
}

#[test]
fn a_token_can_be_given() {
    let mut env = own_env("mcp-http-given");
    env.set("SHUNTYARD_MCP_TOKEN", "a-token-of-my-own");
    let station = Station::start(&env);
    assert_eq!(station.token_file, None);
    assert_eq!(station.post("a-token-of-my-own", &[], &hello()).status, 200);
    assert_eq!(station.post("another-token-here", &[], &hello()).status, 401);
    env.set("SHUNTYARD_MCP_TOKEN", "short");
    let refused = env.run(&["mcp", "--json", "--http", "127.0.0.1:0"]);
    refused.expect_code(2).expect_class("usage");
}

#[test]
fn other_machines_are_not_served() {
    let env = own_env("mcp-http-remote");
    env.run(&["mcp", "--json", "--http", "0.0.0.0:0"]).expect_code(3).expect_class("refused");
    env.run(&["mcp", "--json", "--http", "nonsense"]).expect_code(2).expect_class("usage");
    env.run(&["mcp", "--json", "--directory", "nowhere"]).expect_code(2).expect_class("usage");
}
