//! How busy this machine is, as numbers, and how much memory a process or a tree of them holds.
//!
//! Invariant: nothing is remembered between two questions, and what the system does not report is absent, never zero.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), test))]
mod portable;

use crate::process::ProcessIdentity;
use crate::{table, tree};

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use portable as system;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Memory that new work could get without anything being pushed out, of all that there is.
    pub memory_available_percent: f64,
    /// How much of the last ten seconds something waited for a processor. Where the system does not report it, the work
    /// that wants to run, in percent of the processors: that can be more than 100.
    pub cpu_pressure_percent: f64,
    pub cores: usize,
}

/// How many processors this process may use.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The load of the machine at this moment; `None` when it does not report it.
#[must_use]
pub fn load() -> Option<Load> {
    let cores = cores();
    Some(Load {
        memory_available_percent: system::memory_available_percent()?,
        cpu_pressure_percent: system::cpu_pressure_percent(cores)?,
        cores,
    })
}

/// Resident memory of this very process; `None` when it is gone.
#[must_use]
pub fn resident_memory(process: &ProcessIdentity) -> Option<u64> {
    let entry = table::entry(process.pid)?;
    (entry.identity == *process && !entry.defunct).then_some(entry.resident_bytes)
}

/// Resident memory of the process and of all below it; `None` when it is gone. Pages that they share count in each.
#[must_use]
pub fn tree_memory(process: &ProcessIdentity) -> Option<u64> {
    process.is_alive().then(|| tree::resident_bytes(&[process.pid]))
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    // Far below the size where a float loses whole percents.
    (whole > 0).then(|| (part as f64 / whole as f64 * 100.0).clamp(0.0, 100.0))
}

fn load_percent(average: f64, cores: usize) -> f64 {
    (average / cores.max(1) as f64 * 100.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_answers_in_its_ranges() {
        let load = load().unwrap();
        assert!(load.memory_available_percent > 0.0 && load.memory_available_percent <= 100.0, "{load:?}");
        assert!(load.cpu_pressure_percent >= 0.0 && load.cores > 0, "{load:?}");
        let other = portable::memory_available_percent().unwrap();
        assert!((other - load.memory_available_percent).abs() < 25.0, "{other} and {load:?}");
        assert!(portable::cpu_pressure_percent(load.cores).unwrap() >= 0.0);
    }

    #[test]
    fn a_process_has_memory_while_it_lives() {
        let own = ProcessIdentity::current().unwrap();
        let alone = resident_memory(&own).unwrap();
        assert!(alone > 100_000, "{alone}");
        let other = ProcessIdentity { start: own.start + 1, ..own };
        assert_eq!((resident_memory(&other), tree_memory(&other)), (None, None));
        let mut child = std::process::Command::new("sleep").arg("300").spawn().unwrap();
        let with_child = tree_memory(&own).unwrap();
        let of_child = resident_memory(&ProcessIdentity::of(child.id()).unwrap()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(of_child > 0 && with_child >= of_child, "{with_child} with {of_child}");
    }

    #[test]
    fn percents_stay_in_range() {
        assert_eq!([percent(1, 4), percent(9, 4), percent(1, 0)], [Some(25.0), Some(100.0), None]);
        assert_eq!([load_percent(3.0, 2), load_percent(1.0, 0), load_percent(-1.0, 2)], [150.0, 100.0, 0.0]);
    }
}
