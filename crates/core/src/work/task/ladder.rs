//! What comes after a failure: another try, a rest, or a person.
//!
//! Invariant: only what the model itself did wrong uses up a try. Limits, networks and missing keys never do.

use super::{Answered, Cause, Decided, Failure, Lift, Stage, TaskSpec, Wait};
use crate::values::{Rules, Strategy};
use crate::{ErrorClass, experience::FailureMode, work::pull_request::PullRequestRecord};
use serde::{Deserialize, Serialize};

/// Most lessons of earlier tries in the prompt of the next one.
const LESSONS: usize = 4;

/// What the tries so far have come to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Tries that count.
    pub tries: u32,
    /// How often the tier of now was tried again.
    pub reinforced: u32,
    pub rises: u32,
    /// The tier for the next try, once it is another one than the task asks for.
    pub tier: Option<String>,
    /// Models that did not manage: another of their tier is preferred.
    pub avoid: Vec<String>,
    pub last: Option<String>,
    /// Limits in a row, troubles in a row, and workers lost in a row.
    pub limits: u32,
    pub troubles: u32,
    pub losses: u32,
    /// What the next try should know.
    pub lessons: Vec<String>,
    /// Whether the next try begins from the base and not from what is there.
    pub afresh: bool,
    /// Where the next claim goes on, when the work itself is done and only something around it was in the way.
    pub resume: Option<Stage>,
    /// What a person answered: `always`, and what was not delivered before its attempt ended.
    pub answers: Vec<Answered>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequestRecord>,
    /// The model of the attempts so far, when the strategy allows no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
    /// Of a contest: what was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contest: Option<Decided>,
}

impl Tally {
    /// Keeps the newest lessons for the next attempt.
    pub fn learn(&mut self, lesson: &str) {
        if self.lessons.last().map(String::as_str) != Some(lesson) {
            self.lessons.push(lesson.to_owned());
        }
        let surplus = self.lessons.len().saturating_sub(LESSONS);
        self.lessons.drain(..surplus);
    }

    /// The history for an attempt that a person asks for: nothing that was learned is lost, and the ladder starts anew.
    /// A limit of tries that was reached is no limit to an attempt that is asked for.
    #[must_use]
    pub fn asked_again(self, most: Option<u32>) -> Self {
        let Self { lessons, tier, avoid, tries, afresh, resume, answers, pull_request, pinned, contest, .. } = self;
        let tries = tries.min(most.map_or(u32::MAX, |most| most.saturating_sub(1)));
        let kept = Self { lessons, tier, avoid, tries, afresh, resume, ..Self::default() };
        Self { answers, pull_request, pinned, contest, ..kept }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    Again,
    Rest {
        until: i64,
        wait: Wait,
    },
    Block(Cause),
    /// The task's own limit of tries is used up.
    Fail,
}

/// `tier` and `model` are those of the try that failed.
#[must_use]
pub fn next(
    spec: &TaskSpec,
    tally: &Tally,
    failure: &Failure,
    (tier, model): (Option<&str>, Option<&str>),
    rules: &Rules,
    now: i64,
) -> (Tally, Next) {
    let mut tally = tally.clone();
    tally.losses = 0;
    if let Some(class) = failure.class
        && needs_access(class)
    {
        return (tally, Next::Block(Cause::Access));
    }
    let next = match failure.mode {
        FailureMode::Blocked if failure.is_trespass() => Next::Block(Cause::Trespass),
        FailureMode::Blocked => Next::Block(Cause::Needs),
        FailureMode::Ambiguous => Next::Block(Cause::Ambiguous),
        FailureMode::Resource if failure.class == Some(ErrorClass::BudgetRefused) => match failure.until {
            Some(until) => Next::Rest { until: until.max(now), wait: Wait::Budget },
            None => Next::Block(Cause::Budget),
        },
        FailureMode::Resource | FailureMode::Transient if is_limit(failure) => {
            // A moment that is past would have the limit tried again at once, and again.
            let named = failure.until.filter(|until| *until > now);
            let until = named.unwrap_or(now.saturating_add(nth(&rules.rests, tally.limits)));
            tally.limits = tally.limits.saturating_add(1);
            Next::Rest { until, wait: Wait::Limit }
        }
        FailureMode::Resource | FailureMode::Transient => rest(&mut tally, rules, now),
        FailureMode::Environment => {
            let same = tally.last.as_ref() == Some(&failure.signature);
            tally.last = Some(failure.signature.clone());
            if same { Next::Block(Cause::Parked) } else { rest(&mut tally, rules, now) }
        }
        FailureMode::Logic => climb(spec, &mut tally, failure, (tier, model), rules),
    };
    (tally, next)
}

/// The model did not manage.
fn climb(
    spec: &TaskSpec,
    tally: &mut Tally,
    failure: &Failure,
    (tier, model): (Option<&str>, Option<&str>),
    rules: &Rules,
) -> Next {
    let same = tally.last.as_ref() == Some(&failure.signature);
    tally.last = Some(failure.signature.clone());
    (tally.limits, tally.troubles) = (0, 0);
    tally.tries = tally.tries.saturating_add(1);
    // Also what ends the ladder is worth knowing: a person may want another try.
    tally.learn(&failure.detail);
    if spec.attempts.is_some_and(|most| tally.tries >= most) {
        return Next::Fail;
    }
    let strategy = spec.strategy();
    // A named model stays: the request did not ask for a dearer one.
    let may_rise = spec.model.is_none() && spec.contest.is_none() && strategy != Strategy::Direct;
    let tier = match strategy {
        // The tier that was asked for, whichever model substitutes for it.
        Strategy::Cascade => tally.tier.as_deref().or(strategy.first_tier(&rules.tier_order)),
        Strategy::Auto | Strategy::Direct | Strategy::Best => tier,
    };
    let above = tier.filter(|_| may_rise).and_then(|tier| rules.tier_above(tier)).map(str::to_owned);
    let (reinforcements, rises) = match strategy {
        Strategy::Auto | Strategy::Direct | Strategy::Best => (rules.reinforcements, rules.rises),
        Strategy::Cascade if above.is_some() => (0, u32::MAX),
        Strategy::Cascade => (rules.reinforcements, u32::MAX),
    };
    // A stronger model may manage what another has failed at twice in the same way.
    if same && !(strategy == Strategy::Cascade && above.is_some()) {
        return Next::Block(Cause::Parked);
    }
    if tally.reinforced < reinforcements {
        tally.reinforced += 1;
        if strategy == Strategy::Direct {
            tally.pinned = model.map(str::to_owned);
        } else if let Some(model) = model.filter(|model| !tally.avoid.iter().any(|avoided| avoided == model)) {
            tally.avoid.push(model.to_owned());
        }
        return Next::Again;
    }
    match above {
        Some(above) if failure.lift == Lift::Allowed && tally.rises < rises => {
            tally.rises += 1;
            tally.reinforced = 0;
            tally.tier = Some(above);
            Next::Again
        }
        _ => Next::Block(Cause::Exhausted),
    }
}

fn rest(tally: &mut Tally, rules: &Rules, now: i64) -> Next {
    let until = now.saturating_add(nth(&rules.trouble_rests, tally.troubles));
    tally.troubles = tally.troubles.saturating_add(1);
    Next::Rest { until, wait: Wait::Trouble }
}

/// The entry for the n-th time; the last one for all that come after.
fn nth(rests: &[i64], times: u32) -> i64 {
    let last = rests.len().saturating_sub(1);
    rests.get(usize::try_from(times).unwrap_or(last).min(last)).copied().unwrap_or_default()
}

fn is_limit(failure: &Failure) -> bool {
    failure.until.is_some()
        || matches!(failure.class, Some(ErrorClass::RateLimited | ErrorClass::QuotaExhausted | ErrorClass::Overloaded))
}

fn needs_access(class: ErrorClass) -> bool {
    match class {
        ErrorClass::AuthMissing
        | ErrorClass::AuthInvalid
        | ErrorClass::ModelNotFound
        | ErrorClass::ProviderNotConnected
        | ErrorClass::CapabilityMissing
        | ErrorClass::OpencodeMissing => true,
        ErrorClass::RateLimited
        | ErrorClass::QuotaExhausted
        | ErrorClass::Overloaded
        | ErrorClass::Timeout
        | ErrorClass::ServerError
        | ErrorClass::Network
        | ErrorClass::EmptyResponse
        | ErrorClass::Truncated
        | ErrorClass::ContentFiltered
        | ErrorClass::ContextOverflow
        | ErrorClass::StructuredOutputFailed
        | ErrorClass::PermissionWaiting
        | ErrorClass::BudgetRefused
        | ErrorClass::Cancelled
        | ErrorClass::OpencodeUnhealthy => false,
    }
}
