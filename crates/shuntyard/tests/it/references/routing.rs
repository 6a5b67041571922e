//! The tables of `docs/choosing.md` and `docs/fallback.md` that come from the built-in settings and from `core`.

use super::keep;
use shuntyard_core::{
    ErrorClass,
    routing::Scope,
    settings::{Config, Layered, Score},
    values::{Trigger, duration},
};

/// What a score gives for a trait.
type Weight = fn(&Score) -> i64;

fn config() -> Config {
    Layered::merge(&[]).expect("the built-in settings are fine").config
}

#[test]
fn scores_are_documented() {
    let config = config();
    let traits: [(&str, Weight); 9] = [
        ("cheap", |score| score.cheap),
        ("strong", |score| score.strong),
        ("middle", |score| score.middle),
        ("recent", |score| score.recent),
        ("context", |score| score.context),
        ("reasoning", |score| score.reasoning),
        ("vision", |score| score.vision),
        ("tools", |score| score.tools),
        ("words", |score| score.words),
    ];
    let head: Vec<&str> = traits.iter().map(|(name, _)| *name).collect();
    let mut text = format!("| score | {} | ranks for |\n|{}\n", head.join(" | "), " --- |".repeat(head.len() + 2));
    for (name, score) in &config.scores {
        let points: Vec<String> = traits
            .iter()
            .map(|(_, of)| match of(score) {
                0 => "–".to_owned(),
                points => points.to_string(),
            })
            .collect();
        text.push_str(&format!("| `{name}` | {} | {} |\n", points.join(" | "), users(&config, name)));
    }
    keep("docs/choosing.md", &text);
}

/// The tiers and tags that rank by a score.
fn users(config: &Config, score: &str) -> String {
    let tiers = config.tier_order.iter().filter(|tier| config.tier_scores.get(*tier).is_some_and(|own| own == score));
    let tiers = tiers.map(|tier| format!("tier {tier}"));
    let tags = config.tags.iter().filter(|(_, tag)| tag.score == score);
    let tags = tags.map(|(name, _)| if name == "any" { "`auto`".to_owned() } else { format!("`auto:{name}`") });
    tiers.chain(tags).collect::<Vec<_>>().join(", ")
}

#[test]
fn triggers_are_documented() {
    let cooldowns = config().fallback.cooldowns;
    let mut text =
        String::from("| trigger | error classes | cooldown | for | then |\n| --- | --- | --- | --- | --- |\n");
    for trigger in Trigger::ALL {
        let classes = ErrorClass::ALL.into_iter().filter(|class| Trigger::of(*class) == Some(trigger));
        let classes: Vec<String> = classes.map(|class| format!("`{class}`")).collect();
        let scope = match trigger.scope() {
            Scope::Provider => "the provider",
            Scope::Model => "the model",
        };
        let (scope, lasts) = match cooldowns.after(trigger, None) {
            Some(lasts) => (scope, duration::show(lasts)),
            None => ("nothing", "–".to_owned()),
        };
        let then = if trigger == Trigger::Capability { "up" } else { "sideways" };
        text.push_str(&format!("| `{trigger}` | {} | {scope} | {lasts} | {then} |\n", classes.join(", ")));
    }
    keep("docs/fallback.md", &text);
}
