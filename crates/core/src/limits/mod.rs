//! What may still be spent, and what follows from it. Sums, times and prices come in as values.

mod advise;
mod burn;
mod estimate;
mod line;
mod refusal;
mod settle;

pub use advise::advise;
pub use burn::{BurnRate, Rate, burn_rate};
pub use estimate::{Basis, Estimate, History, Reserving, estimate};
pub use line::{Billing, Key, Kind, Level, Line, Unit};
pub use refusal::{no_room, over_max_cost, raise_command};
pub use settle::{Amount, Shown, Steps, shared, with_cut_off};
