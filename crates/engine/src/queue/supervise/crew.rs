//! The crew: a few workers that stand by for commands in place, which often take less time than the start of a worker.
//!
//! Invariant: whoever stands by holds nothing, and has one order at a time. What one was ordered to do is in the store
//! with its name before it hears of it, so that an order that nobody carries out is taken back like any other claim.

use super::{reaper::wait_for, spawn::spawn_standby};
use crate::Context;
use shuntyard_core::work::task::{Agent, Place, Task, TaskId};
use shuntyard_host::ProcessIdentity;
use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream,
    process::Child,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::Notify;

/// More of them would only wait for each other: their commands take what processors there are.
const MOST: u32 = 4;

#[derive(Debug)]
pub(crate) struct Crew {
    batch: Option<String>,
    most: u32,
    room: Arc<Room>,
}

/// What the crew shares with those who listen to its members.
#[derive(Debug, Default)]
struct Room {
    members: Mutex<Vec<Member>>,
    /// What members have begun by themselves.
    taken: Mutex<Vec<TaskId>>,
    /// Something was left to those who are at work.
    left: AtomicBool,
    /// Somebody has looked, and found nothing that is for a crew.
    left_over: Notify,
}

#[derive(Debug)]
struct Member {
    /// Its guard, which lives just as long.
    process: ProcessIdentity,
    orders: UnixStream,
    doing: Doing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Nothing,
    Something,
}

/// The order to look for something that was queued just now, and the answer when it is for somebody else.
pub(super) const LOOK: &str = "look";
pub(super) const NOT_FOR_ME: &[u8] = b"-\n";

/// What a crew is for.
pub(crate) fn suits(task: &Task) -> bool {
    task.spec.place == Place::Directory && matches!(task.spec.agent, Agent::Command { .. })
}

impl Crew {
    /// For somebody who stays: a crew ends with whoever has it.
    pub(crate) fn of(batch: Option<&str>) -> Self {
        Self { batch: batch.map(str::to_owned), most: MOST, room: Arc::default() }
    }

    /// For a single pass.
    pub(crate) fn nobody() -> Self {
        Self { batch: None, most: 0, room: Arc::default() }
    }

    /// Somebody who waits for an order. The first call starts as many as there is work for at once.
    pub(crate) fn reserve(&self, context: &Context, at_once: u32) -> Option<Reserved> {
        let mut members = self.room.members();
        for _ in members.len()..usize::try_from(self.most.min(at_once)).unwrap_or(0) {
            match self.start(context) {
                Ok(member) => members.push(member),
                Err(error) => {
                    tracing::warn!(%error, "nobody could be started to stand by");
                    break;
                }
            }
        }
        let member = members.iter_mut().find(|member| member.doing == Doing::Nothing)?;
        member.doing = Doing::Something;
        Some(Reserved { process: member.process, room: Arc::clone(&self.room), ordered: false })
    }

    /// Leaves what there is to the members, when there is one for everything that may run at once and none waits for an
    /// order: whoever ends a task takes the next by itself, sooner than a process could be started for it. One that has
    /// just looked, and not yet said that it found nothing, would miss it; so the next that waits calls for a pass.
    pub(crate) fn leave(&self, at_once: u32) -> bool {
        let members = self.room.members();
        let all = members.iter().all(|member| member.doing == Doing::Something);
        let leaves = self.most > 0 && all && members.len() >= usize::try_from(at_once).unwrap_or(usize::MAX);
        if leaves {
            self.room.left.store(true, Ordering::Release);
        }
        leaves
    }

    /// Has as many look for what was queued as there is of it, as far as somebody waits for an order. Whoever looks
    /// claims in the same way as a pass does, only sooner. False when nobody could be asked.
    pub(crate) fn look(&self, queued: usize) -> bool {
        let mut members = self.room.members();
        let free = members.iter_mut().filter(|member| member.doing == Doing::Nothing).take(queued);
        let mut asked = false;
        for member in free {
            // One that cannot be reached is gone, and whoever listens to it will say so.
            if (&member.orders).write_all(format!("{LOOK}\n").as_bytes()).is_ok() {
                member.doing = Doing::Something;
                asked = true;
            }
        }
        asked
    }

    /// Waits until somebody has looked and has left what there is to a pass.
    pub(crate) async fn left_over(&self) {
        self.room.left_over.notified().await;
    }

    pub(crate) fn is_at_work(&self) -> bool {
        self.room.members().iter().any(|member| member.doing == Doing::Something)
    }

    /// What its members have begun by themselves since the last call.
    pub(crate) fn taken(&self) -> Vec<TaskId> {
        std::mem::take(&mut *self.room.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn start(&self, context: &Context) -> io::Result<Member> {
        let (mut child, orders) = spawn_standby(context, self.batch.as_deref())?;
        let heard = orders.try_clone()?;
        let Some(process) = ProcessIdentity::of(child.id()) else {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::other("it was gone at once"));
        };
        let room = Arc::clone(&self.room);
        let listen = move || room.listen(process, heard, child);
        std::thread::Builder::new().name("crew".to_owned()).stack_size(64 * 1024).spawn(listen)?;
        Ok(Member { process, orders, doing: Doing::Nothing })
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for member in self.room.members().iter() {
            // Whoever listens has the same connection open, so it has to be ended and not only let go.
            drop(member.orders.shutdown(Shutdown::Both));
        }
    }
}

impl Room {
    fn members(&self) -> MutexGuard<'_, Vec<Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, process: ProcessIdentity, doing: Doing) {
        for member in self.members().iter_mut().filter(|member| member.process == process) {
            member.doing = doing;
        }
    }

    /// Hears one member until its end.
    fn listen(&self, process: ProcessIdentity, heard: UnixStream, child: Child) {
        for line in BufReader::with_capacity(256, heard).lines().map_while(Result::ok) {
            match line.parse::<TaskId>() {
                _ if line.as_bytes() == NOT_FOR_ME.trim_ascii_end() => {
                    self.set(process, Doing::Nothing);
                    self.left_over.notify_one();
                }
                Ok(id) => self.taken.lock().unwrap_or_else(PoisonError::into_inner).push(id),
                // An empty line: it has nothing to do.
                Err(_) => {
                    self.set(process, Doing::Nothing);
                    if self.left.swap(false, Ordering::AcqRel) {
                        self.left_over.notify_one();
                    }
                }
            }
        }
        self.members().retain(|member| member.process != process);
        // It may have been looking.
        self.left_over.notify_one();
        wait_for(child);
    }
}

/// One member, for one order. Without an order it is free again.
#[derive(Debug)]
pub(crate) struct Reserved {
    process: ProcessIdentity,
    room: Arc<Room>,
    ordered: bool,
}

impl Reserved {
    pub(crate) fn process(&self) -> ProcessIdentity {
        self.process
    }

    /// One that cannot be reached any more is gone, and the claim is another's.
    pub(crate) fn order(mut self, id: &TaskId, epoch: i64) -> io::Result<()> {
        let members = self.room.members();
        let Some(member) = members.iter().find(|member| member.process == self.process) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        (&member.orders).write_all(format!("{id} {epoch}\n").as_bytes())?;
        drop(members);
        self.ordered = true;
        Ok(())
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.ordered {
            self.room.set(self.process, Doing::Nothing);
        }
    }
}
