//! Trees of processes: what is below one, how much memory it holds, and how it is ended.
//!
//! Invariant: whatever was once seen in a tree is followed by its identity until it is gone, also when its parent dies
//! first and the system gives it another one.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use crate::process::{ProcessIdentity, Signal};
use crate::table::{self, Entry};

/// How long a killed process may take to disappear: the kernel can be busy with its memory or a slow disk.
const KILL_PATIENCE: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(20);

/// Every living process below `root`, children before grandchildren.
pub fn descendants(root: u32) -> Vec<ProcessIdentity> {
    let table = table::scan();
    let below = below(&table, [root]);
    below.iter().filter(|entry| !entry.defunct).map(|entry| entry.identity).collect()
}

/// Resident memory of the trees under these processes, themselves included. Pages that processes share count in each.
pub fn resident_bytes(roots: &[u32]) -> u64 {
    let table = table::scan();
    let own = table.iter().copied().filter(|entry| roots.contains(&entry.identity.pid));
    let below = below(&table, roots.iter().copied());
    let all: HashMap<u32, u64> = own.chain(below).map(|entry| (entry.identity.pid, entry.resident_bytes)).collect();
    all.values().sum()
}

/// Living processes of this user that inherited `NAME=VALUE`: the proof that we started them, also after a restart.
/// The calling process is never among them.
pub fn marked(name: &str, value: &str) -> Vec<ProcessIdentity> {
    table::marked(name, value)
}

/// Asks the process and all below it to end, waits up to `grace`, kills what still lives and returns what survived
/// even that. A `grace` of zero kills at once.
pub fn kill_tree(root: &ProcessIdentity, grace: Duration) -> Vec<ProcessIdentity> {
    Hunt::of([*root]).end(grace, &mut std::thread::sleep)
}

/// Ends every process that carries the mark, with all below it, and returns the survivors.
pub fn end_marked(name: &str, value: &str, grace: Duration) -> Vec<ProcessIdentity> {
    let first = Hunt::of(marked(name, value)).end(grace, &mut std::thread::sleep);
    // One may have been born from a marked parent that died before the parent's children were looked at.
    let late = Hunt::of(marked(name, value)).end(Duration::ZERO, &mut std::thread::sleep);
    first.into_iter().chain(late).filter(ProcessIdentity::is_alive).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The processes that are to be ended.
#[derive(Debug)]
pub(crate) struct Hunt {
    known: BTreeSet<ProcessIdentity>,
    spared: Option<ProcessIdentity>,
    group: Option<u32>,
}

impl Hunt {
    pub(crate) fn of(roots: impl IntoIterator<Item = ProcessIdentity>) -> Self {
        Self { known: roots.into_iter().collect(), spared: None, group: None }
    }

    /// Everything below `root`, and the members of a process group that `root` itself has made: where the system has
    /// no subreapers, the group is what still ties an orphan to us.
    pub(crate) fn below(root: ProcessIdentity, group: u32) -> Self {
        Self { known: BTreeSet::from([root]), spared: Some(root), group: Some(group) }
    }

    /// `pause` waits for about the given time; the guard uses it to collect its dead children meanwhile.
    pub(crate) fn end(&mut self, grace: Duration, pause: &mut dyn FnMut(Duration)) -> Vec<ProcessIdentity> {
        if !grace.is_zero() {
            let asked_until = Instant::now() + grace;
            for process in self.living() {
                process.signal(Signal::TERM);
            }
            while Instant::now() < asked_until {
                if self.living().is_empty() {
                    return Vec::new();
                }
                pause(TICK);
            }
        }
        let killed_until = Instant::now() + KILL_PATIENCE;
        loop {
            // Looked up anew each time, so that children born meanwhile are included.
            let living = self.living();
            if living.is_empty() || Instant::now() >= killed_until {
                return living;
            }
            for process in living {
                process.signal(Signal::KILL);
            }
            pause(TICK);
        }
    }

    fn living(&mut self) -> Vec<ProcessIdentity> {
        let table = table::scan();
        let present = table.iter().filter(|entry| self.known.contains(&entry.identity));
        let roots: Vec<u32> = present.map(|entry| entry.identity.pid).collect();
        self.known.extend(below(&table, roots).iter().map(|entry| entry.identity));
        let grouped = table.iter().filter(|entry| Some(entry.group) == self.group);
        self.known.extend(grouped.map(|entry| entry.identity));
        let living = table.iter().filter(|entry| !entry.defunct).map(|entry| entry.identity);
        living.filter(|process| self.known.contains(process) && Some(*process) != self.spared).collect()
    }
}

fn below(table: &[Entry], roots: impl IntoIterator<Item = u32>) -> Vec<Entry> {
    let mut children: HashMap<u32, Vec<Entry>> = HashMap::new();
    for entry in table {
        children.entry(entry.parent).or_default().push(*entry);
    }
    let mut found = Vec::new();
    let mut waiting: std::collections::VecDeque<u32> = roots.into_iter().collect();
    // Taking the children out of the map visits each process once, whatever the parent numbers claim.
    while let Some(parent) = waiting.pop_front() {
        for child in children.remove(&parent).unwrap_or_default() {
            waiting.push_back(child.identity.pid);
            found.push(child);
        }
    }
    found
}
