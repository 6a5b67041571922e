//! The use cases: takes requests in, asks `core`, persists, and performs the effects.
//!
//! Nothing here prints, and nothing here reads the process environment: the caller hands it in.

pub mod agents_config;
pub mod availability;
pub mod batch;
pub mod budget;
pub mod catalogue;
pub mod changes;
pub mod choose;
pub mod claims;
mod classification;
pub mod conformance;
mod contests;
pub mod context;
pub mod council;
pub mod demo;
pub mod direct_cache;
pub mod dispatch;
pub mod doctor;
pub mod experience;
mod hash;
mod in_thread;
pub mod jobs;
mod notify;
mod opencode_files;
mod owner;
pub mod pack;
pub mod refusal;
mod repository_settings;
pub mod review;
pub mod server;
pub mod service;
pub mod spec;
pub mod supervise;
pub mod user_config;

pub use context::Context;
pub use dispatch::{DispatchReport, Options, dispatch};
pub(crate) use in_thread::in_thread;
pub(crate) use repository_settings::settings_of;
