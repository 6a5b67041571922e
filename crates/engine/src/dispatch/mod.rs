//! One prompt, one answer: checked, routed, run, judged, paid and recorded.

mod attempt;
mod attempts;
mod chosen;
mod classifier;
mod learned;
mod notes;
mod options;
mod prepare;
pub mod probe;
mod report;
mod run;
mod server_handle;
mod session;
pub(crate) mod structured;
pub(crate) mod transport;

pub(crate) use attempt::fresh_message_id;
pub use chosen::ChosenFor;
pub(crate) use classifier::ask_ahead;
pub use options::{Learning, Options, SessionModel};
pub use prepare::check_locally;
pub use report::{AttemptReport, DispatchReport, ErrorReport, Status};

use crate::{Context, base::refusal::Refusal};
use classifier::classified;
use futures_util::future::BoxFuture;
use run::run_dispatch;
use shuntyard_agents::opencode::Sink;
use shuntyard_core::routing::request::Request;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The first request for a directory can make OpenCode load plugins; more than this is a hang.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// Runs the request to its end. A refusal means that nothing was sent to any model.
// Boxed, so that the body is compiled once and not in every crate that awaits it.
pub fn dispatch<'a>(
    context: &'a Context,
    request: &'a Request,
    options: &'a Options,
    sink: &'a Sink,
    cancel: &'a CancellationToken,
) -> BoxFuture<'a, Result<DispatchReport, Refusal>> {
    let began = Instant::now();
    if !options.classify {
        return run_dispatch(context, request, options, None, sink, cancel, began);
    }
    Box::pin(async move {
        check_locally(&context.config, request)?;
        let classified = tokio::select! {
            classified = classified(context, &request.prompt, request.images.len(), &request.directory) => classified,
            () = cancel.cancelled() => return Err(Refusal::Cancelled),
        };
        run_dispatch(context, request, options, Some(&classified), sink, cancel, began).await
    })
}
