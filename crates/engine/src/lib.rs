//! The use cases: takes requests in, asks `core`, persists, and performs the effects.
//!
//! Nothing here prints, and nothing here reads the process environment: the caller hands it in.

pub mod base;
pub mod dispatch;
pub mod fanout;
pub mod ops;
pub mod queue;
pub mod roles;
pub mod routing;
pub mod servers;

pub use crate::base::context::Context;
pub(crate) use crate::base::in_thread::in_thread;
pub(crate) use crate::base::repository_settings::settings_of;
pub use dispatch::{DispatchReport, Options, dispatch};
