//! The provider's token counts as we keep them: every token once. Pure.

use super::{
    decimal,
    wire::{Count, Counts},
};
use shuntyard_core::{Nano, Usage};

/// What a provider reports about one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) usage: Usage,
    pub(super) cost: Option<Nano>,
}

impl Tally {
    /// Reads the provider's `usage`; `None` when it has no counts.
    pub(super) fn read(json: &str) -> Option<Self> {
        // A list would be read as the fields in their order.
        let is_object = json.trim_start().starts_with('{');
        let counts = is_object.then(|| serde_json::from_str(json).ok()).flatten()?;
        Self::of(&counts)
    }

    fn of(counts: &Counts<'_>) -> Option<Self> {
        let cost = counts.cost.and_then(|cost| decimal::nano(cost.get()));
        if counts.prompt_tokens.is_none() && counts.completion_tokens.is_none() && cost.is_none() {
            return None;
        }
        let get = |count: Option<Count>| count.map_or(0, Count::get);
        let (prompt, completion) = (get(counts.prompt_tokens), get(counts.completion_tokens));
        let prompt_details = counts.prompt_tokens_details.as_ref();
        let cache_read =
            get(prompt_details.and_then(|details| details.cached_tokens).or(counts.prompt_cache_hit_tokens));
        let cache_write = get(prompt_details.and_then(|details| details.cache_write_tokens));
        let reasoning = get(counts.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens));
        let total = counts.total_tokens.map(Count::get);
        // The prompt includes what was cached. More cached tokens than prompt tokens cannot be a part of them.
        let input = prompt.checked_sub(cache_read.saturating_add(cache_write)).unwrap_or(prompt);
        // The completion includes the reasoning, except where the total shows that the two were added.
        let are_added = total == Some(prompt.saturating_add(completion).saturating_add(reasoning));
        let output = if are_added { completion } else { completion.checked_sub(reasoning).unwrap_or(completion) };
        Some(Self { usage: Usage { input, output, reasoning, cache_read, cache_write }, cost })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn tally(counts: &Value) -> Option<Tally> {
        Tally::read(&counts.to_string())
    }

    fn usage(input: u64, output: u64, reasoning: u64, cache_read: u64, cache_write: u64) -> Usage {
        Usage { input, output, reasoning, cache_read, cache_write }
    }

    #[test]
    fn every_token_is_counted_once() {
        let details = |cached: u64, reasoning: u64| {
            json!({"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050,
                "prompt_tokens_details": {"cached_tokens": cached},
                "completion_tokens_details": {"reasoning_tokens": reasoning}})
        };
        let with = |mut counts: Value, name: &str, value: Value| {
            counts[name] = value;
            counts
        };
        let table = [
            (json!({"prompt_tokens": 7, "completion_tokens": 3}), usage(7, 3, 0, 0, 0)),
            (details(200, 10), usage(800, 40, 10, 200, 0)),
            (details(1000, 50), usage(0, 0, 50, 1000, 0)),
            // A provider that adds the reasoning to the completion shows it by its total.
            (with(details(0, 10), "total_tokens", json!(1060)), usage(1000, 50, 10, 0, 0)),
            (with(details(0, 70), "total_tokens", json!(null)), usage(1000, 50, 70, 0, 0)),
            (details(3000, 0), usage(1000, 50, 0, 3000, 0)),
            (
                with(details(0, 0), "prompt_tokens_details", json!({"cached_tokens": 200, "cache_write_tokens": 300})),
                usage(500, 50, 0, 200, 300),
            ),
            (json!({"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}), usage(5, 1, 0, 4, 0)),
            (json!({"prompt_tokens": 9.0, "completion_tokens": -3, "total_tokens": "x"}), usage(9, 0, 0, 0, 0)),
            (
                json!({"prompt_tokens": u64::MAX, "completion_tokens": u64::MAX,
                    "completion_tokens_details": {"reasoning_tokens": u64::MAX}, "prompt_tokens_details": null}),
                usage(u64::MAX, 0, u64::MAX, 0, 0),
            ),
        ];
        for (counts, expected) in table {
            assert_eq!(tally(&counts).map(|tally| tally.usage), Some(expected), "{counts}");
        }
        assert_eq!(tally(&json!({})), None);
        assert_eq!(tally(&json!([1, 2])), None);
        assert_eq!(tally(&json!({"total_tokens": 4})), None);
    }

    #[test]
    fn a_cost_is_taken_from_its_text() {
        let text = r#"{"prompt_tokens":1,"completion_tokens":1,"cost":1234567.890123456}"#;
        let tally = Tally::read(text).unwrap();
        assert_eq!(tally.cost, Some(Nano(1_234_567_890_123_456)));
        for (cost, expected) in [("null", None), ("-1", None), ("0", Some(Nano::ZERO)), ("{}", None)] {
            let text = format!(r#"{{"prompt_tokens":1,"cost":{cost}}}"#);
            let tally = Tally::read(&text).unwrap();
            assert_eq!(tally.cost, expected, "{cost}");
        }
    }
}
