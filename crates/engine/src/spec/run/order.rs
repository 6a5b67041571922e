//! A step as an order to the supervisor.

use super::{
    RunError, Step, Wish,
    borders::{borders, report_of},
    describe::{Instructed, describe},
    git::is_at,
    names::Names,
    plan::{Part, Plan},
};
use crate::{Context, supervise::NewTaskOrder};
use std::path::{Path, PathBuf};
use switchyard_core::{
    Nano,
    spec::{Agent as Named, Role},
    task::{Agent, Deliver, Gate, Place, TaskId, TaskSpec},
};
use switchyard_host::paths::private_dir;

/// A role that is to begin.
#[derive(Debug, Clone)]
pub(super) struct Turn<'a> {
    pub part: &'a Part,
    pub role: Role,
    pub cycle: u32,
    pub base: String,
    /// What the validator of the cycle before found.
    pub findings: Option<String>,
}

/// What can be told of a role before it begins.
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
    pub fn role(&self, turn: &Turn<'_>, max_cost: Option<Nano>) -> Result<NewTaskOrder, RunError> {
        let Turn { part, role, cycle, base, findings } = turn;
        let unit = part.unit.as_ref();
        let step = Step::Role(*role);
        let id = self.names.id(unit, step, *cycle)?;
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
            allow_paths: borders(part, *role, &self.plan.artifacts).allow,
            model: self.wish.model.clone(),
            tier: self.wish.tier.clone(),
            max_cost,
            ..self.plain(base.clone(), self.names.labels(unit, step, *cycle))
        };
        if self.hands_out(*role) {
            let handoff = self.hand_off(id.as_str(), &spec.description)?;
            spec.agent = Agent::Command { command: format!("agy {}", quoted(&handoff.display().to_string())) };
            (spec.model, spec.tier, spec.max_cost) = (None, None, None);
        }
        Ok(self.order(id, spec))
    }

    /// Who does a role, and what has to succeed for it.
    pub fn shape(&self, part: &Part, role: Role) -> Result<Shape, RunError> {
        let hands_out = self.hands_out(role);
        let command = hands_out.then(|| "agy HANDOFF".to_owned());
        let agent = if hands_out { None } else { self.agent(role)? };
        Ok(Shape { agent, command, verify: self.verify(part, role) })
    }

    /// What is on a branch goes into another, verified there once more. Git does it, and no model.
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
            description: format!("{title} ({}): {from}, validated, into {into}", self.plan.name),
            agent: Agent::Command {
                command: format!("git -c core.hooksPath=/dev/null merge --quiet --no-edit {}", quoted(from)),
            },
            verify: self.wish.verify.clone(),
            deliver,
            ..self.plain(into.to_owned(), self.names.labels(unit, Step::Deliver, 1))
        };
        Ok(self.order(self.names.id(unit, Step::Deliver, 1)?, spec))
    }

    /// One of the user's own agents, when there is one in a place that the work can see: what is in no commit of the
    /// repository is not in its working tree.
    fn agent(&self, role: Role) -> Result<Option<String>, RunError> {
        let files = ["agent", "agents"].map(|directory| format!("{directory}/{}.md", role.as_str()));
        for file in &files {
            if is_at(&self.plan.repository, &self.plan.at, &format!(".opencode/{file}"))? {
                return Ok(Some(role.as_str().to_owned()));
            }
        }
        let home = self.context.variable("HOME").map(PathBuf::from).unwrap_or_default();
        let config = self
            .context
            .variable("XDG_CONFIG_HOME")
            .map_or_else(|| home.join(".config"), PathBuf::from)
            .join("opencode");
        let named = self.context.variable("OPENCODE_CONFIG_DIR").map(PathBuf::from);
        let places = [config, home.join(".opencode")].into_iter().chain(named);
        let is_there = places.into_iter().any(|place| files.iter().any(|file| place.join(file).is_file()));
        Ok(is_there.then(|| role.as_str().to_owned()))
    }

    /// What can be seen of a role's work before anybody reads it. The tests come before the code, so they cannot pass;
    /// and what the validator finds red is its verdict.
    fn verify(&self, part: &Part, role: Role) -> Vec<String> {
        let there = |path: &String| format!("test -s {}", quoted(path));
        let own = match role {
            Role::Agent(Named::TestWriter) => part.tests.iter().map(there).collect(),
            Role::Agent(Named::Implementer | Named::Documentation) => self.wish.verify.clone(),
            Role::Validator => Vec::new(),
        };
        report_of(role).map(|report| there(&part.report(report))).into_iter().chain(own).collect()
    }

    /// Only who wrote the context can say that work may go to a program of somebody else.
    fn hands_out(&self, role: Role) -> bool {
        if role != Role::Agent(Named::Implementer) {
            return false;
        }
        let enabled =
            self.plan.context.as_deref().unwrap_or_default().lines().any(|line| line.trim() == "agy: enabled");
        let path = self.context.variable("PATH").unwrap_or_default();
        enabled && std::env::split_paths(path).any(|directory| is_program(&directory.join("agy")))
    }

    fn hand_off(&self, id: &str, text: &str) -> Result<PathBuf, RunError> {
        let directory = self.context.paths.data_dir.join("handoffs");
        private_dir(&directory).map_err(RunError::Handoff)?;
        let path = directory.join(format!("{id}.md"));
        std::fs::write(&path, format!("{text}\n")).map_err(RunError::Handoff)?;
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
            estimate_seconds: None,
            attempts: None,
            labels,
            deliver: Deliver::Branch,
            gate: Gate::Closed,
            diagnoses: None,
            todo: None,
        }
    }

    fn order(&self, id: TaskId, spec: TaskSpec) -> NewTaskOrder {
        let batch = Some(self.names.batch.clone());
        NewTaskOrder { id: Some(id), batch, parent: None, priority: 0, depends_on: Vec::new(), spec }
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// As one word of a shell.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
