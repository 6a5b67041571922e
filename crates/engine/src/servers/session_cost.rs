//! What a session shows of the cost of an attempt whose process or server died: read when the attempt is settled, and
//! again before the session is deleted or archived, because the database may be out of reach in between.
//!
//! Invariant: a session of an attempt whose cost is not known is read once more before it goes, and an exact figure
//! corrects the ledger once. Safe to repeat, and safe when two processes do it at once.

use crate::Context;
use shuntyard_agents::opencode::{Client, TreeUsage, read_steps, read_tree};
use shuntyard_core::{
    DispatchId, Nano, Usage,
    limits::{Amount, Shown, Steps, shared},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{AttemptEnd, AttemptRecord, Result, RunStatus};

/// Sessions that are read in one go, at most: those that cannot be known stay, and must not cost a start its time.
const AT_ONCE: u32 = 50;

/// An attempt as its session shows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadCost {
    pub(crate) usage: Usage,
    pub(crate) usage_known: bool,
    pub(crate) cost: Amount<Nano>,
}

/// Reads what one attempt cost; `None` when the session cannot be read.
pub(crate) async fn read_cost(
    context: &Context,
    client: &Client,
    session: &str,
    (dispatch, ordinal): (DispatchId, u32),
) -> Result<Option<ReadCost>> {
    let attempts = context.store.session_attempts(session).await?;
    let (wanted, others): (Vec<_>, Vec<_>) =
        attempts.iter().partition(|(id, attempt)| *id == dispatch && attempt.ordinal == ordinal);
    Ok(read_together(client, session, &wanted, &others).await)
}

type Attempt = (DispatchId, AttemptRecord);

/// Reads what the wanted attempts of a session cost together.
async fn read_together(client: &Client, session: &str, wanted: &[&Attempt], others: &[&Attempt]) -> Option<ReadCost> {
    let began = wanted.iter().map(|(_, attempt)| attempt.began_at / 1000).min().unwrap_or(0);
    let tree = read_tree(client, session).await.ok()?;
    // In a session of its own every message belongs to the attempt, whatever the server's clock says.
    let since = if others.is_empty() { 0 } else { began };
    let unread = Steps { cut_off: 1, ..Steps::default() };
    let steps = read_steps(client, &tree.sessions, since).await.unwrap_or(unread);
    let past = TreeUsage {
        usage: others.iter().map(|(_, other)| other.usage).sum(),
        cost: others.iter().map(|(_, other)| other.cost).sum(),
        ..TreeUsage::default()
    };
    let (usage, _) = tree.since(&past);
    let others_known = others.iter().all(|(_, other)| other.cost_known && other.status != RunStatus::Running);
    let shown = Shown {
        total: tree.cost,
        steps,
        others: (!others.is_empty()).then(|| Amount::new(past.cost, others_known)),
        used: usage.total() > 0,
    };
    let cost = match shown.cost() {
        Amount::Exact(cost) if tree.cost_known && each_arrived(client, &tree, wanted, others).await => {
            Amount::Exact(cost)
        }
        cost => Amount::AtLeast(cost.value()),
    };
    Some(ReadCost { usage, usage_known: others_known && steps.cut_off == 0 && shown.used, cost })
}

/// Whether the session has an ended request of each of several attempts: the sum of one that is not in it is no sum.
async fn each_arrived(client: &Client, tree: &TreeUsage, wanted: &[&Attempt], others: &[&Attempt]) -> bool {
    if wanted.len() < 2 {
        return true;
    }
    let mut starts: Vec<i64> = wanted.iter().chain(others).map(|(_, attempt)| attempt.began_at / 1000).collect();
    starts.sort_unstable();
    for (_, attempt) in wanted {
        let from = attempt.began_at / 1000;
        let next = starts.iter().copied().find(|start| *start > from).unwrap_or(i64::MAX);
        let (from, next) =
            (read_steps(client, &tree.sessions, from).await, read_steps(client, &tree.sessions, next).await);
        if !matches!((from, next), (Ok(from), Ok(next)) if from.ended > next.ended) {
            return false;
        }
    }
    true
}

/// Corrects what the attempts in a session were settled at. Of several whose cost is not known, nothing shows which of
/// them spent what, so they share what the session cost beyond all others.
pub(crate) async fn correct_session(context: &Context, client: &Client, session: &str) -> Result<()> {
    let mut attempts = context.store.session_attempts(session).await?;
    if attempts.iter().any(|(_, attempt)| attempt.status == RunStatus::Running) {
        return Ok(());
    }
    attempts.sort_by_key(|(dispatch, attempt)| (attempt.began_at, dispatch.to_string(), attempt.ordinal));
    let (unknown, known): (Vec<_>, Vec<_>) = attempts.iter().partition(|(_, attempt)| !attempt.cost_known);
    if unknown.is_empty() {
        return Ok(());
    }
    let Some(read) = read_together(client, session, &unknown, &known).await else { return Ok(()) };
    let settled: Vec<Nano> = unknown.iter().map(|(_, attempt)| attempt.cost).collect();
    let shares = shared(read.cost, &settled);
    for (index, ((dispatch, attempt), share)) in unknown.iter().zip(shares).enumerate() {
        let is_last = index + 1 == settled.len();
        let end = AttemptEnd {
            at: now_micros(),
            // The first status is kept.
            status: attempt.status,
            error_class: None,
            message: None,
            answered_by: None,
            // The tokens are counted once.
            usage: if is_last { read.usage } else { Usage::default() },
            usage_known: read.usage_known,
            cost: share.value(),
            cost_known: share.is_known(),
        };
        context.store.finish_attempt(*dispatch, attempt.ordinal, &end).await?;
    }
    Ok(())
}

/// Corrects what is not known of the sessions in a database, which a server has opened again.
pub(crate) async fn correct_home(context: &Context, client: &Client, home: &str) -> Result<()> {
    for session in context.store.sessions_of_unknown_cost(home, AT_ONCE).await? {
        let client = client.in_directory(session.directory.as_ref());
        correct_session(context, &client, &session.id).await?;
    }
    Ok(())
}
