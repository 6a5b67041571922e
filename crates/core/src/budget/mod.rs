//! What may still be spent, and what follows from it. Sums, times and prices come in as values.

mod advise;
mod burn;
mod estimate;
mod line;

pub use advise::{Urgency, advise};
pub use burn::{BurnRate, Rate, burn_rate};
pub use estimate::{Basis, Estimate, History, Reserving, estimate};
pub use line::{Billing, Key, Kind, Level, Line, Unit};
