//! The recorded past under another policy: known costs are exact to the nano-dollar, and nothing is made up.

use super::{all, asked_model};
use crate::yard::{Key, Yard, plain};
use serde_json::{Value, json};
use shuntyard_core::Nano;
use shuntyard_scripted::{Step, Tokens};

const TABLES: &str = r#"
tier_order = ["haiku", "sonnet"]
[tiers]
haiku = ["low/m"]
sonnet = ["middle/m"]
[task_types]
staying = "haiku"
moving = "sonnet"
guessing = "haiku"
"#;

const POLICY: &str = r#"
[task_types]
moving = "haiku"
guessing = "sonnet"
[policy]
deny_providers = ["denied"]
"#;

fn nano(value: &Value) -> Nano {
    value.as_f64().and_then(Nano::from_usd).expect("an amount")
}

#[test]
fn the_past_is_played_again_under_another_policy() {
    let providers = ["low", "middle", "denied"].map(|id| plain(id, Key::Config)).into();
    let yard = Yard::new("patterns-replay", providers, &json!({"model": "low/m"}), TABLES);
    // Each run of the past has a price of its own, so that no sum can be right by accident.
    let past: [(&[&str], &str, u64, bool); 5] = [
        (&["--task-type", "staying"], "low", 4, true),
        (&["--task-type", "moving"], "middle", 3, false),
        (&["-m", "low/m", "--task-type", "moving"], "low", 3, true),
        (&["--task-type", "guessing"], "low", 2, false),
        (&["-m", "denied/m", "--task-type", "staying"], "denied", 1, false),
    ];
    let mut spent = Vec::new();
    for (round, (flags, provider, runs, _)) in (1_u64..).zip(&past) {
        let steps = (1..=*runs).map(|run| Step::text("done").usage(Tokens::new(1000 * round + run, 10 * run)));
        let key = yard.at(provider).script("past", steps.collect());
        for _ in 0..*runs {
            let report = yard.dispatch(&[*flags, &[key.as_str()]].concat()).expect_ok();
            assert_eq!(asked_model(&report), format!("{provider}/m"));
        }
        spent.push(yard.at(provider).requests(&key).total_reported().cost);
    }
    let [staying, moving, moved_before, guessing, denied] = spent[..] else { panic!("{spent:?}") };
    assert!(spent.iter().all(|cost| *cost > Nano::ZERO));
    let recorded = all(&yard.env);
    assert_eq!(recorded.len(), 13);
    assert_eq!(recorded.iter().map(|outcome| outcome.cost).sum::<Nano>(), spent.iter().copied().sum::<Nano>());

    let file = yard.env.root.join("policy.toml");
    let replay = |policy: &str| {
        std::fs::write(&file, policy).expect("written");
        yard.env.run(&["route", "replay", "--json", "--policy", &file.to_string_lossy()])
    };
    let requests = || ["low", "middle", "denied"].map(|provider| yard.asked(provider));
    let before = requests();
    let document = replay(POLICY).expect_code(0).json();
    let played = &document["replay"];
    let share = |name: &str| {
        let share = &played[name];
        (share["runs"].as_u64().expect("runs"), nano(&share["cost_usd"]), share["success_percent"].clone())
    };
    assert_eq!(share("same"), (7, staying + moved_before, json!(100.0)), "{played:#}");
    assert_eq!(nano(&played["same"]["policy_cost_usd"]), staying + moved_before);
    assert_eq!(share("changed"), (3, moving, json!(100.0)), "{played:#}");
    // Three went to the other model, and three of that kind are what is known of it.
    assert_eq!(nano(&played["changed"]["policy_cost_usd"]), moved_before);
    assert_eq!(share("unknown"), (3, guessing + denied, json!(100.0)), "{played:#}");
    for field in ["policy_cost_usd", "policy_success_percent"] {
        assert_eq!(played["unknown"][field], Value::Null, "{played:#}");
    }
    let told = played["changes"].as_array().expect("changes").iter();
    let told: Vec<Value> = told
        .map(|change| json!([change["task_type"], change["from"], change["to"], change["runs"], change["samples"]]))
        .collect();
    let expected = [
        json!(["moving", "middle/m", "low/m", 3, 3]),
        json!(["guessing", "low/m", "middle/m", 2, 0]),
        json!(["staying", "denied/m", null, 1, 0]),
    ];
    assert_eq!(told, expected, "{played:#}");
    assert_eq!(requests(), before, "nobody is asked for it");
    assert_eq!(all(&yard.env), recorded, "and nothing is learned from it");

    // A policy that changes nothing is the past itself.
    let same = replay("").expect_code(0).json();
    assert_eq!((&same["replay"]["same"]["runs"], &same["replay"]["changes"]), (&json!(13), &json!([])));
    assert_eq!(nano(&same["replay"]["same"]["cost_usd"]), recorded.iter().map(|outcome| outcome.cost).sum::<Nano>());

    let unknown = replay("[task_typos]\nmoving = \"haiku\"\n");
    unknown.expect_code(2).expect_class("configuration");
    assert!(unknown.stdout.contains("task_typos"), "{}", unknown.stdout);
    replay("[task_types]\nmoving = \"nowhere\"\n").expect_code(2).expect_class("configuration");
    std::fs::remove_file(&file).expect("removed");
    let missing = yard.env.run(&["route", "replay", "--json", "--policy", &file.to_string_lossy()]);
    missing.expect_code(2).expect_class("configuration");
    yard.env.run(&["route", "replay", "--json"]).expect_code(2);
}
