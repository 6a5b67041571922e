//! A worker that stands by: it does what it is ordered to, goes on with the next task of its kind as long as there is
//! one, and waits again.
//!
//! Invariant: one claim at a time. It claims only while the supervisor that started it is there, and ends with the
//! first thing that goes wrong: its guard then ends whatever is left of its commands.

use super::{Carried, Hands, WorkError, begin, carry, talk};
use crate::{
    Context,
    queue::supervise::{
        crew::{LOOK, NOT_FOR_ME},
        fault::fault,
        next::claim_next,
        spawn::log_file,
    },
};
use futures_util::FutureExt as _;
use shuntyard_core::work::task::TaskId;
use shuntyard_host::orphan::become_subreaper;
use shuntyard_store::TaskRecord;
use std::time::Duration;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};

/// Nobody is kept for work that has not come for so long.
const PATIENCE: Duration = Duration::from_secs(600);

/// Works until the supervisor at the other end is gone, or there was nothing to do for long. To be called in a process
/// that is guarded, and has no other children.
pub async fn stand_by(
    context: &Context,
    batch: Option<&str>,
    supervisor: std::os::unix::net::UnixStream,
) -> Result<(), WorkError> {
    become_subreaper()?;
    talk::begin()?;
    supervisor.set_nonblocking(true)?;
    let (orders, mut supervisor) = UnixStream::from_std(supervisor)?.into_split();
    let mut orders = BufReader::new(orders).lines();
    fault(context, "standby");
    let ended = obey(context, batch, &mut orders, &mut supervisor).await;
    if ended.is_err() {
        // Whoever reads about it looks into the log of the task that it happened to.
        talk::turn_to_task();
    }
    ended
}

/// Does what is ordered, one after the other, until there is nothing left to do.
async fn obey(
    context: &Context,
    batch: Option<&str>,
    orders: &mut Lines<BufReader<OwnedReadHalf>>,
    supervisor: &mut OwnedWriteHalf,
) -> Result<(), WorkError> {
    while let Ok(Ok(Some(order))) = timeout(PATIENCE, orders.next_line()).await {
        let mut next = match Order::parsed(&order) {
            None => return Err(WorkError::Order(order)),
            Some(Order::Do(id, epoch)) => ordered(context, &id, epoch).await?,
            Some(Order::Look) => match claimed(context, batch, supervisor).await? {
                Some(record) => Some(record),
                None => {
                    supervisor.write_all(NOT_FOR_ME).await?;
                    continue;
                }
            },
        };
        while let Some(record) = next {
            if carry(context, record, Hands::Own).await? == Carried::Stopped {
                return Ok(());
            }
            talk::over();
            fault(context, "between");
            if is_gone(orders) {
                return Ok(());
            }
            next = claimed(context, batch, supervisor).await?;
        }
        supervisor.write_all(b"\n").await?;
    }
    Ok(())
}

/// What a supervisor can order.
#[derive(Debug, PartialEq, Eq)]
enum Order {
    /// Something was queued.
    Look,
    /// What was claimed for this worker.
    Do(TaskId, i64),
}

impl Order {
    fn parsed(order: &str) -> Option<Self> {
        if order == LOOK {
            return Some(Self::Look);
        }
        let (id, epoch) = order.split_once(' ')?;
        Some(Self::Do(id.parse().ok()?, epoch.parse().ok()?))
    }
}

/// Begins what the supervisor has claimed for this worker; nothing when that was taken back while the order was on its
/// way.
async fn ordered(context: &Context, id: &TaskId, epoch: i64) -> Result<Option<Box<TaskRecord>>, WorkError> {
    let record = context.store.task(id).await?;
    if record.task.epoch != epoch {
        return Ok(None);
    }
    talk::about(log_file(context, id, epoch));
    Ok(Some(begin(context, &record).await?))
}

/// The next task, claimed by this worker itself, and begun: from here on nothing may keep it from being carried to its
/// end, because nobody else could know that its command has not run. The supervisor hears of it, if it is there.
async fn claimed(
    context: &Context,
    batch: Option<&str>,
    supervisor: &mut OwnedWriteHalf,
) -> Result<Option<Box<TaskRecord>>, WorkError> {
    let next = claim_next(context, batch).await?;
    if let Some(record) = &next {
        fault(context, "begun");
        talk::about(log_file(context, &record.task.id, record.task.epoch));
        drop(supervisor.write_all(format!("{}\n", record.task.id).as_bytes()).await);
    }
    Ok(next)
}

/// Whether nobody is there who could order anything. Nobody orders a worker that is at work: one who does is not
/// understood, and the claim is taken back when this worker has ended.
fn is_gone(orders: &mut Lines<BufReader<OwnedReadHalf>>) -> bool {
    orders.next_line().now_or_never().is_some()
}
