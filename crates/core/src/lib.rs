//! What Shuntyard decides and why, with no IO: no clock, no files, no network, no environment.
//!
//! Every rule here is a function of its arguments, so that it can be tested with a table.

// First, because the other modules use its macro.
#[macro_use]
pub mod words;

mod check;
pub mod compare;
pub mod experience;
pub mod limits;
pub mod roles;
pub mod routing;
pub mod settings;
pub mod todo;
pub mod values;
pub mod work;

pub use crate::values::error_class::ErrorClass;
pub use crate::values::id::{DispatchId, ServerId};
pub use crate::values::model::ModelRef;
pub use crate::values::money::Nano;
pub use crate::values::usage::Usage;
