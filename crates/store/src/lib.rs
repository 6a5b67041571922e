//! The only meeting point of Shuntyard's processes: dispatches with their attempts and money,
//! OpenCode sessions, the server registry with its leases, which providers can answer, the ledger with
//! its budget, what was learned from outcomes, tasks, jobs and their workers, and the event log.
//!
//! One trait, one contract. The store keeps what it is given and has no policy of its own; every
//! call is one transaction, and a change that others may wait for writes its event in that same
//! transaction.

mod budget;
mod contests;
mod error;
mod job;
mod jobs;
mod ledger;
mod outcome;
mod record;
pub mod sqlite;
mod task;
mod tasks;

pub use budget::{Alert, Billing, BudgetPeriod, BudgetRule, NewPeriod, PeriodUnit};
pub use contests::{ContestRecord, Contests};
pub use error::{ErrorKind, StoreError};
pub use job::{CancelAsked, JobEnd, JobFilter, JobNote, JobRecord, NewJob, WorkerRecord};
pub use jobs::Jobs;
pub use ledger::{
    BUCKET_MICROS, Begun, Ceiling, GroupBy, Measure, NewSpend, Reserve, SpendKey, SpendKind, Spent, bucket,
};
pub use outcome::{Judgement, NewOutcome, OutcomeFilter, OutcomeOrder, OutcomeRecord, WEEK_MICROS, week};
pub use record::{
    AttemptEnd, AttemptRecord, CooldownRecord, DispatchEnd, DispatchRecord, Event, HealthRecord, HealthSource, Lease,
    NewAttempt, NewDispatch, Owner, RunStatus, ServerRecord, ServerState, SessionRecord, SessionState, Settled,
};

pub use task::{
    BatchRecord, Changed, EffectRecord, More, NewRun, NewTask, PhaseCounts, Ready, RunChange, RunNote, RunRecord,
    TaskChange, TaskFilter, TaskRecord,
};
pub use tasks::Tasks;

use async_trait::async_trait;
use shuntyard_core::{
    DispatchId, ServerId,
    experience::{Move, Past, Tally},
    work::task::Effect,
};
use std::fmt::Debug;

pub type Result<T> = std::result::Result<T, StoreError>;

/// Times are microseconds since the Unix epoch, given by the caller: the store has no clock.
#[async_trait]
pub trait Store: Jobs + Tasks + Contests + Debug + Send + Sync {
    /// Records that a dispatch is about to run. The same id again is a conflict.
    async fn begin_dispatch(&self, dispatch: &NewDispatch) -> Result<()>;

    /// Records that a dispatch is about to run and its first attempt with it: [`Store::begin_dispatch`] and
    /// [`Store::begin_attempt`] in one transaction. A refusal is about the attempt alone: the dispatch has begun,
    /// without it. An error writes neither. An attempt of another dispatch is a conflict.
    async fn begin_dispatch_with(&self, dispatch: &NewDispatch, first: &NewAttempt) -> Result<Begun>;

    /// Records that an attempt is about to run, with its reservation. One that would pass a ceiling is
    /// refused at the first such, and nothing is written. The same ordinal again is a conflict.
    async fn begin_attempt(&self, attempt: &NewAttempt) -> Result<Begun>;

    /// Notes the OpenCode session that an attempt runs in, as soon as it exists.
    async fn set_attempt_session(&self, dispatch: DispatchId, ordinal: u32, session: &str) -> Result<()>;

    /// Settles an attempt, and returns what it counts with. An end whose cost or usage is not known counts as at least
    /// the reservation, which ends with it: no moment passes in which neither of them counts.
    ///
    /// Reported twice, the first status stands. A known cost replaces one that was not known, with its usage; otherwise
    /// the higher cost and usage count, so that neither a repeat nor a late, smaller report changes what was spent. The
    /// difference goes to the ledger, at the time of the first end. An end before the beginning, by a clock that was
    /// set back, counts as one at the beginning.
    async fn finish_attempt(&self, dispatch: DispatchId, ordinal: u32, end: &AttemptEnd) -> Result<Settled>;

    /// Ends a dispatch. Ending it again changes nothing.
    async fn finish_dispatch(&self, dispatch: DispatchId, end: &DispatchEnd) -> Result<()>;

    async fn dispatch(&self, dispatch: DispatchId) -> Result<DispatchRecord>;

    /// The newest first.
    async fn recent_dispatches(&self, limit: u32) -> Result<Vec<DispatchRecord>>;

    /// Those that began and have not ended, the oldest first.
    async fn unfinished_dispatches(&self, limit: u32) -> Result<Vec<DispatchRecord>>;

    /// Inserts the session or replaces its state, directory and last use.
    async fn put_session(&self, session: &SessionRecord) -> Result<()>;

    async fn session(&self, session: &str) -> Result<SessionRecord>;

    /// Takes a kept session for one dispatch; one that is not kept, or taken already, is a conflict.
    async fn claim_session(&self, session: &str, now: i64) -> Result<()>;

    /// The attempts that ran in this session, the oldest first.
    async fn session_attempts(&self, session: &str) -> Result<Vec<(DispatchId, AttemptRecord)>>;

    /// Kept and doomed sessions of this home with a settled attempt whose cost is not known, the newest first.
    async fn sessions_of_unknown_cost(&self, home: &str, limit: u32) -> Result<Vec<SessionRecord>>;

    /// Kept sessions of this home that were last used before `before`, the oldest first.
    async fn stale_sessions(&self, home: &str, before: i64, limit: u32) -> Result<Vec<SessionRecord>>;

    /// Sessions of this home that wait to be deleted, the oldest first.
    async fn doomed_sessions(&self, home: &str, limit: u32) -> Result<Vec<SessionRecord>>;

    /// Inserts or replaces a server's row.
    async fn put_server(&self, server: &ServerRecord) -> Result<()>;

    /// Moves a server to another state; a server that is not there is `NotFound`.
    async fn set_server_state(&self, server: ServerId, state: ServerState, now: i64) -> Result<()>;

    async fn servers(&self) -> Result<Vec<ServerRecord>>;

    /// Removes a server with its leases. One that is gone already is no error.
    async fn remove_server(&self, server: ServerId, now: i64) -> Result<()>;

    /// Takes a lease for `holder` on a server that is in state `Ready`; otherwise, or when the
    /// holder has one already, `Conflict`.
    async fn take_lease(&self, lease: &Lease) -> Result<()>;

    /// Gives a lease back. One that is gone already is no error.
    async fn release_lease(&self, server: ServerId, holder: DispatchId) -> Result<()>;

    async fn leases(&self, server: ServerId) -> Result<Vec<Lease>>;

    /// Keeps the newest health check of a provider; one that is older than the kept one changes nothing. Only a
    /// status that differs from the kept one is an event, so a repeat writes none. One that expires
    /// before it was made is a conflict.
    async fn put_health(&self, health: &HealthRecord) -> Result<()>;

    /// The newest health check of each provider, expired ones included, in order of their providers.
    async fn health(&self) -> Result<Vec<HealthRecord>>;

    /// Forgets what is known of one provider, or of all. What is gone already is no error.
    async fn forget_health(&self, provider: Option<&str>) -> Result<()>;

    /// Keeps a cooldown of a target until a moment. Of several the one that ends last stands: another that
    /// ends no later, and so a repeat, changes nothing. One that ends before it begins is a conflict.
    async fn put_cooldown(&self, cooldown: &CooldownRecord) -> Result<()>;

    /// Those that are not over at `now`, in order of their targets.
    async fn cooldowns(&self, now: i64) -> Result<Vec<CooldownRecord>>;

    /// Ends the cooldowns of these targets that began by a moment, because a success has proved them wrong, and
    /// drops all that are over by themselves. Returns how many were ended early; only those are events.
    async fn end_cooldowns(&self, targets: &[&str], began_by: i64, now: i64) -> Result<u64>;

    /// What was settled for a key in the buckets that begin at or after `from` and before `until`; for a
    /// batch or a task, over all time. Both are given on the edges of buckets (see [`bucket`]).
    async fn spent(&self, key: &SpendKey, from: i64, until: i64) -> Result<Spent>;

    /// What all that run have reserved for a key. Each counts as one attempt.
    async fn reserved(&self, key: &SpendKey) -> Result<Spent>;

    /// For each key and window what [`Store::spent`] and [`Store::reserved`] return, in one go.
    async fn standings(&self, wanted: &[(SpendKey, i64, i64)]) -> Result<Vec<(Spent, Spent)>>;

    /// What was settled in a window, in order of the names; buckets are named by their beginnings. For
    /// batches and tasks it is over all time, as in [`Store::spent`].
    async fn spending(&self, from: i64, until: i64, by: GroupBy) -> Result<Vec<(String, Spent)>>;

    /// What the newest attempts of a model in a mode came to since a moment. Only those that used anything and whose
    /// cost is known count.
    async fn usual(&self, model: &str, mode: &str, from: i64) -> Result<Spent>;

    /// When something was charged to a task or a batch first, and what was in a window, by the attempts themselves and
    /// by what was entered by hand while the event log has it. Of any other key, only what was spent in the window.
    async fn charged(&self, key: &SpendKey, from: i64, until: i64) -> Result<(Option<i64>, Spent)>;

    /// Adds an amount that no attempt has spent, with an event. A negative cost is a refund.
    async fn record_spend(&self, spend: &NewSpend) -> Result<()>;

    /// Reservations from before `before` whose attempt has ended or is not there, the oldest first. A
    /// settled attempt leaves none, so there should be none; one that is left must not count for ever.
    async fn stale_reservations(&self, before: i64) -> Result<Vec<(DispatchId, u32)>>;

    /// Drops a reservation. One that is gone already is no error.
    async fn drop_reservation(&self, dispatch: DispatchId, ordinal: u32) -> Result<()>;

    /// In order of the words of their kinds, and then of their names.
    async fn budget_rules(&self) -> Result<Vec<BudgetRule>>;

    /// Inserts the rule or replaces the one of the same key, with an event.
    async fn put_budget_rule(&self, rule: &BudgetRule) -> Result<()>;

    /// Whether there was one. Only then is it an event.
    async fn remove_budget_rule(&self, key: &SpendKey, now: i64) -> Result<bool>;

    /// In order of their providers, and then of their beginnings.
    async fn budget_periods(&self) -> Result<Vec<BudgetPeriod>>;

    /// Keeps a period, with an event, and returns its id. One that overlaps with another of the same
    /// provider, unit and rolling length is a conflict, and so is one that ends before it begins.
    async fn put_budget_period(&self, period: &NewPeriod) -> Result<i64>;

    /// Whether there was one. Only then is it an event.
    async fn remove_budget_period(&self, id: i64, now: i64) -> Result<bool>;

    /// Raises an alert unless there was one of that day, key and level. Only then is it an event, with `data` as it is
    /// given, and only then does `notice` become an effect, in the same transaction. The caller performs that itself:
    /// others may take it from the given moment on.
    async fn raise_alert(
        &self,
        day_start: i64,
        key: &SpendKey,
        level: &str,
        now: i64,
        data: &serde_json::Value,
        notice: Option<(&Effect, i64)>,
    ) -> Result<Alert>;

    /// Keeps outcomes, all or none. One about an attempt that has an outcome already is left out. Returns how many
    /// are new.
    async fn record_outcomes(&self, outcomes: &[NewOutcome]) -> Result<u64>;

    /// Replaces the content of the outcome of an attempt, and returns it as it is now; of the last attempt of the
    /// dispatch that has one when no ordinal is given. Nothing when there is no such outcome.
    async fn judge_outcome(
        &self,
        dispatch: DispatchId,
        ordinal: Option<u32>,
        now: i64,
        judgement: &Judgement,
    ) -> Result<Option<OutcomeRecord>>;

    /// The counts of the weeks from `from` on, of one kind of task or of all, in one repository or everywhere.
    async fn outcome_tallies(&self, task_type: Option<&str>, repository: Option<&str>, from: i64)
    -> Result<Vec<Tally>>;

    async fn outcomes(&self, filter: &OutcomeFilter, order: OutcomeOrder) -> Result<Vec<OutcomeRecord>>;

    /// Outcomes whose text has some of the words, the most similar first.
    async fn similar_outcomes(&self, words: &[String], limit: u32) -> Result<Vec<OutcomeRecord>>;

    /// From which tier to which work has moved in a window.
    async fn tier_moves(&self, from: i64, until: i64) -> Result<Vec<Move>>;

    /// The outcomes of a window, first attempts only, counted by what was asked for, the kind of task and the model.
    async fn outcome_history(&self, from: i64, until: i64) -> Result<Vec<Past>>;

    /// Appends to the event log and returns the event's position.
    async fn append_event(&self, at: i64, kind: &str, subject: &str, data: &serde_json::Value) -> Result<i64>;

    /// The position of the newest event there ever was; 0 before the first.
    async fn newest_event(&self) -> Result<i64>;

    /// Events after a position, the oldest first.
    async fn events_after(&self, after: i64, limit: u32) -> Result<Vec<Event>>;

    /// A number that changes when any process has written, this store included. It only compares with
    /// earlier answers of the same store.
    async fn data_version(&self) -> Result<i64>;
}
