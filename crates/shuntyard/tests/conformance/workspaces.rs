//! Several workspaces of one repository at once on one real OpenCode server. OpenCode takes them for one project,
//! because they have the same first commit; sessions, settings and files stay apart all the same.

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_agents::opencode::{Client, Endpoint};
use shuntyard_scripted::{Gate, Step};
use shuntyard_testkit::{TestEnv, eventually};
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// How many more characters of instructions the second branch has.
const LONGER: usize = 4000;

fn git(directory: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(directory).args(args).output().expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Two branches, each with instructions and a permission of its own.
fn prepare(env: &TestEnv) {
    env.write_config("[supervise]\nadaptive = false\nconcurrency = 3\nmost = 3\ndisk_reserve_mib = 1\n");
    let top = env.project();
    for args in [["symbolic-ref", "HEAD", "refs/heads/main"], ["config", "user.name", "Ann"]] {
        git(&top, &args);
    }
    git(&top, &["config", "user.email", "ann@example.org"]);
    for (branch, webfetch) in [("main", "allow"), ("other", "deny")] {
        let settings = json!({"permission": {"webfetch": webfetch}}).to_string();
        let rules = if branch == "main" { "A rule.\n".to_owned() } else { "A rule.\n".repeat(LONGER / 8) };
        std::fs::write(top.join("AGENTS.md"), rules).expect("written");
        std::fs::write(top.join("opencode.json"), settings).expect("written");
        git(&top, &["add", "-A"]);
        git(&top, &["commit", "-qm", branch]);
        if branch == "main" {
            git(&top, &["checkout", "-q", "-b", "other"]);
        }
    }
    git(&top, &["checkout", "-q", "main"]);
}

/// A task that writes its own file, waits, and lists the directory.
struct Worker {
    id: String,
    key: String,
    branch: &'static str,
    workspace: PathBuf,
}

fn add(env: &TestEnv, branch: &'static str, gate: &Gate) -> Worker {
    let key = env.provider.fresh_key("workspace");
    let name = key.trim_matches(['<', '>']).to_owned();
    let steps = vec![
        Step::tool("write", json!({"filePath": "own.txt", "content": format!("{name}\n")})),
        Step::tool("bash", json!({"command": "cat own.txt > seen.txt; ls *.txt >> seen.txt", "description": "look"}))
            .at(gate),
        Step::text("done"),
    ];
    env.provider.script_key(&key, steps);
    let prompt = format!("write the file {key}");
    let added = env.run(&["task", "add", &prompt, "--model", "scripted/alpha", "--base", branch, "--json"]);
    let id = added.expect_code(0).json()["id"].as_str().expect("an id").to_owned();
    Worker { id, key: name, branch, workspace: PathBuf::new() }
}

fn task(env: &TestEnv, id: &str) -> Value {
    env.run(&["task", "show", id, "--json"]).expect_code(0).json()
}

fn client(env: &TestEnv) -> Client {
    let servers = env.servers();
    assert_eq!(servers.len(), 1, "they share a server: {servers:#?}");
    let id = servers[0]["id"].as_str().expect("an id");
    let password = std::fs::read_to_string(env.data_dir().join(format!("servers/{id}.password"))).expect("a password");
    let url = servers[0]["url"].as_str().expect("an address").to_owned();
    Client::new(&Endpoint { url, password: Some(password.into()) }).expect("a client")
}

#[test]
fn workspaces_of_one_repository_on_one_server_are_apart() {
    let env = own_env("workspaces");
    prepare(&env);
    let gate = Gate::default();
    let mut workers = ["main", "main", "other"].map(|branch| add(&env, branch, &gate));
    let supervisor = env.spawn(&["supervise", "--until-idle"]);
    let asked = |key: &str| env.provider.requests(&format!("<<{key}>>")).entries.len();
    eventually("all are at work", Duration::from_secs(60), || workers.iter().all(|worker| asked(&worker.key) >= 2));
    for worker in &mut workers {
        worker.workspace = PathBuf::from(task(&env, &worker.id)["worktree"].as_str().expect("a workspace"));
    }
    let client = client(&env);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut sessions = Vec::new();
    for worker in &workers {
        let own = client.in_directory(&worker.workspace);
        let (found, running) = runtime.block_on(async { tokio::join!(own.find_sessions(""), own.running()) });
        let (found, running) = (found.expect("sessions"), running.expect("a status"));
        // The list is that of the project, which they share; a session belongs to one directory.
        let here: Vec<_> = found.iter().filter(|session| Path::new(&session.directory) == worker.workspace).collect();
        assert_eq!(here.len(), 1, "{:?} has a session of its own: {found:#?}", worker.workspace);
        assert!(here[0].title.contains(&worker.key), "{found:#?}");
        assert_eq!(running.keys().collect::<Vec<_>>(), [&here[0].id], "and sees no other at work");
        sessions.push(here[0].id.clone());
    }
    sessions.dedup();
    assert_eq!(sessions.len(), workers.len());
    gate.open();
    shuntyard_testkit::environment::finish(supervisor).expect_code(0);
    let mut systems = Vec::new();
    for worker in &workers {
        let done = task(&env, &worker.id);
        assert_eq!(done["phase"], "done", "{done:#}");
        let show = |file: &str| git(&env.project(), &["show", &format!("shuntyard/{}:{file}", worker.id)]);
        assert_eq!(show("own.txt"), worker.key);
        assert_eq!(show("seen.txt"), format!("{}\nown.txt\nseen.txt", worker.key), "it sees its own files");
        // The ledger has only the length of the system prompt; paths in it differ a little.
        let requests = env.provider.requests(&format!("<<{}>>", worker.key));
        let system = requests.entries.iter().map(|entry| entry.system_length).max().expect("a request");
        systems.push((worker.branch, system));
    }
    let [(_, first), (_, second), (_, other)] = systems[..] else { panic!("{systems:?}") };
    assert!(first.abs_diff(second) < LONGER / 4, "both have the instructions of main: {systems:?}");
    assert!(other > first + LONGER / 2, "and the third those of its own branch: {systems:?}");
    assert_eq!(git(&env.project(), &["status", "--porcelain"]), "");
    assert_eq!(snapshots(&env.root), Vec::<PathBuf>::new(), "nothing is kept of one that an undo in another could use");
}

/// What OpenCode keeps to undo changes; by project, and not by directory.
fn snapshots(root: &Path) -> Vec<PathBuf> {
    let found = Command::new("find").arg(root).args(["-path", "*/opencode/snapshot/*", "-type", "f"]).output();
    String::from_utf8_lossy(&found.expect("find").stdout).lines().map(PathBuf::from).collect()
}
