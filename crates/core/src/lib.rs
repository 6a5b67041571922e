//! What Shuntyard decides and why, with no IO: no clock, no files, no network, no environment.
//!
//! Every rule here is a function of its arguments, so that it can be tested with a table.

pub mod budget;
mod check;
pub mod compare;
pub mod config;
pub mod dispatch;
pub mod duration;
pub mod error_class;
pub mod id;
pub mod job;
mod letters;
pub mod model;
pub mod money;
pub mod nearest;
pub mod overview;
pub mod pack;
pub mod pattern;
pub mod pull_request;
pub mod redact;
pub mod route;
pub mod schema;
pub mod size;
pub mod spec;
pub mod task;
pub mod todo;
pub mod usage;
pub mod values;

pub use error_class::ErrorClass;
pub use id::{DispatchId, ServerId};
pub use model::ModelRef;
pub use money::Nano;
pub use usage::Usage;
