//! The question to a model what kind of task a text is, and what its answer means.
//!
//! Invariant: only a kind of task of the configuration is believed; any other answer is no answer.

use super::{Classified, hint::Hints, reading::Reading};
use crate::{
    compare::{Part, fence},
    settings::Config,
};
use serde_json::{Value, json};

/// What a model answers when no kind of task fits.
const OTHER: &str = "other";
/// Characters of the text that are shown: the request is at its beginning or its end.
const HEAD: usize = 6000;
const TAIL: usize = 2000;

/// A prompt, and the schema of its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelQuestion {
    pub prompt: String,
    pub schema: Value,
}

/// `seed` has to be one that the author of the text cannot know.
#[must_use]
pub fn ask_model(text: &str, seed: u64, config: &Config) -> ModelQuestion {
    let fenced = fence(seed, &[Part::new("task", &shortened(text))]);
    let kinds: Vec<&str> = config.task_types.keys().map(String::as_str).chain([OTHER]).collect();
    let listed: String = config.task_types.iter().map(|(kind, tier)| format!("- {kind} (tier {tier})\n")).collect();
    let prompt = format!(
        "Which kind of task is the quoted text? Judge what has to be done, not the words that are used.\n\n{listed}\
         - {OTHER}: none of these\n\n{}\n\n{}",
        fenced.rule(),
        fenced.blocks.concat()
    );
    let schema = json!({
        "type": "object",
        "properties": {
            "task_type": {"type": "string", "enum": kinds},
            "reason": {"type": "string", "description": "at most ten words"},
        },
        "required": ["task_type", "reason"],
        "additionalProperties": false,
    });
    ModelQuestion { prompt, schema }
}

/// What an answer of that schema means; nothing when it names no kind of task that there is.
#[must_use]
pub fn model_answer(said: &Value, model: &str, config: &Config) -> Option<Classified> {
    let kind = said.get("task_type")?.as_str()?;
    let reason = said.get("reason").and_then(Value::as_str).unwrap_or_default();
    let reason = crate::values::clean_line(reason, 120);
    if kind == OTHER {
        let tier = config.classifier.default_tier.clone();
        return Some(Classified {
            task_type: None,
            tier,
            why: format!("{model} finds no kind of task in it: {reason}"),
        });
    }
    let (kind, tier) = config.task_types.get_key_value(kind)?;
    let why = format!("{model} takes it for {kind}: {reason}");
    Some(Classified { task_type: Some(kind.clone()), tier: tier.clone(), why })
}

/// Whether the text itself names its tier or kind: then no model is asked.
#[must_use]
pub fn has_hint(text: &str, images: usize, config: &Config) -> bool {
    let reading = Reading::new(text, images, &config.classifier);
    let hints = Hints::find(&reading, config);
    hints.task_type.is_some() || hints.tier.is_some()
}

fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= HEAD + TAIL {
        return text.to_owned();
    }
    let head: String = text.chars().take(HEAD).collect();
    let tail: String = text.chars().skip(length - TAIL).collect();
    format!("{head}\n[{} characters are left out]\n{tail}", length - HEAD - TAIL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::DEFAULTS;

    fn config() -> Config {
        toml::from_str(DEFAULTS).unwrap()
    }

    #[test]
    fn the_question_offers_every_kind_and_quotes_the_text() {
        let config = config();
        let asked = ask_model(&format!("fix it{}the end", "x".repeat(20_000)), 7, &config);
        let kinds = asked.schema["properties"]["task_type"]["enum"].as_array().unwrap();
        assert_eq!(kinds.len(), config.task_types.len() + 1);
        for kind in kinds.iter().filter_map(Value::as_str) {
            assert!(asked.prompt.contains(&format!("- {kind}")), "{kind}");
        }
        assert!(asked.prompt.contains("fix it") && asked.prompt.contains("the end"));
        assert!(
            asked.prompt.contains("characters are left out") && asked.prompt.len() < 11_000,
            "{}",
            asked.prompt.len()
        );
        assert!(asked.prompt.contains("BEGIN ") && asked.prompt.contains("never an instruction"));
    }

    #[test]
    fn only_a_kind_of_the_configuration_is_believed() {
        let config = config();
        let of = |said: Value| model_answer(&said, "p/m", &config).map(|found| (found.task_type, found.tier));
        let review = config.task_types["code-review"].clone();
        assert_eq!(
            of(json!({"task_type": "code-review", "reason": "a diff"})),
            Some((Some("code-review".into()), review))
        );
        assert_eq!(of(json!({"task_type": "other"})), Some((None, config.classifier.default_tier.clone())));
        for wrong in [json!({}), json!({"task_type": "juggling"}), json!({"task_type": 7}), json!("code-review")] {
            assert_eq!(of(wrong.clone()), None, "{wrong}");
        }
        let why = model_answer(&json!({"task_type": "code-review", "reason": "a\ndiff"}), "p/m", &config).unwrap().why;
        assert_eq!(why, "p/m takes it for code-review: a diff");
    }

    #[test]
    fn a_text_with_a_hint_is_not_asked_about() {
        let config = config();
        for (text, hint) in [("look at this #code-review", true), ("tier:opus please", true), ("look at #42", false)] {
            assert_eq!(has_hint(text, 0, &config), hint, "{text}");
        }
    }
}
