//! The run itself: the server is started, and the stages are dispatched one after the other.

use super::{CostCheck, DemoError, DemoEvent, DemoReport, Proof, Scratch, Stage, StageReport, Watcher};
use crate::{
    Context,
    dispatch::{Options, Refusal, dispatch},
    server::{Want, acquire, release},
};
use std::{
    path::Path,
    pin::pin,
    time::{Duration, Instant},
};
use switchyard_agents::opencode::Sink;
use switchyard_core::DispatchId;
use switchyard_scripted::Provider;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub(super) struct Play<'a> {
    pub(super) context: &'a Context,
    pub(super) scratch: &'a Scratch,
    pub(super) provider: &'a Provider,
    pub(super) watcher: &'a Watcher,
    pub(super) sink: &'a Sink,
    pub(super) cancel: &'a CancellationToken,
}

impl Play<'_> {
    pub(super) async fn run(&self, binary: &Path) -> Result<DemoReport, DemoError> {
        let opencode_version = self.start_server().await?;
        let mut stages = Vec::new();
        for stage in Stage::ALL {
            (self.watcher)(DemoEvent::Begun(stage));
            let report = self.perform(stage).await?;
            (self.watcher)(DemoEvent::Ended(Box::new(report.clone())));
            stages.push(report);
        }
        let ledger = self.provider.ledger();
        let cost = CostCheck::new(&stages, ledger.total_reported().cost, ledger.entries.len());
        let ok = cost.equal && stages.iter().all(|stage| stage.faults.is_empty());
        Ok(DemoReport { ok, opencode: binary.to_owned(), opencode_version, stages, cost, duration_ms: 0 })
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
        self.provider.script(stage.prompt(), stage.steps(self.scratch));
        let request = stage.request(self.scratch)?;
        let options = Options { timeout: Some(stage.timeout()), ..Options::default() };
        let dispatched = dispatch(self.context, &request, &options, self.sink, self.cancel).await;
        if self.cancel.is_cancelled() {
            return Err(DemoError::Cancelled);
        }
        let report = dispatched.map_err(|refusal| match refusal {
            Refusal::Cancelled => DemoError::Cancelled,
            other => DemoError::Refused(other),
        })?;
        let proof = match stage {
            // An agent that failed has nothing to show; the failure itself says why.
            Stage::Agent if report.error.is_none() => Some(Proof::gather(self.scratch, &self.context.environment)?),
            Stage::Agent | Stage::Routed | Stage::Structured | Stage::Quota => None,
        };
        Ok(StageReport::new(stage, report, proof))
    }
}
