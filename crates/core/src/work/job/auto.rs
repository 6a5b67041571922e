//! Which profile a task goes to when none was named.

use crate::{routing::classify, settings::Config};

/// The profile, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picked {
    pub profile: String,
    pub reason: String,
}

/// An image needs eyes; otherwise the classification of the text decides, by a table of the configuration.
#[must_use]
pub fn pick_profile(config: &Config, task: &str, images: usize) -> Picked {
    let jobs = &config.jobs;
    if images > 0 {
        return Picked { profile: jobs.image_profile.clone(), reason: format!("{images} attached image(s)") };
    }
    let looks = classify(task, images, config).task_type;
    let by_type = looks.as_ref().and_then(|looks| Some((looks, jobs.auto.get(looks)?)));
    match by_type {
        Some((looks, profile)) => Picked { profile: profile.clone(), reason: format!("the task looks like {looks}") },
        None => Picked {
            profile: jobs.default_profile.clone(),
            reason: "the task looks like nothing in particular".to_owned(),
        },
    }
}
