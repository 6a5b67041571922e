//! What holds for one repository of the user's. Only the user's own configuration sets it: these commands are run.

use super::{MergeCheck, MergeMethod, Merging};
use crate::values::{Deliver, Strategy};
use serde::{Deserialize, Deserializer, Serialize};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Repository {
    /// Prepares a fresh checkout: installs dependencies, generates files. Empty: nothing has to be prepared.
    pub setup: String,
    /// Whether the repository's git hooks run for commits in a task's workspace.
    pub hooks: bool,
    /// Whether a supervisor keeps its TODO.md and the store in step.
    pub todo: bool,
    /// Commands that have to succeed, for tasks that name none.
    #[serde(deserialize_with = "one_or_many")]
    pub verify: Vec<String>,
    /// What becomes of good work, for tasks that do not set it.
    pub deliver: Option<Deliver>,
    /// The batch of tasks that name none. Empty: no batch.
    pub batch: String,
    /// The tier of tasks that name no model, tier or kind of task. Empty: it is chosen.
    pub tier: String,
    /// How the attempts of tasks that name no strategy follow each other. A contest has to name its models.
    pub strategy: Strategy,
    /// Where tasks that do not set it may change something. Empty: everywhere.
    #[serde(deserialize_with = "one_or_many")]
    pub allow_paths: Vec<String>,
    /// When a supervisor merges the pull requests that it opened.
    pub merge: Merging,
    pub merge_method: MergeMethod,
    /// What is checked on the merge commit of a pull request. A task whose checks fail is opened again.
    pub after_merge: Vec<MergeCheck>,
}

impl super::Config {
    /// What is set for the repository with this top directory.
    #[must_use]
    pub fn repository_named(&self, top: &str) -> Option<&Repository> {
        let same = |name: &str| Path::new(name) == Path::new(top);
        self.repository.iter().find(|(name, _)| same(name)).map(|(_, found)| found)
    }
}

/// `host/path` of a remote's address, so that its forms over https and ssh are the same. None for a path.
#[must_use]
pub fn remote_name(url: &str) -> Option<String> {
    let url = url.trim();
    let (host, path) = match url.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        // As in git@host:path; a colon after a slash belongs to a path.
        None => url.split_once(':').filter(|(host, path)| !host.contains('/') && host.len() > 1 && !path.is_empty())?,
    };
    let host = host.rsplit('@').next()?;
    let host = host.split_once(':').map_or(host, |(host, _port)| host).to_ascii_lowercase();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Texts {
        One(String),
        Many(Vec<String>),
    }
    let texts = match Texts::deserialize(deserializer)? {
        Texts::One(text) => vec![text],
        Texts::Many(texts) => texts,
    };
    Ok(texts.into_iter().filter(|text| !text.trim().is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use crate::{
        settings::{Layer, Layered, Origin},
        values::Deliver,
    };

    fn merged(text: &str, origin: Origin) -> Result<Layered, String> {
        Layered::merge(&[Layer { origin, text: text.to_owned() }]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_repository_is_found_by_its_top_directory() {
        let text = "[repository.\"/home/ann/app\"]\nsetup = \"npm ci\"\n";
        let config = merged(text, Origin::File("config.toml".into())).unwrap().config;
        assert_eq!(config.repository_named("/home/ann/app/").map(|found| found.setup.as_str()), Some("npm ci"));
        assert_eq!(config.repository_named("/home/ann/other"), None);
    }

    #[test]
    fn a_remote_is_the_same_in_all_its_forms() {
        let same = [
            "https://github.com/ann/app",
            "https://ann:secret@GitHub.com/ann/app.git/",
            "git@github.com:ann/app.git",
            "ssh://git@github.com:22/ann/app",
        ];
        for url in same {
            assert_eq!(super::remote_name(url).as_deref(), Some("github.com/ann/app"), "{url}");
        }
        for other in ["/home/ann/app", "./app", "C:/app", "file:///srv/app.git", "https://github.com", ""] {
            assert_eq!(super::remote_name(other), None, "{other}");
        }
    }

    #[test]
    fn only_the_users_own_configuration_names_commands() {
        let text = "[repository.\"/home/ann/app\"]\nsetup = \"npm ci\"\n";
        assert!(merged(text, Origin::Repository("app/.shuntyard".into())).unwrap_err().contains("repository"));
        let unknown = merged(&text.replace("setup", "setp"), Origin::File("config.toml".into())).unwrap_err();
        assert!(unknown.contains("setp"), "{unknown}");
    }

    #[test]
    fn commands_and_paths_are_one_text_or_a_list() {
        let of = |text: &str| {
            let text = format!("[repository.\"/app\"]\n{text}\n");
            let config = merged(&text, Origin::File("config.toml".into()))?.config;
            config.repository_named("/app").cloned().ok_or_else(|| "missing".to_owned())
        };
        let one = of("todo = true\nverify = \"make test\"\nallow_paths = \"src\"\nstrategy = \"auto\"").unwrap();
        assert_eq!(
            (one.todo, one.verify, one.allow_paths),
            (true, vec!["make test".to_owned()], vec!["src".to_owned()])
        );
        let many = of("verify = [\"make\", \"make test\"]\ndeliver = \"merge\"").unwrap();
        assert_eq!((many.verify.len(), many.deliver), (2, Some(Deliver::Merge)));
        for (wrong, named) in
            [("deliver = \"mail\"", "mail"), ("strategy = \"luck\"", "luck"), ("tier = \"no-such\"", "no-such")]
        {
            let problem = of(wrong).unwrap_err();
            assert!(problem.contains(named), "{problem}");
        }
    }
}
