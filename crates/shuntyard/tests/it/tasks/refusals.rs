//! What is refused: with its exit code, what to do next, and nothing changed.

use super::{add, yard};
use crate::own_env;

#[test]
fn what_cannot_be_done_is_refused_before_it_is_queued() {
    let env = yard("task-refused");
    add(&env, &["there", "--id", "there", "--depends-on", "future"]);
    let outside = env.root.join("tmp").to_string_lossy().into_owned();
    let empty = env.repository("empty").to_string_lossy().into_owned();
    let table: &[(&[&str], i32, &str)] = &[
        (&["add"], 2, "no description was given"),
        (&["add", "  "], 2, "says nothing about what is to be done"),
        (&["add", "x", "--base", "nowhere"], 2, "no branch or commit `nowhere`"),
        (&["add", "x", "--repo", "/no/such"], 2, "is not a directory"),
        (&["add", "x", "--repo", "/"], 2, "not in a git repository"),
        (&["add", "x", "--repo", &empty], 2, "has no commit yet"),
        (&["add", "x", "--tier", "gold"], 2, "unknown tier `gold`"),
        (&["add", "x", "--task-type", "code-reveiw"], 2, "did you mean `code-review`?"),
        (&["add", "x", "--model", "half/"], 2, "half a model name"),
        (&["add", "x", "--need", "wings"], 2, "invalid value"),
        (&["add", "x", "--batch", "none"], 2, "there is no batch `none`"),
        (&["add", "x", "--id", "a b"], 2, "no id of a task"),
        (&["add", "x", "--id", "there"], 2, "there is a task there already"),
        (&["add", "x", "--id", "me", "--depends-on", "me"], 2, "cannot depend on itself"),
        (&["add", "x", "--id", "future", "--depends-on", "there"], 2, "wait for each other: future → there → future"),
        (&["add", "x", "--in-place"], 2, "needs a worktree"),
        (&["add", "--command", "true", "--model", "p/m"], 2, "--model is about a model"),
        (&["add", "--command", "true", "--in-place", "--deliver", "merge"], 2, "--deliver is about a worktree"),
        (&["add", "x", "--attempts", "0"], 2, "0 is not in 1"),
        (&["add", "x", "--max-cost", "much"], 2, "is no amount"),
        (&["add", "x", "--estimate", "soon"], 2, "is not a duration"),
        (&["add", "x", "--from", "-"], 2, "cannot be used with"),
        (&["add", "--from", "/no/such/file"], 2, "cannot be read"),
        (&["list", "--phase", "lost"], 2, "there is no such phase"),
        (&["show", "t999"], 2, "there is no task t999"),
        (&["log", "t999"], 2, "there is no task t999"),
        (&["why", "t999"], 2, "there is no task t999"),
        (&["verify", "t999"], 2, "there is no task t999"),
        (&["cancel", "there", "t999"], 2, "there is no task t999"),
        (&["retry", "t999"], 2, "there is no task t999"),
        (&["reset", "t999"], 2, "there is no task t999"),
        (&["retry", "there"], 3, "there is queued: retry is not possible"),
        (&["verify", "there"], 3, "has no receipt yet"),
        (&["cancel"], 2, "required"),
    ];
    for (args, code, message) in table {
        let refused = env.run(&[&["task", "--json"], *args].concat());
        refused.expect_code(*code);
        let said = refused.json();
        let told = said["error"]["message"].as_str().unwrap_or_default();
        assert!(told.contains(message), "{args:?}: {told}");
        assert!(said["error"]["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{args:?}: {said:#}");
        let people = env.run(&[&["task"], *args].concat());
        people.expect_code(*code);
        assert_eq!(people.stdout, "", "{args:?}");
    }
    let tasks = env.run(&["task", "list", "--json"]).json();
    assert_eq!(tasks["tasks"].as_array().map(Vec::len), Some(1), "{tasks:#}");
    assert_eq!(tasks["tasks"][0]["phase"], "queued");
    // A command in place needs no repository.
    add(&env, &["--command", "true", "--in-place", "--repo", &outside]);
}

#[test]
fn an_unknown_batch_is_refused_with_the_command_that_creates_it() {
    let env = own_env("batch-refused");
    let table: &[(&[&str], i32, &str)] = &[
        (&["batch", "status", "none"], 2, "there is no batch `none`"),
        (&["batch", "pause", "none"], 2, "there is no batch `none`"),
        (&["batch", "resume", "none"], 2, "there is no batch `none`"),
        (&["batch", "cancel", "none"], 2, "there is no batch `none`"),
        (&["status", "none"], 2, "there is no batch `none`"),
        (&["pulse", "--batch", "none"], 2, "there is no batch `none`"),
        (&["supervise", "--until-idle", "--batch", "none"], 2, "there is no batch `none`"),
        (&["batch", "create", "two words"], 2, "write one word"),
        (&["batch", "create", "x", "--concurrency", "0"], 2, "0 is not in 1"),
        (&["batch", "create", "x", "--tasks", "t999"], 2, "there is no task t999"),
    ];
    for (args, code, message) in table {
        let refused = env.run(&[*args, &["--json"]].concat());
        refused.expect_code(*code).expect_class("usage");
        assert!(refused.stdout.contains(message), "{args:?}: {}", refused.stdout);
    }
    let hint = env.run(&["batch", "status", "none", "--json"]).json();
    assert!(
        hint["error"]["hint"].as_str().is_some_and(|hint| hint.contains("shuntyard batch create none")),
        "{hint:#}"
    );
    assert_eq!(env.run(&["batch", "list", "--json"]).json(), serde_json::json!({"batches": []}));
}
