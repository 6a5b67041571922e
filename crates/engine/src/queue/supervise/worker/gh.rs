//! The program `gh` in one repository. Each call ends within `supervise.gh_timeout`.

use crate::Context;
use shuntyard_core::{
    settings::MergeMethod,
    values::redact::redact,
    work::{
        pull_request::{FIELDS, LineComment, PullRequest, StatusCheck},
        task::Task,
    },
};
use shuntyard_host::git::gh;
use std::{
    path::{Path, PathBuf},
    thread::sleep,
    time::Duration,
};

/// The service computes whether a pull request can be merged when it is asked, and has it a moment later.
const SECOND_QUERY: Duration = Duration::from_secs(2);

/// How `gh` says that there is no such pull request.
const ABSENT: [&str; 2] = ["no pull requests found", "Could not resolve to a PullRequest"];

#[derive(Debug, Clone)]
pub(crate) struct Gh {
    repository: PathBuf,
    path: Option<String>,
    deadline: Duration,
}

impl Gh {
    pub(crate) fn of(context: &Context, repository: &Path) -> Self {
        Self {
            repository: repository.to_owned(),
            path: context.variable("PATH").map(str::to_owned),
            deadline: context.config.supervise.gh_timeout.0.unwrap_or(Duration::MAX),
        }
    }

    pub(super) fn create(&self, task: &Task, branch: &str) -> Result<String, String> {
        let title = format!("{}: {}", task.id, task.spec.description.lines().next().unwrap_or_default());
        let (base, body) = (&task.spec.base, &task.spec.description);
        let create = ["pr", "create", "--head", branch, "--base", base, "--title", &title, "--body", body];
        let said = self.run(&create)?;
        Ok(said.lines().last().unwrap_or_default().trim().to_owned())
    }

    /// By its address or its branch; none when the service has no such pull request.
    pub(crate) fn view(&self, which: &str) -> Result<Option<PullRequest>, String> {
        let said = match self.run(&["pr", "view", which, "--json", FIELDS]) {
            Ok(said) => said,
            Err(problem) if ABSENT.iter().any(|words| problem.contains(words)) => return Ok(None),
            Err(problem) => return Err(problem),
        };
        let found = serde_json::from_str(&said).map_err(|error| format!("gh printed something unknown: {error}"))?;
        Ok(Some(found))
    }

    /// The same, asked twice when the first answer leaves open whether it can be merged.
    pub(crate) fn observe(&self, url: &str) -> Result<Option<PullRequest>, String> {
        let found = self.view(url)?;
        if !found.as_ref().is_some_and(PullRequest::is_uncertain) {
            return Ok(found);
        }
        sleep(SECOND_QUERY);
        self.view(url)
    }

    /// Merges it if its head is this commit. One that is merged already stays as it is.
    pub(crate) fn merge(&self, url: &str, head: &str, method: MergeMethod) -> Result<(), String> {
        self.run(&["pr", "merge", url, method.option(), "--match-head-commit", head]).map(drop)
    }

    /// The log of the steps that failed, where the check is a job of GitHub Actions.
    pub(crate) fn failed_log(&self, url: &str, check: &StatusCheck) -> Option<String> {
        let address = Address::of(url)?;
        let repository = format!("{}/{}", address.host, address.repository);
        let said = self.run(&["run", "view", "--repo", &repository, "--job", check.job()?, "--log-failed"]).ok()?;
        // Each line begins with the names of the job and the step.
        let lines = said.lines().map(|line| line.splitn(3, '\t').last().unwrap_or(line));
        Some(redact(&lines.collect::<Vec<_>>().join("\n")))
    }

    /// The newest comments on lines.
    pub(crate) fn line_comments(&self, url: &str) -> Result<Vec<LineComment>, String> {
        let Some(Address { host, repository, number }) = Address::of(url) else { return Ok(Vec::new()) };
        let path = format!("repos/{repository}/pulls/{number}/comments?per_page=100&sort=created&direction=desc");
        let said = self.run(&["api", "--hostname", host, &path])?;
        let mut comments: Vec<LineComment> =
            serde_json::from_str(&said).map_err(|error| format!("gh printed something unknown: {error}"))?;
        comments.reverse();
        Ok(comments)
    }

    fn run(&self, args: &[&str]) -> Result<String, String> {
        gh(&self.repository, self.path.as_deref(), self.deadline, args)
    }
}

/// The parts of `https://HOST/OWNER/NAME/pull/NUMBER`.
#[derive(Debug, PartialEq, Eq)]
struct Address<'a> {
    host: &'a str,
    repository: &'a str,
    number: u64,
}

impl<'a> Address<'a> {
    fn of(url: &'a str) -> Option<Self> {
        let (host, rest) = url.strip_prefix("https://")?.split_once('/')?;
        let (repository, number) = rest.split_once("/pull/")?;
        Some(Self { host, repository, number: number.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn an_address_has_a_host_a_repository_and_a_number() {
        let wanted = Address { host: "github.com", repository: "ann/app", number: 7 };
        assert_eq!(Address::of("https://github.com/ann/app/pull/7"), Some(wanted));
        for other in ["", "http://github.com/ann/app/pull/7", "https://github.com/ann/app/pull/x", "https://x"] {
            assert_eq!(Address::of(other), None, "{other}");
        }
    }
}
