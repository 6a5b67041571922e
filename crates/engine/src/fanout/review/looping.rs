//! Review, fix, review again: until nothing is found any more, or another cycle would be of no use. Every way out names
//! its reason, and what was paid for is in the report whatever the way.

use super::{Review, fix, review};
use crate::{
    Context,
    dispatch::{DispatchReport, Options},
    fanout::batch::{BatchReport, Step as BatchStep, Target},
    in_thread,
};
use serde::Serialize;
use serde_json::{Value, json};
use shuntyard_agents::opencode::Sink;
use shuntyard_core::{
    DispatchId, Nano,
    compare::{
        consensus::Finding,
        review_loop::{Limits, Looked, State, Step, Stop, next},
    },
    experience::{Evidence, FailureMode, Verdict},
    routing::request::Selector,
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::Judgement;
use std::{path::Path, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Reads a change, in a thread that may be blocked.
pub type DiffReader = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// Who reviews and who fixes, where, and with how much money in all.
pub struct Loop<'a> {
    pub context: &'a Context,
    pub directory: &'a Path,
    /// For the reviews.
    pub options: &'a Options,
    pub targets: &'a [Target],
    pub fixer: Selector,
    pub limits: Limits,
    pub max_cost: Option<Nano>,
    /// The change as it is now, or why it cannot be read.
    pub diff: DiffReader,
    pub sink: &'a Sink,
    pub cancel: &'a CancellationToken,
}

impl std::fmt::Debug for Loop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loop").field("directory", &self.directory).field("fixer", &self.fixer).finish_non_exhaustive()
    }
}

/// What can be shown while it goes on.
#[derive(Debug)]
pub enum Seen<'a> {
    Looking,
    Step(BatchStep<'a>),
    Reviewed(&'a Review),
    Mending(&'a [Finding]),
    /// The fixer has answered, and this became of the files.
    Mended(&'a DispatchReport, Change),
}

/// What a fixer did to the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Some,
    None,
    /// It can no longer be read.
    Unknown,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// A whole review found nothing that counts.
    Clean,
    Stopped(Stop),
    /// The money for all of it is used up.
    Budget,
    NotMended {
        why: String,
    },
    /// The fixer left everything as it was: it would be found again.
    NothingChanged,
    NoDiff {
        why: String,
    },
}

impl Serialize for Ended {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let because = match self {
            Self::Clean => return json!({ "step": "done" }).serialize(serializer),
            Self::Stopped(stop) => json!(stop),
            Self::Budget => json!({ "reason": "budget" }),
            Self::NotMended { why } => json!({ "reason": "not_mended", "why": why }),
            Self::NothingChanged => json!({ "reason": "nothing_changed" }),
            Self::NoDiff { why } => json!({ "reason": "no_diff", "why": why }),
        };
        json!({ "step": "stop", "because": because }).serialize(serializer)
    }
}

impl Ended {
    /// In a sentence.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            Self::Clean => "nothing is found any more".to_owned(),
            Self::Stopped(Stop::Stuck { finding, times }) => {
                format!("stuck: the same finding for the {times}. time: {}", finding.text)
            }
            Self::Stopped(Stop::MaxIterations { left }) => {
                format!("fixed as often as allowed, and {} findings are left", left.len())
            }
            Self::Stopped(Stop::NotReviewed) => {
                "nothing was found, but not all reviewers have answered, or not all of the change was shown".to_owned()
            }
            Self::Budget => "the money that was allowed is used up".to_owned(),
            Self::NotMended { why } => format!("it could not be fixed: {why}"),
            Self::NothingChanged => "the fixer changed nothing, so it would be found again".to_owned(),
            Self::NoDiff { why } => format!("the change can no longer be read: {why}"),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct LoopReport {
    pub ended: Ended,
    pub reviews: Vec<BatchReport>,
    pub fixes: Vec<Value>,
}

/// Runs the loop on a change that was read already.
pub async fn mend_until_clean(job: &Loop<'_>, mut diff: String, show: &(dyn Fn(Seen<'_>) + Sync)) -> LoopReport {
    let mut state = State::default();
    let mut report = LoopReport { ended: Ended::Clean, reviews: Vec::new(), fixes: Vec::new() };
    let mut spent = 0.0;
    let mut last_fix: Option<DispatchId> = None;
    loop {
        let left = job.left(spent);
        if left == Some(Nano::ZERO) {
            report.ended = Ended::Budget;
            return report;
        }
        show(Seen::Looking);
        let found = job.look(&diff, left, show).await;
        show(Seen::Reviewed(&found));
        spent += found.batch.summary.cost_usd;
        let (after, step) = next(&state, &found.looked, &job.limits);
        state = after;
        if let Some(fixed) = last_fix.take() {
            judge_fix(job.context, fixed, &state, &found.looked).await;
        }
        report.reviews.push(found.batch);
        let findings = match step {
            Step::Fix { findings } => findings,
            Step::Done => return report,
            Step::Stop { because } => {
                report.ended = Ended::Stopped(because);
                return report;
            }
        };
        show(Seen::Mending(&findings));
        let options = Options { max_cost: job.left(spent), urgency: job.options.urgency, ..Options::default() };
        let mended =
            fix(job.context, &findings, job.directory, job.fixer.clone(), &options, job.sink, job.cancel).await;
        let mended = match mended {
            Ok(mended) => mended,
            Err(refusal) => {
                report.ended = Ended::NotMended { why: refusal.to_string() };
                return report;
            }
        };
        let read = Arc::clone(&job.diff);
        let again = in_thread(move || read()).await.unwrap_or_else(|error| Err(error.to_string()));
        let change = match &again {
            Ok(again) if *again == diff => Change::None,
            Ok(_) => Change::Some,
            Err(_) => Change::Unknown,
        };
        show(Seen::Mended(&mended, change));
        spent += mended.cost_usd;
        report.fixes.push(json!(mended));
        if let Some(error) = mended.error {
            report.ended = Ended::NotMended { why: error.message };
            return report;
        }
        last_fix = Some(mended.id);
        match again {
            Ok(again) if again == diff => {
                report.ended = Ended::NothingChanged;
                return report;
            }
            Ok(again) => diff = again,
            Err(why) => {
                report.ended = Ended::NoDiff { why };
                return report;
            }
        }
    }
}

/// The review after a fix shows how good it was: a finding that is there again was not fixed. That nothing is found
/// shows something only when all have looked.
async fn judge_fix(context: &Context, fixed: DispatchId, state: &State, looked: &Looked) {
    let came_back = state.iterations.last().is_some_and(|found| found.iter().any(|finding| finding.times > 1));
    let (verdict, failure_mode) = match (came_back, looked) {
        (true, _) => (Verdict::Failure, Some(FailureMode::Logic)),
        (false, Looked::Whole(_)) => (Verdict::Success, None),
        (false, Looked::Partly(_)) => return,
    };
    let judgement = Judgement { verdict, failure_mode, evidence: Evidence::Judged, quality: None };
    if let Err(error) = context.store.judge_outcome(fixed, None, now_micros(), &judgement).await {
        tracing::warn!(%error, "what the review says about the fix could not be kept");
    }
}

impl Loop<'_> {
    fn left(&self, spent: f64) -> Option<Nano> {
        self.max_cost.map(|most| most.less(Nano::from_usd(spent).unwrap_or_default()))
    }

    async fn look(&self, diff: &str, left: Option<Nano>, show: &(dyn Fn(Seen<'_>) + Sync)) -> Review {
        let options = Options { max_cost: left, ..self.options.clone() };
        let rule = &self.context.config.consensus;
        let step = |step: BatchStep<'_>| show(Seen::Step(step));
        review(self.context, diff, self.directory, &options, self.targets, rule, &step, self.cancel).await
    }
}
