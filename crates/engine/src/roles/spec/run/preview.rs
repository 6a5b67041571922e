//! What a run would do, without doing any of it.

use super::{
    RunError, Stand, Step, Wish,
    borders::{Borders, borders},
    look::{Known, Seen, facts, look},
    names::Names,
    order::{Orders, Shape},
    plan::Plan,
};
use crate::{Context, in_thread};
use serde::Serialize;
use shuntyard_core::{roles::spec::Role, values::Deliver, work::task::Agent};
use std::sync::Arc;

/// A step as it would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Planned {
    /// Parts of one wave run at the same time.
    pub wave: usize,
    pub unit: Option<String>,
    pub role: &'static str,
    pub task: String,
    /// `open`, or what has become of it already.
    pub stand: Stand,
    /// The OpenCode agent that does it, when there is one of that name.
    pub agent: Option<String>,
    pub command: Option<String>,
    pub base: String,
    /// Where something may be changed; empty: everywhere but below.
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    pub verify: Vec<String>,
}

/// The steps of the first cycle, and the delivery.
pub async fn preview(context: &Context, plan: Plan, wish: &Wish) -> Result<Vec<Planned>, RunError> {
    let plan = Arc::new(plan);
    let names = Names::choose(context, &plan).await?;
    let seen = look(context, &plan, &names, &mut Known::default()).await?;
    let (context, wish) = (context.clone(), wish.clone());
    in_thread(move || planned(&context, &plan, &names, &wish, &seen)).await.map_err(|_| RunError::CutOff)?
}

/// Blocks: git is asked which agents there are.
fn planned(
    context: &Context,
    plan: &Plan,
    names: &Names,
    wish: &Wish,
    seen: &[Seen],
) -> Result<Vec<Planned>, RunError> {
    let orders = Orders { context, plan, names, wish };
    let mut planned = Vec::new();
    let begins = if plan.has_units() { names.meeting() } else { plan.base.name().to_owned() };
    let mut last = begins.clone();
    for (wave, places) in plan.waves.iter().enumerate() {
        for (place, part) in places.iter().filter_map(|place| Some((*place, plan.parts.get(*place)?))) {
            let facts = facts(plan, place, seen);
            let unit = part.unit.as_ref();
            let mut base = begins.clone();
            for role in &part.pipeline {
                let step = Step::Role(*role);
                let fact = facts.iter().rfind(|fact| fact.role == *role && fact.cycle == 1);
                let Borders { allow, deny, .. } = borders(part, *role, &plan.closed());
                let Shape { agent, command, verify } = orders.shape(part, *role)?;
                planned.push(Planned {
                    wave: wave + 1,
                    unit: unit.map(ToString::to_string),
                    role: role.as_str(),
                    task: names.id(unit, step, 1)?.to_string(),
                    stand: fact.map_or(Stand::Open, |fact| Stand::of(&fact.outcome)),
                    agent,
                    command,
                    base: base.clone(),
                    allow,
                    deny,
                    verify,
                });
                // What the files say was done has no branch of its own.
                let by_files = fact.is_some() && !seen.iter().any(|seen| seen.part == Some(place) && seen.step == step);
                let of_step = |seen: &&Seen| (seen.part, seen.step, seen.cycle) == (Some(place), step, 1);
                last = match seen.iter().rfind(of_step) {
                    Some(newest) => newest.branch(),
                    None => names.branch(unit, step, 1)?,
                };
                if *role != Role::Validator && !by_files {
                    base.clone_from(&last);
                }
            }
            if plan.has_units() {
                planned.push(delivery(&orders, wave + 1, Some(place), &last, &begins, Deliver::Merge)?);
            }
        }
    }
    if wish.deliver != Deliver::Branch {
        let from = if plan.has_units() { begins } else { last };
        planned.push(delivery(&orders, plan.waves.len() + 1, None, &from, plan.base.name(), wish.deliver)?);
    }
    Ok(planned)
}

fn delivery(
    orders: &Orders<'_>,
    wave: usize,
    part: Option<usize>,
    from: &str,
    into: &str,
    deliver: Deliver,
) -> Result<Planned, RunError> {
    let part = part.and_then(|part| orders.plan.parts.get(part));
    let order = orders.deliver(part, from, into, deliver)?;
    let command = match order.spec.agent {
        Agent::Command { command } => Some(command),
        Agent::Opencode { .. } => None,
    };
    Ok(Planned {
        wave,
        unit: part.and_then(|part| part.unit.as_ref()).map(ToString::to_string),
        role: Step::Deliver.as_str(),
        task: order.id.map(|id| id.to_string()).unwrap_or_default(),
        stand: Stand::Open,
        agent: None,
        command,
        base: into.to_owned(),
        allow: Vec::new(),
        deny: Vec::new(),
        verify: order.spec.verify,
    })
}
