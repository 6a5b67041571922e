//! The three tasks: what is wanted, what proves it, and what the scripted models do about it. The second builds on the
//! first; the third is too much for the first model that tries.

use super::{
    Scratch,
    models::{CAREFUL, SWIFT, model},
    scratch::{BRANCH, BROKEN_LINE, FILE, MENDED_LINE},
};
use crate::queue::supervise::{Defaults, NewTaskOrder};
use serde_json::json;
use shuntyard_core::{
    ModelRef,
    values::{Deliver, Urgency},
    work::task::{Agent, Gate, Place, TaskId, TaskSpec, Verification},
};
use shuntyard_scripted::{Said, Step};

const CHECK_FILE: &str = "check.sh";
const COUNT_FILE: &str = "count.sh";
/// As if the script's own name were one of the arguments.
const MISCOUNT: &str = "echo $(($# - 1))";
const COUNT: &str = "echo $#";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errand {
    Mend,
    Check,
    Count,
}

impl Errand {
    pub const ALL: [Self; 3] = [Self::Mend, Self::Check, Self::Count];

    /// What the tasks show, for the reader.
    pub const TITLE: &str = "Three tasks, seen through by the supervisor";

    #[must_use]
    pub fn id(self) -> TaskId {
        TaskId::numbered(match self {
            Self::Mend => 1,
            Self::Check => 2,
            Self::Count => 3,
        })
    }

    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Mend => "Make greet.sh greet the name it is given.",
            Self::Check => "Add check.sh, a test that greet.sh greets by name.",
            Self::Count => "Add count.sh, which prints how many names it is given.",
        }
    }

    /// What has to succeed before the work counts.
    #[must_use]
    pub fn verify(self) -> &'static str {
        match self {
            Self::Mend => "sh greet.sh Ada | grep -qx 'Hello, Ada!'",
            Self::Check => "sh check.sh",
            Self::Count => "sh count.sh Ada Grace | grep -qx 2",
        }
    }

    #[must_use]
    pub fn depends_on(self) -> Option<Self> {
        match self {
            Self::Check => Some(Self::Mend),
            Self::Mend | Self::Count => None,
        }
    }

    /// The models that try it, one after the other; only the last of them manages.
    pub(super) fn models(self) -> Vec<ModelRef> {
        match self {
            Self::Mend | Self::Check => vec![model(SWIFT)],
            Self::Count => vec![model(SWIFT), model(CAREFUL)],
        }
    }

    pub(super) fn order(self, scratch: &Scratch) -> NewTaskOrder {
        NewTaskOrder {
            id: Some(self.id()),
            batch: None,
            defaults: Defaults::None,
            parent: None,
            priority: 0,
            depends_on: self.depends_on().map(Self::id).into_iter().collect(),
            spec: TaskSpec {
                description: self.description().to_owned(),
                repository: scratch.repository().to_string_lossy().into_owned(),
                base: BRANCH.to_owned(),
                agent: Agent::Opencode { agent: None },
                place: Place::Worktree,
                model: None,
                // The tier that has both models.
                tier: Some("flash".to_owned()),
                task_type: None,
                needs: Vec::new(),
                verify: vec![self.verify().to_owned()],
                allow_paths: Vec::new(),
                max_cost: None,
                urgency: Urgency::Normal,
                estimate_seconds: None,
                attempts: None,
                labels: Vec::new(),
                deliver: Deliver::Merge,
                gate: Gate::Closed,
                verification: Verification::default(),
                diagnoses: None,
                strategy: None,
                contest: None,
                entry_of: None,
                todo: None,
                deadline: None,
                with_issue: false,
            },
        }
    }

    /// A model's side of the conversation, from its beginning.
    fn steps(self, model: &str) -> Vec<Step> {
        let read = |file: &str| Step::tool("read", json!({"filePath": file}));
        let write = |file: &str, line: &str| {
            Step::tool("write", json!({"filePath": file, "content": format!("#!/bin/sh\n{line}\n")}))
        };
        let edit = |file: &str, from: &str, to: &str| {
            Step::tool("edit", json!({"filePath": file, "oldString": from, "newString": to}))
        };
        let run = |command: &str| Step::tool("bash", json!({"command": command, "description": "Try it"}));
        match self {
            Self::Mend => vec![
                read(FILE),
                edit(FILE, BROKEN_LINE, MENDED_LINE),
                run("sh greet.sh Ada"),
                Step::text("greet.sh now greets the name it is given, and the world when there is none."),
            ],
            Self::Check => vec![
                write(CHECK_FILE, "test \"$(sh greet.sh Grace)\" = 'Hello, Grace!'"),
                run("sh check.sh"),
                Step::text("check.sh fails unless greet.sh greets by name."),
            ],
            Self::Count if model == CAREFUL => vec![
                read(COUNT_FILE),
                edit(COUNT_FILE, MISCOUNT, COUNT),
                run("sh count.sh Ada Grace"),
                Step::text("The script's own name is not among its arguments; count.sh counts right now."),
            ],
            Self::Count => vec![write(COUNT_FILE, MISCOUNT), Step::text("Done: count.sh counts the names.")],
        }
    }
}

/// What a model says next. It depends on the conversation alone, so that a task which is begun again gets the same
/// answers again.
pub(super) fn answer(model: &str, said: &[Said]) -> Step {
    let asked =
        |errand: &Errand| said.iter().any(|said| said.role == "user" && said.text.contains(errand.description()));
    let turn = said.iter().filter(|said| said.role == "tool").count();
    let steps = Errand::ALL.into_iter().find(asked).map(|errand| errand.steps(model)).unwrap_or_default();
    steps.into_iter().nth(turn).unwrap_or_else(|| Step::text("There is nothing more to do."))
}
