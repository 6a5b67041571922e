//! What git and the verify commands say about the repository when all is done, so that nothing has to be taken from
//! the tasks' own words.

use super::{
    DemoError, Errand, Scratch, TaskReport,
    scratch::{BRANCH, git},
};
use serde::Serialize;
use shuntyard_host::bounded;
use std::{collections::BTreeMap, process::Command, time::Duration};

const DEADLINE: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checkout {
    pub branch: String,
    pub commit: String,
    /// What is not as it should be; empty when all is there, green and committed.
    pub faults: Vec<String>,
}

impl Checkout {
    pub(super) fn gather(
        scratch: &Scratch,
        environment: &BTreeMap<String, String>,
        tasks: &[TaskReport],
    ) -> Result<Self, DemoError> {
        let (git, repository) = (git(environment), scratch.repository());
        let branch = git.current_branch(&repository)?.unwrap_or_default();
        let commit = git.head(&repository)?.unwrap_or_default();
        let mut faults = Vec::new();
        if branch != BRANCH {
            faults.push(format!("`{branch}` is checked out, not {BRANCH}"));
        }
        for task in tasks {
            let is_there = match task.merged() {
                Some(merged) => git.is_ancestor(&repository, merged, &commit)?,
                None => false,
            };
            if !is_there {
                faults.push(format!("{BRANCH} does not have the work of {}", task.id));
            }
        }
        let uncommitted = git.status_porcelain(&repository)?.len();
        if uncommitted > 0 {
            faults.push(format!("{uncommitted} files of the checkout are not as they are committed"));
        }
        for errand in Errand::ALL {
            let mut command = Command::new("sh");
            command.args(["-c", errand.verify()]).current_dir(&repository).env_clear().envs(environment);
            if !bounded::run(&mut command, DEADLINE).is_ok_and(|finished| finished.status.success()) {
                faults.push(format!("`{}` is red on {BRANCH}", errand.verify()));
            }
        }
        Ok(Self { branch, commit, faults })
    }
}
