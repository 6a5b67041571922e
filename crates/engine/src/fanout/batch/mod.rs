//! One prompt for many models at once. Each has its own session, deadline and bill, and no failure of one touches
//! another.

mod agree;
mod cost_shares;
mod judge;
mod passes;
mod report;
mod targets;

pub use agree::{ConsensusReport, SharedFinding, Silent, agree, reviewed};
pub use judge::{JudgeReport, judge};
pub(crate) use passes::{CHARACTERS, Compared, Comparison, compare};
pub use report::{BatchReport, RefusedTarget, Summary, TargetReport};
pub use targets::{Target, Targets, expand, expand_for};

use crate::{
    Context,
    base::refusal::Refusal,
    dispatch::{Options, dispatch, transport::Company},
};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use shuntyard_agents::opencode::Sink;
use shuntyard_core::{
    ModelRef,
    routing::request::{Request, Selector},
};
use std::{collections::BTreeMap, sync::Arc, time::Instant};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

/// What can be shown while a batch goes on.
#[derive(Debug)]
pub enum Step<'a> {
    Began(&'a ModelRef),
    Ended(&'a TargetReport),
}

/// Sends the request to all targets. The order of the results is that of the targets.
pub async fn run_batch(
    context: &Context,
    request: &Request,
    options: &Options,
    targets: &[Target],
    show: &(dyn Fn(Step<'_>) + Sync),
    cancel: &CancellationToken,
) -> BatchReport {
    let began = Instant::now();
    let gates = Gates::new(context, targets);
    let silent: Sink = Arc::new(|_| {});
    let shares = cost_shares::shares(context, request, targets, options.max_cost).await;
    let (gates, silent, shares) = (&gates, &silent, &shares);
    let mut running: FuturesUnordered<_> = targets
        .iter()
        .enumerate()
        .map(|(place, target)| async move {
            let report = match shares {
                Ok(shares) => {
                    let options = Options { max_cost: shares.get(place).copied().flatten(), ..options.clone() };
                    one(context, request, &options, target, gates, silent, show, cancel).await
                }
                Err(why) => {
                    let refusal = Refusal::Budget { why: why.clone(), next: None };
                    TargetReport::Refused(RefusedTarget::new(target, &refusal, began.elapsed()))
                }
            };
            (place, report)
        })
        .collect();
    let mut results: Vec<Option<TargetReport>> = targets.iter().map(|_| None).collect();
    while let Some((place, report)) = running.next().await {
        show(Step::Ended(&report));
        if let Some(slot) = results.get_mut(place) {
            *slot = Some(report);
        }
    }
    BatchReport::new(results.into_iter().flatten().collect(), began.elapsed())
}

#[expect(clippy::too_many_arguments, reason = "the body of one future of the batch")]
async fn one(
    context: &Context,
    request: &Request,
    options: &Options,
    target: &Target,
    gates: &Gates,
    sink: &Sink,
    show: &(dyn Fn(Step<'_>) + Sync),
    cancel: &CancellationToken,
) -> TargetReport {
    let began = Instant::now();
    let refused = |refusal: &Refusal| TargetReport::Refused(RefusedTarget::new(target, refusal, began.elapsed()));
    let model = match &target.chosen {
        Ok(model) => model,
        Err(refusal) => return refused(refusal),
    };
    // Its own clock starts when it is its turn.
    let pass = tokio::select! {
        pass = gates.pass(model) => pass,
        () = cancel.cancelled() => return refused(&Refusal::Cancelled),
    };
    show(Step::Began(model));
    let request = Request { selector: Selector::Exact(model.clone()), ..request.clone() };
    let options = Options { company: Company::Many, chosen_for: target.chosen_for.clone(), ..options.clone() };
    let result = dispatch(context, &request, &options, sink, cancel).await;
    drop(pass);
    match result {
        Ok(report) => TargetReport::Ran(Box::new(report)),
        Err(refusal) => refused(&refusal),
    }
}

/// How many may run at once, over all and of one provider.
pub(crate) struct Gates {
    all: Semaphore,
    providers: BTreeMap<String, Semaphore>,
}

impl Gates {
    fn new(context: &Context, targets: &[Target]) -> Self {
        Self::of(context, targets.iter().filter_map(|target| target.chosen.as_ref().ok()))
    }

    pub(crate) fn of<'a>(context: &Context, providers: impl Iterator<Item = &'a ModelRef>) -> Self {
        let settings = &context.config.batch;
        let gate = |model: &ModelRef| (model.provider.clone(), Semaphore::new(settings.at_once_per_provider));
        Self { all: Semaphore::new(settings.at_once), providers: providers.map(gate).collect() }
    }

    /// Waits for both gates, the provider's first: who waits there must not keep others out.
    pub(crate) async fn pass(&self, model: &ModelRef) -> [Option<SemaphorePermit<'_>>; 2] {
        let provider = match self.providers.get(&model.provider) {
            Some(gate) => gate.acquire().await.ok(),
            None => None,
        };
        [provider, self.all.acquire().await.ok()]
    }
}
