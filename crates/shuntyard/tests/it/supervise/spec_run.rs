//! Specs that a supervisor runs to their end, by OpenCode with scripted models.

use crate::supervise::Yard;
use serde_json::{Value, json};
use shuntyard_scripted::{Gate, Step};

const MODEL: [&str; 3] = ["--model", "scripted/alpha", "--json"];
const TASK: &str = ".ai/tasks/001-export";

fn write(path: &str, content: &str) -> Step {
    Step::tool("write", json!({"filePath": path, "content": content}))
}

fn bash(command: &str) -> Step {
    Step::tool("bash", json!({"command": command, "description": "work"}))
}

/// An implementer that leaves a file and reports that it is done.
fn implements(directory: &str, work: Step) -> Vec<Step> {
    let report = write(&format!("{directory}/implementation-report.md"), "# Work\n\n## Outcome\n\ndone\n");
    vec![work, report, Step::text("I am done.")]
}

fn validates(directory: &str, verdict: &str) -> Vec<Step> {
    let report = format!("# Validation\n\nVerdict: {verdict}\n\n## Findings\n\n- the {verdict} of it\n");
    vec![write(&format!("{directory}/validation-report.md"), &report), Step::text("I have judged.")]
}

fn spec(key: &str, execution: &str) -> String {
    format!(
        "# Export {key}\n\n## Source Artifacts\n\nNone\n\n## Scope\n\nA file.\n\n{execution}## Non-Goals\n\nNone\n\n\
         ## Testable Acceptance Criteria\n\n- It is there.\n\n### Test File Paths\n\n- `tests/export.sh`\n\n\
         ## Inspectable Acceptance Criteria\n\nNone\n\n## Relevant Files\n\nNone\n\n## Validation Plan\n\nLook.\n\n\
         ## Open Questions\n\nNone\n"
    )
}

const IMPLEMENTER: &str = "## Execution\n\n- implementer\n\n";

fn put(yard: &Yard, path: &str, text: &str) {
    let path = yard.repository().join(path);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    std::fs::write(path, text).expect("a file");
}

fn commit(yard: &Yard) {
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "plan"]);
}

/// A yard with one spec whose roles do these steps, and its key.
fn planned(name: &str, steps: Vec<Step>) -> (Yard, String) {
    let yard = Yard::new(name);
    let key = yard.env.provider.script(name, steps);
    put(&yard, &format!("{TASK}/task-spec.md"), &spec(&key, IMPLEMENTER));
    commit(&yard);
    (yard, key)
}

fn run(yard: &Yard, code: i32, more: &[&str]) -> Value {
    yard.env.run(&[&["spec", "run", "1"], &MODEL[..], more].concat()).expect_code(code).json()
}

fn requests(yard: &Yard, key: &str) -> usize {
    yard.env.provider.requests(key).entries.len()
}

fn outcomes(report: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let units = report["units"].as_array().expect("units").iter();
    let roles = units.flat_map(|unit| unit["roles"].as_array().expect("roles"));
    roles.map(|role| format!("{} {}", text(&role["task"]), text(&role["outcome"]))).collect()
}

#[test]
fn units_run_in_their_order_to_a_validated_end() {
    let yard = Yard::new("spec-units").untraced();
    let (one, two) = (format!("{TASK}/01-one"), format!("{TASK}/02-two"));
    let steps = |directory: &str, work: Step| [implements(directory, work), validates(directory, "pass")].concat();
    let first = yard.env.provider.script("unit-one", steps(&one, write("one.txt", "one\n")));
    let second = yard.env.provider.script("unit-two", steps(&two, bash("cat one.txt one.txt > two.txt")));
    put(
        &yard,
        &format!("{TASK}/task-spec.md"),
        "# Export\n\n## Source Artifacts\n\nNone\n\n## Scope\n\nTwo.\n\n## Non-Goals\n\nNone\n\n## Open Questions\n\n\
         None\n\n## Units\n\n| Unit | Files | Depends On | Parallel |\n| --- | --- | --- | --- |\n\
         | one | one.txt | None | yes |\n| two | two.txt | one | yes |\n",
    );
    put(&yard, &format!("{one}/task-spec.md"), &spec(&first, IMPLEMENTER));
    put(&yard, &format!("{two}/task-spec.md"), &spec(&second, IMPLEMENTER));
    commit(&yard);
    let before = yard.git(&["rev-parse", "main"]);
    let plan = run(&yard, 0, &["--dry-run", "--deliver", "merge"]);
    let planned: Vec<&str> =
        plan["would_run"].as_array().expect("steps").iter().filter_map(|step| step["task"].as_str()).collect();
    assert_eq!(
        planned,
        [
            "s001-01-implementer",
            "s001-01-validator",
            "s001-01-deliver",
            "s001-02-implementer",
            "s001-02-validator",
            "s001-02-deliver",
            "s001-deliver"
        ]
    );
    assert_eq!(plan["would_run"][1]["allow"], json!([format!("{one}/validation-report.md")]));
    let nothing = yard.env.run(&["task", "list", "--json"]).json();
    assert_eq!(nothing["tasks"], json!([]), "a plan begins nothing");
    let report = run(&yard, 0, &["--deliver", "merge", "--verify", "test -s one.txt"]);
    assert_eq!(report["outcome"], "done", "{report:#}");
    assert_eq!(outcomes(&report).len(), 7, "{report:#}");
    assert_eq!(yard.git(&["show", "main:two.txt"]), "one\none", "the second began from the first");
    assert_eq!(yard.git(&["status", "--porcelain"]), "");
    assert_ne!(yard.git(&["rev-parse", "main"]), before);
    let status = yard.env.run(&["spec", "status", "1", "--json"]).expect_code(0).json();
    assert_eq!(status["tasks"][0]["state"], "validated-pass", "{status:#}");
    let cost = yard.env.provider.ledger().total_reported().cost.as_usd();
    assert!((report["cost_usd"].as_f64().expect("a cost") - cost).abs() < 1e-12, "{report:#}");
    // Once more, there is nothing to do.
    let asked = (requests(&yard, &first), requests(&yard, &second));
    assert_eq!(run(&yard, 0, &["--deliver", "merge"])["outcome"], "done");
    assert_eq!((requests(&yard, &first), requests(&yard, &second)), asked);
}

#[test]
fn what_the_validator_found_is_mended_once() {
    let steps = [
        implements(TASK, write("a.txt", "wrong\n")),
        validates(TASK, "fail"),
        implements(TASK, write("a.txt", "right\n")),
        validates(TASK, "pass"),
    ];
    let (yard, key) = planned("spec-mended", steps.concat());
    let report = run(&yard, 0, &[]);
    assert_eq!(
        outcomes(&report),
        ["s001-implementer done", "s001-validator fail", "s001-implementer-2 done", "s001-validator-2 pass"]
    );
    assert_eq!(report["branch"], "shuntyard/s001-validator-2");
    assert_eq!(yard.git(&["show", "shuntyard/s001-validator-2:a.txt"]), "right");
    let mended = yard.task("s001-implementer-2");
    assert!(mended["description"].as_str().expect("text").contains("- the fail of it"), "{mended:#}");
    let verdict = format!("{TASK}/validation-report.md");
    let listed = yard.git(&["ls-tree", "-r", "--name-only", "shuntyard/s001-implementer-2", "--", &verdict]);
    assert_eq!(listed, "", "the old verdict is out of the way");
    assert_eq!(requests(&yard, &key), 10);
}

#[test]
fn a_second_fail_is_put_before_a_person() {
    // The last pair is for the validator that a person lets judge again.
    let steps = [
        implements(TASK, write("a.txt", "wrong\n")),
        validates(TASK, "fail"),
        implements(TASK, write("a.txt", "still\n")),
        validates(TASK, "fail"),
        validates(TASK, "pass"),
    ];
    let (yard, key) = planned("spec-twice", steps.concat());
    let report = run(&yard, 1, &[]);
    assert_eq!(report["outcome"], "escalated");
    assert!(report["reason"].as_str().expect("a reason").contains("says fail, also after"), "{report:#}");
    assert!(report["next"].as_str().expect("a way out").contains("task reset s001-validator-2"), "{report:#}");
    assert_eq!(run(&yard, 1, &[])["reason"], report["reason"], "the same facts give the same answer");
    assert_eq!(requests(&yard, &key), 10, "and nobody was asked again");
    yard.env.run(&["task", "reset", "s001-validator-2"]).expect_code(0);
    assert_eq!(run(&yard, 0, &[])["outcome"], "done");
}

#[test]
fn a_test_that_the_implementer_wrote_by_a_shell_is_seen() {
    let steps = implements(TASK, bash("mkdir -p tests && echo true > tests/export.sh && echo a > a.txt"));
    let (yard, key) = planned("spec-trespass", steps);
    let report = run(&yard, 1, &[]);
    let reason = report["reason"].as_str().expect("a reason");
    assert!(reason.contains("implementer: it changed what is not its own: tests/export.sh"), "{report:#}");
    assert_eq!(outcomes(&report), ["s001-implementer failed"], "nobody validates that");
    assert_eq!(requests(&yard, &key), 3);
}

#[test]
fn a_validator_cannot_move_the_branch_that_it_judges() {
    let moves = "git checkout -q -b aside shuntyard/s001-implementer && echo evil > evil.txt && git add evil.txt \
                 && git commit -qm evil && git checkout -q - && git update-ref refs/heads/shuntyard/s001-implementer aside";
    let steps = [
        implements(TASK, write("a.txt", "a\n")),
        vec![bash(moves)],
        validates(TASK, "fail"),
        implements(TASK, write("a.txt", "better\n")),
        validates(TASK, "pass"),
    ];
    let (yard, _) = planned("spec-moved", steps.concat());
    let report = run(&yard, 0, &["--deliver", "merge"]);
    assert_eq!(report["outcome"], "done", "{report:#}");
    assert_eq!(yard.git(&["show", "main:a.txt"]), "better");
    assert_eq!(yard.git(&["ls-tree", "--name-only", "main", "evil.txt"]), "");
}

#[test]
fn nothing_is_delivered_from_a_branch_that_was_moved_after_it_was_judged() {
    let steps = [implements(TASK, write("a.txt", "a\n")), validates(TASK, "pass")];
    let (yard, key) = planned("spec-elsewhere", steps.concat());
    assert_eq!(run(&yard, 0, &[])["outcome"], "done");
    let before = requests(&yard, &key);
    yard.git(&["branch", "--force", "shuntyard/s001-validator", "shuntyard/s001-implementer"]);
    let report = run(&yard, 1, &["--deliver", "merge"]);
    let reason = report["reason"].as_str().expect("a reason");
    assert!(reason.contains("shuntyard/s001-validator was left at"), "{report:#}");
    assert_eq!(requests(&yard, &key), before);
    assert_eq!(yard.git(&["ls-tree", "--name-only", "main", "a.txt"]), "");
}

#[test]
fn an_implementer_that_changes_how_it_is_judged_is_seen() {
    let steps =
        implements(TASK, bash("mkdir -p .opencode/agents && echo x > .opencode/agents/validator.md && echo a > a.txt"));
    let (yard, _) = planned("spec-judge", steps);
    let reason = run(&yard, 1, &[])["reason"].as_str().expect("a reason").to_owned();
    assert!(reason.contains("it changed what is not its own: .opencode/agents/validator.md"), "{reason}");
}

#[test]
fn tests_that_were_there_before_the_spec_are_not_those_that_it_asks_for() {
    let yard = Yard::new("spec-older-tests");
    put(&yard, "tests/export.sh", "true\n");
    commit(&yard);
    put(&yard, &format!("{TASK}/task-spec.md"), &spec("none", "## Execution\n\n- test-writer\n- implementer\n\n"));
    commit(&yard);
    let first =
        |yard: &Yard| run(yard, 0, &["--dry-run"])["would_run"][0]["stand"].as_str().unwrap_or_default().to_owned();
    assert_eq!(first(&yard), "open");
    put(&yard, "tests/export.sh", "true\ntrue\n");
    commit(&yard);
    assert_eq!(first(&yard), "done");
}

#[test]
fn what_is_not_ready_runs_nothing() {
    let yard = Yard::new("spec-unready");
    let key = yard.env.provider.script("unready", vec![Step::text("never asked")]);
    let file = format!("{TASK}/task-spec.md");
    let refused = |words: &str| {
        let outcome = yard.env.run(&[&["spec", "run", "1"], &MODEL[..]].concat());
        outcome.expect_code(3);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(said.contains(words), "{words} is not in {said}");
    };
    put(&yard, &file, &spec(&key, ""));
    commit(&yard);
    refused("there is no section Execution, so nothing runs");
    put(&yard, &file, &spec(&key, IMPLEMENTER));
    refused("git add .ai/tasks/001-export");
    put(&yard, ".gitignore", "*-report.md\n");
    commit(&yard);
    refused("git ignores .ai/tasks/001-export/implementation-report.md");
    put(&yard, ".gitignore", "target\n");
    put(&yard, &file, &spec(&key, IMPLEMENTER).replace("## Open Questions\n\nNone", "## Open Questions\n\nWhich?"));
    commit(&yard);
    refused("the spec has open questions, so nothing runs");
    assert_eq!(requests(&yard, &key), 0);
    assert_eq!(yard.env.run(&["task", "list", "--json"]).json()["tasks"], json!([]));
}

#[test]
fn a_run_that_was_killed_is_taken_up_and_nothing_is_done_twice() {
    let gate = Gate::default();
    let steps = implements(TASK, write("a.txt", "a\n").at(&gate));
    let (yard, key) = planned("spec-killed", [steps, validates(TASK, "pass")].concat());
    let mut child = yard.env.spawn(&[&["spec", "run", "1"], &MODEL[..]].concat());
    yard.env.provider.wait_for_requests(&key, 1);
    child.kill().expect("killed");
    child.wait().expect("waited for");
    gate.open();
    let report = run(&yard, 0, &[]);
    assert_eq!(outcomes(&report), ["s001-implementer done", "s001-validator pass"]);
    assert_eq!(requests(&yard, &key), 5, "each step was asked for once");
    assert_eq!(yard.task("s001-implementer")["attempts"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_program_and_an_agent_of_the_user_do_their_roles() {
    let (mut yard, key) = planned("spec-agents", validates(TASK, "pass"));
    let programs = yard.env.root.join("programs");
    std::fs::create_dir_all(&programs).expect("a directory");
    let script = format!(
        "#!/bin/sh\n[ \"$1 $2 $#\" = '--dangerously-skip-permissions --print 3' ] || exit 9\n\
         for words in 'You make one spec' 'implementer: Export' 'a word of the file' 'Read these' 'gone.txt'; do\n\
         case \"$3\" in *\"$words\"*) ;; *) exit 8 ;; esac\ndone\necho a > a.txt\n\
         printf '# Work\\n\\n## Outcome\\n\\ndone\\n' > {TASK}/implementation-report.md\n"
    );
    let program = programs.join("agy");
    std::fs::write(&program, script).expect("a program");
    let status = std::process::Command::new("chmod").arg("755").arg(&program).status().expect("chmod runs");
    assert!(status.success());
    let path = std::env::var("PATH").expect("a PATH");
    yard.env.set("PATH", format!("{}:{path}", programs.display()));
    let plan = |yard: &Yard| run(yard, 0, &["--dry-run"])["would_run"].clone();
    assert_eq!(plan(&yard)[0]["command"], Value::Null, "nobody said that it may");
    assert_eq!(plan(&yard)[1]["agent"], Value::Null);
    put(&yard, ".ai/context.md", "# Context\n\n## Workflow\n\n- **agy**: enabled\n");
    put(&yard, ".opencode/agents/validator.md", "---\ndescription: Judges\nmode: subagent\n---\n\nYou judge.\n");
    assert_eq!(plan(&yard)[1]["agent"], Value::Null, "what is not committed is not there for the work");
    put(&yard, "relevant.txt", "a word of the file\n");
    let named = spec(&key, IMPLEMENTER)
        .replace("## Relevant Files\n\nNone", "## Relevant Files\n\n- `relevant.txt`: first\n- `gone.txt`");
    put(&yard, &format!("{TASK}/task-spec.md"), &named);
    put(&yard, ".opencode/agents/implementer.md", "---\ndescription: Works\n---\n\nYou make one spec come true.\n");
    commit(&yard);
    assert_eq!(plan(&yard)[0]["command"], "agy --dangerously-skip-permissions --print HANDOFF");
    assert_eq!(plan(&yard)[1]["agent"], "validator");
    let report = run(&yard, 0, &[]);
    assert_eq!(outcomes(&report), ["s001-implementer done", "s001-validator pass"], "{report:#}");
    assert_eq!(yard.task("s001-validator")["agent"], "validator");
    assert_eq!(requests(&yard, &key), 2, "only the validator was a model");
}
