//! A name as people remember it, matched to exactly one connected model or to none.
//!
//! A part of a word is never enough, and of two that match equally well neither is taken: a guess would be
//! paid for.

use super::{Catalogue, Model, RouteError};
use crate::{ModelRef, config::Policy, nearest::nearest};

const SUGGESTIONS: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    /// All words of the query are words of the name.
    Words,
    /// The same letters and digits.
    Letters,
    /// The very id.
    Id,
}

/// The one model that `name` means. A variant may follow after `@`; as in a full name, what begins with a digit
/// is none, but a part of the model's id (`…@20250514`).
pub(super) fn find(name: &str, catalogue: &Catalogue, policy: &Policy) -> Result<ModelRef, RouteError> {
    let is_variant = |text: &str| !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit());
    let (query, variant) = match name.rsplit_once('@') {
        Some((query, variant)) if !query.is_empty() && is_variant(variant) => (query, Some(variant.to_owned())),
        _ => (name, None),
    };
    let query = query.to_lowercase();
    let words: Vec<&str> = words_of(&query).collect();
    // Ids are what people copy; the names that providers show are looked at only when no id is meant.
    let mut found = matching(&query, &words, catalogue, policy, |model| &model.id);
    if found.is_empty() {
        found = matching(&query, &words, catalogue, policy, |model| &model.name);
    }
    match found.as_slice() {
        [] => Err(RouteError::NoSuchName { name: name.to_owned(), suggestion: suggestion(&query, catalogue) }),
        [(provider, model)] => {
            let mut exact = ModelRef::new(*provider, model.id.clone());
            exact.variant = variant;
            Ok(exact)
        }
        several => {
            let names: Vec<String> =
                several.iter().take(SUGGESTIONS).map(|(provider, model)| format!("{provider}/{}", model.id)).collect();
            Err(RouteError::Ambiguous { name: name.to_owned(), candidates: names.join(", ") })
        }
    }
}

/// The models that match best, by one of their names.
fn matching<'a>(
    query: &str,
    words: &[&str],
    catalogue: &'a Catalogue,
    policy: &Policy,
    name: impl Fn(&Model) -> &str,
) -> Vec<(&'a str, &'a Model)> {
    let mut best: Option<Match> = None;
    let mut found = Vec::new();
    for (id, provider) in catalogue.providers.iter().filter(|(id, listed)| listed.is_usable() && policy.allows(id)) {
        for model in provider.models.values() {
            let Some(matched) = compare(query, words, name(model)) else { continue };
            if best.is_none_or(|best| matched > best) {
                best = Some(matched);
                found.clear();
            }
            if best == Some(matched) {
                found.push((id.as_str(), model));
            }
        }
    }
    found
}

fn compare(query: &str, words: &[&str], name: &str) -> Option<Match> {
    // A name that is shorter than its words together has no room for them.
    if name.len() < words.iter().map(|word| word.len()).sum() {
        return None;
    }
    if name.eq_ignore_ascii_case(query) {
        return Some(Match::Id);
    }
    if same_letters(query, name) {
        return Some(Match::Letters);
    }
    (!words.is_empty() && words.iter().all(|word| has_word(name, word))).then_some(Match::Words)
}

/// Looks for the word's letters first: they are mostly not there at all.
fn has_word(name: &str, word: &str) -> bool {
    let (name, word) = (name.as_bytes(), word.as_bytes());
    let ends = |byte: Option<&u8>| byte.is_none_or(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric());
    name.windows(word.len()).enumerate().any(|(place, own)| {
        own.eq_ignore_ascii_case(word)
            && ends(place.checked_sub(1).and_then(|before| name.get(before)))
            && ends(name.get(place + word.len()))
    })
}

fn words_of(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn same_letters(left: &str, right: &str) -> bool {
    fn plain(text: &str) -> impl Iterator<Item = char> {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
    }
    if left.is_ascii() && right.is_ascii() {
        let bytes = |text: &str| -> Option<u8> { text.bytes().find(u8::is_ascii_alphanumeric) };
        // Most names differ in their first letter.
        match (bytes(left), bytes(right)) {
            (Some(left), Some(right)) if left.eq_ignore_ascii_case(&right) => {}
            _ => return false,
        }
    }
    plain(left).next().is_some() && plain(left).eq(plain(right))
}

/// What was perhaps meant: names that contain it, then names that are close.
fn suggestion(query: &str, catalogue: &Catalogue) -> String {
    let full: Vec<String> = catalogue
        .models()
        .filter(|(_, provider, _)| provider.is_usable())
        .map(|(provider, _, model)| format!("{provider}/{}", model.id))
        .collect();
    let mut near: Vec<&str> =
        full.iter().map(String::as_str).filter(|name| name.to_lowercase().contains(query)).take(SUGGESTIONS).collect();
    if near.is_empty() {
        let ids: Vec<&str> = full.iter().filter_map(|name| name.split_once('/').map(|(_, id)| id)).collect();
        let close = nearest(query, ids.iter().copied(), 5);
        near = full
            .iter()
            .map(String::as_str)
            .filter(|name| name.split_once('/').is_some_and(|(_, id)| close.contains(&id)))
            .take(SUGGESTIONS)
            .collect();
    }
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{Provider, Source};

    fn catalogue(names: &[(&str, &str, &str)]) -> Catalogue {
        let mut catalogue = Catalogue::default();
        for (provider, id, name) in names {
            let model = Model { id: (*id).into(), name: (*name).into(), text_output: true, ..Model::default() };
            let listed = catalogue.providers.entry((*provider).into()).or_insert_with(|| Provider {
                source: Source::Config,
                connected: *provider != "unconnected",
                ..Provider::default()
            });
            listed.models.insert((*id).into(), model);
        }
        catalogue
    }

    #[test]
    fn a_unique_best_match_or_an_error() {
        let here = catalogue(&[
            ("anthropic", "claude-sonnet-5", "Claude Sonnet 5"),
            ("anthropic", "claude-sonnet-4-5", "Claude Sonnet 4.5"),
            ("anthropic", "claude-haiku-4-5", "Claude Haiku 4.5 (latest)"),
            ("openai", "gpt-6-sol", "GPT-6 Sol"),
            ("openai", "gpt-6-sol-pro", "GPT-6 Sol Pro"),
            ("copilot", "gpt-6-sol", "GPT-6 Sol"),
            ("unconnected", "kimi-k3", "Kimi K3"),
            ("denied", "claude-haiku-4-5", "Claude Haiku 4.5"),
            ("vertex", "claude-opus-5@20260514", "Claude Opus 5"),
        ]);
        let policy = Policy { allow_providers: Vec::new(), deny_providers: vec!["denied".into()] };
        let table = [
            ("claude-sonnet-5", Ok("anthropic/claude-sonnet-5")),
            ("Claude Sonnet 5", Ok("anthropic/claude-sonnet-5")),
            ("claudesonnet5", Ok("anthropic/claude-sonnet-5")),
            ("haiku", Ok("anthropic/claude-haiku-4-5")),
            ("claude haiku@high", Ok("anthropic/claude-haiku-4-5@high")),
            ("gpt-6-sol-pro", Ok("openai/gpt-6-sol-pro")),
            ("claude-opus-5@20260514", Ok("vertex/claude-opus-5@20260514")),
            ("opus@20260514@high", Ok("vertex/claude-opus-5@20260514@high")),
            ("sonnet", Err("could be any of: anthropic/claude-sonnet-4-5, anthropic/claude-sonnet-5")),
            ("gpt-6-sol", Err("could be any of: copilot/gpt-6-sol, openai/gpt-6-sol")),
            ("son", Err("no connected model is called `son`; did you mean anthropic/claude-sonnet-4-5")),
            ("hiaku", Err("no connected model is called `hiaku`")),
            ("kimi-k3", Err("no connected model is called `kimi-k3`")),
        ];
        for (name, expected) in table {
            match (find(name, &here, &policy), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found.to_string(), expected, "{name}"),
                (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{name}: {error}"),
                (found, _) => panic!("{name} gave {found:?}"),
            }
        }
    }
}
