//! How a model is asked for over the wire: the part of a description about the request and not the model.
//!
//! Options and headers may hold secrets: this has no debug output, and a catalogue keeps none of it.

use super::{
    described::{Described, Mode},
    layers::merge,
};
use serde_json::{Map, Value};

#[derive(Clone, Default)]
pub(super) struct Wire {
    /// The id that the provider itself knows.
    pub(super) id: String,
    /// The address of the API, where the options of the provider name none.
    pub(super) url: String,
    /// Whether the model takes a temperature.
    pub(super) temperature: bool,
    pub(super) options: Map<String, Value>,
    pub(super) headers: Map<String, Value>,
}

impl Wire {
    /// The description over this.
    pub(super) fn with(&self, described: &Described, id: String, url: String) -> Self {
        let over = |weaker: &Map<String, Value>, stronger: &Map<String, Value>| {
            let mut both = weaker.clone();
            merge(&mut both, stronger.clone());
            both
        };
        Self {
            id,
            url,
            temperature: described.temperature.unwrap_or(self.temperature),
            options: over(&self.options, &described.options),
            headers: over(&self.headers, &described.headers),
        }
    }

    /// What a mode names replaces all that was there.
    pub(super) fn in_mode(&self, mode: &Mode) -> Self {
        let mut wire = self.clone();
        if let Some(body) = mode.body() {
            wire.options = body.iter().map(|(name, value)| (camel_case(name), value.clone())).collect();
        }
        if let Some(headers) = mode.headers() {
            wire.headers = headers.clone();
        }
        wire
    }
}

/// The catalogue writes the names of the wire, OpenCode those of its options.
fn camel_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        match letters.peek() {
            Some(next) if letter == '_' && next.is_ascii_lowercase() => {
                out.push(next.to_ascii_uppercase());
                letters.next();
            }
            _ => out.push(letter),
        }
    }
    out
}
