//! The processes of OpenCode in one environment: how many there are, and what they take at their highest.

use crate::process::{processor_time, proportional_megabytes, status_megabytes};
use shuntyard_testkit::TestEnv;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

#[derive(Debug)]
pub struct Watch {
    binary: PathBuf,
    mark: String,
    pub resident: f64,
    pub proportional: f64,
    pub processes: usize,
    /// The newest value of each process, also of those that are gone.
    times: BTreeMap<u32, Duration>,
    /// Those of the last sample.
    before: BTreeSet<u32>,
}

impl Watch {
    pub fn new(env: &TestEnv) -> Self {
        let named = env.variables().find(|(name, _)| *name == "SHUNTYARD_OPENCODE_BIN").expect("OpenCode").1;
        Self {
            binary: std::fs::canonicalize(named).expect("OpenCode"),
            mark: format!("HOME={}", env.root.join("home").display()),
            resident: 0.0,
            proportional: 0.0,
            processes: 0,
            times: BTreeMap::new(),
            before: BTreeSet::new(),
        }
    }

    pub fn look(&mut self) {
        let found = self.found();
        // One that is about to become a tool still appears as the server that it came from, with the same memory.
        let staying: Vec<u32> = found.intersection(&self.before).copied().collect();
        let sum = |of: fn(u32) -> Option<f64>| staying.iter().filter_map(|id| of(*id)).sum::<f64>();
        self.resident = self.resident.max(sum(|id| status_megabytes(id, "VmRSS")));
        self.proportional = self.proportional.max(sum(proportional_megabytes));
        self.processes = self.processes.max(staying.len());
        self.times.extend(staying.iter().filter_map(|id| Some((*id, processor_time(*id)?))));
        self.before = found;
    }

    /// The processor time of all of them until the last sample.
    pub fn processor(&self) -> Duration {
        self.times.values().sum()
    }

    fn found(&self) -> BTreeSet<u32> {
        let entries = std::fs::read_dir("/proc").expect("a process table").flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id| self.is_ours(*id)).collect()
    }

    fn is_ours(&self, id: u32) -> bool {
        std::fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|program| program == self.binary)
            && std::fs::read(format!("/proc/{id}/environ")).is_ok_and(|environment| {
                environment.split(|byte| *byte == 0).any(|variable| variable == self.mark.as_bytes())
            })
    }
}
