//! The likely kind of task of a text, by words and signs that the configuration gives points for.
//!
//! The same text and configuration give the same answer, without a clock, a network or a model. The time is bounded
//! by the part of the text that is looked at, whatever its length. A hint that the text itself gives wins.

mod by_model;
mod hint;
mod line;
mod phrase;
mod reading;
mod sentence;
mod words;

pub use by_model::{ModelQuestion, ask_model, has_hint, model_answer};

pub(crate) use phrase::Phrase;

use crate::settings::Config;
use hint::Hints;
use reading::Reading;
use std::{cmp::Reverse, collections::BTreeMap};
use words::Words;

/// The kind of task that a text was taken for, with the signs that decided it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// `None`: no kind of task stood out, and the default tier is used.
    pub task_type: Option<String>,
    pub tier: String,
    pub why: String,
}

/// Takes a text, to which so many images belong, for one of the kinds of task in the configuration.
#[must_use]
pub fn classify(text: &str, images: usize, config: &Config) -> Classified {
    let reading = Reading::new(text, images, &config.classifier);
    let hints = Hints::find(&reading, config);
    if let Some(task_type) = hints.task_type {
        let tier = hints.tier.as_ref().or_else(|| config.task_types.get(task_type));
        let tier = tier.unwrap_or(&config.classifier.default_tier).clone();
        return Classified { task_type: Some(task_type.to_owned()), tier, why: sentence::said(&hints) };
    }
    let standings = standings(&reading, config);
    let winner = standings.first().filter(|first| first.points >= config.classifier.threshold);
    let tier = winner.map_or(config.classifier.default_tier.as_str(), |winner| winner.tier).to_owned();
    Classified {
        task_type: winner.map(|winner| winner.task_type.to_owned()),
        tier: hints.tier.clone().unwrap_or(tier),
        why: sentence::looks(&hints, winner, &standings, config.classifier.threshold),
    }
}

/// The first of the phrases that mark a hard task, as it is written in the text.
#[must_use]
pub fn hard_mark(text: &str, config: &Config) -> Option<String> {
    let reading = Reading::new(text, 0, &config.classifier);
    let words = Words::new(&reading.folded);
    let nothing_taken = vec![false; words.len()];
    let possible = config.patterns.hard.iter().filter(|phrase| Phrase::may_be_in(phrase, &words));
    possible.filter_map(|phrase| Phrase::parse(phrase)).find_map(|phrase| {
        let places = phrase.find(&words, &nothing_taken)?;
        Some(phrase.quoted(&words, &places))
    })
}

/// The score of one kind of task for a text.
#[derive(Debug)]
struct Standing<'a> {
    task_type: &'a str,
    tier: &'a str,
    points: i64,
    /// What gave or took points, in the order in which it was found.
    evidence: Vec<Evidence>,
}

#[derive(Debug)]
struct Evidence {
    /// As a person reads it: a quoted phrase or the name of a sign.
    what: String,
    points: i64,
}

/// Every kind of task that has points, the best first. Of two with the same points the one with the cheaper tier is
/// better, as a wrong guess then costs less; then the name decides, so that there is always one order.
fn standings<'a>(reading: &Reading<'_>, config: &'a Config) -> Vec<Standing<'a>> {
    let words = Words::new(&reading.folded);
    let mut evidence: BTreeMap<&str, Vec<Evidence>> = BTreeMap::new();
    for (task_type, phrases) in &config.classifier.words {
        evidence.insert(task_type, phrase_points(phrases, &words, config));
    }
    for sign in &reading.signs {
        for (task_type, points) in config.classifier.signs.get(sign).into_iter().flatten() {
            let found = Evidence { what: sign.to_string(), points: *points };
            evidence.entry(task_type).or_default().push(found);
        }
    }
    let place = |tier: &str| config.tier_order.iter().position(|name| name == tier).unwrap_or(usize::MAX);
    let mut standings: Vec<Standing<'_>> = evidence
        .into_iter()
        .filter_map(|(task_type, evidence)| {
            let points = evidence.iter().fold(0i64, |sum, found| sum.saturating_add(found.points));
            let tier = config.task_types.get(task_type)?;
            (points > 0).then_some(Standing { task_type, tier, points, evidence })
        })
        .collect();
    standings.sort_by_key(|standing| (Reverse(standing.points), place(standing.tier), standing.task_type));
    standings
}

/// What the phrases of one kind of task find. Each counts once, and the longest goes first: a word that belongs to
/// "unit tests" is not counted again for "tests".
fn phrase_points(phrases: &[String], words: &Words<'_>, config: &Config) -> Vec<Evidence> {
    let classifier = &config.classifier;
    let possible = phrases.iter().filter(|phrase| Phrase::may_be_in(phrase, words));
    let mut phrases: Vec<Phrase> = possible.filter_map(|phrase| Phrase::parse(phrase)).collect();
    phrases.sort_by(|a, b| b.rank().cmp(&a.rank()));
    let mut taken = vec![false; words.len()];
    let mut found = Vec::new();
    for phrase in phrases {
        let Some(places) = phrase.find(words, &taken) else { continue };
        let in_opening = places.first().is_some_and(|first| *first < classifier.opening_words);
        // A weak word stays weak: by itself it must not be able to decide.
        let bonus = if in_opening && phrase.points > 1 { classifier.opening_points } else { 0 };
        found.push(Evidence { what: phrase.quoted(words, &places), points: phrase.points.saturating_add(bonus) });
        if phrase.points > 0 {
            places.iter().for_each(|place| taken[*place] = true);
        }
    }
    found
}

#[cfg(test)]
mod prompts_tests;
#[cfg(test)]
mod tests;
