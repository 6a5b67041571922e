//! The status of an installed service, as far as the system reports it.

use shuntyard_host::service::{Manager, Work};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub manager: Manager,
    pub work: Work,
    /// The unit, the label, or the first line of the block.
    pub name: String,
    /// None for a crontab, which only `crontab` may touch.
    pub path: Option<PathBuf>,
    /// Whether it is what `install` would write now.
    pub current: bool,
    /// Whether it is at work: the supervisor runs, or the timer is set. None when the system does not report it.
    pub running: Option<bool>,
    /// The system's own words, or why it did not answer.
    pub said: String,
    pub pid: Option<u32>,
    /// In microseconds: when the program was started last.
    pub last_run: Option<i64>,
    pub last_result: Option<String>,
    pub next_run: Option<i64>,
}

impl Standing {
    pub(super) fn new(manager: Manager, work: Work, name: String) -> Self {
        Self {
            manager,
            work,
            name,
            path: None,
            current: false,
            running: None,
            said: String::new(),
            pid: None,
            last_run: None,
            last_result: None,
            next_run: None,
        }
    }
}
