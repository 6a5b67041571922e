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
pub mod conformance;
pub mod context;
pub mod council;
pub mod demo;
pub mod direct;
pub mod dispatch;
pub mod doctor;
pub mod experience;
pub mod jobs;
mod owner;
pub mod pack;
mod recover;
pub mod review;
pub mod server;
pub mod service;
pub mod spec;
mod structured;
pub mod supervise;
mod tidy;

pub use context::Context;
pub use dispatch::{DispatchReport, Options, dispatch};
