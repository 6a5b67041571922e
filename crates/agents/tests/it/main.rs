//! The backends from outside: the direct one against real HTTP, and the catalogue beside a real OpenCode.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at the first surprise")]

mod catalogue;
mod direct;
