//! A review of a change by several models, and the loop that has its findings fixed until none is left.

mod fix;
mod looping;

pub use fix::{KIND as FIX_KIND, fix};
pub use looping::{Change, DiffReader, Ended, Loop, LoopReport, Seen, mend_until_clean};

use crate::{
    Context,
    dispatch::Options,
    fanout::batch::{BatchReport, ConsensusReport, Step, Target, agree, reviewed, run_batch},
};
use shuntyard_core::{
    compare::{
        Part,
        consensus::{Finding, Reviewed, schema},
        fence,
        review_loop::Looked,
    },
    routing::request::{Request, Selector},
    values::{Mode, Outcome, Rule, schema::AnswerSchema},
};
use std::path::Path;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// A longer diff is not reviewed as a whole by any model; the rest is reported as missing.
pub const MOST_DIFF: usize = 400_000;

/// One review of one change by all reviewers.
#[derive(Debug)]
pub struct Review {
    pub batch: BatchReport,
    pub consensus: ConsensusReport,
    pub looked: Looked,
    /// Whether no reviewer got the end of the change.
    pub is_cut: bool,
}

/// Lets all targets review the change.
#[expect(clippy::too_many_arguments, reason = "what a batch takes, with the change and the rule")]
pub async fn review(
    context: &Context,
    diff: &str,
    directory: &Path,
    options: &Options,
    targets: &[Target],
    rule: &Rule,
    show: &(dyn Fn(Step<'_>) + Sync),
    cancel: &CancellationToken,
) -> Review {
    let request = request(diff, directory);
    let mut batch = run_batch(context, &request, options, targets, show, cancel).await;
    let consensus = agree(&batch, rule);
    batch.verdict = serde_json::to_value(&consensus).ok();
    let reviews: Vec<Reviewed> = batch.results.iter().map(reviewed).collect();
    let findings: Vec<Finding> =
        reviews.iter().filter_map(Reviewed::review).flat_map(|review| review.findings.clone()).collect();
    // No reviewer has seen the end of a change that was cut.
    let is_cut = diff.chars().count() > MOST_DIFF;
    if is_cut {
        let why = format!("the change is longer than {MOST_DIFF} characters: its end was not reviewed");
        batch.warnings.push(why);
    }
    let is_whole = !is_cut && reviews.iter().all(|reviewed| reviewed.review().is_some());
    let looked = if is_whole { Looked::Whole(findings) } else { Looked::Partly(findings) };
    Review { batch, consensus, looked, is_cut }
}

impl Review {
    /// What the reviewers' word leads to.
    #[must_use]
    pub fn follow(&self) -> Outcome {
        match self.consensus.decision.follow {
            Outcome::Pass if self.is_cut => Outcome::SecondOpinion,
            other => other,
        }
    }
}

/// The question to a reviewer. The change is fenced: what it says are not orders.
#[must_use]
pub fn request(diff: &str, directory: &Path) -> Request {
    let shown: String = diff.chars().take(MOST_DIFF).collect();
    let note = (shown.len() < diff.len()).then(|| "the end of the change is missing here".to_owned());
    let fenced = fence(Uuid::new_v4().as_u64_pair().0, &[Part { name: "change".into(), note, text: shown }]);
    let prompt = format!(
        "Review a change to a program, given as a diff.\n\n{rule}\n\n{blocks}\n\n\
         Look for what is wrong with the change itself: wrong results, lost data, security holes, races, leaks, broken \
         callers, missing checks. Not for taste. Every finding names the file and the line in the new version, how \
         grave it is (critical, major, minor, info) and, in one or two sentences, what happens and why. Report nothing \
         that you cannot point to in the change. `verdict` is `approve` when it may go in as it is, `reject` when it \
         must not, `unsure` when you cannot tell.",
        rule = fenced.rule(),
        blocks = fenced.blocks.join("\n\n"),
    );
    let schema = AnswerSchema::parse(&schema().to_string()).ok();
    Request { schema, ..Request::plain(prompt, Selector::Default, Mode::Text, directory) }
}
