//! What the tasks of a spec are called, and how they are found again.

use super::{RunError, Step, plan::Plan};
use crate::{Context, base::hash::short_hash};
use shuntyard_core::{
    roles::spec::{Agent, Role, UnitName, steps},
    work::task::{Task, TaskId, TaskSpec},
};
use shuntyard_store::ErrorKind;
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    prefix: String,
    pub batch: String,
    spec: String,
    /// Names that other tasks have taken since this spec began, and what its tasks are called instead.
    taken: BTreeSet<TaskId>,
    apart: String,
}

/// A step of a part, as its labels say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::roles::spec) struct Labelled {
    pub unit: Option<String>,
    pub step: Step,
    pub cycle: u32,
    /// How often the step was begun before, by tasks that had too little money for it.
    pub again: u32,
}

impl Names {
    /// Ids hold for the whole store, so a spec of the same number in another repository has other names.
    pub async fn choose(context: &Context, plan: &Plan) -> Result<Self, RunError> {
        let mut plain = Self::of(plan, "");
        let hash = short_hash(&format!("{}\n{}", plan.repository_name(), plan.name));
        let apart = format!("x{}", &hash[..6]);
        let (ours, taken) = plain.there(context, plan).await?;
        // What has begun under a name goes on under it, or it would be done again.
        if taken.is_empty() || ours {
            (plain.taken, plain.apart) = (taken, apart);
            return Ok(plain);
        }
        Ok(Self::of(plan, &apart))
    }

    pub fn of(plan: &Plan, apart: &str) -> Self {
        let number = format!("{:03}{apart}", plan.name.number);
        Self {
            prefix: format!("s{number}"),
            batch: format!("spec-{number}-{}", plan.name.id),
            spec: spec_label(&plan.name.to_string()),
            taken: BTreeSet::new(),
            apart: String::new(),
        }
    }

    /// Whether a task of this spec has one of the names, and which of them other tasks have.
    async fn there(&self, context: &Context, plan: &Plan) -> Result<(bool, BTreeSet<TaskId>), RunError> {
        let (mut ours, mut taken) = (false, BTreeSet::new());
        for id in self.all(plan)? {
            match context.store.task(&id).await {
                Ok(record) if self.is_ours(plan, &record.task) => ours = true,
                Ok(_) => drop(taken.insert(id)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok((ours, taken))
    }

    fn all(&self, plan: &Plan) -> Result<Vec<TaskId>, RunError> {
        let mut ids = vec![self.id(None, Step::Deliver, 1)?];
        for part in &plan.parts {
            ids.push(self.id(part.unit.as_ref(), Step::Deliver, 1)?);
            for (role, cycle) in steps(&part.pipeline) {
                ids.push(self.id(part.unit.as_ref(), Step::Role(role), cycle)?);
            }
        }
        Ok(ids)
    }

    /// Such as `s007-implementer`, and `s007-01-implementer-2` for a unit in its second cycle.
    pub fn id(&self, unit: Option<&UnitName>, step: Step, cycle: u32) -> Result<TaskId, RunError> {
        let unit = unit.map_or_else(String::new, |unit| format!("-{:02}", unit.number));
        let again = if cycle > 1 { format!("-{cycle}") } else { String::new() };
        let named = |apart: &str| format!("{}{apart}{unit}-{}{again}", self.prefix, step.as_str()).parse();
        let id = named("")?;
        Ok(if self.taken.contains(&id) { named(&self.apart)? } else { id })
    }

    /// The same step by another task.
    pub fn id_again(&self, unit: Option<&UnitName>, step: Step, cycle: u32, again: u32) -> Result<TaskId, RunError> {
        let id = self.id(unit, step, cycle)?;
        Ok(match again {
            0 => id,
            1 => format!("{id}-again").parse()?,
            more => format!("{id}-again-{more}").parse()?,
        })
    }

    /// Where the units of a spec come together.
    pub fn meeting(&self) -> String {
        format!("shuntyard/{}", self.prefix)
    }

    pub fn branch(&self, unit: Option<&UnitName>, step: Step, cycle: u32) -> Result<String, RunError> {
        Ok(TaskSpec::branch(&self.id(unit, step, cycle)?))
    }

    pub fn labels(&self, unit: Option<&UnitName>, step: Step, cycle: u32, again: u32) -> Vec<String> {
        let unit = unit.map(|unit| format!("unit:{}", unit.slug));
        let more = [format!("role:{}", step.as_str()), format!("cycle:{cycle}")];
        let again = (again > 0).then(|| format!("again:{again}"));
        std::iter::once(self.spec.clone()).chain(unit).chain(more).chain(again).collect()
    }

    pub fn is_ours(&self, plan: &Plan, task: &Task) -> bool {
        task.spec.labels.contains(&self.spec) && task.spec.repository == plan.repository_name()
    }

    /// Nothing for a task that is no step, such as the diagnosis of another.
    pub fn read(&self, plan: &Plan, task: &Task) -> Option<Labelled> {
        if self.is_ours(plan, task) { labelled(task) } else { None }
    }
}

/// By which the tasks of a spec are known.
pub(in crate::roles::spec) fn spec_label(name: &str) -> String {
    format!("spec:{name}")
}

/// Which step of its spec a task is.
pub(in crate::roles::spec) fn labelled(task: &Task) -> Option<Labelled> {
    if task.spec.diagnoses.is_some() {
        return None;
    }
    let said = |key: &str| task.spec.labels.iter().find_map(|label| label.strip_prefix(key));
    let word = said("role:")?;
    let step = match role_named(word) {
        Some(role) => Step::Role(role),
        None if word == Step::DELIVER => Step::Deliver,
        None => return None,
    };
    let again = said("again:").and_then(|again| again.parse().ok()).unwrap_or(0);
    Some(Labelled { unit: said("unit:").map(str::to_owned), step, cycle: said("cycle:")?.parse().ok()?, again })
}

fn role_named(word: &str) -> Option<Role> {
    let agents = Agent::ALL.map(Role::Agent);
    agents.into_iter().chain([Role::Validator]).find(|role| role.as_str() == word)
}
