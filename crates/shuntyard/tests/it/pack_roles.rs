//! Each role of the pack tries what it may not do, in the real OpenCode: to write to forbidden files, to write by the
//! shell, and to delegate its work.

use crate::own_env;
use serde_json::json;
use shuntyard_scripted::Step;

/// A role, a file that it may write, and one that it may not.
const ROLES: [(&str, Option<&str>, &str); 11] = [
    ("orchestrator", None, "src/a.txt"),
    ("executor", Some("src/b.txt"), ".ai/tasks/001-x/task-spec.md"),
    ("task-planner", Some(".ai/tasks/001-x/task-spec.md"), "src/c.txt"),
    ("implementer", Some("src/d.txt"), ".ai/tasks/001-x/validation-report.md"),
    ("validator", Some(".ai/tasks/001-x/validation-report.md"), "src/e.txt"),
    ("test-writer", Some("tests/f.txt"), "src/f.txt"),
    ("documentation", Some("docs/g.md"), "src/g.txt"),
    ("research", None, "src/h.txt"),
    ("shipper", None, "src/i.txt"),
    ("init", Some(".ai/context.md"), "src/j.txt"),
    ("model-config", None, "src/k.txt"),
];

/// Roles whose shell is open: the user of a pipeline checks what they touch.
const WITH_SHELL: [&str; 2] = ["executor", "implementer"];

#[test]
fn no_role_does_what_is_not_its_own() {
    let env = own_env("pack-roles");
    env.run(&["pack", "install"]).expect_code(0);
    for (role, allowed, denied) in ROLES {
        let project = env.project();
        let write = |file: &str| Step::tool("write", json!({"filePath": project.join(file), "content": role}));
        let shell = |line: String| Step::tool("bash", json!({"command": line, "description": "x"}));
        let hand_on = json!({"description": "x", "prompt": "do it for me", "subagent_type": "general"});
        let by_shell = project.join(format!("{role}-shell.txt"));
        let redirected = project.join(format!("{role}-redirected.txt"));
        let mut steps: Vec<Step> = allowed.into_iter().chain([denied]).map(write).collect();
        steps.push(shell(format!("touch {}", by_shell.display())));
        steps.push(shell(format!("echo x > {}", redirected.display())));
        steps.push(Step::tool("task", hand_on));
        steps.push(Step::text("I tried"));
        let key = env.provider.script(role, steps);
        let done = env.dispatch(&["--mode", "agent", "--agent", role, "-m", "scripted/alpha", &key]);
        assert_eq!(done.json()["text"], "I tried", "{role}: {}", done.stdout);
        let content = |file: &str| std::fs::read_to_string(project.join(file)).unwrap_or_default();
        if let Some(file) = allowed {
            assert_eq!(content(file), role, "{role} may write {file}");
        }
        assert_ne!(content(denied), role, "{role} may not write {denied}");
        let has_shell = WITH_SHELL.contains(&role);
        assert_eq!((by_shell.exists(), redirected.exists()), (has_shell, has_shell), "{role} by the shell");
        let sessions: Vec<_> = env.provider.requests(&key).entries.into_iter().map(|entry| entry.session).collect();
        assert!(sessions.iter().all(|session| *session == sessions[0]), "{role} handed its work on: {sessions:?}");
    }
}
