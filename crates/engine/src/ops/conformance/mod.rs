//! Whether the installed OpenCode still does what Shuntyard was built on, found out by running it
//! against the scripted provider: no key, no network, nothing of the user's touched.
//!
//! Invariant: the run ends within its bounds, and what it started and wrote is gone afterwards.

mod answers;
mod behaviour;
mod command;
mod scratch;
mod station;

pub(crate) use scratch::Scratch;
use serde::Serialize;
use station::Station;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::time::{Instant, timeout, timeout_at};

/// Bounds for what would otherwise never end. On a machine that is busy with builds a step of OpenCode takes many times
/// as long as on an idle one, and that must not be taken for an OpenCode that does not conform.
const WHOLE: Duration = Duration::from_secs(240);
const EACH: Duration = Duration::from_secs(60);

/// What the check needs of this machine.
#[derive(Debug, Clone)]
pub struct Site {
    /// Our own program, to be the guard.
    pub program: PathBuf,
    pub search_path: String,
    /// Where scratch directories go.
    pub temporary: PathBuf,
}

impl Site {
    #[must_use]
    pub fn new(program: &Path, environment: &BTreeMap<String, String>) -> Self {
        let variable = |name| environment.get(name).cloned().filter(|value: &String| !value.is_empty());
        Self {
            program: program.to_owned(),
            search_path: variable("PATH").unwrap_or_default(),
            temporary: variable("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from),
        }
    }
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: &'static str,
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What was seen; for a failure, what is relied on.
    pub detail: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    Holds,
    /// A known oddity, and what is done about it.
    WorkedAround {
        how: String,
    },
    /// OpenCode does something else than what is relied on.
    Fails {
        problem: String,
    },
}

impl Check {
    #[must_use]
    pub fn fails(&self) -> bool {
        matches!(self.outcome, Outcome::Fails { .. })
    }

    fn of(topic: Topic, seen: Result<Seen, Surprise>) -> Self {
        let (outcome, detail) = match seen {
            Ok(Seen::Holds(detail)) => (Outcome::Holds, detail),
            Ok(Seen::WorkedAround { how, detail }) => (Outcome::WorkedAround { how: how.to_owned() }, detail),
            Err(Surprise(problem)) => (Outcome::Fails { problem }, topic.relies_on().to_owned()),
        };
        Self { name: topic.name(), outcome, detail }
    }
}

/// What a check found when nothing surprised it.
#[derive(Debug)]
enum Seen {
    Holds(String),
    WorkedAround { how: &'static str, detail: String },
}

/// What was seen in place of what is relied on.
#[derive(Debug)]
struct Surprise(String);

impl<E: std::error::Error> From<E> for Surprise {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topic {
    Start,
    Stdin,
    PermissionAsk,
    QuestionTool,
    ModelUsed,
    Abort,
    RetryAfter,
    DatabaseIsolation,
    StructuredOutput,
    Cost,
    EmptyAnswer,
}

/// The only check of the report when the server did not even start.
pub const START: &str = "start";

const TOPICS: [Topic; 10] = [
    Topic::Stdin,
    Topic::PermissionAsk,
    Topic::QuestionTool,
    Topic::ModelUsed,
    Topic::Abort,
    Topic::RetryAfter,
    Topic::DatabaseIsolation,
    Topic::StructuredOutput,
    Topic::Cost,
    Topic::EmptyAnswer,
];

impl Topic {
    fn name(self) -> &'static str {
        match self {
            Self::Start => START,
            Self::Stdin => "stdin",
            Self::PermissionAsk => "permission ask",
            Self::QuestionTool => "question tool",
            Self::ModelUsed => "model used",
            Self::Abort => "abort",
            Self::RetryAfter => "retry-after",
            Self::DatabaseIsolation => "database isolation",
            Self::StructuredOutput => "structured output",
            Self::Cost => "cost",
            Self::EmptyAnswer => "empty answer",
        }
    }

    fn relies_on(self) -> &'static str {
        match self {
            Self::Start => "`opencode serve` says where it listens and becomes healthy",
            Self::Stdin => "`opencode run` without input answers and ends",
            Self::PermissionAsk => {
                "a permission that asks is announced, and a refusal with a message lets the run go on"
            }
            Self::QuestionTool => "a client that is not OpenCode's own is not offered the question tool",
            Self::ModelUsed => "the model that a prompt names is the one that answers",
            Self::Abort => "an abort ends a hanging answer at once, at the provider too",
            Self::RetryAfter => "a provider's retry-after is announced, so that the run can be given up",
            Self::DatabaseIsolation => "OPENCODE_DB keeps a server out of the shared database",
            Self::StructuredOutput => "an answer to a schema comes back in the message's `structured`",
            Self::Cost => "a session's cost is the sum over its steps, by the configured prices",
            Self::EmptyAnswer => "an answer without text can be told from a good one",
        }
    }
}

/// Runs every check on `binary` and says what it is at through `progress`.
pub async fn run(site: &Site, binary: &Path, progress: &dyn Fn(&str)) -> Vec<Check> {
    let deadline = Instant::now() + WHOLE;
    progress("conformance: starting OpenCode with a scripted model");
    let station = match Station::start(site, binary).await {
        Ok(station) => station,
        Err(surprise) => return vec![Check::of(Topic::Start, Err(surprise))],
    };
    let mut done = Vec::new();
    let all = async {
        for topic in TOPICS {
            progress(&format!("conformance: {}", topic.name()));
            done.push(Check::of(topic, examine(topic, &station).await));
        }
    };
    let finished = timeout_at(deadline, all).await.is_ok();
    if !finished {
        let late = || Surprise(format!("not looked at: the checks took longer than {} s", WHOLE.as_secs()));
        let left = TOPICS.into_iter().skip(done.len()).map(|topic| Check::of(topic, Err(late())));
        done.extend(left.collect::<Vec<_>>());
    }
    station.end().await;
    done
}

async fn examine(topic: Topic, station: &Station) -> Result<Seen, Surprise> {
    let looking = async {
        match topic {
            Topic::Start => Ok(Seen::Holds("it starts".into())),
            Topic::Stdin => command::stdin(station).await,
            Topic::PermissionAsk => behaviour::permission_ask(station).await,
            Topic::QuestionTool => behaviour::question_tool(station).await,
            Topic::ModelUsed => behaviour::model_used(station).await,
            Topic::Abort => behaviour::abort(station).await,
            Topic::RetryAfter => behaviour::retry_after(station).await,
            Topic::DatabaseIsolation => station.database_isolation().await,
            Topic::StructuredOutput => answers::structured_output(station).await,
            Topic::Cost => answers::cost(station).await,
            Topic::EmptyAnswer => answers::empty_answer(station).await,
        }
    };
    timeout(EACH, looking)
        .await
        .unwrap_or_else(|_| Err(Surprise(format!("nothing was settled within {} s", EACH.as_secs()))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_check_says_what_was_seen_or_what_is_relied_on() {
        let held = Check::of(Topic::Cost, Ok(Seen::Holds("$1".into())));
        assert_eq!(serde_json::to_value(&held).unwrap(), json!({"name": "cost", "outcome": "holds", "detail": "$1"}));
        let around = Check::of(Topic::Abort, Ok(Seen::WorkedAround { how: "by hand", detail: "odd".into() }));
        assert_eq!(
            serde_json::to_value(&around).unwrap(),
            json!({"name": "abort", "outcome": "worked_around", "how": "by hand", "detail": "odd"})
        );
        let failed = Check::of(Topic::Stdin, Err(Surprise("it slept".into())));
        assert!(failed.fails() && !held.fails() && !around.fails());
        assert_eq!(failed.detail, Topic::Stdin.relies_on());
    }

    #[test]
    fn every_topic_but_the_start_is_checked_once_under_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = TOPICS.iter().map(|topic| topic.name()).collect();
        assert_eq!(names.len(), TOPICS.len());
        assert!(!names.contains(START));
    }

    #[tokio::test]
    async fn a_program_that_is_no_opencode_fails_the_start_and_leaves_nothing() {
        let temporary = tempfile::tempdir().unwrap();
        let site = Site {
            // A guard that ends at once acts like an OpenCode that does.
            program: PathBuf::from("/bin/true"),
            search_path: "/usr/bin:/bin".into(),
            temporary: temporary.path().to_owned(),
        };
        let checks = run(&site, Path::new("/bin/true"), &|_| {}).await;
        assert_eq!(checks.len(), 1);
        assert_eq!(checks[0].name, START);
        assert!(checks[0].fails(), "{checks:?}");
        assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
    }
}
