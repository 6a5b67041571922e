//! What keeps a part from going on, and what a person can do about it.

use super::{order::Turn, plan::Plan};
use shuntyard_core::{ErrorClass, Nano};

/// A part that cannot go on, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stuck {
    /// None when it is the delivery of the whole.
    pub part: Option<usize>,
    pub reason: String,
    pub next: String,
    pub lack: Lack,
}

/// What is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    Money,
    /// Work that is good, or a person's decision how it goes on.
    Other,
}

/// The class of what keeps all of them.
pub(super) fn class(stuck: &[Stuck]) -> Option<&'static str> {
    match stuck {
        [] => None,
        all if all.iter().all(|stuck| stuck.lack == Lack::Money) => Some(ErrorClass::BudgetRefused.as_str()),
        _ => Some("failed"),
    }
}

/// A turn for which there is no money, or not more than was too little before.
pub(super) fn unpaid(plan: &Plan, turn: &Turn, spent: Nano) -> Stuck {
    let reason = match &turn.instead_of {
        Some(instead_of) => instead_of.reason.clone(),
        None => "what the spec may cost is spent".to_owned(),
    };
    let next =
        format!("it has cost {spent} until now; allow it more: `shuntyard spec run {} --max-cost USD`", plan.name);
    Stuck { part: Some(turn.place), reason, next, lack: Lack::Money }
}
