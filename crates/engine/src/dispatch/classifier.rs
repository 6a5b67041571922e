//! What kind of task a text is: by the words and signs of the configuration, or by a model where the user has named
//! one. A model that does not answer in time, or at all, leaves it to the rules.

use super::{
    Options,
    structured::{Asked, ask},
};
use crate::{
    Context,
    routing::classification::{Kept, Lookup},
};
use shuntyard_core::{
    routing::{Classified, Selector, ask_model, classify, has_hint, model_answer, request::Request},
    values::{Mode, duration::Limit},
};
use std::path::Path;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// What the text is taken for. Images count for the rules alone.
pub(crate) async fn classified(context: &Context, text: &str, images: usize, directory: &Path) -> Classified {
    let model = &context.config.classifier.model;
    let rules = || classify(text, images, &context.config);
    if model.is_empty() || has_hint(text, images, &context.config) {
        return rules();
    }
    let kept = Kept::of(context, text);
    let answer = match kept.find() {
        Lookup::Answer(said) => Ok(said),
        Lookup::Failed => Err("it did not answer a moment ago".to_owned()),
        Lookup::Nothing => {
            let answer = asked(context, text, directory).await;
            kept.put(answer.as_ref().ok());
            answer
        }
    };
    let read = answer.and_then(|said| {
        model_answer(&said, model, &context.config).ok_or_else(|| "it named no kind of task that there is".to_owned())
    });
    read.unwrap_or_else(|problem| {
        tracing::debug!(model, problem, "the rules classify");
        let by_rules = rules();
        Classified { why: format!("{} (by the rules: {model} was no help: {problem})", by_rules.why), ..by_rules }
    })
}

/// For a decision that is made in a moment: what is answered is kept, and found there.
pub(crate) async fn ask_ahead(context: &Context, text: &str, images: usize, directory: &Path) {
    if !context.config.classifier.model.is_empty() {
        classified(context, text, images, directory).await;
    }
}

/// Asks the model, as an ordinary dispatch with a deadline.
async fn asked(context: &Context, text: &str, directory: &Path) -> Result<serde_json::Value, String> {
    let classifier = &context.config.classifier;
    let selector = Selector::from_reference(&classifier.model, &context.config).map_err(|error| error.to_string())?;
    let (seed, _) = Uuid::new_v4().as_u64_pair();
    let question = ask_model(text, seed, &context.config);
    let request = Request::plain(question.prompt, selector, Mode::Text, directory);
    let options = Options { timeout: Some(classifier.deadline), ..Options::default() };
    let cancel = CancellationToken::new();
    let asking = ask(context, request, &options, &question.schema, &cancel);
    // The start of a server counts as well, and what was begun is ended on it before this returns.
    let late = async {
        match classifier.deadline {
            Limit(Some(deadline)) => tokio::time::sleep(deadline).await,
            Limit(None) => std::future::pending().await,
        }
    };
    let mut asking = std::pin::pin!(asking);
    let Asked { said, .. } = tokio::select! {
        asked = &mut asking => asked,
        () = late => {
            cancel.cancel();
            let late = asking.await;
            Asked { said: Err("it took too long".to_owned()), ..late }
        }
    };
    said
}
