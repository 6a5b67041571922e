//! What the tasks of a spec are called, and how they are found again.

use super::{RunError, Step, plan::Plan};
use crate::{Context, server::short_hash};
use switchyard_core::{
    spec::{Agent, Role, UnitName, steps},
    task::{Task, TaskId, TaskSpec},
};
use switchyard_store::ErrorKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    prefix: String,
    pub batch: String,
    spec: String,
}

/// A step of a part, as its labels say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Labelled {
    pub unit: Option<String>,
    pub step: Step,
    pub cycle: u32,
}

impl Names {
    /// Ids hold for the whole store, so a spec of the same number in another repository has other names.
    pub async fn choose(context: &Context, plan: &Plan) -> Result<Self, RunError> {
        let plain = Self::of(plan, "");
        if plain.are_free(context, plan).await? {
            return Ok(plain);
        }
        let hash = short_hash(&format!("{}\n{}", plan.repository_name(), plan.name));
        Ok(Self::of(plan, &format!("x{}", &hash[..6])))
    }

    pub fn of(plan: &Plan, apart: &str) -> Self {
        let number = format!("{:03}{apart}", plan.name.number);
        Self {
            prefix: format!("s{number}"),
            batch: format!("spec-{number}-{}", plan.name.id),
            spec: format!("spec:{}", plan.name),
        }
    }

    async fn are_free(&self, context: &Context, plan: &Plan) -> Result<bool, RunError> {
        for id in self.all(plan)? {
            match context.store.task(&id).await {
                Ok(record) if self.is_ours(plan, &record.task) => {}
                Ok(_) => return Ok(false),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
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
        Ok(format!("{}{unit}-{}{again}", self.prefix, step.as_str()).parse()?)
    }

    /// Where the units of a spec come together.
    pub fn meeting(&self) -> String {
        format!("switchyard/{}", self.prefix)
    }

    pub fn branch(&self, unit: Option<&UnitName>, step: Step, cycle: u32) -> Result<String, RunError> {
        Ok(TaskSpec::branch(&self.id(unit, step, cycle)?))
    }

    pub fn labels(&self, unit: Option<&UnitName>, step: Step, cycle: u32) -> Vec<String> {
        let unit = unit.map(|unit| format!("unit:{}", unit.slug));
        let more = [format!("role:{}", step.as_str()), format!("cycle:{cycle}")];
        std::iter::once(self.spec.clone()).chain(unit).chain(more).collect()
    }

    pub fn is_ours(&self, plan: &Plan, task: &Task) -> bool {
        task.spec.labels.contains(&self.spec) && task.spec.repository == plan.repository_name()
    }

    /// Nothing for a task that is no step, such as one that looks into another.
    pub fn read(&self, plan: &Plan, task: &Task) -> Option<Labelled> {
        if !self.is_ours(plan, task) || task.spec.diagnoses.is_some() {
            return None;
        }
        let said = |key: &str| task.spec.labels.iter().find_map(|label| label.strip_prefix(key));
        let word = said("role:")?;
        let step = match role_named(word) {
            Some(role) => Step::Role(role),
            None if word == Step::DELIVER => Step::Deliver,
            None => return None,
        };
        Some(Labelled { unit: said("unit:").map(str::to_owned), step, cycle: said("cycle:")?.parse().ok()? })
    }
}

fn role_named(word: &str) -> Option<Role> {
    let agents = Agent::ALL.map(Role::Agent);
    agents.into_iter().chain([Role::Validator]).find(|role| role.as_str() == word)
}
