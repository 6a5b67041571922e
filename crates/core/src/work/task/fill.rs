//! A repository's settings for what its tasks do not set themselves.

use super::{Agent, Place, TaskSpec};
use crate::{
    settings::Repository,
    values::{Deliver, Strategy},
};

impl Repository {
    /// Fills in what a task was not given; `deliver` is the requested delivery. The setup command is not
    /// written into the task: it is read when a checkout is prepared, so that a change holds for queued tasks as well.
    pub fn fill(&self, spec: &mut TaskSpec, batch: &mut Option<String>, deliver: Option<Deliver>) {
        let given = |text: &str| (!text.trim().is_empty()).then(|| text.to_owned());
        *batch = batch.take().or_else(|| given(&self.batch));
        if spec.place == Place::Directory {
            return;
        }
        if spec.verify.is_empty() {
            spec.verify.clone_from(&self.verify);
        }
        if spec.allow_paths.is_empty() {
            spec.allow_paths.clone_from(&self.allow_paths);
        }
        spec.deliver = deliver.or(self.deliver).unwrap_or(spec.deliver);
        if spec.contest.is_some() || !matches!(spec.agent, Agent::Opencode { .. }) {
            return;
        }
        let named = spec.model.is_some() || spec.tier.is_some();
        // What a task names itself comes before a strategy that would choose something else.
        if !(named && self.strategy.chooses_tier()) && self.strategy != Strategy::default() {
            spec.strategy = spec.strategy.or(Some(self.strategy));
        }
        if !named && spec.task_type.is_none() && !spec.strategy().chooses_tier() {
            spec.tier = given(&self.tier);
        }
    }
}
