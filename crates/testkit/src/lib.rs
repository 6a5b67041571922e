//! placeholder

pub mod fake_opencode;
