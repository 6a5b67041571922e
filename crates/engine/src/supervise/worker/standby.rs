//! A worker that stands by: it does what it is ordered to, goes on with the next task of its kind as long as there is
//! one, and waits again.
//!
//! Invariant: one claim at a time. It claims only while the supervisor that started it is there, and ends with the
//! first thing that goes wrong: its guard then ends whatever is left of its commands.

use super::{Carried, Hands, WorkError, carry};
use crate::{
    Context,
    supervise::{
        fault::fault,
        next::claim_next,
        spawn::{log_dir, log_file},
    },
};
use futures_util::FutureExt as _;
use std::{fs::OpenOptions, io, os::unix::fs::OpenOptionsExt as _, time::Duration};
use switchyard_core::task::TaskId;
use switchyard_host::{orphan::become_subreaper, paths::private_dir};
use switchyard_store::TaskRecord;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::{UnixStream, unix::OwnedReadHalf},
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
    supervisor.set_nonblocking(true)?;
    let (orders, mut supervisor) = UnixStream::from_std(supervisor)?.into_split();
    let mut orders = BufReader::new(orders).lines();
    fault(context, "standby");
    while let Ok(Ok(Some(order))) = timeout(PATIENCE, orders.next_line()).await {
        let Some((id, epoch)) = parsed(&order) else { return Err(WorkError::Order(order)) };
        let record = context.store.task(&id).await?;
        // A claim that was taken back while the order was on its way.
        if record.task.epoch == epoch {
            let mut next = Some(Box::new(record));
            while let Some(record) = next {
                talk_into_log_of(context, &record)?;
                if carry(context, record, Hands::Own).await? == Carried::Stopped {
                    return Ok(());
                }
                fault(context, "between");
                if is_gone(&mut orders) {
                    return Ok(());
                }
                next = claim_next(context, batch).await?;
                if let Some(record) = &next {
                    supervisor.write_all(format!("{}\n", record.task.id).as_bytes()).await?;
                }
            }
        }
        supervisor.write_all(b"\n").await?;
    }
    Ok(())
}

fn parsed(order: &str) -> Option<(TaskId, i64)> {
    let (id, epoch) = order.split_once(' ')?;
    Some((id.parse().ok()?, epoch.parse().ok()?))
}

/// Whether nobody is there who could order anything. Nobody orders a worker that is at work: one who does is not
/// understood, and the claim is taken back when this worker has ended.
fn is_gone(orders: &mut Lines<BufReader<OwnedReadHalf>>) -> bool {
    orders.next_line().now_or_never().is_some()
}

/// From here on, what this process says is in the log of the task that it is about.
fn talk_into_log_of(context: &Context, record: &TaskRecord) -> io::Result<()> {
    private_dir(&log_dir(context, &record.task.id))?;
    let file = log_file(context, &record.task.id, record.task.epoch);
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    rustix::stdio::dup2_stderr(&log)?;
    Ok(())
}
