//! The load of the other systems, by way of sysinfo.

use sysinfo::System;

use super::{load_percent, percent};

pub(super) fn memory_available_percent() -> Option<f64> {
    let mut system = System::new().ok()?;
    system.refresh_memory();
    percent(system.available_memory(), system.total_memory())
}

pub(super) fn cpu_pressure_percent(cores: usize) -> Option<f64> {
    System::load_average().ok().map(|average| load_percent(average.one, cores))
}
