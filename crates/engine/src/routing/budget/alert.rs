//! Raising an alert, and notifying people of it. The process that raises it sends the notice at once, because there may
//! be no supervisor; when it dies before that is done, a supervisor sends it.

use crate::{
    Context,
    base::notify::{Notification, notify, retry_at},
};
use serde_json::Value;
use shuntyard_core::{
    settings::micros,
    work::task::{Effect, Notice},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{Alert, Result, SpendKey};
use std::time::Duration;

/// A dispatch waits for its notice no longer than this, over all channels.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether it is the first one of that day, key and level.
pub(super) async fn raise(
    context: &Context,
    day: i64,
    key: &SpendKey,
    level: &str,
    data: &Value,
    text: &str,
) -> Result<bool> {
    let (now, settings) = (now_micros(), &context.config.supervise);
    let effect = Effect::Notify { notice: Notice::Budget, detail: text.to_owned() };
    let notice = settings.notifies().then(|| (&effect, now.saturating_add(micros(settings.effect_lease))));
    let raised = context.store.raise_alert(day, key, level, now, data, notice).await?;
    let Alert::Raised { effect } = raised else { return Ok(false) };
    if let Some(id) = effect {
        send(context, id, now, text).await?;
    }
    Ok(true)
}

async fn send(context: &Context, id: i64, at: i64, text: &str) -> Result<()> {
    let notification = Notification { id, task: None, notice: Notice::Budget, detail: text.to_owned(), at };
    let sent = tokio::time::timeout(PATIENCE, notify(context, &notification, 1)).await;
    match sent.unwrap_or_else(|_| Err("it took too long".to_owned())) {
        Ok(result) => context.store.finish_effect(id, now_micros(), &result).await,
        Err(problem) => {
            let now = now_micros();
            context.store.defer_effect(id, now, &problem, retry_at(1, now)).await
        }
    }
}
