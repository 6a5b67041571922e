//! A small MCP client: JSON lines over pipes, and every message checked.

use serde_json::{Value, json};
use shuntyard_testkit::TestEnv;
use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// No answer may take longer than this many seconds; the longest wait of a call is 45.
const DEADLINE: Duration = Duration::from_secs(480);

/// How often a wait is repeated.
const PATIENCE: usize = 6;

#[derive(Debug)]
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    incoming: Receiver<Value>,
    waiting: VecDeque<Value>,
    stderr: Option<JoinHandle<String>>,
    next: i64,
    /// The server's description of itself.
    pub server: Value,
}

/// How a server ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stderr: String,
}

impl Client {
    /// Starts a server and gets to know it, as a client without any extensions.
    pub fn start(env: &TestEnv, args: &[&str]) -> Self {
        Self::with_capabilities(env, args, &json!({}))
    }

    pub fn with_capabilities(env: &TestEnv, args: &[&str], capabilities: &Value) -> Self {
        let mut client = Self::silent(env, args);
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}});
        let answer = client.request("initialize", &hello);
        client.server = answer["result"].clone();
        client.notify("notifications/initialized", &json!({}));
        client
    }

    /// Starts a server and sends nothing yet.
    pub fn silent(env: &TestEnv, args: &[&str]) -> Self {
        let mut command = env.command(&[&["mcp"], args].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let (sender, incoming) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let line = line.expect("a line of text");
                let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| json!({"no_json": line}));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut pipe = child.stderr.take().expect("a pipe");
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            pipe.read_to_string(&mut text).expect("standard error is text");
            text
        });
        let stdin = child.stdin.take();
        let (waiting, stderr) = (VecDeque::new(), Some(stderr));
        Self { child, stdin, incoming, waiting, stderr, next: 0, server: Value::Null }
    }

    /// The process id of the server.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    pub fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("an open input");
        stdin.write_all(format!("{line}\n").as_bytes()).expect("the server takes it");
        stdin.flush().expect("the server takes it");
    }

    pub fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and does not wait for its answer; returns its id.
    pub fn ask(&mut self, method: &str, params: &Value) -> i64 {
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.response(id)
    }

    /// The answer of a request; what comes before it is kept.
    #[track_caller]
    pub fn response(&mut self, id: i64) -> Value {
        let message = self.find(&format!("the answer of request {id}"), |message| message["id"] == id);
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// The next message that fits, also of those that came before.
    #[track_caller]
    pub fn find(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(found) = self.waiting.iter().position(&fits).and_then(|index| self.waiting.remove(index)) {
            return found;
        }
        let deadline = Instant::now() + DEADLINE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self.incoming.recv_timeout(left).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(message.get("no_json").is_none(), "something else than the protocol: {message}");
            if fits(&message) {
                return message;
            }
            self.waiting.push_back(message);
        }
    }

    /// Waits for the next progress message for a token.
    #[track_caller]
    pub fn next_progress(&mut self, token: &str) -> Value {
        self.find("progress", |message| is_progress(message, token))["params"].clone()
    }

    /// The progress messages that have come for a token, in order.
    pub fn progress(&mut self, token: &str) -> Vec<Value> {
        let (ours, others): (Vec<Value>, Vec<Value>) =
            self.waiting.drain(..).partition(|message| is_progress(message, token));
        self.waiting = others.into();
        ours.into_iter().map(|message| message["params"].clone()).collect()
    }

    /// The result of a tool; an error of the protocol is a failure.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        // One wait is bounded, and a busy machine takes longer: a wait without a time of its own is repeated.
        let patient = tool == "task_await" && arguments.get("timeout").is_none();
        for _ in 0..PATIENCE {
            let mut call = json!({"name": tool, "arguments": arguments});
            if tool.ends_with("dispatch") {
                // A client that gets progress may wait as long as the work takes.
                call["_meta"] = json!({"progressToken": "patient"});
            }
            let id = self.ask("tools/call", &call);
            let result = self.result(id);
            if !patient || result["structuredContent"]["timedOut"] != true {
                return result;
            }
        }
        panic!("{arguments} is not over after {PATIENCE} waits");
    }

    #[track_caller]
    pub fn result(&mut self, id: i64) -> Value {
        let answer = self.response(id);
        assert!(answer.get("error").is_none(), "an error of the protocol: {answer:#}");
        let result = answer["result"].clone();
        assert!(result["structuredContent"].is_object(), "structured content: {result:#}");
        result
    }

    /// A call with a progress token that is not waited for.
    pub fn ask_with_progress(&mut self, tool: &str, arguments: &Value, token: &str) -> i64 {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": token}}))
    }

    /// Closes the input and waits for the end.
    pub fn close(mut self) -> Ended {
        drop(self.stdin.take());
        self.ended()
    }

    pub fn terminate(self) -> Ended {
        let id = self.child.id().to_string();
        std::process::Command::new("kill").args(["-TERM", &id]).status().expect("a signal");
        self.ended()
    }

    fn ended(mut self) -> Ended {
        let deadline = Instant::now() + DEADLINE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a status") {
                break status;
            }
            assert!(Instant::now() < deadline, "the server did not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        let stderr = self.stderr.take().expect("a reader").join().expect("standard error");
        Ended { code: status.code(), stderr }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn is_progress(message: &Value, token: &str) -> bool {
    message["method"] == "notifications/progress" && message["params"]["progressToken"] == token
}

pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

/// A refusal: an error of the tool with the message and the next step.
#[track_caller]
pub fn expect_refusal(result: &Value, message: &str) {
    assert_eq!(result["isError"], true, "{result:#}");
    let error = &result["structuredContent"]["error"];
    let said = error["message"].as_str().unwrap_or_default();
    assert!(said.contains(message), "expected {message:?} in {result:#}");
    assert!(error["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "a refusal has a hint: {result:#}");
    assert!(text(result).starts_with("error ["), "{result:#}");
}
