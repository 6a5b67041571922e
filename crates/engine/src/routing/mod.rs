//! From what is wanted to a model: what there is, who can answer, what limits allow, what experience shows.

pub mod availability;
pub mod budget;
pub mod catalogue;
pub mod choose;
pub(crate) mod classification;
pub(crate) mod contests;
pub mod experience;
