//! A model while it is put together: a description laid over what was known before, field by field.

use super::{
    super::listed::{nano, tokens},
    described::{Cost, Described, Mode},
    wire::Wire,
};
use shuntyard_core::{
    Nano,
    routing::{Model, ReleaseDate, Status},
    values::money::Price,
};
use std::collections::BTreeSet;

/// The package that OpenCode uses where nothing names one.
pub(super) const USUAL_PACKAGE: &str = "@ai-sdk/openai-compatible";

/// The packages for which OpenCode turns each effort into a variant, whatever the model.
const TAKE_EFFORTS: [&str; 17] = [
    USUAL_PACKAGE,
    "@ai-sdk/anthropic",
    "@ai-sdk/azure",
    "@ai-sdk/cerebras",
    "@ai-sdk/deepinfra",
    "@ai-sdk/gateway",
    "@ai-sdk/google",
    "@ai-sdk/google-vertex",
    "@ai-sdk/google-vertex/anthropic",
    "@ai-sdk/groq",
    "@ai-sdk/mistral",
    "@ai-sdk/openai",
    "@ai-sdk/togetherai",
    "@ai-sdk/xai",
    "@openrouter/ai-sdk-provider",
    "ai-gateway-provider",
    "venice-ai-sdk-provider",
];

/// A model and what it does not keep itself, but a later description may build on.
#[derive(Clone)]
pub(super) struct Draft {
    model: Model,
    pub(super) npm: String,
    pub(super) wire: Wire,
    attachment: bool,
    pdf_input: bool,
}

impl Draft {
    /// What holds for a model of the configuration that was not described before.
    pub(super) fn configured() -> Self {
        let model = Model { tool_calls: true, text_output: true, ..Model::default() };
        Self { model, npm: String::new(), wire: Wire::default(), attachment: false, pdf_input: false }
    }

    /// What holds for a model of the stored catalogue; there silence on texts means that it writes none.
    pub(super) fn stored() -> Self {
        let mut draft = Self::configured();
        draft.model.text_output = false;
        draft
    }

    pub(super) fn name(&self) -> &str {
        &self.model.name
    }

    pub(super) fn status(&self) -> Status {
        self.model.status
    }

    pub(super) fn is_free(&self) -> bool {
        self.model.price.input == Nano::ZERO
    }

    pub(super) fn reasons(&self) -> bool {
        self.model.reasoning
    }

    /// The most tokens of an answer; zero where unknown.
    pub(super) fn output(&self) -> u64 {
        self.model.output
    }

    /// The description over this.
    pub(super) fn with(&self, described: &Described, name: String, npm: String, wire: Wire) -> Self {
        let base = &self.model;
        let takes = |kind: &str| described.modalities.input.as_ref().map(|kinds| kinds.iter().any(|k| k == kind));
        let gives = |kind: &str| described.modalities.output.as_ref().map(|kinds| kinds.iter().any(|k| k == kind));
        let text = |new: &Option<String>, old: &String| new.as_ref().unwrap_or(old).clone();
        let model = Model {
            id: String::new(),
            name,
            family: text(&described.family, &base.family),
            image_input: takes("image").unwrap_or(base.image_input),
            tool_calls: described.tool_call.unwrap_or(base.tool_calls),
            reasoning: described.reasoning.unwrap_or(base.reasoning),
            attachments: false,
            structured_output: described.structured_output.unwrap_or(base.structured_output),
            text_output: gives("text").unwrap_or(base.text_output),
            context: described.limit.context.map_or(base.context, tokens),
            output: described.limit.output.map_or(base.output, tokens),
            price: price(&described.cost, base.price),
            variants: self.variants(described, &npm),
            status: described.status.as_deref().map_or(base.status, |word| Status::parse(word).unwrap_or_default()),
            release_date: described.release_date.as_deref().map_or(base.release_date, ReleaseDate::from),
        };
        let attachment = described.attachment.unwrap_or(self.attachment);
        Self { model, npm, wire, attachment, pdf_input: takes("pdf").unwrap_or(self.pdf_input) }
    }

    /// The same model run in another mode; a mode that names a cost names all of it.
    pub(super) fn in_mode(&self, name: &str, mode: &Mode) -> Self {
        let mut draft = self.clone();
        let mut letters = name.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
        draft.model.name = format!("{} {first}{}", self.model.name, letters.as_str());
        draft.model.price = mode.cost.as_ref().map_or(self.model.price, |cost| price(cost, Price::default()));
        draft.wire = self.wire.in_mode(mode);
        draft
    }

    pub(super) fn finished(self, id: &str) -> Model {
        Model { id: id.to_owned(), attachments: self.attachment || self.pdf_input, ..self.model }
    }

    /// Another package has other variants; which ones only OpenCode knows.
    fn variants(&self, described: &Described, npm: &str) -> Vec<String> {
        let mut variants = BTreeSet::new();
        if npm == self.npm {
            variants.extend(self.model.variants.iter().cloned());
        }
        if TAKE_EFFORTS.contains(&npm) {
            variants.extend(described.efforts());
        }
        for (name, variant) in &described.variants {
            if variant.disabled {
                variants.remove(name);
            } else {
                variants.insert(name.clone());
            }
        }
        variants.into_iter().collect()
    }
}

fn price(cost: &Cost, base: Price) -> Price {
    Price {
        input: cost.input.map_or(base.input, nano),
        output: cost.output.map_or(base.output, nano),
        cache_read: cost.cache_read.map_or(base.cache_read, nano),
        cache_write: cost.cache_write.map_or(base.cache_write, nano),
    }
}
