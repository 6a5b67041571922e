//! What a role may touch, what its prompt says and what its task is called, without a repository.

use super::{
    Step,
    borders::borders,
    describe::{Instructed, describe, fenced},
    names::Names,
    order::quoted,
    plan::{Part, Plan},
};
use shuntyard_core::roles::spec::{Agent, Report, Role, Spec, Standing, State, TaskName, UnitName};
use shuntyard_host::git::Base;
use std::path::PathBuf;

const TEXT: &str = "\
# Export

## Execution

- test-writer
- implementer
- documentation

## Testable Acceptance Criteria

- It writes.

### Test File Paths

- `tests/export.rs`
- `spec`

````text
```
````
";

fn part(unit: Option<&str>) -> Part {
    let spec = Spec::parse(TEXT);
    Part {
        unit: unit.and_then(UnitName::parse),
        directory: ".ai/tasks/007-export".to_owned(),
        title: "Export".to_owned(),
        text: TEXT.to_owned(),
        pipeline: spec.pipeline(),
        tests: vec!["tests/export.rs".to_owned(), "spec".to_owned()],
        standing: Standing { state: State::Planned, reason: None, next: Some(Role::Agent(Agent::TestWriter)) },
    }
}

fn plan(part: Part) -> Plan {
    Plan {
        name: TaskName::parse("007-export").expect("a name"),
        title: "Export".to_owned(),
        repository: PathBuf::from("/repository"),
        base: Base::Branch("main".to_owned()),
        at: "0".repeat(40),
        parts: vec![part],
        waves: vec![vec![0]],
        artifacts: vec![".ai".to_owned()],
        context: None,
    }
}

#[test]
fn each_role_has_its_own_ground() {
    let report = |report: Report| part(None).report(report);
    let all = [
        "src/export.rs".to_owned(),
        "tests/export.rs".to_owned(),
        "tests/other.rs".to_owned(),
        "spec/deep/one.rs".to_owned(),
        "docs/export.md".to_owned(),
        "README.md".to_owned(),
        ".ai/context.md".to_owned(),
        ".opencode/agents/validator.md".to_owned(),
        "deep/opencode.jsonc".to_owned(),
        "AGENTS.md".to_owned(),
        ".ai/decisions/1.md".to_owned(),
        report(Report::Implementation),
        report(Report::Documentation),
        report(Report::Validation),
    ];
    let left = |role: Role| {
        let trespass = borders(&part(None), role, &[".ai".to_owned()]).trespass(&all);
        all.iter().filter(|path| !trespass.contains(path)).cloned().collect::<Vec<_>>()
    };
    assert_eq!(left(Role::Agent(Agent::TestWriter)), ["tests/export.rs", "spec/deep/one.rs"]);
    assert_eq!(
        left(Role::Agent(Agent::Implementer)),
        ["src/export.rs", "tests/other.rs", "docs/export.md", "README.md", &report(Report::Implementation)]
    );
    assert_eq!(
        left(Role::Agent(Agent::Documentation)),
        ["docs/export.md", "README.md", ".ai/decisions/1.md", &report(Report::Documentation)]
    );
    assert_eq!(left(Role::Validator), [report(Report::Validation)]);
}

#[test]
fn no_text_ends_its_fence() {
    for text in ["plain", "```\ncode\n```", "a ````` b\n``````\n"] {
        let fenced = fenced(text);
        let fence: String = fenced.chars().take_while(|letter| *letter == '`').collect();
        assert!(fence.len() >= 3 && !text.contains(&fence), "{fenced}");
        assert!(fenced.trim_end().ends_with(&format!("\n{fence}")), "{fenced}");
    }
}

#[test]
fn a_role_is_told_its_part_the_spec_and_the_report() {
    let text = describe(&part(None), "007-export", Role::Agent(Agent::Implementer), Instructed::Here, Some("- x.rs:3"));
    assert!(text.starts_with("implementer: Export (007-export)\n"), "{text}");
    for wanted in ["- x.rs:3", TEXT.trim_end(), "implementation-report.md` in this form", "## Outcome\n\ndone"] {
        assert!(text.contains(wanted), "{wanted} is not in {text}");
    }
    let by_agent = describe(&part(None), "007-export", Role::Validator, Instructed::ByItsAgent, None);
    assert!(!by_agent.contains("You judge"), "its agent knows that: {by_agent}");
    assert!(by_agent.contains("Verdict: pass"), "{by_agent}");
    let tests = describe(&part(None), "007-export", Role::Agent(Agent::TestWriter), Instructed::Here, None);
    assert!(tests.ends_with("- `tests/export.rs`\n- `spec`"), "{tests}");
}

#[test]
fn tasks_are_called_after_their_spec() {
    let whole = plan(part(None));
    let names = Names::of(&whole, "");
    let id = |unit: Option<&UnitName>, cycle| {
        names.id(unit, Step::Role(Role::Agent(Agent::Implementer)), cycle).expect("an id").to_string()
    };
    assert_eq!(id(None, 1), "s007-implementer");
    assert_eq!(id(UnitName::parse("01-parser").as_ref(), 2), "s007-01-implementer-2");
    assert_eq!((names.batch.as_str(), names.meeting().as_str()), ("spec-007-export", "shuntyard/s007"));
    let labels = names.labels(UnitName::parse("01-parser").as_ref(), Step::Deliver, 1, 0);
    assert_eq!(labels, ["spec:007-export", "unit:parser", "role:deliver", "cycle:1"]);
    let again = |again| names.id_again(None, Step::Deliver, 1, again).expect("an id").to_string();
    assert_eq!([again(0), again(1), again(2)], ["s007-deliver", "s007-deliver-again", "s007-deliver-again-2"]);
    assert!(Names::of(&whole, "x1a2b3c").batch.len() <= 64);
}

#[test]
fn a_word_of_a_shell_stays_one() {
    assert_eq!(quoted("it's; rm *"), "'it'\\''s; rm *'");
}

#[test]
fn the_context_is_the_documentations_only_when_the_scope_names_it() {
    let role = Role::Agent(Agent::Documentation);
    let changed = vec![".ai/context.md".to_owned()];
    for (scope, trespass) in [("A file.", true), ("The conventions in `.ai/context.md`.", false)] {
        let text = TEXT.replace("## Execution", &format!("## Scope\n\n{scope}\n\n## Execution"));
        let part = Part { text, ..part(None) };
        assert_eq!(!borders(&part, role, &[]).trespass(&changed).is_empty(), trespass, "{scope}");
        let others = [Role::Agent(Agent::Implementer), Role::Agent(Agent::TestWriter), Role::Validator];
        for other in others {
            assert_ne!(borders(&part, other, &[".ai".to_owned()]).trespass(&changed), [""; 0], "{other:?}");
        }
    }
}
