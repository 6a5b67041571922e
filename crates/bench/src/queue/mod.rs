//! The queue beside pueue, in one run and with the same commands: how soon a task starts, how many are done in a
//! second, and what a long queue costs.

mod backlog;
mod latency;
mod ours;
mod pueue;
mod throughput;

use crate::figures::Limits;
use ours::Ours;
use pueue::Pueue;
use std::path::Path;

pub fn measure(program: &str, scratch: &str, limits: &mut Limits) {
    let root = Path::new(scratch).join(format!("queue-{}", std::process::id()));
    let (ours, pueue) = (Ours::new(program, &root.join("ours")), Pueue::new(scratch, &root.join("pueue")));
    {
        let supervisor = ours.supervise();
        let _daemon = pueue.start();
        latency::measure(&ours, &pueue, &root.join("stamps"), limits);
        throughput::measure(&ours, &pueue, supervisor.id(), limits);
    }
    backlog::measure(program, &root, limits);
    backlog::measure_pueue(&Pueue::new(scratch, &root.join("pueue-backlog")));
    drop(std::fs::remove_dir_all(&root));
}
