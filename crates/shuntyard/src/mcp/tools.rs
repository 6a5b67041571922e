//! The tools: their names, their descriptions for a model, and what each takes. There are these seven and no others.

use super::field::{Field, Kind};
use clap::ValueEnum;

/// Which tools a server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Toolset {
    /// task_start, task_await, task_peek, task_list, task_cancel
    Tasks,
    /// dispatch, batch_dispatch
    Dispatch,
    /// Both sets
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Start,
    Await,
    Peek,
    List,
    Cancel,
    Dispatch,
    BatchDispatch,
}

/// What a client may take for granted, for those that ask their user before some tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Looks,
    Works,
    Ends,
}

impl Toolset {
    pub fn tools(self) -> &'static [Tool] {
        use Tool::{Await, BatchDispatch, Cancel, Dispatch, List, Peek, Start};
        match self {
            Self::Tasks => &[Start, Await, Peek, List, Cancel],
            Self::Dispatch => &[Dispatch, BatchDispatch],
            Self::All => &[Start, Await, Peek, List, Cancel, Dispatch, BatchDispatch],
        }
    }

    /// The description of all tools for the model that has them. Clients put it into its system prompt.
    pub fn instructions(self) -> String {
        let mut lines = vec!["Shuntyard hands work to other AI models and sees it through."];
        if self != Self::Dispatch {
            lines.extend([
                "Work that takes long: task_start returns an id at once; go on with your own work, then task_await it.",
                "- kind auto picks a worker by what the task says; worker with workerId names a profile or a worker that",
                "  remembers its conversation; workflow runs several steps; supervised works in a git worktree with checks.",
                "- Several jobs at once: start them all first, then task_await with taskIds.",
                "- task_await that says timedOut is no failure: the job goes on, await it again with the cursor.",
                "- task_peek looks without waiting; task_list shows tasks, workers, profiles, models and more.",
                "- A job survives you: an id from earlier can still be awaited. Cancel what nobody needs any more.",
            ]);
        }
        if self != Self::Tasks {
            lines.extend([
                "A question to another model now: dispatch; the same question to several for comparison: batch_dispatch.",
                "- Name a model as provider+model, or give a taskType and let the router choose.",
                "- When the wait ends before the answer, you get an id: await it with task_await if you have that tool.",
            ]);
        }
        lines.push("A refusal says what would be right; fix the call and try again.");
        lines.join("\n")
    }
}

impl Tool {
    pub fn named(name: &str) -> Option<Self> {
        Toolset::All.tools().iter().copied().find(|tool| tool.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "task_start",
            Self::Await => "task_await",
            Self::Peek => "task_peek",
            Self::List => "task_list",
            Self::Cancel => "task_cancel",
            Self::Dispatch => "dispatch",
            Self::BatchDispatch => "batch_dispatch",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Start => "Start a job",
            Self::Await => "Wait for jobs",
            Self::Peek => "Look at a job",
            Self::List => "List tasks, workers, models and more",
            Self::Cancel => "Cancel a job",
            Self::Dispatch => "Ask another model",
            Self::BatchDispatch => "Ask several models",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::Start => {
                "Hand work to another model and get its id at once, with the model that was chosen and why. The job \
                 runs by itself; wait for it with task_await. With kind op: change or stop a worker, or answer a \
                 task that waits for a permission."
            }
            Self::Await => {
                "Wait until a job (taskId) or several (taskIds) are over and get the answers. Not an error when the \
                 time is up first: then timedOut is true, the job goes on, and you wait again with the cursor."
            }
            Self::Peek => {
                "See how a job or task stands right now, without waiting: state, progress, answer if there is one."
            }
            Self::List => {
                "Show what there is: tasks (jobs and supervised tasks), workers, profiles, models, workflows, status, \
                 output (of one taskId), routes, budget, patterns, providers. With query: route (where a text would go and \
                 why), recommend (a tier for a task type), similar (tasks like a text), compare (models, with commas). \
                 report: all that outcomes have taught."
            }
            Self::Cancel => {
                "Stop a job and wait until its stop is confirmed. Says cancelled, cancelling (not confirmed yet), or \
                 that it was over before and how it had ended."
            }
            Self::Dispatch => {
                "Send one prompt to one model and get its answer. Name provider and model, or give a taskType. The \
                 prompt must say everything: the other model does not see this conversation."
            }
            Self::BatchDispatch => {
                "Send the same prompt to two or more models at once and get all answers side by side. One that fails \
                 does not stop the others."
            }
        }
    }

    pub fn effect(self) -> Effect {
        match self {
            Self::Await | Self::Peek | Self::List => Effect::Looks,
            Self::Start | Self::Dispatch | Self::BatchDispatch => Effect::Works,
            Self::Cancel => Effect::Ends,
        }
    }

    pub fn fields(self) -> &'static [Field] {
        match self {
            Self::Start => START,
            Self::Await => AWAIT,
            Self::Peek => PEEK,
            Self::List => LIST,
            Self::Cancel => CANCEL,
            Self::Dispatch => DISPATCH,
            Self::BatchDispatch => BATCH_DISPATCH,
        }
    }
}

pub const KINDS: &[&str] = &["auto", "worker", "workflow", "op", "dispatch", "batch", "supervised"];
pub const OPS: &[&str] = &["worker.model.set", "worker.model.reset", "worker.stop", "task.answer"];
pub const VIEWS: &[&str] = &[
    "tasks",
    "workers",
    "profiles",
    "models",
    "workflows",
    "status",
    "output",
    "routes",
    "budget",
    "patterns",
    "providers",
    "route",
    "recommend",
    "similar",
    "compare",
    "report",
];

const TASK_TYPE: Field = Field::optional(
    "taskType",
    Kind::Text,
    "what kind of task it is, such as code-review or quick-check; chooses the model when none is named",
);
const SYSTEM: Field = Field::optional("systemPrompt", Kind::Text, "a system prompt for the model");
const SCHEMA: Field =
    Field::optional("jsonSchema", Kind::Schema, "a JSON Schema (type object) that the answer must fit, as JSON text");

const START: &[Field] = &[
    Field::optional(
        "kind",
        Kind::Choice(KINDS),
        "which kind of work; auto (the default) lets the router pick a worker",
    ),
    Field::optional(
        "task",
        Kind::Text,
        "what is to be done, with everything that has to be known; needed unless kind is op or a workflow goes on",
    ),
    Field::optional(
        "workerId",
        Kind::Text,
        "a worker by name, or a profile such as coder, docs, explorer, architect, vision",
    ),
    Field::optional("model", Kind::Text, "provider/model, a tier or a tag such as node:fast"),
    Field::optional(
        "modelPolicy",
        Kind::Choice(&["dynamic", "sticky"]),
        "dynamic: model holds for this task only; sticky: for the worker until it is reset",
    ),
    TASK_TYPE,
    Field::optional("attachments", Kind::Texts, "paths of files that go with the task, inside the server's directory"),
    Field::optional(
        "timeout",
        Kind::Time,
        "how long it may take, in seconds; a text such as 90s or 10m is taken too; 0: no limit",
    ),
    Field::optional("forceNew", Kind::Switch, "start a new worker even when one could be used again"),
    Field::optional(
        "backend",
        Kind::Choice(&["agent", "server"]),
        "agent: a session on a shared server; server: a server of the worker's own",
    ),
    SYSTEM,
    SCHEMA,
    Field::optional(
        "mode",
        Kind::Choice(&["text", "agent", "command"]),
        "of kind dispatch or batch: text answers without tools, agent works in the directory",
    ),
    Field::optional(
        "models",
        Kind::Models,
        "of kind batch: two or more models, each provider/model; of kind supervised: they compete, and the best work is delivered",
    ),
    Field::optional("workflow", Kind::Text, "of kind workflow: its name, such as plan-implement-review-fix"),
    Field::optional("runId", Kind::Text, "of kind workflow: the id of a paused one that is to go on"),
    Field::optional(
        "pauseEachStep",
        Kind::Switch,
        "of kind workflow: stop after each step until it is continued with runId",
    ),
    Field::optional("verify", Kind::Texts, "of kind supervised: commands that must succeed before it counts as done"),
    Field::optional(
        "deliver",
        Kind::Choice(&["branch", "merge", "pr"]),
        "of kind supervised: what becomes of the finished work",
    ),
    Field::optional("base", Kind::Text, "of kind supervised: the branch or commit to start from"),
    Field::optional(
        "op",
        Kind::Choice(OPS),
        "of kind op: what to do with the worker workerId (worker.model.set needs model), or task.answer with taskId and \
         answer",
    ),
    Field::optional("taskId", Kind::Text, "of op task.answer: the supervised task that waits for a permission"),
    Field::optional(
        "answer",
        Kind::Choice(&["allow", "always", "deny"]),
        "of op task.answer: only what the user has decided; always holds for the rest of the task",
    ),
    Field::optional("requestId", Kind::Text, "of op task.answer: answer only if this is the request that it waits for"),
    Field::optional(
        "policy",
        Kind::Choice(&["sticky", "dynamic"]),
        "of op worker.model.set: sticky (the default) until it is reset, dynamic for the next message alone",
    ),
    Field::optional("respawn", Kind::Switch, "of an op that changes the model: start the worker anew with it"),
    Field::optional("directory", Kind::Text, "where to work: the server's directory (the default) or one inside it"),
];

const AWAIT: &[Field] = &[
    Field::optional("taskId", Kind::Text, "the job to wait for; give this or taskIds"),
    Field::optional("taskIds", Kind::Texts, "several jobs to wait for; give this or taskId"),
    Field::optional("any", Kind::Switch, "return when any of taskIds is over; otherwise when all are"),
    Field::optional("timeout", Kind::Time, "how many seconds to wait at most; the server may make it shorter"),
    Field::optional("cursor", Kind::Text, "from the last answer of task_await for the same jobs"),
];

const PEEK: &[Field] = &[Field::required("taskId", Kind::Text, "the id of a job or task, such as j17 or t001")];

const CANCEL: &[Field] = &[Field::required("taskId", Kind::Text, "the id of a job or task, such as j17 or t001")];

const LIST: &[Field] = &[
    Field::optional("view", Kind::Choice(VIEWS), "what to show; tasks by default"),
    Field::optional("format", Kind::Choice(&["markdown", "json"]), "of the text; markdown by default"),
    Field::optional("status", Kind::Text, "only those with this status, such as running"),
    Field::optional("kind", Kind::Text, "only those of this kind, such as worker"),
    Field::optional("workerId", Kind::Text, "only those of this worker"),
    Field::optional(
        "query",
        Kind::Text,
        "only those whose name or text has this in it; of route, recommend, similar and compare: what is asked",
    ),
    Field::optional("taskId", Kind::Text, "of view output: whose output"),
    Field::optional("limit", Kind::Count(200), "how many at most; 20 by default"),
];

const PROMPT: Field = Field::required("prompt", Kind::Text, "the prompt, with everything that has to be known");
const PORT: Field = Field::optional(
    "port",
    Kind::Count(65_535),
    "the port of an OpenCode server on this machine; only one that the configuration names is taken",
);

const DISPATCH: &[Field] = &[
    PROMPT,
    Field::optional("provider", Kind::Text, "the provider; together with model"),
    Field::optional("model", Kind::Text, "the model; with provider, or alone as provider/model, a tier or a tag"),
    TASK_TYPE,
    Field::optional("sessionId", Kind::Text, "a session that an earlier call kept, to go on with"),
    Field::optional("cleanup", Kind::Switch, "false keeps the session for another prompt; true is the default"),
    Field::optional("timeout", Kind::Time, "how long it may take, in seconds; 0: no limit"),
    SYSTEM,
    SCHEMA,
    PORT,
];

const BATCH_DISPATCH: &[Field] = &[
    PROMPT,
    Field::optional("models", Kind::Models, "two or more models, each provider/model; or give a taskType"),
    Field::optional(
        "taskType",
        Kind::Text,
        "what kind of task it is: asks the models of its tier when models is left out",
    ),
    Field::optional("timeout", Kind::Time, "how long each may take, in seconds; 0: no limit"),
    SYSTEM,
    SCHEMA,
    PORT,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_short() {
        for set in [Toolset::Tasks, Toolset::Dispatch, Toolset::All] {
            let lines = set.instructions().lines().count();
            assert!(lines <= 15, "{set:?}: {lines} lines");
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        for tool in Toolset::All.tools() {
            assert_eq!(Tool::named(tool.name()), Some(*tool));
            let mut names: Vec<&str> = tool.fields().iter().map(|field| field.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), tool.fields().len(), "{}", tool.name());
        }
        assert_eq!(Tool::named("task_stop"), None);
    }
}
