//! The service definitions that make a scheduler of the system supervise tasks: the texts for systemd, cron and
//! launchd.
//!
//! Invariant: everything here is a value of its arguments: nothing is read, written or run. No text holds a secret, and
//! every path in it is absolute.

mod by_hand;
pub mod cron;
mod environment;
mod instance;
pub mod launchd;
pub mod systemd;

pub use by_hand::{in_property_list, in_unit, runs_shuntyard};
pub use environment::{LeftOut, left_out, variables};
pub use instance::Instance;

use crate::former_name::former_name;
use serde::Serialize;

/// The second half of every text that we write; a file without it is not ours.
pub const MARK: &str = "made by `shuntyard service install`; `shuntyard service uninstall` removes it";

/// Whether one of our texts is this, also one that was written under the program's former name.
#[must_use]
pub fn is_marked(text: &str) -> bool {
    text.contains(MARK) || text.contains(&former_name(MARK))
}

/// How often a pass is made where no supervisor runs all the time.
pub const MINUTES: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Manager {
    Systemd,
    Cron,
    Launchd,
}

impl Manager {
    pub const ALL: [Self; 3] = [Self::Systemd, Self::Cron, Self::Launchd];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Cron => "cron",
            Self::Launchd => "launchd",
        }
    }
}

/// What is run: a supervisor that stays, or one pass now and then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    Supervise,
    Pulse,
}

impl Work {
    /// The command of the program.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Supervise => "supervise",
            Self::Pulse => "pulse",
        }
    }
}

/// All that a text is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// The absolute path of this program.
    pub program: String,
    pub work: Work,
    pub instance: Instance,
    /// From [`variables`].
    pub variables: Vec<(String, String)>,
    pub home: String,
    /// Where the output goes when the system does not keep it by itself.
    pub log: String,
}

/// A value that a system has no way of writing down. Better refused than guessed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write {value:?} down for {}: it has a character that cannot stand there", manager.as_str())]
pub struct Unsayable {
    pub manager: Manager,
    pub value: String,
}

/// Refuses values with control characters, which none of the three can hold, and with those in `besides`.
fn sayable<'a>(manager: Manager, value: &'a str, besides: &[char]) -> Result<&'a str, Unsayable> {
    if value.contains(|letter: char| letter.is_control() || besides.contains(&letter)) {
        return Err(Unsayable { manager, value: value.to_owned() });
    }
    Ok(value)
}

/// A service for the tests of the texts.
#[cfg(test)]
fn sample(program: &str, work: Work) -> Service {
    let variables = [("HOME", "/home/ann"), ("PATH", "/opt/50% off:/usr/bin")];
    Service {
        program: program.to_owned(),
        work,
        instance: Instance::default(),
        variables: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        home: "/home/ann".into(),
        log: "/home/ann/.local/share/shuntyard/service.log".into(),
    }
}
