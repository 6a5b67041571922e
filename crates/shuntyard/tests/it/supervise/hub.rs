//! A repository with a remote on this disk, and a scripted `gh` with pull requests there.

use crate::supervise::{Yard, yard::git_in};
use serde_json::{Value, json};
use shuntyard_testkit::script;
use std::path::PathBuf;

#[derive(Debug)]
pub struct Hub {
    pub yard: Yard,
    pub directory: PathBuf,
}

impl Hub {
    pub fn new(name: &str) -> Self {
        Self::with(name, "")
    }

    /// `settings` are for the repository.
    pub fn with(name: &str, settings: &str) -> Self {
        let mut yard = Yard::with(name, "");
        let directory = yard.env.root.join("hub");
        std::fs::create_dir_all(&directory).expect("a directory");
        let remote = directory.join("remote").display().to_string();
        yard.git(&["init", "-q", "--bare", &remote]);
        yard.git(&["remote", "add", "origin", &remote]);
        yard.git(&["push", "-q", "origin", "main"]);
        script(&directory.join("gh"), &include_str!("gh.sh").replace("HUB", &directory.display().to_string()));
        let path = std::env::var("PATH").unwrap_or_default();
        yard.env.set("PATH", format!("{}:{path}", directory.display()));
        let config = yard.env.root.join("home/.config/shuntyard/config.toml");
        let text = std::fs::read_to_string(config).expect("the configuration");
        let text = text.replace("look_every = \"1s\"", "look_every = \"50ms\"\nci_wait = \"1ms\"");
        let repository = format!("[repository.{:?}]\n{settings}\n", yard.repository().display().to_string());
        yard.env.write_config(&if settings.is_empty() { text } else { format!("{text}\n{repository}") });
        let hub = Self { yard, directory };
        hub.say("", &json!({}));
        hub
    }

    pub fn add(&self, name: &str) -> String {
        self.yard.add(&[name, "--id", name, "--command", &format!("date +%N > {name}"), "--deliver", "pr"])
    }

    /// Sets the state that people gave to a pull request.
    pub fn set(&self, file: &str, state: &str) {
        std::fs::write(self.directory.join(file), format!("{state}\n")).expect("a file");
    }

    /// Sets what the service reports from now on about pull request `which`: empty for all, or `-NUMBER`, or
    /// `-NUMBER.HEAD`. In the shapes of `gh pr view --json`; `HEAD` is replaced by the head as it is then.
    pub fn say(&self, which: &str, changes: &Value) {
        let mut report = json!({
            "isDraft": false,
            "mergeStateStatus": "CLEAN",
            "reviewDecision": "",
            "reviews": [],
            "statusCheckRollup": [check("build", "COMPLETED", "SUCCESS")],
        });
        for (key, value) in changes.as_object().expect("fields") {
            report[key] = value.clone();
        }
        let fields = report.to_string();
        let inner = fields.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).expect("an object");
        // Renamed, so that no `gh` reads a part of it.
        let draft = self.directory.join("draft");
        std::fs::write(&draft, inner).expect("a file");
        std::fs::rename(draft, self.directory.join(format!("said{which}"))).expect("renamed");
    }

    pub fn at(&self, branch: &str) -> String {
        git_in(&self.directory.join("remote"), &["rev-parse", &format!("refs/heads/{branch}")])
    }

    pub fn reason(&self, id: &str) -> String {
        self.yard.task(id)["reason"].as_str().unwrap_or_default().to_owned()
    }

    pub fn until_review(&self, id: &str) {
        self.yard.pulse_until("the review", || self.yard.task(id)["state"] == "review");
    }

    pub fn until_seen(&self, id: &str, state: &str) {
        let seen = || self.yard.task(id)["pull_request"]["state"] == state;
        self.yard.pulse_until(&format!("{id} to be seen as {state}"), seen);
    }

    pub fn attempts(&self, id: &str) -> usize {
        self.yard.task(id)["attempts"].as_array().map_or(0, Vec::len)
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.directory.join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn calls(&self, start: &str) -> usize {
        self.lines("calls").iter().filter(|call| call.starts_with(start)).count()
    }

    pub fn created(&self) -> usize {
        self.calls("pr create --head ")
    }

    /// The merges that really happened, each with its method.
    pub fn merges(&self) -> Vec<String> {
        self.lines("merges")
    }

    pub fn open(&self) -> usize {
        let entries = std::fs::read_dir(&self.directory).expect("the hub").flatten();
        entries.filter(|entry| std::fs::read_to_string(entry.path()).is_ok_and(|text| text == "OPEN\n")).count()
    }
}

/// A check run of GitHub Actions.
pub fn check(name: &str, status: &str, conclusion: &str) -> Value {
    json!({
        "__typename": "CheckRun", "name": name, "status": status, "conclusion": conclusion, "workflowName": "CI",
        "startedAt": "2026-05-01T10:00:00Z", "completedAt": "2026-05-01T10:02:00Z",
        "detailsUrl": "https://github.com/ann/app/actions/runs/123/job/456",
    })
}

pub fn review(id: &str, association: &str, state: &str, body: &str) -> Value {
    json!({
        "id": id, "author": {"login": "bo"}, "authorAssociation": association, "body": body, "state": state,
        "submittedAt": "2026-05-01T11:00:00Z", "includesCreatedEdit": false, "reactionGroups": [],
        "commit": {"oid": "HEAD"},
    })
}
