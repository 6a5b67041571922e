//! The properties of a new task: given by flags, and by the keys of a file, which have the same names.

use crate::{
    cli::{input, moment::moment, route::Need},
    failure::Failure,
};
use clap::{Args, ValueEnum};
use shuntyard_core::{
    Nano,
    values::{Deliver, Strategy, Urgency, duration},
    work::task::{Agent, Contest, Gate, Place, TaskId, TaskSpec, Verification},
};
use shuntyard_engine::queue::supervise::{Defaults, NewTaskOrder};
use shuntyard_host::clock::now_micros;
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
pub struct Wanted {
    /// The repository that the work is for; that of the current directory by default
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// The branch or commit to start from, and to merge into; what is checked out by default
    #[arg(long, value_name = "BRANCH")]
    pub base: Option<String>,
    /// The batch that it belongs to
    #[arg(long)]
    pub batch: Option<String>,
    /// A command that has to end with 0 before the work counts; may be repeated
    #[arg(long, value_name = "CMD")]
    pub verify: Vec<String>,
    /// A command that prepares a fresh checkout, before the work and before each verification
    #[arg(long, value_name = "CMD")]
    pub setup: Option<String>,
    /// Require that a verify command fails before the work
    #[arg(long)]
    pub expect_red_first: bool,
    /// Accept work that deletes more than half of the files
    #[arg(long)]
    pub allow_mass_deletion: bool,
    /// Accept work that contains commits of other branches, such as a merge
    #[arg(long)]
    pub allow_other_branches: bool,
    /// The tier to begin with
    #[arg(long)]
    pub tier: Option<String>,
    /// The model, or a tag, as for dispatch; two or more for a contest
    #[arg(short, long, value_name = "P/M[@VARIANT]")]
    pub model: Vec<String>,
    /// How attempts follow each other: auto, from the cheapest tier up, one model only, the strongest tier, or a contest
    #[arg(long, value_enum, value_name = "HOW")]
    pub strategy: Option<StrategyName>,
    /// The kind of task, which decides the tier
    #[arg(long, value_name = "TYPE")]
    pub task_type: Option<String>,
    /// What the model must be able to do; may be repeated
    #[arg(long, value_enum, value_name = "CAPABILITY")]
    pub need: Vec<Need>,
    /// Tasks that have to be done first; may be repeated
    #[arg(long, value_name = "ID[,ID]", value_delimiter = ',')]
    pub depends_on: Vec<TaskId>,
    /// The higher the sooner
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    pub priority: i64,
    /// The most that it may cost, over all tries
    #[arg(long, value_name = "USD", value_parser = input::dollars)]
    pub max_cost: Option<Nano>,
    /// Keep the tier when a budget is running low; the work still stops where the budget does
    #[arg(long)]
    pub critical: bool,
    /// When it is given up, as in 6h or 2026-05-01T18:00: it is not started any more, or stopped, and has failed
    #[arg(long, value_name = "WHEN", value_parser = deadline)]
    pub deadline: Option<i64>,
    /// How long a person would expect it to take, as in 2h; an attempt may take twice that
    #[arg(long, value_name = "DURATION", value_parser = estimate)]
    pub estimate: Option<u64>,
    /// Where it may change something, as in 'src/**'; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub allow_path: Vec<String>,
    /// What becomes of good work: a branch that is ready, a merge into the base, or a pull request
    #[arg(long, value_enum, value_name = "HOW")]
    pub deliver: Option<How>,
    /// The most tries that may fail before it is given up
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub attempts: Option<u32>,
    /// A word that goes with it; may be repeated
    #[arg(long)]
    pub label: Vec<String>,
    /// The task that this one is a part of
    #[arg(long, value_name = "ID")]
    pub parent: Option<TaskId>,
    /// One of your own OpenCode agents
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// A command that does the work, instead of a model
    #[arg(long, value_name = "CMD")]
    pub command: Option<String>,
    /// Run the command in the directory itself, without a worktree; its exit code decides
    #[arg(long)]
    pub in_place: bool,
    /// Have an issue on GitHub for its line of TODO.md: made, assigned, and closed with a link, where `gh` can
    #[arg(long)]
    pub with_issue: bool,
    /// Count work that changed nothing as done
    #[arg(long)]
    pub no_gate: bool,
}

/// How good work is handed over, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum How {
    Branch,
    Merge,
    Pr,
}

/// How the attempts of a task follow each other, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StrategyName {
    Auto,
    Cascade,
    Direct,
    Best,
    Contest,
}

impl StrategyName {
    /// `None` for a contest, in which every entry has its one model.
    fn strategy(self) -> Option<Strategy> {
        match self {
            Self::Auto => Some(Strategy::Auto),
            Self::Cascade => Some(Strategy::Cascade),
            Self::Direct => Some(Strategy::Direct),
            Self::Best => Some(Strategy::Best),
            Self::Contest => None,
        }
    }
}

impl How {
    fn deliver(self) -> Deliver {
        match self {
            Self::Branch => Deliver::Branch,
            Self::Merge => Deliver::Merge,
            Self::Pr => Deliver::Pr,
        }
    }
}

/// A duration from now, or a moment; in microseconds since the epoch.
pub fn deadline(text: &str) -> Result<i64, String> {
    let now = now_micros();
    let at = match duration::parse(text) {
        Ok(length) => now.saturating_add(i64::try_from(length.as_micros()).unwrap_or(i64::MAX)),
        Err(_) => moment(text)
            .ok_or_else(|| format!("`{text}` is neither a duration like 6h nor a moment like 2026-05-01T18:00"))?,
    };
    if at <= now { Err("it lies in the past".to_owned()) } else { Ok(at) }
}

/// In seconds.
pub fn estimate(text: &str) -> Result<u64, String> {
    let length = duration::parse(text).map_err(|error| error.to_string())?;
    if length.is_zero() { Err("no work takes no time at all".to_owned()) } else { Ok(length.as_secs().max(1)) }
}

impl Wanted {
    pub fn order(&self, id: Option<TaskId>, description: String) -> Result<NewTaskOrder, Failure> {
        self.refuse_contradictions()?;
        let contest = self.contest()?;
        let agent = match &self.command {
            Some(command) => Agent::Command { command: command.clone() },
            None => Agent::Opencode { agent: self.agent.clone() },
        };
        let spec = TaskSpec {
            description,
            repository: input::directory(self.repo.as_ref())?.display().to_string(),
            base: self.base.clone().unwrap_or_default(),
            agent,
            place: if self.in_place { Place::Directory } else { Place::Worktree },
            model: self.model.first().filter(|_| contest.is_none()).cloned(),
            tier: self.tier.clone(),
            task_type: self.task_type.clone(),
            needs: self.need.iter().map(|need| need.capability()).collect(),
            verify: self.verify.clone(),
            allow_paths: self.allow_path.clone(),
            max_cost: self.max_cost,
            urgency: if self.critical { Urgency::Critical } else { Urgency::Normal },
            estimate_seconds: self.estimate,
            attempts: self.attempts,
            labels: self.label.clone(),
            deliver: self.deliver.map_or(Deliver::default(), How::deliver),
            gate: if self.no_gate { Gate::Open } else { Gate::Closed },
            verification: Verification {
                setup: self.setup.clone(),
                expect_red_first: self.expect_red_first,
                allow_mass_deletion: self.allow_mass_deletion,
                allow_other_branches: self.allow_other_branches,
            },
            diagnoses: None,
            strategy: self.strategy.and_then(StrategyName::strategy),
            contest,
            entry_of: None,
            todo: None,
            deadline: self.deadline,
            with_issue: self.with_issue,
        };
        Ok(NewTaskOrder {
            id,
            batch: self.batch.clone(),
            parent: self.parent.clone(),
            priority: self.priority,
            depends_on: self.depends_on.clone(),
            spec,
            defaults: Defaults::Repository { deliver: self.deliver.map(How::deliver) },
        })
    }

    /// The models of a contest, when it is one. Several models are for nothing else.
    fn contest(&self) -> Result<Option<Contest>, Failure> {
        if self.strategy != Some(StrategyName::Contest) {
            if self.model.len() > 1 {
                let message = format!("{} models were named, and only a contest has several", self.model.len());
                return Err(Failure::usage(message, "add `--strategy contest`, or name one model"));
            }
            return Ok(None);
        }
        if self.tier.is_some() {
            let message = "--tier says nothing in a contest: its models are named";
            return Err(Failure::usage(message, "leave --tier out"));
        }
        let contest = Contest::new(self.model.clone());
        let hint = "name each model once, as in `--strategy contest --model P/A --model P/B`";
        contest.map(Some).map_err(|error| Failure::usage(error, hint))
    }

    /// A value that would be ignored is refused, so that the user does not rely on it.
    fn refuse_contradictions(&self) -> Result<(), Failure> {
        let for_models = [
            ("agent", self.agent.is_some()),
            ("model", !self.model.is_empty()),
            ("strategy", self.strategy.is_some()),
            ("tier", self.tier.is_some()),
            ("task-type", self.task_type.is_some()),
            ("need", !self.need.is_empty()),
            ("max-cost", self.max_cost.is_some()),
            ("critical", self.critical),
        ];
        let for_worktrees = [
            ("base", self.base.is_some()),
            ("deliver", self.deliver.is_some()),
            ("allow-path", !self.allow_path.is_empty()),
            ("setup", self.setup.is_some()),
            ("expect-red-first", self.expect_red_first),
            ("allow-mass-deletion", self.allow_mass_deletion),
            ("allow-other-branches", self.allow_other_branches),
        ];
        if let Some((name, _)) = for_models.iter().find(|(_, given)| self.command.is_some() && *given) {
            let message = format!("--{name} is about a model, and a command does this work");
            return Err(Failure::usage(message, "leave one of the two out"));
        }
        let chooses = self.strategy.and_then(StrategyName::strategy).filter(|strategy| strategy.chooses_tier());
        if let Some(strategy) = chooses
            && let Some((name, _)) =
                [("model", !self.model.is_empty()), ("tier", self.tier.is_some())].iter().find(|(_, given)| *given)
        {
            let message = format!("--strategy {} chooses the tier itself, and --{name} names one", strategy.as_str());
            return Err(Failure::usage(message, "leave one of the two out"));
        }
        if self.in_place && self.strategy.is_some() {
            let message = "--strategy is about models, and work in place is done by a command";
            return Err(Failure::usage(message, "leave one of the two out"));
        }
        if let Some((name, _)) = for_worktrees.iter().find(|(_, given)| self.in_place && *given) {
            let message = format!("--{name} is about a worktree, and work in place has none");
            return Err(Failure::usage(message, "leave one of the two out"));
        }
        Ok(())
    }
}
