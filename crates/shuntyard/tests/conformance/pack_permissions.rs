//! The permission evaluator against the real OpenCode: a scripted model makes calls, and the outcome of each of them is
//! compared with the evaluator's result for the same agent file.

use crate::{NO_MEMORY, own_env};
use serde_json::{Value, json};
use shuntyard_agents::opencode::{
    Client, Endpoint, EventHub, Expect, HubEvent, NewSession, PermissionPolicy, PromptBody, RunLimits, RunPrompt,
    ServerEvent, Shape, run_prompt,
};
use shuntyard_core::{
    ModelRef,
    roles::pack::{
        Action, Rule,
        agent_file::AgentFile,
        evaluate,
        outside::{PathKind, Place, outside},
        permission::{hides, with_home},
        shell::split,
    },
    values::id::message_id,
};
use shuntyard_scripted::{Entry, Step};
use shuntyard_testkit::TestEnv;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

fn env() -> &'static TestEnv {
    static ENV: OnceLock<TestEnv> = OnceLock::new();
    ENV.get_or_init(|| {
        let env = own_env("pack-permissions");
        env.write_config(NO_MEMORY);
        env
    })
}

/// Rules with every trap that was found: the last match, a catch-all in the middle, numbers as patterns, quotes.
const TRICKY: &str = r#"---
description: tricky rules
mode: primary
permission:
  "*": deny
  external_directory:
    "*": deny
    "/etc/*": ask
    "/usr/*": allow
    "~/notes/*": allow
  read:
    "*": allow
    "*.secret": deny
    "maybe/*": ask
    "maybe/not.txt": deny
  edit:
    "*": deny
    "docs/*": allow
    "docs/frozen.md": deny
    "docs/ask?.md": ask
  glob: allow
  grep:
    "*": deny
    "needle*": allow
  bash:
    "*": deny
    "7": allow
    "echo *": allow
    "git *": allow
    "git push *": deny
    "git log": ask
    "ls*": allow
    "cat *": allow
    pwd: allow
    "*>*": deny
  todowrite: allow
  task:
    "*": deny
    helper: allow
    "may?e": ask
---
You are tricky.
"#;

/// Asks about every command, so that OpenCode shows how it splits a line.
const ASKER: &str = "---\ndescription: asks\nmode: primary\npermission:\n  \"*\": deny\n  bash: ask\n---\n";

/// Everything is allowed, but it is called by another agent.
const HELPER: &str = "---\ndescription: helps\nmode: subagent\npermission:\n  \"*\": allow\n---\n";

/// A star without quotes, which is no YAML.
const BROKEN: &str = "---\ndescription: broken\nmode: primary\npermission:\n  *: deny\n---\n";

/// The tools that OpenCode offers to an agent that may do everything.
const TOOLS: [&str; 9] = ["bash", "edit", "glob", "grep", "read", "task", "todowrite", "webfetch", "write"];

/// Calls in one step, which OpenCode makes at the same time.
const AT_ONCE: usize = 10;

/// One call of a tool, what it asks for in turn, and its expected outcome.
struct Row {
    tool: &'static str,
    arguments: Value,
    asks: Vec<(String, Vec<String>)>,
    expected: Action,
}

/// A repository with the agents in it, and files to read.
fn place() -> &'static Path {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| {
        let directory = env().repository("pack-permissions");
        for (name, text) in [
            (".opencode/agent/tricky.md", TRICKY),
            (".opencode/agent/asker.md", ASKER),
            (".opencode/agent/helper.md", HELPER),
            (".opencode/agent/broken.md", BROKEN),
            ("a.txt", "needle\n"),
            ("a.secret", "secret\n"),
            ("maybe/yes.txt", "yes\n"),
            ("maybe/not.txt", "not\n"),
            ("docs/kept.md", "kept\n"),
        ] {
            let file = directory.join(name);
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
            std::fs::write(file, text).expect("written");
        }
        directory
    })
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn rules(text_of_file: &str) -> Vec<Rule> {
    let agent = AgentFile::parse("agent/x.md", text_of_file).expect("readable");
    with_home(&agent.rules, &text(&env().root.join("home")))
}

fn row(tool: &'static str, arguments: Value, asks: &[(&str, &str)], expected: Action) -> Row {
    let asks = asks.iter().map(|(permission, what)| ((*permission).to_owned(), vec![(*what).to_owned()])).collect();
    Row { tool, arguments, asks, expected }
}

/// A command asks for the directories outside that it names, all at once, and then for its parts.
fn bash(line: &str, expected: Action) -> Row {
    let parts = split(line).expect(line);
    let (directory, home) = (text(place()), text(&env().root.join("home")));
    let here = Place { directory: &directory, worktree: &directory, home: &home };
    let kind = |path: &str| if Path::new(path).is_dir() { PathKind::Directory } else { PathKind::File };
    let away: Vec<String> = parts.paths.iter().filter_map(|path| outside(path, here, kind(path))).collect();
    let asks = [("external_directory", away), ("bash", parts.asked)];
    Row {
        tool: "bash",
        arguments: json!({"command": line, "description": "a command"}),
        asks: asks.into_iter().filter(|(_, what)| !what.is_empty()).map(|(key, what)| (key.to_owned(), what)).collect(),
        expected,
    }
}

/// The evaluator's result: the questions that are put, and whether the call is denied in the end.
fn predicted(rules: &[Rule], row: &Row) -> (Vec<(String, Vec<String>)>, Action) {
    let mut asked = Vec::new();
    for (permission, what) in &row.asks {
        let actions: Vec<Action> = what.iter().map(|what| evaluate(rules, permission, what).action).collect();
        if actions.contains(&Action::Deny) {
            return (asked, Action::Deny);
        }
        if actions.contains(&Action::Ask) {
            asked.push((permission.clone(), what.clone()));
        }
    }
    let action = if asked.is_empty() { Action::Allow } else { Action::Ask };
    (asked, action)
}

/// What OpenCode asked while the calls of a prompt ran, and the requests that the model got.
struct Ran {
    asked: Vec<(String, Vec<String>)>,
    requests: Vec<Entry>,
}

async fn run(agent: &str, steps: Vec<Step>) -> Ran {
    env().dispatch(&["-m", "scripted/alpha", "warm up"]).expect_ok();
    let server = &env().servers()[0];
    let id = server["id"].as_str().expect("an id");
    let password =
        std::fs::read_to_string(env().data_dir().join(format!("servers/{id}.password"))).expect("a password");
    let url = server["url"].as_str().expect("an address").to_owned();
    let client = Client::new(&Endpoint { url, password: Some(password.into()) }).expect("a client");
    let client = client.in_directory(place());
    let hub = EventHub::start(&client);
    assert!(hub.wait_connected(Duration::from_secs(10)).await);
    let mut events = hub.subscribe();
    let new = NewSession { title: "permissions".into(), ..NewSession::default() };
    let session = client.create_session(&new).await.expect("a session").id;
    let key = env().provider.script(agent, steps);
    let body = PromptBody::Prompt {
        parts: vec![json!({"type": "text", "text": key})],
        model: ModelRef::new("scripted", "alpha"),
        agent: Some(agent.into()),
        system: None,
        schema: None,
    };
    let limits = RunLimits {
        first_token: None,
        inactivity: None,
        total: Some(Duration::from_secs(240)),
        began: Instant::now(),
        retry_wait_cap: Some(Duration::from_secs(5)),
        provider_retries: 1,
        steps: None,
        max_cost: None,
        permission: PermissionPolicy::AllowOnce,
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time");
    let message = message_id(u64::try_from(now.as_millis()).expect("a time"), 1, [7; 14]);
    let report = run_prompt(RunPrompt {
        client: &client,
        hub: &hub,
        session: &session,
        message: &message,
        body: &body,
        expect: Expect::Text,
        shape: Shape::ManySteps,
        limits,
        approver: None,
        sink: &(Arc::new(|_| {}) as _),
        cancel: &CancellationToken::new(),
    })
    .await;
    assert!(report.verdict.outcome.is_ok(), "{report:?}");
    let mut asked = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let HubEvent::Event(event) = event
            && let ServerEvent::PermissionAsked(pending) = &*event
            && pending.session == session
        {
            asked.push((pending.permission.clone(), pending.patterns.clone()));
        }
    }
    hub.close().await;
    Ran { asked, requests: env().provider.requests(&key).entries }
}

/// Makes the calls of the rows, some at a time, and compares each with the evaluator and with the table.
async fn compare(agent: &str, file: &str, rows: &[Row]) -> Ran {
    let rules = rules(file);
    let call = |step: Step, row: &Row| step.and_tool(row.tool, row.arguments.clone());
    let steps = rows.chunks(AT_ONCE).map(|rows| rows.iter().fold(Step::default(), call));
    let ran = run(agent, steps.chain([Step::text("done")]).collect()).await;
    // The last request has the results of all calls, in their order.
    let last = ran.requests.last().expect("a request");
    let results: Vec<&str> =
        last.messages.iter().filter(|said| said.role == "tool").map(|said| said.text.as_str()).collect();
    assert_eq!(results.len(), rows.len(), "{results:#?}");
    let mut to_ask = Vec::new();
    for (row, result) in rows.iter().zip(results) {
        let (asked, action) = predicted(&rules, row);
        assert_eq!(action, row.expected, "the evaluator for {} {}", row.tool, row.arguments);
        let denied = result.contains("specified a rule which prevents");
        assert_eq!(denied, action == Action::Deny, "OpenCode for {} {}: {result}", row.tool, row.arguments);
        assert!(!result.contains("unavailable tool"), "{} is offered: {result}", row.tool);
        to_ask.extend(asked);
    }
    let mut asked = ran.asked.clone();
    asked.sort();
    to_ask.sort();
    assert_eq!(asked, to_ask, "what OpenCode asked, and what the evaluator says that it asks");
    ran
}

#[tokio::test]
async fn calls_are_decided_as_opencode_decides_them() {
    use Action::{Allow, Ask, Deny};
    let file = |name: &str| text(&place().join(name));
    let notes = env().root.join("home/notes");
    std::fs::create_dir_all(&notes).expect("a directory");
    std::fs::write(notes.join("a.txt"), "a note\n").expect("written");
    let read = |name: &str, expected| row("read", json!({"filePath": file(name)}), &[("read", name)], expected);
    let write = |name: &str, expected| {
        row("write", json!({"filePath": file(name), "content": "new\n"}), &[("edit", name)], expected)
    };
    let away = |path: &str, directory: &str, expected| {
        row("read", json!({"filePath": path}), &[("external_directory", directory), ("read", "../elsewhere")], expected)
    };
    let task = |name: &str, expected| {
        let arguments = json!({"description": "help", "prompt": "help with nothing", "subagent_type": name});
        row("task", arguments, &[("task", name)], expected)
    };
    let grep = |text: &str, expected| row("grep", json!({"pattern": text}), &[("grep", text)], expected);
    let rows = vec![
        bash("echo hello", Allow),
        bash("echo 'a > b'", Deny),
        bash("echo \"x && y | z\"", Allow),
        bash("echo a && pwd", Allow),
        bash("echo b && rm never.txt", Deny),
        bash("echo hi > seen.txt", Deny),
        bash("pwd && echo hole > hole-list.txt", Allow),
        bash("echo hole | cat > hole-pipe.txt", Allow),
        bash("> hole-alone.txt", Allow),
        bash("< /dev/null < /dev/null touch hole-name.txt > /dev/null", Allow),
        bash("cd docs > hole-cd.txt", Allow),
        bash("touch plain.txt", Deny),
        bash("git", Allow),
        bash("git status", Allow),
        bash("git push", Deny),
        bash("git push origin main", Deny),
        bash("git pushx", Allow),
        bash("git log", Ask),
        bash("git log -1", Allow),
        bash("git log | cat", Ask),
        bash("ls", Allow),
        bash("lsnothing", Allow),
        bash("X=1 pwd", Deny),
        bash("pwd -L", Deny),
        bash("echo $(touch sub.txt)", Deny),
        bash("echo \"$(pwd)\"", Allow),
        bash("echo '$(touch raw.txt)'", Allow),
        bash("\"echo\" hi", Deny),
        bash("cd docs", Allow),
        bash("cd docs && touch x.txt", Deny),
        bash("(pwd; echo in brackets)", Allow),
        bash("for i in 1 2; do touch $i; done", Deny),
        bash("7", Deny),
        bash("pwd\necho next", Allow),
        bash("cat /etc/hostname", Ask),
        bash("cat /usr/no-such-file", Allow),
        bash("cat /var/no-such-file", Deny),
        bash("cat ~/notes/a.txt", Allow),
        bash("echo /var/no-such-file", Allow),
        read("a.txt", Allow),
        read("a.secret", Deny),
        read("maybe/yes.txt", Ask),
        read("maybe/not.txt", Deny),
        away("/etc/os-release", "/etc/*", Ask),
        away("/var/no-such-file", "/var/*", Deny),
        write("docs/new.md", Allow),
        write("docs/deep/new.md", Allow),
        write("docs/frozen.md", Deny),
        write("docs/ask1.md", Ask),
        write("src/new.rs", Deny),
        row(
            "edit",
            json!({"filePath": file("docs/kept.md"), "oldString": "kept", "newString": "changed"}),
            &[("edit", "docs/kept.md")],
            Allow,
        ),
        row("glob", json!({"pattern": "**/*.txt"}), &[("glob", "**/*.txt")], Allow),
        grep("needles?", Allow),
        grep("haystack", Deny),
        task("helper", Allow),
        task("maybe", Ask),
        task("nobody", Deny),
        row("todowrite", json!({"todos": []}), &[("todowrite", "*")], Allow),
    ];
    let ran = compare("tricky", TRICKY, &rows).await;
    for hole in ["hole-list.txt", "hole-pipe.txt", "hole-alone.txt", "hole-name.txt", "hole-cd.txt"] {
        assert!(place().join(hole).exists(), "{hole} was written although no rule allows a redirection");
    }
    for kept_out in ["seen.txt", "plain.txt", "sub.txt", "docs/x.txt", "docs/frozen.md", "src/new.rs"] {
        assert!(!place().join(kept_out).exists(), "{kept_out} was not written");
    }
    let offered = &ran.requests[0].tools;
    for tool in TOOLS {
        assert_eq!(offered.contains(&tool.to_owned()), !hides(&rules(TRICKY), tool), "{tool} in {offered:?}");
    }
    assert!(!offered.contains(&"webfetch".to_owned()), "a denial of everything hides a tool: {offered:?}");
}

#[tokio::test]
async fn lines_are_split_as_opencode_splits_them() {
    let lines = [
        "echo x>a1.out",
        "echo a2 > a2.out 2>&1",
        "true && echo a3 > a3.out",
        "true | cat 2>/dev/null",
        "true; echo a4 > a4.out",
        "true & echo a5",
        "true\necho a6",
        "A=1 echo a7",
        "A=$(echo a8)",
        "echo `echo a9`",
        "echo \"$(echo b1) b1\"",
        "cat <(echo b2)",
        "echo ${B3:-$(echo b3)}",
        "(echo b4; echo b5) > b4.out",
        "{ echo b6; } 2>/dev/null",
        "if true; then echo b7 > b7.out; else false; fi",
        "for i in 1; do echo b8 $i; done",
        "! echo b9 > b9.out",
        "cat <<< c1",
        "[ -f c2 ] || echo c2",
        "[[ -f c3 && -f c4 ]] || echo c3",
        "export C5=1 && echo c5",
        ">c6.out echo c6",
        "echo c7 # not this",
        "echo c8 \\\n  c9",
        "cd . && echo d1",
        "echo d2 > /dev/null d2 && true > /dev/null d3",
        "export D4=1 > d4.out",
    ];
    let action = |line: &str| if split(line).expect(line).asked.is_empty() { Action::Allow } else { Action::Ask };
    let rows: Vec<Row> = lines.into_iter().map(|line| bash(line, action(line))).collect();
    let ran = compare("asker", ASKER, &rows).await;
    assert_eq!(ran.asked.len(), lines.len() - 1, "all but the last are asked about");
    assert!(place().join("d4.out").exists(), "a redirection of export is not asked about");
}

#[tokio::test]
async fn an_unreadable_head_allows_everything_and_a_called_agent_less() {
    assert!(AgentFile::parse("agent/broken.md", BROKEN).is_err());
    let broken = run("broken", vec![Step::text("done")]).await;
    for tool in ["bash", "write", "webfetch", "task"] {
        assert!(broken.requests[0].tools.contains(&tool.to_owned()), "{tool}: {:?}", broken.requests[0].tools);
    }
    let child = env().provider.script("child", vec![Step::text("helped")]);
    let task = json!({"description": "help", "prompt": child, "subagent_type": "helper"});
    run("tricky", vec![Step::tool("task", task), Step::text("done")]).await;
    let offered = env().provider.requests(&child).entries[0].tools.clone();
    for tool in TOOLS {
        assert_eq!(offered.contains(&tool.to_owned()), !hides(&rules(HELPER), tool), "{tool} in {offered:?}");
    }
    assert!(!offered.contains(&"task".to_owned()), "what may do everything still may not call: {offered:?}");
}
