//! Work queued through the MCP tools: a hundred jobs at once from one client, what the server takes for it, and how
//! quickly it reports the state of a job.

use crate::{
    figures::{Limits, millis, quantile, show},
    process::status_megabytes,
};
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::TestEnv;
use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Stdio},
    time::{Duration, Instant},
};

const JOBS: usize = 100;
const LOOKS: usize = 1000;

pub fn measure(env: &TestEnv, limits: &mut Limits) {
    env.dispatch(&["-m", "scripted/alpha", "warm up"]).expect_ok();
    let key = env.provider.script("handover", vec![Step::text("an answer"); JOBS]);
    let mut client = Client::start(env);
    println!("{JOBS} jobs at once from one client of `shuntyard mcp`");
    let began = Instant::now();
    let start = json!({"kind": "dispatch", "task": key, "model": "scripted/alpha"});
    let started: Vec<i64> = (0..JOBS).map(|_| client.ask("task_start", &start)).collect();
    let ids: Vec<Value> =
        started.into_iter().map(|request| client.answer(request)["structuredContent"]["id"].clone()).collect();
    show("all are started after", millis(began.elapsed()), "ms");
    let mut open = ids.clone();
    // As a model would: every wait is bounded, and repeated when it ends first.
    while !open.is_empty() {
        let waits: Vec<i64> = open.iter().map(|id| client.ask("task_await", &json!({"taskId": id}))).collect();
        let answers: Vec<Value> = waits.into_iter().map(|request| client.answer(request)).collect();
        for answer in &answers {
            assert_eq!(answer["isError"], false, "{answer}");
        }
        let over: Vec<Value> = answers
            .iter()
            .filter(|answer| answer["structuredContent"]["over"] == true)
            .map(|answer| answer["structuredContent"]["id"].clone())
            .collect();
        open.retain(|id| !over.contains(id));
    }
    let whole = began.elapsed();
    show("all are over after", millis(whole), "ms");
    let memory = status_megabytes(client.child.id(), "VmHWM").expect("its memory");
    limits.hold("resident memory of the server, highest", memory, 60.0, "MB");
    let mut times = Vec::with_capacity(LOOKS);
    for number in 0..LOOKS {
        let began = Instant::now();
        let request = client.ask("task_peek", &json!({"taskId": ids[number % ids.len()]}));
        let seen = client.answer(request);
        times.push(began.elapsed());
        assert_eq!(seen["structuredContent"]["status"], "done", "{seen}");
    }
    show("task_peek, p50", millis(quantile(&times, 0.5)), "ms");
    limits.hold("task_peek, p99", millis(quantile(&times, 0.99)), 10.0, "ms");
    alternative(env, whole);
}

/// The same hundred prompts, each by a process of its own.
fn alternative(env: &TestEnv, whole: Duration) {
    let key = env.provider.script("alone", vec![Step::text("an answer"); JOBS]);
    let began = Instant::now();
    let mut running: Vec<Child> = Vec::new();
    for _ in 0..JOBS {
        // As many at once as the jobs were.
        if running.len() == 16 {
            drop(running.remove(0).wait());
        }
        let mut command = env.command(&["dispatch", "-m", "scripted/alpha", &key]);
        running.push(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"));
    }
    for mut one in running {
        drop(one.wait());
    }
    let alone = began.elapsed();
    show("the same as processes of `shuntyard dispatch`", millis(alone), "ms");
    show("ratio", whole.as_secs_f64() / alone.as_secs_f64(), "x");
}

/// Just enough of the protocol.
struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    answers: HashMap<i64, Value>,
    next: i64,
}

impl Client {
    fn start(env: &TestEnv) -> Self {
        let mut command = env.command(&["mcp"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut client = Self { child, stdin, stdout, answers: HashMap::new(), next: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
        let request = client.send("initialize", &hello);
        client.answer(request);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        writeln!(client.stdin, "{ready}").expect("it is taken");
        client
    }

    fn send(&mut self, method: &str, params: &Value) -> i64 {
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        writeln!(self.stdin, "{message}").expect("it is taken");
        self.next
    }

    fn ask(&mut self, tool: &str, arguments: &Value) -> i64 {
        self.send("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    fn answer(&mut self, request: i64) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&request) {
                return answer;
            }
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).expect("a line") > 0, "the server has ended");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            assert!(message["error"].is_null(), "{message}");
            if let Some(id) = message["id"].as_i64() {
                self.answers.insert(id, message["result"].clone());
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
