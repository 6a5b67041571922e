//! Several dispatches for one question: many models, their judges, councils and reviews.

pub mod batch;
pub mod council;
pub mod review;
