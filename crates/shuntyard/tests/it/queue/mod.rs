//! What the queue promises, whatever it is made of: each item is done once, within the limits, in its order, and
//! whatever is killed.
//!
//! These tests know processes only from what the product reports or as descendants of a process that the test itself
//! has started. Most items are commands, which write down that they ran.

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
