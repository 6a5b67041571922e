//! From keys to rules, and from rules to decisions.

use crate::roles::pack::{
    agent_file::AgentFile,
    permission::{Action, Rule, evaluate, evaluate_shell, hides, with_home},
    wildcard::matches,
};
use proptest::prelude::*;

fn agent(yaml: &str) -> AgentFile {
    AgentFile::parse("agent/x.md", &format!("---\n{yaml}\n---\n")).expect("readable")
}

fn shown(rules: &[Rule]) -> Vec<String> {
    rules.iter().map(|rule| format!("{} {} {}", rule.permission, rule.pattern, rule.action.as_str())).collect()
}

#[test]
fn keys_become_rules_in_the_order_of_opencode() {
    let table: [(&str, &[&str]); 8] = [
        ("permission: deny", &["* * deny"]),
        ("permission:\n  bash: deny\n  \"*\": ask", &["bash * deny", "* * ask"]),
        (
            "permission:\n  bash:\n    \"*\": deny\n    \"10\": ask\n    \"2\": allow\n    \"01\": ask",
            &["bash 2 allow", "bash 10 ask", "bash * deny", "bash 01 ask"],
        ),
        (
            "tools:\n  write: false\n  bash: false\n  webfetch: true\npermission:\n  \"*\": ask\n  bash:\n    ls: allow",
            &["edit * deny", "bash ls allow", "webfetch * allow", "* * ask"],
        ),
        ("tools:\n  patch: true\n  edit: false", &["edit * deny"]),
        (
            "permissions:\n  - permission: edit\n    pattern: \"*\"\n    action: deny\n  - action: bash\n    resource: \"ls\"\n    effect: ask",
            &["edit * deny", "bash ls ask"],
        ),
        ("permission: {\"*\": deny, bash: {\"a *\": allow}}", &["* * deny", "bash a * allow"]),
        ("description: x", &[]),
    ];
    for (yaml, expected) in table {
        assert_eq!(shown(&agent(yaml).own), expected, "{yaml}");
    }
}

#[test]
fn what_is_no_rule_is_told() {
    let table = [
        ("permission:", 2),
        ("permission: [bash]", 2),
        ("permission: allowed", 2),
        ("permission:\n  bash: true", 3),
        ("permission:\n  bash:\n    ls:", 4),
        ("permission:\n  webfetch:\n    \"x\": allow", 3),
        ("tools:\n  bash: maybe", 3),
        ("permissions: deny", 2),
        ("permissions:\n  - action: deny", 3),
    ];
    for (yaml, line) in table {
        let wrong = agent(yaml).wrong;
        assert_eq!(wrong.iter().map(|wrong| wrong.line).collect::<Vec<_>>(), [line], "{yaml}: {wrong:?}");
    }
}

#[test]
fn the_last_match_decides_and_is_named() {
    let agent = agent(
        "mode: subagent\npermission:\n  \"*\": deny\n  bash:\n    \"*\": deny\n    \"git *\": allow\n    \"git push*\": ask\n  read: allow\n  \"my_*\": allow",
    );
    let table = [
        ("bash", "git status", Action::Allow, Some(7)),
        ("bash", "git", Action::Allow, Some(7)),
        ("bash", "git push", Action::Ask, Some(8)),
        ("bash", "rm x", Action::Deny, Some(6)),
        ("read", ".env", Action::Allow, Some(9)),
        ("my_tool", "*", Action::Allow, Some(10)),
        ("edit", "x", Action::Deny, Some(4)),
        ("doom_loop", "bash", Action::Deny, Some(4)),
        ("task", "writer", Action::Deny, None),
    ];
    for (permission, argument, action, line) in table {
        let decision = evaluate(&agent.rules, permission, argument);
        assert_eq!(
            (decision.action, decision.rule.and_then(|rule| rule.line)),
            (action, line),
            "{permission} {argument}"
        );
    }
    assert_eq!(evaluate(&[], "bash", "ls").action, Action::Ask, "without any rule it is asked");
}

#[test]
fn opencode_itself_allows_most() {
    let agent = agent("description: x");
    let table = [
        ("edit", "x", Action::Allow),
        ("read", "src/.env", Action::Ask),
        ("read", ".env.example", Action::Allow),
        ("external_directory", "/etc/*", Action::Ask),
        ("doom_loop", "bash", Action::Ask),
        ("question", "*", Action::Deny),
    ];
    for (permission, argument, action) in table {
        assert_eq!(evaluate(&agent.rules, permission, argument).action, action, "{permission} {argument}");
    }
}

#[test]
fn a_whole_line_is_as_strict_as_its_strictest_part() {
    let agent = agent(
        "permission:\n  \"*\": deny\n  bash:\n    \"*\": deny\n    \"ls *\": allow\n    \"git *\": allow\n    \"make *\": ask\n    \"*>*\": deny",
    );
    let table = [
        ("ls && git log", Action::Allow, 0),
        ("ls && make", Action::Ask, 0),
        ("make && rm x", Action::Deny, 0),
        ("ls > f", Action::Deny, 0),
        ("ls && git log > f", Action::Allow, 1),
        ("> f", Action::Allow, 1),
        ("< a < b rm x > c", Action::Allow, 1),
        ("ls $(rm x)", Action::Deny, 0),
        ("cd src", Action::Allow, 0),
    ];
    for (line, action, unseen) in table {
        let decision = evaluate_shell(&agent.rules, line).expect(line);
        assert_eq!((decision.action, decision.unseen.len()), (action, unseen), "{line}: {decision:?}");
    }
}

#[test]
fn a_denial_of_everything_hides_the_tool() {
    let table = [
        ("permission:\n  edit: deny", "write", true),
        ("permission:\n  edit: deny", "apply_patch", true),
        ("permission:\n  \"*\": deny", "bash", true),
        ("permission:\n  bash:\n    \"*\": deny\n    ls: allow", "bash", false),
        ("permission:\n  bash:\n    ls: allow\n    \"*\": deny", "bash", true),
        ("permission:\n  bash:\n    \"?*\": deny", "bash", false),
    ];
    for (yaml, tool, hidden) in table {
        assert_eq!(hides(&agent(yaml).rules, tool), hidden, "{yaml} {tool}");
    }
}

#[test]
fn home_is_put_in_wherever_a_pattern_begins_with_it() {
    let rules =
        ["~/x *", "~", "$HOME/y", "$HOMEy", "~x", "a ~/b"].map(|pattern| Rule::own("bash", pattern, Action::Allow));
    let patterns: Vec<String> = with_home(&rules, "/h").into_iter().map(|rule| rule.pattern).collect();
    assert_eq!(patterns, ["/h/x *", "/h", "/h/y", "/hy", "~x", "a ~/b"]);
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![Just(Action::Allow), Just(Action::Ask), Just(Action::Deny)]
}

proptest! {
    /// Going through all rules and letting each match overrule the one before is the same.
    #[test]
    fn decides_as_the_naive_model(
        rules in proptest::collection::vec(("[a*?]{0,2}", "[ab* ]{0,3}", action()), 0..8), permission in "[ab]{0,2}", argument in "[ab ]{0,3}",
    ) {
        let rules: Vec<Rule> = rules.iter().map(|(key, pattern, action)| Rule::own(key, pattern, *action)).collect();
        let mut decided = Action::Ask;
        for rule in &rules {
            if matches(&permission, &rule.permission) && matches(&argument, &rule.pattern) {
                decided = rule.action;
            }
        }
        prop_assert_eq!(evaluate(&rules, &permission, &argument).action, decided);
    }
}
