//! Whether workers and workflows are set so that they can work.

use super::{Faults, refer};
use crate::{settings::Config, values::Capability};

impl Config {
    pub(super) fn check_jobs(&self, faults: &mut Faults) {
        let jobs = &self.jobs;
        let profiles: Vec<&String> = self.profiles.keys().collect();
        let task_types: Vec<&String> = self.task_types.keys().collect();
        refer(faults, "jobs.default_profile".into(), &jobs.default_profile, "profile", &profiles);
        refer(faults, "jobs.image_profile".into(), &jobs.image_profile, "profile", &profiles);
        let sees =
            self.workers.get(&jobs.image_profile).is_some_and(|worker| worker.needs.contains(&Capability::Vision));
        if !sees {
            let need = "has to need vision, or its images may reach a model that does not see them";
            faults.push(("jobs.image_profile".into(), format!("`workers.{}` {need}", jobs.image_profile)));
        }
        for (task_type, profile) in &jobs.auto {
            refer(faults, format!("jobs.auto.{task_type}"), task_type, "task type", &task_types);
            refer(faults, format!("jobs.auto.{task_type}"), profile, "profile", &profiles);
        }
        if !(1..=1000).contains(&jobs.at_once) {
            faults.push(("jobs.at_once".into(), format!("{} is not between 1 and 1000", jobs.at_once)));
        }
        if jobs.progress_every.0.is_none() {
            let problem = "a job whose process has died is found at this interval: it cannot be switched off";
            faults.push(("jobs.progress_every".into(), problem.into()));
        }
        for name in self.workers.keys() {
            refer(faults, format!("workers.{name}"), name, "profile", &profiles);
        }
        for name in self.workflows.keys() {
            self.check_workflow(name, faults);
        }
    }

    fn check_workflow(&self, name: &str, faults: &mut Faults) {
        let Some(workflow) = self.workflows.get(name) else { return };
        let key = format!("workflows.{name}");
        let profiles: Vec<&String> = self.profiles.keys().collect();
        let most = self.jobs.workflow_steps;
        if workflow.steps.is_empty() || workflow.steps.len() > most {
            faults.push((key.clone(), format!("{} steps; it has to be 1 to {most}", workflow.steps.len())));
        }
        for (place, step) in workflow.steps.iter().enumerate() {
            refer(faults, format!("{key}.{}", step.name), &step.profile, "profile", &profiles);
            let earlier = &workflow.steps[..place];
            if step.name.trim().is_empty() || earlier.iter().any(|one| one.name == step.name) {
                faults.push((key.clone(), format!("step {} needs a name of its own", place + 1)));
            }
            if let Some(judge) = &step.unless_approved_by
                && !earlier.iter().any(|one| one.name == *judge && one.judges)
            {
                let problem = format!("`{}` waits for `{judge}`, which is no earlier step that judges", step.name);
                faults.push((key.clone(), problem));
            }
        }
    }
}
