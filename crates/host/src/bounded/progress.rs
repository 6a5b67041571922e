//! Whether a program still gets on: by what it prints, by the processor time and the transfers of it and all below
//! it, and by processes that come and go below it.
//!
//! Invariant: a program that ends within a second is never looked at in the process table.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::{End, Patience};
use crate::process::ProcessIdentity;
use crate::{table, tree};

/// No check before this, and no two checks within it.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A long wait is looked at less often.
const SELDOM: Duration = Duration::from_secs(10);
/// A program that only waits still wakes up now and then, some many times a second: less than a hundredth of the time
/// on a processor is no progress.
const BUSY_SHARE: u32 = 100;

#[derive(Debug)]
pub(super) struct Watch {
    root: u32,
    patience: Patience,
    started: Instant,
    /// When there was progress last, and what was measured then.
    progress: Instant,
    measured: Measure,
    printed: u64,
    looked: Instant,
}

#[derive(Debug, Default)]
struct Measure {
    below: BTreeSet<ProcessIdentity>,
    processor: Duration,
    transferred: u64,
}

impl Watch {
    pub(super) fn new(root: u32, patience: Patience) -> Self {
        let now = Instant::now();
        let measured = Measure::default();
        Self { root, patience, started: now, progress: now, measured, printed: 0, looked: now }
    }

    /// Why the program has to be ended now; `None` when it may go on. `printed` is how much it has printed altogether.
    pub(super) fn look(&mut self, printed: u64) -> Option<End> {
        let (idle, most) = match self.patience {
            Patience::Fixed(limit) => return (self.started.elapsed() >= limit).then_some(End::TooLong(limit)),
            Patience::Progress { idle, most } => (idle, most),
        };
        if self.started.elapsed() >= most {
            return Some(End::TooLong(most));
        }
        if printed != self.printed {
            (self.printed, self.progress) = (printed, Instant::now());
        }
        let is_late = self.progress.elapsed() >= idle;
        let every = (idle / 60).clamp(LOOK_EVERY, SELDOM);
        if is_late || self.looked.elapsed() >= every {
            self.looked = Instant::now();
            let now = Measure::of(self.root);
            if now.is_further_than(&self.measured, self.progress.elapsed()) {
                (self.measured, self.progress) = (now, self.looked);
            } else if is_late {
                return Some(End::Idle(idle));
            }
        }
        None
    }
}

impl Measure {
    fn of(root: u32) -> Self {
        let below: BTreeSet<ProcessIdentity> = tree::descendants(root).into_iter().collect();
        let mut measure = Self::default();
        for usage in below.iter().map(|process| process.pid).chain([root]).filter_map(table::usage) {
            measure.processor += usage.processor;
            measure.transferred = measure.transferred.saturating_add(usage.transferred);
        }
        Self { below, ..measure }
    }

    fn is_further_than(&self, before: &Self, since: Duration) -> bool {
        self.below != before.below
            || self.transferred != before.transferred
            || self.processor.saturating_sub(before.processor) * BUSY_SHARE > since
    }
}
