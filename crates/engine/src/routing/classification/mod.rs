//! What kind of task a text is, without a request: what a model answered about it before, or else the words and signs
//! of the configuration.

mod kept;

pub(crate) use kept::{Kept, Lookup};

use crate::Context;
use shuntyard_core::routing::{Classified, classify, has_hint, model_answer};

/// What is known about the text without a request: what was answered before, or else the rules.
pub(crate) fn classified_before(context: &Context, text: &str, images: usize) -> Classified {
    let config = &context.config;
    let rules = || classify(text, images, config);
    if config.classifier.model.is_empty() || has_hint(text, images, config) {
        return rules();
    }
    match Kept::of(context, text).find() {
        Lookup::Answer(said) => model_answer(&said, &config.classifier.model, config).unwrap_or_else(rules),
        Lookup::Failed | Lookup::Nothing => rules(),
    }
}
