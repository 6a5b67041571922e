//! The run itself: the server is started, the stages are dispatched one after the other, and the tasks in between.

use super::{Checkout, CostCheck, DemoError, DemoEvent, DemoReport, Scratch, Stage, StageReport, Watcher};
use crate::{
    Context,
    base::refusal::Refusal,
    dispatch::{Options, dispatch},
    servers::{Want, acquire, release},
};
use shuntyard_agents::opencode::Sink;
use shuntyard_core::DispatchId;
use shuntyard_scripted::Provider;
use std::{
    path::Path,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub(super) struct Play<'a> {
    pub(super) context: &'a Context,
    pub(super) scratch: &'a Scratch,
    pub(super) provider: &'a Provider,
    pub(super) watcher: &'a Watcher,
    pub(super) cancel: &'a CancellationToken,
}

impl Play<'_> {
    pub(super) async fn run(&self, binary: &Path) -> Result<DemoReport, DemoError> {
        let opencode_version = self.start_server().await?;
        let mut stages = vec![self.perform(Stage::Routed).await?, self.perform(Stage::Structured).await?];
        let tasks = self.perform_tasks().await?;
        let main = Checkout::gather(self.scratch, &self.context.environment, &tasks)?;
        // Last, because a quota that is used up excludes the whole provider.
        stages.push(self.perform(Stage::Quota).await?);
        let ledger = self.provider.ledger();
        let cost = CostCheck::new(&stages, &tasks, ledger.total_reported().cost, ledger.entries.len());
        let faults = stages.iter().map(|stage| &stage.faults).chain(tasks.iter().map(|task| &task.faults));
        let ok = cost.equal && faults.chain([&main.faults]).all(Vec::is_empty);
        Ok(DemoReport { ok, opencode: binary.to_owned(), opencode_version, stages, tasks, main, cost, duration_ms: 0 })
    }

    /// Starts the managed server before the first dispatch, so that its start is not taken for slowness
    /// of that one.
    async fn start_server(&self) -> Result<String, DemoError> {
        let began = Instant::now();
        (self.watcher)(DemoEvent::ServerStarting);
        let holder = DispatchId(Uuid::now_v7());
        let mut acquiring = pin!(acquire(self.context, holder, &Want::Any));
        let acquired = tokio::select! {
            acquired = &mut acquiring => acquired?,
            () = self.cancel.cancelled() => {
                // Only a server that is in the registry can be stopped, so the start is let go that far.
                tokio::select! {
                    _ = &mut acquiring => {}
                    () = self.server_is_registered() => {}
                }
                return Err(DemoError::Cancelled);
            }
        };
        let version = acquired.version.clone();
        release(self.context, acquired, holder).await;
        (self.watcher)(DemoEvent::ServerStarted { version: version.clone(), took: began.elapsed() });
        Ok(version)
    }

    async fn server_is_registered(&self) {
        while self.context.store.servers().await.is_ok_and(|servers| servers.is_empty()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn perform(&self, stage: Stage) -> Result<StageReport, DemoError> {
        (self.watcher)(DemoEvent::Begun(stage));
        self.provider.script(stage.prompt(), stage.steps());
        let request = stage.request(self.scratch)?;
        let sink: Sink = Arc::new(|_| ());
        let options = Options { timeout: Some(stage.timeout()), ..Options::default() };
        let dispatched = dispatch(self.context, &request, &options, &sink, self.cancel).await;
        if self.cancel.is_cancelled() {
            return Err(DemoError::Cancelled);
        }
        let report = dispatched.map_err(|refusal| match refusal {
            Refusal::Cancelled => DemoError::Cancelled,
            other => DemoError::Refused(other),
        })?;
        let report = StageReport::new(stage, report);
        (self.watcher)(DemoEvent::Ended(Box::new(report.clone())));
        Ok(report)
    }
}
