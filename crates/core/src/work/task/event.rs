//! What can happen to a task, and what follows from it.

use super::{Cause, Decided, Delivered, Failure, PermissionReply, PermissionRequest, Stage, Task, Wait};
use crate::work::pull_request::{Assessed, Assessment};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Slots, lease and money are taken, in the transaction that writes this.
    Claim,
    /// The claim's worker is there.
    Start,
    /// The agent asks for a permission, and waits until then.
    Ask {
        request: PermissionRequest,
        until: i64,
    },
    /// A person answers the request of this id.
    Answer {
        request: String,
        answer: PermissionReply,
        by: String,
    },
    /// The agent goes on: the answer was delivered or, without one, the time is up or the request was withdrawn.
    Proceed {
        request: String,
        answer: Option<PermissionReply>,
    },
    /// The winner of a contest is known: its work is delivered, and its model makes any later attempt.
    Decide {
        decided: Decided,
    },
    /// The agent has ended, well or not. From here on its work is evaluated, and never done again unseen.
    Worked,
    /// The evidence was looked at: this commit is good.
    Approve {
        head: String,
    },
    /// The evidence was looked at, and it is not good. With a stage, the work itself need not be done again: the next
    /// claim goes on there.
    Refuse {
        failure: Failure,
        tier: Option<String>,
        model: Option<String>,
        resume: Option<Stage>,
    },
    /// It was handed over.
    Deliver {
        delivered: Delivered,
    },
    /// A pull request was opened, or was looked at and is still open.
    Propose {
        url: String,
        head: String,
        until: i64,
        assessed: Assessed,
    },
    /// The pull request needs another attempt.
    Revise {
        failure: Failure,
        asked: Asked,
        assessment: Assessment,
        /// The objections that this attempt is for; they are not answered twice.
        answers: Vec<String>,
        tier: Option<String>,
        model: Option<String>,
    },
    /// A worker has to deliver the proposed commit again: on a newer base, or because it was merged and the merge
    /// commit is to be checked.
    Redeliver {
        why: Redelivery,
    },
    /// The pull request was closed without being merged.
    Reject {
        detail: String,
    },
    /// It could not be handed over: a conflict, a red verify on the new base. The work goes on from there.
    Return {
        failure: Failure,
    },
    /// The worker is gone, or has done nothing for longer than its lease.
    Lose {
        detail: String,
    },
    /// A moment that was waited for has come.
    Wake,
    /// Before a claim, or before its work has begun, it was seen that it cannot run now.
    Postpone {
        until: i64,
        wait: Wait,
        detail: String,
    },
    /// Before a claim it was seen that a person is needed.
    Block {
        cause: Cause,
        detail: String,
    },
    /// Before a claim it was seen that its deadline has passed.
    Expire,
    Cancel {
        by: String,
    },
    /// The worker of a task that is to end has ended.
    Stopped,
    /// A person wants another try, with all that was learned.
    Retry,
    /// A person wants to begin again, with nothing remembered.
    Reset,
}

/// Who wants a pull request changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Its checks failed: that counts as a failed try.
    ByChecks,
    /// A reviewer asks: each review is a new wish of a person, and no failure of the ladder.
    ByReviewer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redelivery {
    Rebase,
    Merged,
}

impl Event {
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Start => "start",
            Self::Ask { .. } => "ask",
            Self::Answer { .. } => "answer",
            Self::Proceed { .. } => "proceed",
            Self::Decide { .. } => "decide",
            Self::Worked => "worked",
            Self::Approve { .. } => "approve",
            Self::Refuse { .. } => "refuse",
            Self::Deliver { .. } => "deliver",
            Self::Propose { .. } => "propose",
            Self::Revise { .. } => "revise",
            Self::Redeliver { .. } => "redeliver",
            Self::Reject { .. } => "reject",
            Self::Return { .. } => "return",
            Self::Lose { .. } => "lose",
            Self::Wake => "wake",
            Self::Postpone { .. } => "postpone",
            Self::Block { .. } => "block",
            Self::Expire => "expire",
            Self::Cancel { .. } => "cancel",
            Self::Stopped => "stopped",
            Self::Retry => "retry",
            Self::Reset => "reset",
        }
    }
}

/// A task after an event, with what is now to be done about it outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub task: Task,
    pub effects: Vec<Effect>,
    pub change: Change,
    /// Whether the run that held the task goes on, is over, or is followed by another at once.
    pub resumed: Resumed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resumed {
    /// There was no run, or it goes on.
    Same,
    /// A run begins with the task's new epoch.
    Begins,
    /// The run is over, and its slots are free.
    Ends,
    /// The run is over and another takes its slots, to go on at this stage.
    Follows(Stage),
}

/// A row of the audit: what moved where, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub event: String,
    pub from: String,
    pub to: String,
    pub epoch: i64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Of a claim: how the model was chosen, with the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Value>,
}

/// Something to be done outside the store. It is written down with the state that asks for it, and performed later,
/// once. One epoch may ask for the same kind more than once: a review is announced, and later its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Effect {
    /// Notifies people.
    Notify { notice: Notice, detail: String },
    /// Records the evidence as an outcome of the model that did the work.
    Learn { good: bool, failure: Option<Failure> },
    /// Writes its state into the repository's TODO.md.
    Mark { done: bool },
    /// Removes its worktree, as far as nothing is lost by that.
    Tidy,
    /// Has the other open pull requests of the same base rebased.
    RebaseSiblings,
    /// Has a model diagnose the failure.
    Diagnose,
    /// Wakes the contest of an entry that has settled.
    WakeContest,
    /// Cancels the entries of a contest that was cancelled.
    CancelEntries,
}

word_enum! {
    pub enum Notice {
        Done = "done",
        Failed = "failed",
        Blocked = "blocked",
        Cancelled = "cancelled",
        /// It waits for a long time.
        Parked = "parked",
        Review = "review",
        /// A limit has come near or was reached. It concerns no task.
        Budget = "budget",
        /// Its agent waits for a permission.
        Permission = "permission",
    }
}

impl Effect {
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Notify { .. } => "notify",
            Self::Learn { .. } => "learn",
            Self::Mark { .. } => "mark",
            Self::Tidy => "tidy",
            Self::RebaseSiblings => "rebase_siblings",
            Self::Diagnose => "diagnose",
            Self::WakeContest => "wake_contest",
            Self::CancelEntries => "cancel_entries",
        }
    }
}
