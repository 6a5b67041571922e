//! What the queue promises, whatever its implementation: each item is done once, within the limits, in its order, and
//! whichever process is killed.
//!
//! These tests know processes only from the product's reports or as descendants of a process that the test itself has
//! started. Most items are commands, which record that they ran.

mod in_place;
mod jobs;
mod kills;
mod limits;
mod once;
mod order;
mod place;
mod stop;
mod wait;

use place::{Place, Supervisor};
