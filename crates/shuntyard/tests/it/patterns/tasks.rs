//! What is recorded of a task: its own words, and not the rules that are put around them.

use crate::own_env;
use shuntyard_scripted::Step;
use std::process::Command;

#[test]
fn a_task_is_remembered_by_its_own_words() {
    let env = own_env("task-words");
    let project = env.project();
    let git = |args: &[&str]| {
        let names = ["-c", "user.name=t", "-c", "user.email=t@t"];
        let output = Command::new("git").args(names).args(args).current_dir(&project).output().expect("git");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    std::fs::write(project.join("README.md"), "hello\n").expect("written");
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    let key = env.provider.script("words", vec![Step::text("there was nothing to do"); 3]);
    let description = format!("Write docstrings for the calendar {key}");
    let order = ["task", "add", "--model", "scripted/alpha", "--attempts", "1", &description];
    env.run(&order).expect_code(0);
    env.run(&["supervise", "--until-idle"]);
    let export = env.run(&["patterns", "export"]).expect_code(0).json();
    let outcomes = export["outcomes"].as_array().or_else(|| export.as_array()).expect("outcomes").clone();
    assert_eq!(outcomes.len(), 1, "{export:#}");
    assert_eq!(outcomes[0]["text"], description.as_str(), "{export:#}");
    // The rules contain secrets and branches, which would make another kind of task of it.
    assert_eq!(outcomes[0]["task_type"], "docs-generation", "{export:#}");
    let similar = |text: &str| env.run(&["patterns", "suggest", "--json", text]).json()["similar"].clone();
    assert_eq!(similar("leave no secrets in files").as_array().map(Vec::len), Some(0));
    assert_eq!(similar("docstrings for a calendar").as_array().map(Vec::len), Some(1));
    env.stop_servers();
}
