//! Which model a request goes to, and why.
//!
//! The only place that turns a request into a model; the tables are data in the configuration. The same inputs
//! give the same choice.

mod advice;
mod availability;
mod catalogue;
mod classify;
mod contest;
mod date;
mod downgrade;
mod error;
mod fallback;
mod fuzzy;
mod model;
mod models;
mod needs;
mod pool;
mod pooled;
mod question;
mod ranked;
pub mod request;
mod resolution;
mod resolve;
mod score;
mod selector;
mod stored;
mod tag;
mod terms;
mod wish;

pub use advice::{Advice, AgentWish, Budget, ContestAdvice, Pattern, Tried};
pub use availability::{Availability, Bar, HealthStatus, Scope};
pub use catalogue::{Catalogue, Provider, Source};
pub(crate) use classify::Phrase;
pub use classify::{Classified, ModelQuestion, ask_model, classify, hard_mark, has_hint, model_answer};
pub use contest::{HeldContest, advise};
pub use date::ReleaseDate;
pub use error::RouteError;
pub use fallback::{ChainOrigin, Exchange, chain, next};
pub use model::{Model, Status};
pub use models::Models;
pub use needs::{Lack, Needs, estimate_tokens};
pub use question::Question;
pub use resolution::{Candidate, Rejected, Resolution, Rule, Step, TraceStep};
pub use resolve::{check_names, resolve};
pub use selector::{MODEL, Selector};
pub use tag::TagRef;

#[cfg(test)]
mod tests;
