//! Which machine this is, and which of its boots, for rows that outlive both.

/// The host's name, as the kernel has it.
#[must_use]
pub fn name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Something that is different after each boot: process numbers and start times begin anew with it.
#[must_use]
pub fn boot() -> String {
    #[cfg(target_os = "linux")]
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    #[cfg(not(target_os = "linux"))]
    let boot = sysinfo::System::boot_time().map_or_else(|_| String::new(), |seconds| seconds.to_string());
    boot.trim().chars().take(8).collect()
}
