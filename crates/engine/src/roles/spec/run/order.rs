//! A step as an order to the supervisor.

use super::{
    RunError, Step, Wish,
    borders::{borders, report_of},
    describe::{Instructed, describe, instructions},
    git::{is_at, text_at},
    handoff,
    names::Names,
    plan::{Part, Plan},
};
use crate::{
    Context,
    queue::supervise::{Defaults, NewTaskOrder},
};
use shuntyard_core::{
    Nano,
    roles::spec::{Agent as Named, Role, Spec, agy_is_enabled, inside},
    values::{Deliver, Urgency},
    work::task::{Agent, Gate, Place, TaskId, TaskSpec, Verification},
};
use shuntyard_host::{
    git::Git,
    paths::{private_dir, write_private},
    text_file::{MOST_CONFIG_BYTES, read_text},
};
use std::path::{Path, PathBuf};

/// A role that is to begin.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    /// Its place in the plan.
    pub place: usize,
    pub role: Role,
    pub cycle: u32,
    pub base: String,
    /// What the validator of the cycle before found.
    pub findings: Option<String>,
    /// Who had too little money for it.
    pub instead_of: Option<InsteadOf>,
}

/// A task that could not end its step for what it was allowed to cost.
#[derive(Debug, Clone)]
pub(super) struct InsteadOf {
    /// How many there were before, with it.
    pub again: u32,
    pub had: Nano,
    /// The reason to report when there is no more than that.
    pub reason: String,
}

/// How the other program is called: it makes the edits itself, and its prompt is its last argument.
const AGY: &str = "agy --dangerously-skip-permissions --print";

/// What the prompt of a task that continues another's work says.
const GO_ON: &str = "Somebody has begun this and was stopped before the end. What is here is theirs: go on from it.";

/// What is known of a role before it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    pub agent: Option<String>,
    pub command: Option<String>,
    pub verify: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Orders<'a> {
    pub context: &'a Context,
    pub plan: &'a Plan,
    pub names: &'a Names,
    pub wish: &'a Wish,
}

impl Orders<'_> {
    /// Writes the handoff of a program that does the work, and nothing else.
    pub fn role(&self, turn: &Turn, max_cost: Option<Nano>) -> Result<NewTaskOrder, RunError> {
        let Turn { place, role, cycle, base, findings, .. } = turn;
        let part = self.plan.parts.get(*place).ok_or(RunError::CutOff)?;
        let unit = part.unit.as_ref();
        let step = Step::Role(*role);
        let again = turn.instead_of.as_ref().map_or(0, |instead_of| instead_of.again);
        let id = self.names.id_again(unit, step, *cycle, again)?;
        let task = match unit {
            Some(unit) => format!("{}/{unit}", self.plan.name),
            None => self.plan.name.to_string(),
        };
        let agent = self.agent(*role)?;
        let by = if agent.is_some() { Instructed::ByItsAgent } else { Instructed::Here };
        let mut spec = TaskSpec {
            description: describe(part, &task, *role, by, findings.as_deref()),
            agent: Agent::Opencode { agent },
            verify: self.verify(part, *role),
            allow_paths: borders(part, *role, &self.plan.closed()).allow,
            model: self.wish.model.clone(),
            tier: self.wish.tier.clone(),
            max_cost,
            ..self.plain(base.clone(), self.names.labels(unit, step, *cycle, again))
        };
        if again > 0 {
            spec.description = format!("{}\n\n{GO_ON}", spec.description);
            // The task that was stopped may have done all of it but for the last word.
            spec.gate = Gate::Open;
        }
        if self.hands_out(*role)
            && let Some(prompt) = self.prompt(part, &task, turn)?
        {
            let handoff = quoted(&self.hand_off(id.as_str(), &prompt)?.display().to_string());
            let command = format!("test -s {handoff} && {AGY} \"$(cat {handoff})\"");
            spec.agent = Agent::Command { command };
            (spec.model, spec.tier, spec.max_cost) = (None, None, None);
        }
        Ok(self.order(id, spec))
    }

    /// Who does a role, and what has to succeed for it.
    pub fn shape(&self, part: &Part, role: Role) -> Result<Shape, RunError> {
        let hands_out = self.hands_out(role);
        let command = hands_out.then(|| format!("{AGY} HANDOFF"));
        let agent = if hands_out { None } else { self.agent(role)? };
        Ok(Shape { agent, command, verify: self.verify(part, role) })
    }

    /// What is on a branch goes into another, verified there once more. Git does it, and no model. A merge that cannot
    /// be made is undone: what it leaves half done must never be taken for work.
    pub fn deliver(
        &self,
        part: Option<&Part>,
        from: &str,
        into: &str,
        deliver: Deliver,
    ) -> Result<NewTaskOrder, RunError> {
        let unit = part.and_then(|part| part.unit.as_ref());
        let title = part.map_or(&self.plan.title, |part| &part.title);
        let spec = TaskSpec {
            description: format!("{title} ({})\n\n{from} was validated and goes into {into}.", self.plan.name),
            agent: Agent::Command {
                command: format!(
                    "git{} merge --quiet --no-edit --ff --no-gpg-sign {} || {{ git merge --abort; exit 1; }}",
                    self.settings()?,
                    quoted(from)
                ),
            },
            verify: self.wish.verify.clone(),
            deliver,
            ..self.plain(into.to_owned(), self.names.labels(unit, Step::Deliver, 1, 0))
        };
        Ok(self.order(self.names.id(unit, Step::Deliver, 1)?, spec))
    }

    /// Without hooks, and with a name for the commit where the user has none.
    fn settings(&self) -> Result<String, RunError> {
        let mut settings = " -c core.hooksPath=/dev/null".to_owned();
        for (key, value) in [("user.name", "Shuntyard"), ("user.email", "shuntyard@localhost")] {
            if Git::default().setting(&self.plan.repository, key)?.is_none_or(|set| set.is_empty()) {
                settings.push_str(&format!(" -c {key}={value}"));
            }
        }
        Ok(settings)
    }

    /// One of the user's own agents, when there is one in a place that the work can see: what is in no commit of the
    /// repository is not in its working tree.
    fn agent(&self, role: Role) -> Result<Option<String>, RunError> {
        for file in definitions(role) {
            if is_at(&self.plan.repository, &self.plan.at, &format!(".opencode/{file}"))? {
                return Ok(Some(role.as_str().to_owned()));
            }
        }
        let is_there = self.users_definitions(role).any(|path| path.is_file());
        Ok(is_there.then(|| role.as_str().to_owned()))
    }

    /// The definition of that agent, or else our own instruction for the role.
    fn persona(&self, role: Role) -> Result<String, RunError> {
        for file in definitions(role) {
            if let Some(text) = text_at(&self.plan.repository, &self.plan.at, &format!(".opencode/{file}"))? {
                return Ok(text);
            }
        }
        let own = self.users_definitions(role).find_map(|path| read_text(&path, MOST_CONFIG_BYTES).ok());
        Ok(own.unwrap_or_else(|| instructions(role).to_owned()))
    }

    /// Where the user's own agents of this name can be.
    fn users_definitions(&self, role: Role) -> impl Iterator<Item = PathBuf> {
        let home = self.context.variable("HOME").map(PathBuf::from).unwrap_or_default();
        let config = self
            .context
            .variable("XDG_CONFIG_HOME")
            .map_or_else(|| home.join(".config"), PathBuf::from)
            .join("opencode");
        let named = self.context.variable("OPENCODE_CONFIG_DIR").map(PathBuf::from);
        let places = [config, home.join(".opencode")].into_iter().chain(named);
        places.flat_map(move |place| definitions(role).map(|file| place.join(file)))
    }

    /// The checks of a role's work before it is read. The tests come before the code, so they cannot pass; and what the
    /// validator finds red is its verdict.
    fn verify(&self, part: &Part, role: Role) -> Vec<String> {
        let there = |path: &String| format!("test -s {}", quoted(path));
        let own = match role {
            Role::Agent(Named::TestWriter) => part.tests.iter().map(there).collect(),
            Role::Agent(Named::Implementer) => self.wish.verify.clone(),
            Role::Agent(Named::Documentation) => self.wish.verify.clone(),
            Role::Validator => Vec::new(),
        };
        report_of(role).map(|report| there(&part.report(report))).into_iter().chain(own).collect()
    }

    /// Only the author of the context can say that work may go to a third party's program.
    fn hands_out(&self, role: Role) -> bool {
        if role != Role::Agent(Named::Implementer) {
            return false;
        }
        let enabled = self.plan.context.as_deref().is_some_and(agy_is_enabled);
        let path = self.context.variable("PATH").unwrap_or_default();
        enabled && std::env::split_paths(path).any(|directory| is_program(&directory.join("agy")))
    }

    /// The prompt of the other program; nothing when that is too long for it.
    fn prompt(&self, part: &Part, task: &str, turn: &Turn) -> Result<Option<String>, RunError> {
        let findings = turn.findings.as_deref();
        let mut text = describe(part, task, turn.role, Instructed::ByItsAgent, findings);
        if turn.instead_of.is_some() {
            text = format!("{text}\n\n{GO_ON}");
        }
        let mut files = Vec::new();
        for stated in Spec::parse(&part.text).relevant_files() {
            let Some(path) = inside(&stated.text).ok().filter(|path| !handoff::is_secret(path)) else { continue };
            files.push(handoff::Named { text: text_at(&self.plan.repository, &turn.base, &path)?, path });
        }
        Ok(handoff::prompt(&self.persona(turn.role)?, &text, &files))
    }

    fn hand_off(&self, id: &str, text: &str) -> Result<PathBuf, RunError> {
        let directory = self.context.paths.data_dir.join("handoffs");
        private_dir(&directory).map_err(RunError::Handoff)?;
        let path = directory.join(format!("{id}.md"));
        write_private(&path, text.as_bytes()).map_err(RunError::Handoff)?;
        Ok(path)
    }

    fn plain(&self, base: String, labels: Vec<String>) -> TaskSpec {
        TaskSpec {
            description: String::new(),
            repository: self.plan.repository_name(),
            base,
            agent: Agent::Opencode { agent: None },
            place: Place::Worktree,
            model: None,
            tier: None,
            task_type: None,
            needs: Vec::new(),
            verify: Vec::new(),
            allow_paths: Vec::new(),
            max_cost: None,
            urgency: Urgency::Normal,
            estimate_seconds: None,
            attempts: None,
            labels,
            deliver: Deliver::Branch,
            gate: Gate::Closed,
            verification: Verification::default(),
            diagnoses: None,
            strategy: None,
            contest: None,
            entry_of: None,
            todo: None,
            deadline: None,
            with_issue: false,
        }
    }

    fn order(&self, id: TaskId, spec: TaskSpec) -> NewTaskOrder {
        let batch = Some(self.names.batch.clone());
        NewTaskOrder {
            id: Some(id),
            batch,
            parent: None,
            priority: 0,
            depends_on: Vec::new(),
            spec,
            defaults: Defaults::None,
        }
    }
}

/// The files that can define the agent of a role, below a directory of OpenCode's.
fn definitions(role: Role) -> [String; 2] {
    ["agent", "agents"].map(|directory| format!("{directory}/{}.md", role.as_str()))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// As one word of a shell.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
