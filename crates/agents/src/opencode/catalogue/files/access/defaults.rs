//! What OpenCode 1.18 sends of its own accord with a prompt for a model of an OpenAI-compatible provider.
//!
//! It goes by parts of names. A part that is missing here leaves a choice to the provider that OpenCode would have
//! made, and changes nothing else.

use super::super::{Places, draft::Draft};
use serde_json::{Map, Value, json};

/// What OpenCode asks for at most, and where a model's own limit is unknown.
const MOST_OUTPUT_TOKENS: u64 = 32_000;

pub(super) struct Defaults {
    /// By the names of the wire.
    pub(super) sampling: Map<String, Value>,
    /// By OpenCode's names; the options of a model go over them.
    pub(super) options: Map<String, Value>,
}

pub(super) fn of(provider: &str, draft: &Draft) -> Defaults {
    let mut sampling = Map::new();
    let id = draft.wire.id.to_lowercase();
    if let Some(temperature) = temperature(&id).filter(|_| draft.wire.temperature) {
        sampling.insert("temperature".to_owned(), json!(temperature));
    }
    if takes_less_probable(provider, &id) {
        sampling.insert("top_p".to_owned(), json!(0.95));
    }
    Defaults { sampling, options: options(provider, draft) }
}

pub(super) fn max_output_tokens(places: &Places, limit: u64) -> u64 {
    let most = places.variable("OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX").and_then(|most| most.trim().parse().ok());
    let most = most.filter(|most| *most > 0).unwrap_or(MOST_OUTPUT_TOKENS);
    if limit == 0 { most } else { limit.min(most) }
}

fn temperature(id: &str) -> Option<f64> {
    let has = |part: &str| id.contains(part);
    if has("north-mini-code") {
        Some(1.0)
    } else if has("claude") {
        None
    } else if has("gemini") {
        is_sampled_gemini(id).then_some(1.0)
    } else if ["glm-4.6", "glm-4.7", "minimax-m2"].into_iter().any(has) {
        Some(1.0)
    } else if has("kimi-k2") {
        Some(if ["thinking", "k2.", "k2p", "k2-5"].into_iter().any(has) { 1.0 } else { 0.6 })
    } else {
        None
    }
}

fn takes_less_probable(provider: &str, id: &str) -> bool {
    let has = |part: &str| id.contains(part);
    if has("gemini") {
        return is_sampled_gemini(id);
    }
    let names =
        ["minimax-m2", "kimi-k2.5", "kimi-k2p5", "kimi-k2-5", "deepseek-v4-flash-0731", "deepseek-v4-flash:0731"];
    names.into_iter().any(has) || (provider == "deepseek" && has("deepseek-v4-flash"))
}

/// The generations of Gemini that OpenCode sets both for.
fn is_sampled_gemini(id: &str) -> bool {
    let is_one = |name: &str, except: &str| {
        id.match_indices(name).any(|(start, _)| {
            let behind = &id[start + name.len()..];
            (behind.is_empty() || behind.starts_with(['.', '-'])) && (except.is_empty() || !behind.starts_with(except))
        })
    };
    ["gemini-2.5", "gemini-2-5", "gemini-3-flash", "gemini-3-pro", "gemini-3.1", "gemini-3-1"]
        .into_iter()
        .any(|name| is_one(name, ""))
        || ["gemini-3.5-flash", "gemini-3-5-flash"].into_iter().any(|name| is_one(name, "-lite"))
}

fn options(provider: &str, draft: &Draft) -> Map<String, Value> {
    let id = draft.wire.id.as_str();
    let mut options = Map::new();
    let mut set = |name: &str, value: Value| options.insert(name.to_owned(), value);
    if provider == "baseten" {
        set("chat_template_args", json!({"enable_thinking": true}));
    }
    if provider.contains("zai") || provider.contains("zhipuai") {
        set("thinking", json!({"type": "enabled", "clear_thinking": false}));
    }
    if provider == "alibaba-cn" && draft.reasons() && !id.to_lowercase().contains("kimi-k2-thinking") {
        set("enable_thinking", json!(true));
    }
    if id.contains("gpt-5") && !id.contains("gpt-5-chat") && !id.contains("gpt-5-pro") {
        set("reasoningEffort", json!("medium"));
    }
    options
}
