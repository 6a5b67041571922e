//! The pack itself: it is clean, its roles can do what they must and nothing else, and both forms have the same
//! content.

use super::{accepted::Accepted, *};
use shuntyard_core::roles::pack::{
    Action, Frontmatter,
    agent_file::{AgentFile, Mode},
    evaluate, evaluate_shell,
    lint::lint,
    permission::{flatten, hides},
};
use shuntyard_core::roles::spec::{Field, Report};

fn agent(name: &str) -> AgentFile {
    let path = format!("agents/{name}.md");
    let (_, text) = AGENTS.iter().find(|(known, _)| *known == path).unwrap();
    AgentFile::parse(&path, text).unwrap()
}

fn text(name: &str) -> &'static str {
    let path = format!("agents/{name}.md");
    AGENTS.iter().find(|(known, _)| *known == path).unwrap().1
}

#[test]
fn nothing_is_found_that_was_not_accepted() {
    let findings = lint(&AGENTS);
    let open: Vec<String> = findings
        .iter()
        .filter(|finding| {
            let text = AGENTS.iter().find(|(path, _)| *path == finding.file).unwrap().1;
            accepted(finding, text).is_none()
        })
        .map(|finding| format!("{}:{}: {:?} {}", finding.file, finding.line, finding.rule, finding.message))
        .collect();
    assert!(open.is_empty(), "{open:#?}");
    let used =
        |known: &&Accepted| findings.iter().any(|finding| finding.file == known.agent && finding.rule == known.rule);
    let unused: Vec<_> = super::accepted::ACCEPTED.iter().filter(|known| !used(known)).collect();
    assert!(unused.is_empty(), "accepted and not found: {unused:?}");
}

#[test]
fn the_orchestrator_calls_exactly_the_others() {
    let lead = agent("orchestrator");
    assert_eq!(lead.mode, Mode::Primary);
    for (path, _) in AGENTS {
        let name = path.trim_start_matches("agents/").trim_end_matches(".md");
        let expected = if name == "orchestrator" { Action::Deny } else { Action::Allow };
        assert_eq!(evaluate(&lead.rules, "task", name).action, expected, "{name}");
        if name != "orchestrator" {
            assert_eq!(agent(name).mode, Mode::Subagent, "{name}");
            assert_eq!(evaluate(&agent(name).rules, "task", "executor").action, Action::Deny, "{name}");
        }
    }
    for other in ["general", "build", "anybody"] {
        assert_eq!(evaluate(&lead.rules, "task", other).action, Action::Deny, "{other}");
    }
}

#[test]
fn no_question_is_reachable_but_those_of_init() {
    for (path, text) in AGENTS {
        let agent = AgentFile::parse(path, text).unwrap();
        assert!(agent.own.iter().all(|rule| rule.action != Action::Ask), "{path}");
        for permission in ["external_directory", "doom_loop", "skill", "some_tool"] {
            assert_eq!(evaluate(&agent.rules, permission, "/etc/*").action, Action::Deny, "{path} {permission}");
        }
        assert_eq!(evaluate(&agent.rules, "read", "config/.env").action, Action::Deny, "{path}");
        let expected = if path == "agents/init.md" { Action::Allow } else { Action::Deny };
        assert_eq!(evaluate(&agent.rules, "question", "*").action, expected, "{path}");
    }
}

#[test]
fn each_role_edits_what_is_its_own() {
    use Action::{Allow, Deny};
    let files = [
        "src/main.rs",
        "tests/export.rs",
        "web/src/view.test.ts",
        "docs/guide.md",
        "README.md",
        "opencode.jsonc",
        ".opencode/agents/x.md",
        ".ai/context.md",
        ".ai/decisions/a.md",
        ".ai/tasks/001-x/task-spec.md",
        ".ai/tasks/001-x/01-y/task-spec.md",
        ".ai/tasks/001-x/implementation-report.md",
        ".ai/tasks/001-x/01-y/validation-report.md",
        ".ai/tasks/001-x/documentation-report.md",
    ];
    let table = [
        ("orchestrator", [Deny; 14]),
        ("executor", [Allow, Allow, Allow, Allow, Allow, Deny, Deny, Deny, Deny, Deny, Deny, Deny, Deny, Deny]),
        ("task-planner", [Deny, Deny, Deny, Deny, Deny, Deny, Deny, Deny, Allow, Allow, Allow, Deny, Deny, Deny]),
        ("implementer", [Allow, Allow, Allow, Allow, Allow, Deny, Deny, Deny, Deny, Deny, Deny, Allow, Deny, Deny]),
        ("validator", [Deny, Deny, Deny, Deny, Deny, Deny, Deny, Deny, Deny, Deny, Deny, Deny, Allow, Deny]),
        ("test-writer", [Deny, Allow, Allow, Deny, Deny, Deny, Deny, Deny, Deny, Deny, Deny, Deny, Deny, Deny]),
        ("documentation", [Deny, Deny, Deny, Allow, Allow, Deny, Deny, Allow, Allow, Deny, Deny, Deny, Deny, Allow]),
        ("research", [Deny; 14]),
        ("shipper", [Deny; 14]),
        ("init", [Deny, Deny, Deny, Deny, Deny, Deny, Deny, Allow, Deny, Deny, Deny, Deny, Deny, Deny]),
        ("model-config", [Deny; 14]),
    ];
    for (name, expected) in table {
        let rules = agent(name).rules;
        for (file, expected) in files.into_iter().zip(expected) {
            assert_eq!(evaluate(&rules, "edit", file).action, expected, "{name} {file}");
        }
    }
}

#[test]
fn each_shell_runs_what_its_role_needs() {
    use Action::{Allow, Deny};
    for name in ["orchestrator", "task-planner", "test-writer", "documentation", "research", "init"] {
        assert!(hides(&agent(name).rules, "bash"), "{name} has no shell at all");
    }
    let table = [
        ("validator", "cargo test --workspace", Allow),
        ("validator", "git diff", Allow),
        ("validator", "shuntyard spec check 7", Allow),
        ("validator", "shuntyard spec test", Allow),
        ("validator", "shuntyard spec test > x", Deny),
        ("validator", "git diff --output=x", Deny),
        ("validator", "cargo test > x", Deny),
        ("validator", "cargo test && rm -r src", Deny),
        ("validator", "cargo clippy --fix", Deny),
        ("validator", "sed -i s/a/b/ src/main.rs", Deny),
        ("shipper", "git status --short", Allow),
        ("shipper", "git add -- src/main.rs docs/a.md", Allow),
        ("shipper", "git add -A", Deny),
        ("shipper", "git add -- .", Deny),
        ("shipper", "git commit -m \"Add export\"", Allow),
        ("shipper", "git commit -m 'Add export'", Allow),
        ("shipper", "git commit -m \"Add export\n\nWith a reason.\"", Allow),
        ("shipper", "git commit -a -m \"x\"", Deny),
        ("shipper", "git commit -am \"x\"", Deny),
        ("shipper", "git commit -m \"x\" --amend", Deny),
        ("shipper", "git commit -m \"x\" --ame -m \"y\"", Deny),
        ("shipper", "git commit -m \"x\" '--amend' -m 'y'", Deny),
        ("shipper", "git commit --amend -m \"x\"", Deny),
        ("shipper", "git commit -m \"\"{x,--amend}\"\"", Deny),
        ("shipper", "git commit -m \"x\"${IFS}--amend\"\"", Deny),
        ("shipper", "git commit -m \"x\"\t--amend \"\"", Deny),
        ("shipper", "git push origin HEAD", Allow),
        ("shipper", "git push --force origin HEAD", Deny),
        ("shipper", "git push origin HEAD --force", Deny),
        ("shipper", "git push origin +HEAD", Deny),
        ("shipper", "git reset --hard", Deny),
        ("shipper", "git rebase main", Deny),
        ("shipper", "git clean -fd", Deny),
        ("shipper", "git tag v1", Deny),
        ("shipper", "git config user.name x", Deny),
        ("shipper", "git branch -D main", Deny),
        ("model-config", "shuntyard agents configure --dry-run", Allow),
        ("model-config", "shuntyard agents configure --yes > x", Deny),
        ("model-config", "shuntyard budget configure x", Deny),
        ("executor", "shuntyard spec new add-export --title \"Export\"", Allow),
        ("executor", "git commit -m \"x\"", Deny),
        ("implementer", "cargo test", Allow),
        ("implementer", "git push", Deny),
        ("implementer", "cargo test && git reset --hard", Deny),
    ];
    for (name, line, expected) in table {
        let rules = agent(name).rules;
        assert_eq!(evaluate_shell(&rules, line).unwrap().action, expected, "{name}: {line}");
    }
}

#[test]
fn tools_of_shuntyard_are_the_orchestrators() {
    for tool in ["task_start", "task_await", "task_peek", "task_list", "task_cancel", "dispatch", "batch_dispatch"] {
        let name = format!("shuntyard_{tool}");
        assert_eq!(evaluate(&agent("orchestrator").rules, &name, "*").action, Action::Allow, "{name}");
        assert!(hides(&agent("research").rules, &name) && hides(&agent("validator").rules, &name), "{name}");
    }
    for tool in ["webfetch", "websearch"] {
        assert_eq!(evaluate(&agent("research").rules, tool, "https://example.org").action, Action::Allow);
        assert!(hides(&agent("implementer").rules, tool));
    }
}

#[test]
fn both_forms_have_the_same_rules() {
    let second = bundle(Form::V2).unwrap();
    assert_eq!(second.files.len(), AGENTS.len() + COMMANDS.len());
    for ((path, first), second) in AGENTS.iter().zip(&second.files) {
        let rules = |text: &str| {
            let flat = flatten(&Frontmatter::parse(text).unwrap());
            assert_eq!(flat.wrong, [], "{path}");
            let rules = flat.rules.into_iter();
            rules.map(|rule| (rule.permission, rule.pattern, rule.action.as_str())).collect::<Vec<_>>()
        };
        assert_eq!(second.path, *path);
        assert_eq!(rules(first), rules(&second.text), "{path}");
        assert!(second.text.contains("\npermissions:\n") && !second.text.contains("\npermission:"), "{path}");
    }
}

/// The format that agents are instructed to write is the one that the checks read.
#[test]
fn texts_name_what_the_checks_look_for() {
    for field in Field::ALL {
        assert!(text("orchestrator").contains(field.title()), "{field}");
    }
    for kind in shuntyard_core::roles::spec::SectionKind::ALL {
        assert!(text("task-planner").contains(&format!("- {}", kind.title())), "{kind}");
    }
    let reporters = [
        ("implementer", Report::Implementation),
        ("documentation", Report::Documentation),
        ("validator", Report::Validation),
    ];
    for (name, report) in reporters {
        assert!(text(name).contains(report.file()), "{name}");
    }
    for word in ["`done`", "`failed`", "`blocked`", "`needs-decision`"] {
        assert!(text("implementer").contains(word) && text("documentation").contains(word), "{word}");
    }
    for state in ["INTAKE", "CLARIFY", "ROUTE", "DELEGATE", "REVIEW", "DONE"] {
        assert!(text("orchestrator").contains(&format!("## {state}\n")), "{state}");
    }
}

/// What a reader of the reports and of the commands can rely on.
#[test]
fn texts_have_what_others_look_for() {
    let command = |name: &str| COMMANDS.iter().find(|(path, _)| *path == format!("commands/{name}.md")).unwrap().1;
    let sections = ["Outcome", "Files Changed", "Context Or Decisions Updated", "Verification", "Follow-Ups"];
    for section in sections {
        assert!(text("documentation").contains(&format!("\n## {section}\n")), "{section}");
    }
    for kind in ["UX design brief", "API contract", "migration plan", "runbook", "testing strategy", "convention guide"]
    {
        assert!(text("documentation").contains(kind), "{kind}");
    }
    let call = "agy --dangerously-skip-permissions --print";
    assert!(text("implementer").contains(call) && text("implementer").contains("- **agy**: enabled"));
    let template = text("init").split_once("```markdown\n").unwrap().1.split_once("```\n").unwrap().0;
    assert!(!shuntyard_core::roles::spec::agy_is_enabled(template), "off until the user says so");
    assert!(shuntyard_core::roles::spec::agy_is_enabled(&template.replace("disabled", "enabled")));
    assert_eq!(shuntyard_core::roles::spec::test_commands(template), ["command"]);
    assert!(text("task-planner").contains("units-proposed") && text("orchestrator").contains("units-proposed"));
    assert!(
        command("planning").contains("# Research acceleration") && command("planning").contains("Dispatch research")
    );
    assert!(command("execute").contains("**Dispatch used**"));
}

#[test]
fn commands_are_run_by_agents_of_the_pack() {
    for (path, text) in COMMANDS {
        let front = Frontmatter::parse(text).unwrap();
        assert!(front.text("description").is_some_and(|said| !said.is_empty()), "{path}");
        let name = front.text("agent").unwrap();
        assert!(AGENTS.iter().any(|(agent, _)| *agent == format!("agents/{name}.md")), "{path}: {name}");
        assert!(text.contains("$ARGUMENTS"), "{path} takes what the user says");
        // What is run while a command is read sees no permissions, so nothing of the user's words may be in it.
        for line in text.lines().filter(|line| line.starts_with("!`")) {
            assert!(!line.contains("$ARGUMENTS") && !line.contains("$1"), "{path}: {line}");
        }
    }
}
