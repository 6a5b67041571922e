//! What a keeper does while its server runs: sees to its health and size, settles and cleans what
//! dispatches leave, and decides when it has to end.

use super::{ending::Ending, order::KeeperOrder};
use crate::{
    Context,
    base::owner::is_gone,
    servers::{
        archive::archive_old_sessions,
        recovery::recover_abandoned,
        session_cost::{correct_home, correct_session},
    },
};
use shuntyard_agents::opencode::{Client, StopOutcome, stop_sessions};
use shuntyard_host::{GuardedChild, clock::now_micros, process::ProcessIdentity, tree};
use shuntyard_store::{ErrorKind, ServerState, SessionState};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Sessions that are deleted in one go, and that may wait while the server is in use.
const AT_ONCE: u32 = 20;
const MOST_WAITING: usize = 10;
const TICK: Duration = Duration::from_millis(500);
const HOUSEKEEPING: Duration = Duration::from_secs(60);
const STORE_PATIENCE: Duration = Duration::from_secs(60);
/// One missed health check may be a busy moment; two in a row are a wedge.
const WEDGED_AFTER: u32 = 2;

/// Watches until the server has to end, and says why.
pub(super) async fn watch(
    context: &Context,
    order: &KeeperOrder,
    guarded: &mut GuardedChild,
    client: &Client,
) -> Ending {
    let settings = &context.config.server;
    let mut terminated = std::pin::pin!(terminated());
    let mut last_use = Instant::now();
    let mut store_seen = Instant::now();
    let mut next_health = Instant::now();
    let mut next_housekeeping = Instant::now() + TICK;
    let mut missed = 0;
    // What a server that died here left unread can be read now.
    let mut corrected = false;
    loop {
        tokio::select! {
            () = &mut terminated => return Ending::Told,
            () = sleep(TICK) => {}
        }
        if guarded.try_wait().is_ok_and(|status| status.is_some()) {
            return Ending::Died;
        }
        if order.owner_pid.is_some_and(|pid| ProcessIdentity::of(pid).is_none_or(|owner| !owner.is_alive())) {
            return Ending::OwnerGone;
        }
        match step(context, order).await {
            Ok(Step::InUse) => {
                (store_seen, last_use) = (Instant::now(), Instant::now());
                delete_doomed(context, order, client, Some(MOST_WAITING)).await;
            }
            Ok(Step::Unused) => {
                store_seen = Instant::now();
                delete_doomed(context, order, client, None).await;
            }
            Ok(Step::End(why)) => return why,
            Err(()) if store_seen.elapsed() > STORE_PATIENCE => return Ending::StoreGone,
            Err(()) => {}
        }
        let too_large =
            || tree::resident_bytes(&[guarded.identity().pid]) > settings.memory_limit_mib.saturating_mul(1 << 20);
        let idle = settings.idle_timeout.0.is_some_and(|limit| last_use.elapsed() >= limit);
        let unused = last_use.elapsed() > TICK;
        if Instant::now() >= next_health {
            next_health = Instant::now() + settings.health_interval.0.unwrap_or(Duration::from_secs(10));
            let deadline = settings.health_timeout.0.unwrap_or(Duration::from_secs(10));
            missed = if client.health(deadline).await.is_ok() { 0 } else { missed + 1 };
            if missed >= WEDGED_AFTER {
                return Ending::Silent;
            }
            if unused && too_large() && drained(context, order).await {
                return Ending::Large;
            }
        }
        if Instant::now() >= next_housekeeping {
            next_housekeeping = Instant::now() + HOUSEKEEPING;
            // Runs of processes that died without a lease that could show it: on this server or on one before it.
            drop(recover_abandoned(context, None).await);
            corrected = corrected || correct_home(context, client, &order.slot).await.is_ok();
            archive_old_sessions(context, client, &order.slot).await;
        }
        if idle && drained(context, order).await {
            return Ending::Unused;
        }
    }
}

/// Deletes sessions that dispatches are done with. While the server is in use that can wait, unless
/// more than `unless` of them do.
pub(super) async fn delete_doomed(context: &Context, order: &KeeperOrder, client: &Client, unless: Option<usize>) {
    let Ok(doomed) = context.store.doomed_sessions(&order.slot, AT_ONCE).await else { return };
    if unless.is_some_and(|waiting| doomed.len() <= waiting) {
        return;
    }
    for mut session in doomed {
        let client = client.in_directory(session.directory.as_ref());
        // Stopped first: OpenCode does not end a run because its session is deleted.
        let stopped = stop_sessions(&client, std::slice::from_ref(&session.id)).await;
        if stopped == StopOutcome::Unreachable {
            return;
        }
        if stopped == StopOutcome::Stopped
            && let Err(error) = correct_session(context, &client, &session.id).await
        {
            tracing::warn!(%error, session = session.id, "the cost of a session could not be corrected");
            continue;
        }
        if stopped == StopOutcome::Stopped && client.delete_stopped_session(&session.id).await.is_ok() {
            session.state = SessionState::Deleted;
            drop(context.store.put_session(&session).await);
        }
    }
}

enum Step {
    InUse,
    Unused,
    End(Ending),
}

/// One check of the store: leases of the dead are settled, and orders to end are obeyed.
async fn step(context: &Context, order: &KeeperOrder) -> Result<Step, ()> {
    let leases = context.store.leases(order.server).await.map_err(|_| ())?;
    let mut in_use = false;
    for lease in leases {
        if is_gone(&lease.owner) {
            drop(recover_abandoned(context, Some(lease.holder)).await);
            context.store.release_lease(order.server, lease.holder).await.map_err(|_| ())?;
        } else {
            in_use = true;
        }
    }
    let servers = context.store.servers().await.map_err(|_| ())?;
    match servers.iter().find(|server| server.id == order.server).map(|server| server.state) {
        None => Ok(Step::End(Ending::Removed)),
        Some(ServerState::Failed) => Ok(Step::End(Ending::Broken)),
        Some(ServerState::Draining) if !in_use => Ok(Step::End(Ending::Replaced)),
        Some(_) => Ok(if in_use { Step::InUse } else { Step::Unused }),
    }
}

/// Closes the server to new work; true when no work slipped in before.
async fn drained(context: &Context, order: &KeeperOrder) -> bool {
    match context.store.set_server_state(order.server, ServerState::Draining, now_micros()).await {
        Ok(()) => context.store.leases(order.server).await.is_ok_and(|leases| leases.is_empty()),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
