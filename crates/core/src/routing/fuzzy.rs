//! A name as people remember it, matched to exactly one connected model or to none.
//!
//! A part of a word is never enough, and of two that match equally well neither is taken: a guess would be
//! paid for.

use super::{Catalogue, RouteError};
use crate::{
    ModelRef,
    settings::Policy,
    values::{letters::letters, nearest::nearest_by_letters},
};

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
    let lower = query.to_lowercase();
    let query = Query::new(&lower);
    let candidates = candidates(catalogue, policy);
    // Ids are what people copy; the names that providers show are looked at only when no id is meant.
    let mut found = matching(&candidates, |model| query.compare(model.id, || model.letters));
    if found.is_empty() {
        found = matching(&candidates, |model| query.compare(model.name, || letters(model.name)));
    }
    match found.as_slice() {
        [] => Err(RouteError::NoSuchName { name: name.to_owned(), suggestion: suggestion(&lower, &candidates) }),
        [model] => {
            let mut exact = ModelRef::new(model.provider, model.id);
            exact.variant = variant;
            Ok(exact)
        }
        several => {
            let names: Vec<String> = several.iter().take(SUGGESTIONS).map(|model| model.full_name()).collect();
            Err(RouteError::Ambiguous { name: name.to_owned(), candidates: names.join(", ") })
        }
    }
}

/// A model that may be meant. Each comparison with thousands of ids costs, so their letters are collected once.
struct Candidate<'a> {
    provider: &'a str,
    id: &'a str,
    name: &'a str,
    letters: Option<u64>,
    /// Others are only suggested.
    is_allowed: bool,
}

impl Candidate<'_> {
    fn full_name(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }
}

/// Every usable model, those of a provider together.
fn candidates<'a>(catalogue: &'a Catalogue, policy: &Policy) -> Vec<Candidate<'a>> {
    let usable = || catalogue.providers.iter().filter(|(_, listed)| listed.is_usable());
    let mut candidates = Vec::with_capacity(usable().map(|(_, listed)| listed.models.len()).sum());
    for (provider, listed) in usable() {
        let is_allowed = policy.allows(provider);
        candidates.extend(listed.models.values().map(|model| Candidate {
            provider,
            id: &model.id,
            name: &model.name,
            letters: letters(&model.id),
            is_allowed,
        }));
    }
    candidates
}

/// A name in lower case, with what is needed to compare thousands of names with it.
struct Query<'a> {
    text: &'a str,
    words: Vec<&'a str>,
    /// The length of all words together, and their letters.
    length: usize,
    letters: u64,
}

impl<'a> Query<'a> {
    fn new(text: &'a str) -> Self {
        let words: Vec<&str> = words_of(text).collect();
        Self {
            text,
            length: words.iter().map(|word| word.len()).sum(),
            letters: words.iter().filter_map(|word| letters(word)).fold(0, |all, own| all | own),
            words,
        }
    }

    /// How well a name with these letters matches.
    fn compare(&self, name: &str, own: impl FnOnce() -> Option<u64>) -> Option<Match> {
        // A name that is shorter than the words together cannot contain them.
        let has_room = name.len() >= self.length;
        let has_letters = || own().is_none_or(|own| self.letters & !own == 0);
        if has_room && has_letters() { self.compare_letters(name) } else { None }
    }

    fn compare_letters(&self, name: &str) -> Option<Match> {
        if name.eq_ignore_ascii_case(self.text) {
            Some(Match::Id)
        } else if same_letters(self.text, name) {
            Some(Match::Letters)
        } else {
            (!self.words.is_empty() && self.words.iter().all(|word| has_word(name, word))).then_some(Match::Words)
        }
    }
}

/// The allowed models that match best.
fn matching<'c, 'a>(
    candidates: &'c [Candidate<'a>],
    compare: impl Fn(&Candidate<'a>) -> Option<Match>,
) -> Vec<&'c Candidate<'a>> {
    let mut best: Option<Match> = None;
    let mut found = Vec::new();
    for model in candidates.iter().filter(|model| model.is_allowed) {
        let Some(matched) = compare(model) else { continue };
        if best.is_none_or(|best| matched > best) {
            best = Some(matched);
            found.clear();
        }
        if best == Some(matched) {
            found.push(model);
        }
    }
    found
}

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
    plain(left).next().is_some() && plain(left).eq(plain(right))
}

/// What was perhaps meant: names that contain it, then names that are close.
fn suggestion(query: &str, models: &[Candidate<'_>]) -> String {
    let wanted = letters(query).unwrap_or_default();
    let of_provider = |model: &Candidate<'_>| letters(model.provider).and_then(|own| Some(own | letters("/")?));
    let containing = models.chunk_by(|left, right| left.provider == right.provider).flat_map(|models| {
        let before = models.first().and_then(of_provider);
        let may_contain = move |model: &&Candidate<'_>| match (before, model.letters) {
            (Some(before), Some(own)) => wanted & !(before | own) == 0,
            _ => true,
        };
        models.iter().filter(may_contain).map(Candidate::full_name).filter(|name| name.to_lowercase().contains(query))
    });
    let mut near: Vec<String> = containing.take(SUGGESTIONS).collect();
    if near.is_empty() {
        let close = nearest_by_letters(query, models.iter().map(|model| (model.id, model.letters)), 5);
        let meant = models.iter().filter(|model| close.contains(&model.id));
        near = meant.map(Candidate::full_name).take(SUGGESTIONS).collect();
    }
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Model, Provider, Source};
    use proptest::prelude::*;

    fn catalogue(names: &[(&str, &str, &str)]) -> Catalogue {
        let mut catalogue = Catalogue::default();
        for (provider, id, name) in names {
            let model = Model { id: (*id).into(), name: (*name).into(), text_output: true, ..Model::default() };
            let listed = catalogue.providers.entry((*provider).into()).or_insert_with(|| Provider {
                source: Source::Config,
                connected: *provider != "unconnected",
                ..Provider::default()
            });
            listed.models.edit(|models| models.insert((*id).into(), model));
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

    proptest! {
        #[test]
        fn the_letters_rule_out_only_what_does_not_match(text in "[aAkKİẞß5é -]{0,6}", name in "[aAkKİẞß5é -]{0,9}") {
            let text = text.to_lowercase();
            let query = Query::new(&text);
            let expected = if name.len() < query.length { None } else { query.compare_letters(&name) };
            prop_assert_eq!(query.compare(&name, || letters(&name)), expected);
        }
    }
}
