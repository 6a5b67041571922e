//! A whole spec by the agents of the pack, installed into the project: which of them each request ran as.

use super::{TASK, branches, commit, git, ground, outcomes, plan_two, put, run, spec_text, text, write};
use shuntyard_scripted::{Said, Step};
use std::sync::{Arc, Mutex};

/// How the instructions of each agent of the pack begin.
const AGENTS: [(&str, &str); 4] = [
    ("test-writer", "You turn the testable criteria of a spec into tests."),
    ("implementer", "You make one spec come true in the source code."),
    ("documentation", "You own what is written for longer than one task."),
    ("validator", "You judge; you mend nothing."),
];

/// What a role does, step by step; `unit` is the number and the name of its directory.
fn steps(role: &str, unit: &str) -> Vec<Step> {
    let directory = format!("{TASK}/{unit}");
    let report = |name: &str| write(&format!("{directory}/{name}-report.md"), "# Work\n\n## Outcome\n\ndone\n");
    let verdict = write(&format!("{directory}/validation-report.md"), "# Validation\n\nVerdict: pass\n");
    match role {
        "test-writer" => vec![write(&format!("tests/{unit}.sh"), "true\n")],
        "implementer" => vec![write(&format!("{unit}.txt"), "done\n"), report("implementation")],
        "documentation" => vec![write(&format!("docs/{unit}.md"), "It is there.\n"), report("documentation")],
        _ => vec![verdict],
    }
}

#[test]
fn every_role_of_a_spec_runs_as_the_agent_of_the_pack() {
    let env = ground("spec-pack");
    env.run(&["pack", "install", "--project", "--only", "agents"]).expect_code(0);
    let [one, two] = plan_two(&env);
    let all = ["test-writer", "implementer", "documentation"];
    put(&env, &format!("{one}/task-spec.md"), &spec_text("one", &all, "tests/01-one.sh"));
    put(&env, &format!("{two}/task-spec.md"), &spec_text("two", &["implementer"], "tests/02-two.sh"));
    commit(&env);
    let ran: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let heard = Arc::clone(&ran);
    env.provider.act("alpha", move |said: &[Said]| {
        let of = |role: &str| {
            said.iter().filter(|said| said.role == role).map(|said| said.text.as_str()).collect::<Vec<_>>()
        };
        let (system, asked, made) = (of("system").join("\n"), of("user").join("\n"), of("tool").len());
        let Some((role, rest)) =
            AGENTS.iter().find_map(|(role, _)| Some((*role, asked.split_once(&format!("{role}: Export"))?.1)))
        else {
            return Step::text("a title");
        };
        let unit = if rest.contains("01-one)") { "01-one" } else { "02-two" };
        let agents: Vec<&str> =
            AGENTS.iter().filter(|(_, words)| system.contains(words)).map(|(agent, _)| *agent).collect();
        // What OpenCode asks for by itself, such as a title, is no agent of the pack's.
        if !agents.is_empty() {
            heard.lock().expect("no panic").push((format!("{unit} {role}"), agents.join("+")));
        }
        steps(role, unit).into_iter().nth(made).unwrap_or_else(|| Step::text("I am done."))
    });
    let plan = run(&env, 0, &["--dry-run"]);
    assert!(
        plan["would_run"]
            .as_array()
            .expect("steps")
            .iter()
            .filter(|step| step["role"] != "deliver")
            .all(|step| step["agent"] == step["role"]),
        "{plan:#}"
    );
    let report = run(&env, 0, &["--deliver", "merge"]);
    assert_eq!(report["outcome"], "done", "{report:#}");
    assert_eq!(outcomes(&report).len(), 9, "{report:#}");
    let ran = ran.lock().expect("no panic").clone();
    for (step, agent) in &ran {
        assert!(step.ends_with(agent.as_str()), "{step} ran as {agent}: {ran:?}");
    }
    for step in [
        "01-one test-writer",
        "01-one implementer",
        "01-one documentation",
        "01-one validator",
        "02-two implementer",
        "02-two validator",
    ] {
        assert!(ran.iter().any(|(ran, _)| ran == step), "{step} is not in {ran:?}");
    }
    for file in ["tests/01-one.sh", "01-one.txt", "docs/01-one.md", "02-two.txt"] {
        git(&env.project(), &["cat-file", "-e", &format!("main:{file}")]);
    }
    assert_eq!(branches(&env), Vec::<String>::new(), "all of it is in main");
    let status = env.run(&["spec", "status", "1", "--json"]).expect_code(0).json();
    assert_eq!(text(&status["tasks"][0], "state"), "validated-pass", "{status:#}");
}
