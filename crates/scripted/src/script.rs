//! Which step answers which request.
//!
//! Invariant: a step is used once. A script without further steps keeps matching, so that the requests of its key can
//! still be counted.

use crate::{actor::Actor, openai::Said, step::Step};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Scripts as they are kept in a JSON file; the form is shown in the documentation of the crate.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptFile {
    #[serde(rename = "default")]
    pub default_reply: Option<Step>,
    pub keys: BTreeMap<String, Vec<Step>>,
    pub models: BTreeMap<String, Vec<Step>>,
}

impl ScriptFile {
    /// # Errors
    /// When the text is not JSON of this form; unknown fields are refused.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// The script that a request belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matched {
    Key(String),
    Model(String),
    Nothing,
}

impl Matched {
    /// The key or the model id, for counting.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Key(name) | Self::Model(name) => Some(name),
            Self::Nothing => None,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Scripts {
    keys: BTreeMap<String, VecDeque<Step>>,
    models: BTreeMap<String, VecDeque<Step>>,
    actors: BTreeMap<String, Actor>,
    pub default_reply: Option<Step>,
}

impl Scripts {
    pub fn add_key(&mut self, key: &str, steps: Vec<Step>) {
        self.keys.entry(key.to_owned()).or_default().extend(steps);
    }

    pub fn add_model(&mut self, model: &str, steps: Vec<Step>) {
        self.models.entry(model.to_owned()).or_default().extend(steps);
    }

    /// Replaces the actor that the model had before.
    pub fn cast(&mut self, model: &str, actor: Actor) {
        self.actors.insert(model.to_owned(), actor);
    }

    pub fn model_names(&self) -> impl Iterator<Item = &String> {
        self.models.keys()
    }

    /// The last user message is searched first: a long conversation still holds the keys of its past.
    pub fn find(&self, model: &str, messages: &[Said]) -> Matched {
        let recent = last_user_text(messages);
        let key = self.longest_key(|key| recent.contains(key)).or_else(|| {
            // Child sessions and compacted ones may carry the key somewhere else.
            self.longest_key(|key| messages.iter().any(|said| said.text.contains(key)))
        });
        match key {
            Some(key) => Matched::Key(key.clone()),
            None if self.models.contains_key(model) || self.actors.contains_key(model) => {
                Matched::Model(model.to_owned())
            }
            None => Matched::Nothing,
        }
    }

    /// The next step of a script, if it has one left.
    pub fn take(&mut self, matched: &Matched) -> Option<Step> {
        match matched {
            Matched::Key(key) => self.keys.get_mut(key)?.pop_front(),
            Matched::Model(model) => self.models.get_mut(model)?.pop_front(),
            Matched::Nothing => None,
        }
    }

    /// The answer of a model's actor, when the request belongs to the model.
    pub fn act(&self, matched: &Matched, messages: &[Said]) -> Option<Step> {
        match matched {
            Matched::Model(model) => Some(self.actors.get(model)?.answer(messages)),
            Matched::Key(_) | Matched::Nothing => None,
        }
    }

    /// The answer when no step is left.
    pub fn fallback(&self, messages: &[Said]) -> Step {
        self.default_reply.clone().unwrap_or_else(|| {
            let beginning: String = last_user_text(messages).chars().take(60).collect();
            Step::text(format!("ok: {beginning}"))
        })
    }

    fn longest_key(&self, fits: impl Fn(&str) -> bool) -> Option<&String> {
        self.keys.keys().filter(|key| fits(key)).max_by_key(|key| key.len())
    }
}

pub(crate) fn last_user_text(messages: &[Said]) -> &str {
    messages.iter().rev().find(|said| said.role == "user").map_or("", |said| said.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(messages: &[(&str, &str)]) -> Vec<Said> {
        messages.iter().map(|(role, text)| Said { role: (*role).to_owned(), text: (*text).to_owned() }).collect()
    }

    #[test]
    fn the_most_specific_and_most_recent_key_matches() {
        let mut scripts = Scripts::default();
        for key in ["task-1", "task-12", "SYS"] {
            scripts.add_key(key, vec![]);
        }
        scripts.add_model("beta", vec![]);
        let key = |name: &str| Matched::Key(name.to_owned());
        type Messages = &'static [(&'static str, &'static str)];
        let table: [(&str, Messages, Matched); 8] = [
            ("alpha", &[("user", "do task-1")], key("task-1")),
            ("alpha", &[("user", "do task-12")], key("task-12")),
            ("alpha", &[("user", "task-12"), ("assistant", "x"), ("user", "task-1")], key("task-1")),
            ("alpha", &[("user", "task-1"), ("tool", "task-12")], key("task-1")),
            ("alpha", &[("system", "SYS"), ("user", "hello")], key("SYS")),
            ("beta", &[("user", "task-1")], key("task-1")),
            ("beta", &[("user", "hello")], Matched::Model("beta".to_owned())),
            ("alpha", &[("user", "hello")], Matched::Nothing),
        ];
        for (model, messages, expected) in table {
            assert_eq!(scripts.find(model, &said(messages)), expected, "{model} {messages:?}");
        }
    }

    #[test]
    fn steps_are_used_up_in_order_and_the_key_goes_on_matching() {
        let mut scripts = Scripts::default();
        scripts.add_key("k", vec![Step::text("one")]);
        scripts.add_key("k", vec![Step::text("two")]);
        let matched = scripts.find("alpha", &said(&[("user", "k")]));
        assert_eq!(scripts.take(&matched), Some(Step::text("one")));
        assert_eq!(scripts.take(&matched), Some(Step::text("two")));
        assert_eq!(scripts.take(&matched), None);
        assert_eq!(scripts.find("alpha", &said(&[("user", "k")])), matched);
    }

    #[test]
    fn an_actor_answers_what_the_scripts_of_its_model_do_not() {
        let mut scripts = Scripts::default();
        scripts.cast("beta", Actor::new(|said| Step::text(format!("heard {}", said.len()))));
        scripts.add_key("k", vec![]);
        let hello = said(&[("system", "x"), ("user", "hello")]);
        let matched = scripts.find("beta", &hello);
        assert_eq!(matched, Matched::Model("beta".to_owned()));
        assert_eq!((scripts.take(&matched), scripts.act(&matched, &hello)), (None, Some(Step::text("heard 2"))));
        scripts.add_model("beta", vec![Step::text("first")]);
        assert_eq!(scripts.take(&matched), Some(Step::text("first")), "a step comes before it");
        let keyed = said(&[("user", "k")]);
        assert_eq!(scripts.act(&scripts.find("beta", &keyed), &keyed), None, "a key has its own answers");
        assert_eq!(scripts.find("alpha", &hello), Matched::Nothing);
    }

    #[test]
    fn the_fallback_echoes_sixty_characters() {
        let long = "é".repeat(80);
        let reply = Scripts::default().fallback(&said(&[("user", &long)]));
        assert_eq!(reply, Step::text(format!("ok: {}", "é".repeat(60))));
    }
}
