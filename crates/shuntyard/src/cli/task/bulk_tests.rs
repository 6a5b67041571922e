//! Texts with many tasks, good and bad.

use super::*;
use clap::{Args as _, FromArgMatches as _};
use shuntyard_core::{
    values::{Deliver, Urgency},
    work::task::{Agent, Gate, Place},
};

fn flags(args: &[&str]) -> Wanted {
    let command = Wanted::augment_args(clap::Command::new("add"));
    let matches = command.try_get_matches_from([&["add"], args].concat()).unwrap();
    Wanted::from_arg_matches(&matches).unwrap()
}

#[test]
fn plain_lines_are_descriptions_and_flags_hold_for_each() {
    let found = orders("mend a\n\n  [ ] mend b \n{not json\n", &flags(&["--tier", "opus", "--repo", "/"])).unwrap();
    let told: Vec<&str> = found.iter().map(|order| order.spec.description.as_str()).collect();
    assert_eq!(told, ["mend a", "[ ] mend b", "{not json"]);
    assert!(found.iter().all(|order| order.spec.tier.as_deref() == Some("opus") && order.spec.repository == "/"));
    assert_eq!(orders("[ ] first\nsecond", &flags(&[])).unwrap().len(), 2);
    assert!(orders("[]", &flags(&[])).unwrap().is_empty());
    assert!(orders(" \n", &flags(&[])).unwrap().is_empty());
}

#[test]
fn objects_say_all_that_flags_can() {
    let line = r#"{"id": "b", "description": "two\nlines", "repo": "/", "base": "main", "batch": "x", "verify": ["a", "b"],
        "tier": "opus", "model": "p/m", "task-type": "research", "need": "vision,tools", "depends_on": ["a", "c"],
        "priority": -3, "max_cost": 0.5, "critical": true, "estimate": "2h", "allow_path": "src/**", "deliver": "merge", "attempts": 2,
        "label": ["l"], "parent": "p", "agent": "builder", "no_gate": true, "command": null}"#;
    let one_line = line.replace('\n', " ");
    let array = format!("[\n {line},\n {{\"command\": \"true\", \"in_place\": true}}\n]");
    let found = orders(&array, &flags(&[])).unwrap();
    assert_eq!(found[0], orders(&one_line, &flags(&["--tier", "haiku"])).unwrap()[0]);
    let order = &found[0];
    assert_eq!(order.id.as_ref().map(TaskId::as_str), Some("b"));
    assert_eq!((order.priority, order.batch.as_deref(), order.depends_on.len()), (-3, Some("x"), 2));
    let spec = &order.spec;
    assert_eq!((spec.deliver, spec.gate, spec.attempts), (Deliver::Merge, Gate::Open, Some(2)));
    assert_eq!((spec.max_cost, spec.estimate_seconds), (Nano::from_usd(0.5), Some(7200)));
    assert_eq!((spec.urgency, found[1].spec.urgency), (Urgency::Critical, Urgency::Normal));
    assert_eq!((spec.verify.len(), spec.needs.len(), spec.labels.len()), (2, 2, 1));
    assert_eq!(spec.agent, Agent::Opencode { agent: Some("builder".to_owned()) });
    assert_eq!((found[1].spec.place, found[1].spec.description.as_str()), (Place::Directory, "true"));
}

#[test]
fn what_is_not_understood_is_refused_with_its_line() {
    let table = [
        ("{\"description\":\"a\"}\n{\"verfy\":\"b\"}", "line 2: there is no key `verfy`; did you mean `verify`?"),
        ("{\"description\":\"a\"}\nplain", "line 2: this is no JSON object"),
        ("[{\"description\":\"a\"},\n\n{\"zzzzzzzz\":1}]", "line 3: there is no key `zzzzzzzz`"),
        ("[\n{\"description\":\n1}]", "line 2: `description`: write a text"),
        ("[\n{\"description\":\"a\"},\n", "line 3: this is no JSON array"),
        ("{\"depends_on\":\"a b\"}", "line 1: `depends_on`: `a b` is no id"),
        ("{\"attempts\":0}", "line 1: `attempts`: write a whole number from 1 on"),
        ("{\"estimate\":\"soon\"}", "line 1: `estimate`: `soon` is not a duration"),
        ("{\"estimate\":0}", "line 1: `estimate`: no work takes no time"),
        ("{\"max_cost\":-1}", "line 1: `max_cost`: `-1` is no amount"),
        ("{\"deliver\":\"post\"}", "line 1: `deliver`"),
        ("{\"need\":[\"wings\"]}", "line 1: `need`"),
        ("{\"in_place\":\"yes\"}", "line 1: `in_place`: write true or false"),
        ("{\"command\":\"true\",\"model\":\"p/m\"}", "line 1: --model is about a model"),
        ("{\"command\":\"true\",\"in_place\":true,\"deliver\":\"pr\"}", "line 1: --deliver is about a worktree"),
    ];
    for (text, message) in table {
        let refused = orders(text, &flags(&["--repo", "/"])).unwrap_err();
        assert!(refused.message.starts_with(message), "{text}: {}", refused.message);
        assert_eq!(refused.exit as i32, 2);
    }
}
