//! Finding out whether a provider answers: from what is known, or with one tiny prompt that is paid and recorded like
//! any other.

use super::{Options, dispatch};
use crate::{
    Context,
    base::refusal::Refusal,
    routing::{
        availability::{Known, feed, load, load_for},
        catalogue::{self, Extent, Refresh},
    },
};
use shuntyard_core::{
    ErrorClass, ModelRef,
    routing::{HealthStatus, Provider, Selector, Status, request::Request},
    values::{Mode, nearest::nearest},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{HealthRecord, HealthSource};
use std::{path::Path, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

const PROMPT: &str = "Answer with the one word OK.";

/// What of the known will do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Freshness {
    /// Ask, whatever is known.
    pub force: bool,
    /// Nothing that is older than this.
    pub ttl: Option<Duration>,
}

/// What is known of a provider in the end.
#[derive(Debug, Clone)]
pub struct Check {
    pub record: HealthRecord,
    /// Whether it was known before.
    pub cached: bool,
    /// The model that was asked, when one was.
    pub model: Option<ModelRef>,
    pub cost_usd: f64,
    pub cost_known: bool,
}

pub async fn check(
    context: &Context,
    directory: &Path,
    provider: &str,
    freshness: Freshness,
    cancel: &CancellationToken,
) -> Result<Check, Refusal> {
    let now = now_micros();
    let known = load_for(context, directory, now).await?;
    if let Some(record) = stands(&known, provider, freshness, now) {
        return Ok(Check { record: record.clone(), cached: true, model: None, cost_usd: 0.0, cost_known: true });
    }
    let listed = catalogue::current(context, directory, Refresh::IfStale, Extent::Connected).await?;
    let found = listed.catalogue.providers.get(provider);
    let Some(found) = found.filter(|found| found.is_usable()) else {
        let (status, class, message) = match found {
            Some(_) => (HealthStatus::KeyMissing, ErrorClass::AuthMissing, "there is no key for it".to_owned()),
            None => unknown(context, directory, provider).await?,
        };
        // Not kept: it costs nothing to find out again, and a login may follow at once.
        let record = finding(context, provider, status, Some((class, message)));
        return Ok(Check { record, cached: false, model: None, cost_usd: 0.0, cost_known: true });
    };
    let Some(model) = cheapest(provider, found) else {
        let none = (ErrorClass::ModelNotFound, "it has no model that answers with text".to_owned());
        let record = finding(context, provider, HealthStatus::Unavailable, Some(none));
        return Ok(Check { record, cached: false, model: None, cost_usd: 0.0, cost_known: true });
    };
    ask(context, directory, model, cancel).await
}

fn stands<'a>(known: &'a Known, provider: &str, freshness: Freshness, now: i64) -> Option<&'a HealthRecord> {
    let record = known.health_of(provider, now).filter(|_| !freshness.force)?;
    let age = Duration::from_micros(u64::try_from(now - record.checked_at).unwrap_or_default());
    freshness.ttl.is_none_or(|ttl| age < ttl).then_some(record)
}

/// A provider that is not connected: known of, then it lacks a key; or a name that means nothing.
async fn unknown(
    context: &Context,
    directory: &Path,
    provider: &str,
) -> Result<(HealthStatus, ErrorClass, String), Refusal> {
    let listed = catalogue::current(context, directory, Refresh::IfStale, Extent::All).await?;
    let providers = &listed.catalogue.providers;
    if let Some(found) = providers.get(provider) {
        let keys = if found.env.is_empty() { String::new() } else { format!(" or set {}", found.env.join(" or ")) };
        let message = format!("it is not connected: log in with `opencode auth login`{keys}");
        return Ok((HealthStatus::KeyMissing, ErrorClass::AuthMissing, message));
    }
    let near = nearest(provider, providers.keys().map(String::as_str), 3);
    let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
    let message = format!("OpenCode knows no provider `{provider}`{near}");
    Ok((HealthStatus::Unavailable, ErrorClass::ProviderNotConnected, message))
}

/// The cheapest that has a price: free ones are often limited harder than the provider itself.
fn cheapest(id: &str, provider: &Provider) -> Option<ModelRef> {
    let models = provider.models.values().filter(|model| model.text_output && model.status != Status::Deprecated);
    let best = models.min_by_key(|model| {
        let price = model.price.input.0.saturating_add(model.price.output.0);
        (model.price.is_zero(), model.status, price, &model.id)
    })?;
    Some(ModelRef::new(id, best.id.clone()))
}

async fn ask(
    context: &Context,
    directory: &Path,
    model: ModelRef,
    cancel: &CancellationToken,
) -> Result<Check, Refusal> {
    let request = Request::plain(PROMPT, Selector::Exact(model.clone()), Mode::Text, directory);
    let options = Options {
        timeout: Some(context.config.availability.probe_timeout),
        provider_retries: Some(0),
        observed_as: Some(HealthSource::Probe),
        ..Options::default()
    };
    let began = now_micros();
    let report = dispatch(context, &request, &options, &(Arc::new(|_| {}) as _), cancel).await?;
    let known = load(context, now_micros()).await?;
    // An older finding is not what this probe found.
    let noted = known.health_of(&model.provider, now_micros()).filter(|row| row.checked_at >= began).cloned();
    let record = match &report.error {
        Some(error) if error.class == ErrorClass::Cancelled => return Err(Refusal::Cancelled),
        Some(error) => noted.unwrap_or_else(|| {
            // It failed in a way that is not the provider's: that it answered at all is what counts.
            let reached = matches!(error.class, ErrorClass::Truncated | ErrorClass::ContentFiltered);
            let status = if reached { HealthStatus::Available } else { HealthStatus::Unavailable };
            finding(context, &model.provider, status, Some((error.class, error.message.clone())))
        }),
        None => noted.unwrap_or_else(|| finding(context, &model.provider, HealthStatus::Available, None)),
    };
    Ok(Check { record, cached: false, model: Some(model), cost_usd: report.cost_usd, cost_known: report.cost_known })
}

fn finding(
    context: &Context,
    provider: &str,
    status: HealthStatus,
    problem: Option<(ErrorClass, String)>,
) -> HealthRecord {
    let now = now_micros();
    let (class, message) = problem.unzip();
    HealthRecord {
        provider: provider.to_owned(),
        status,
        class,
        message,
        source: HealthSource::Probe,
        latency_ms: None,
        checked_at: now,
        expires_at: feed::later(now, feed::ttl(&context.config, status)),
    }
}
