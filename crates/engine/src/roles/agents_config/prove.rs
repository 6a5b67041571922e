//! Whether OpenCode goes by the models that were written: what it resolves for each agent, and who answers.

use super::{
    Choice,
    here::Desk,
    place::in_project,
    probe::{Asking, Probe, probe},
    resolve_named,
};
use crate::{Context, base::refusal::Refusal};
use serde::Serialize;
use shuntyard_agents::opencode::{AgentDetails, AgentMode, Approach, launch::TEXT_AGENT};
use shuntyard_core::{
    ModelRef, Nano,
    roles::pack::{Frontmatter, jsonc},
    routing::Selector,
    settings::AgentGroup,
};
use shuntyard_host::text_file::{MOST_CONFIG_BYTES, read_text};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// Whether an agent has the model that it should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It was asked, and that model answered.
    Proven,
    /// OpenCode resolves it so; no model was asked.
    Configured,
    /// Other settings give it another model.
    Overridden,
    /// It resolves so, and yet another model answered.
    NotHonoured,
    /// It resolves so, and the probe failed.
    Unproven,
}

impl Standing {
    #[must_use]
    pub fn holds(self) -> bool {
        matches!(self, Self::Proven | Self::Configured)
    }
}

/// How far the proof goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thoroughness {
    /// Only what OpenCode says that it would do. Costs nothing.
    Resolve,
    /// Each agent is asked for a word.
    Probe,
}

#[derive(Debug, Clone, Serialize)]
pub struct AgentProof {
    pub agent: String,
    pub group: AgentGroup,
    pub mode: Option<AgentMode>,
    pub wanted: ModelRef,
    pub resolved: Option<ModelRef>,
    pub answered_by: Option<ModelRef>,
    pub standing: Standing,
    pub detail: Option<String>,
    pub cost_usd: f64,
    pub cost_known: bool,
}

/// Calls `told` with each agent as soon as it is done.
pub async fn prove(
    context: &Context,
    directory: &Path,
    choices: &[Choice],
    thoroughness: Thoroughness,
    cancel: &CancellationToken,
    told: &mut dyn FnMut(&AgentProof),
) -> Result<Vec<AgentProof>, Refusal> {
    let desk = Desk::open(context, directory).await?;
    let proving = Proving { context, directory, desk: &desk, thoroughness, cancel };
    let proofs = proving.all(choices, told).await;
    desk.close(context).await;
    proofs
}

struct Proving<'a> {
    context: &'a Context,
    directory: &'a Path,
    desk: &'a Desk,
    thoroughness: Thoroughness,
    cancel: &'a CancellationToken,
}

impl Proving<'_> {
    async fn all(&self, choices: &[Choice], told: &mut dyn FnMut(&AgentProof)) -> Result<Vec<AgentProof>, Refusal> {
        let known = self.desk.client.agent_details().await?;
        let mut proofs = Vec::new();
        for choice in choices {
            for name in &choice.agents {
                if self.cancel.is_cancelled() {
                    return Err(Refusal::Cancelled);
                }
                let details = known.iter().find(|agent| agent.name == *name);
                let proof = self.one(choice, name, details).await?;
                told(&proof);
                proofs.push(proof);
            }
        }
        Ok(proofs)
    }

    async fn one(&self, choice: &Choice, name: &str, details: Option<&AgentDetails>) -> Result<AgentProof, Refusal> {
        let resolved = details.and_then(|details| details.model.clone());
        let mut proof = AgentProof {
            agent: name.to_owned(),
            group: choice.group,
            mode: details.map(|details| details.mode),
            wanted: choice.model.clone(),
            resolved: resolved.clone(),
            answered_by: None,
            standing: Standing::Configured,
            detail: None,
            cost_usd: 0.0,
            cost_known: true,
        };
        if resolved.as_ref() != Some(&choice.model) {
            proof.standing = Standing::Overridden;
            proof.detail = Some(self.why_other(name, details, &choice.model));
            return Ok(proof);
        }
        if self.thoroughness == Thoroughness::Resolve {
            return Ok(proof);
        }
        let found = match self.ask(choice, name, details).await {
            Ok(found) => found,
            Err(Refusal::Cancelled) => return Err(Refusal::Cancelled),
            Err(refusal) => {
                let problem = Some(format!("it was not asked: {refusal}"));
                Probe { answered_by: None, problem, cost: Nano::ZERO, cost_known: true }
            }
        };
        (proof.cost_usd, proof.cost_known) = (found.cost.as_usd(), found.cost_known);
        proof.standing = match (&found.answered_by, &found.problem) {
            (Some(model), _) if *model != choice.model => Standing::NotHonoured,
            (Some(_), None) => Standing::Proven,
            (Some(_) | None, _) => Standing::Unproven,
        };
        proof.detail = match proof.standing {
            Standing::NotHonoured => found.answered_by.as_ref().map(|model| format!("{model} answered")),
            _ => found.problem,
        };
        proof.answered_by = found.answered_by;
        Ok(proof)
    }

    async fn ask(&self, choice: &Choice, name: &str, details: Option<&AgentDetails>) -> Result<Probe, Refusal> {
        let decided = resolve_named(self.context, self.directory, Selector::Exact(choice.model.clone())).await?;
        // Our own agent leads cheaply, where it exists.
        let leader = self.desk.acquired.managed.map(|_| TEXT_AGENT);
        let approach = match details.map(|details| details.mode) {
            Some(AgentMode::Subagent) => Approach::Called { leader },
            Some(AgentMode::Primary | AgentMode::All) | None => Approach::Leads,
        };
        let (resolution, catalogue) = (&decided.resolution, &decided.listed.catalogue);
        let (context, desk, directory, cancel) = (self.context, self.desk, self.directory, self.cancel);
        probe(&Asking { context, desk, directory, agent: name, approach, resolution, catalogue, cancel }).await
    }

    fn why_other(&self, name: &str, details: Option<&AgentDetails>, wanted: &ModelRef) -> String {
        let Some(details) = details else { return "OpenCode has no such agent any more".to_owned() };
        let has = details.model.as_ref().map_or_else(|| "no model of its own".to_owned(), ToString::to_string);
        let others = named_elsewhere(self.directory, name, wanted);
        let places = others.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        let because = match (others.is_empty(), &self.desk.warning) {
            (false, _) => format!("; another model is set in {places}"),
            (true, Some(warning)) => format!("; {warning}"),
            (true, None) => String::new(),
        };
        format!("OpenCode gives it {has}{because}")
    }
}

/// The files of the project that give the agent another model.
fn named_elsewhere(directory: &Path, agent: &str, wanted: &ModelRef) -> Vec<PathBuf> {
    let root = directory.ancestors().position(|level| level.join(".git").exists()).unwrap_or_default();
    let levels = directory.ancestors().take(root + 1);
    let files = levels.flat_map(|level| {
        let described = ["agent", "agents"].map(|folder| level.join(format!(".opencode/{folder}/{agent}.md")));
        in_project(level).into_iter().chain(described)
    });
    let other = |path: &PathBuf| {
        let text = read_text(path, MOST_CONFIG_BYTES).ok()?;
        let model = if path.extension().is_some_and(|ending| ending == "md") {
            Frontmatter::parse(&text).ok()?.text("model").map(str::to_owned)
        } else {
            jsonc::value_at(&text, &["agent", agent, "model"]).ok()??.as_str().map(str::to_owned)
        };
        model.filter(|model| *model != wanted.base())
    };
    files.filter(|path| other(path).is_some()).collect()
}
