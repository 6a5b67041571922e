//! Types and text forms that settings and rules share. They depend on nothing but each other.

mod clean;
mod consensus_rule;
pub mod duration;
pub mod error_class;
pub mod id;
pub(crate) mod letters;
pub(crate) mod markdown;
mod mode;
pub mod model;
pub mod money;
pub mod nearest;
mod percent;
mod policy;
pub mod redact;
pub mod schema;
mod sign;
pub mod size;
mod strategy;
mod trigger;
pub mod usage;
mod work;

pub(crate) use clean::{REPLACED, clean_text};
pub use clean::{clean, clean_line};
pub use consensus_rule::{AtLeast, Outcome, Rule, Severity, Threshold};
pub use mode::{Access, Backend, Capability, Mode};
pub use percent::Percent;
pub use policy::{ModelPolicy, Urgency};
pub use sign::Sign;
pub use strategy::Strategy;
pub use trigger::Trigger;
pub use work::{Deliver, Diagnose, Rules, WorkflowStep};
