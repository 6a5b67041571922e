//! `shuntyard agents configure`: recommend, let the user pick, write, prove, in this order.
//!
//! Invariant: a group is written only after a yes for it on a terminal, or with `--yes` and its model named.

use super::{failure, pick, show};
use crate::{
    cli::{Global, input, selection},
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::{ModelRef, routing::Selector, settings::AgentGroup};
use shuntyard_engine::{
    Context,
    roles::agents_config::{
        AgentHere, AgentProof, Choice, ConfigFile, Edit, Recommendation, Scope, Thoroughness, agents_here, edit, prove,
        recommend, resolve_named, write,
    },
    routing::catalogue::{Extent, Listed, Refresh, current},
};
use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    process::ExitCode,
};
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shuntyard agents configure
  shuntyard agents configure --dry-run
  shuntyard agents configure --med anthropic/claude-sonnet-4-5 --low openai/gpt-5-mini@low --yes

On a terminal you pick the model of each group, and its variant, from a list with reasons, and confirm it.
The groups are `agent_groups` in the configuration. An agent that OpenCode does not have here is left out. The proof
asks each agent for one word, which costs a little; --no-probe only asks OpenCode what it would use.")]
pub struct ConfigureArgs {
    /// The project; the current directory by default
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    dir: Option<PathBuf>,
    /// Change your own configuration of OpenCode, for all projects
    #[arg(long)]
    user: bool,
    /// The model of the group MED
    #[arg(long, value_name = "MODEL[@VARIANT]")]
    med: Option<String>,
    /// The model of the group LOW
    #[arg(long, value_name = "MODEL[@VARIANT]")]
    low: Option<String>,
    /// Write the models that are named without asking
    #[arg(long)]
    yes: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask the agents for a word; only ask OpenCode what it would use
    #[arg(long)]
    no_probe: bool,
}

/// One group, with all that there is to decide about it.
struct Row {
    recommendation: Recommendation,
    present: Vec<String>,
    missing: Vec<String>,
    named: Option<ModelRef>,
}

impl Row {
    fn group(&self) -> AgentGroup {
        self.recommendation.group
    }

    fn wanted(&self) -> Option<&ModelRef> {
        self.named.as_ref().or(self.recommendation.model.as_ref())
    }
}

pub async fn run(global: &Global, args: &ConfigureArgs) -> Result<ExitCode, Failure> {
    let settings = global.settings()?;
    let named = |text: &Option<String>| {
        text.as_deref().map(|text| selection::model_or_tier(&settings.layered.config, text)).transpose()
    };
    let selectors = [(AgentGroup::Med, named(&args.med)?), (AgentGroup::Low, named(&args.low)?)];
    let asks = std::io::stdin().is_terminal() && ui::stderr_is_terminal() && global.format() == Format::People;
    refuse_unattended(args, asks)?;
    let directory = input::directory(args.dir.as_ref())?;
    let context = settings.into_context().await?;
    let agents = agents_here(&context, &directory).await?;
    let listed = current(&context, &directory, Refresh::Now, Extent::Connected).await?;
    let rows = rows(&context, &directory, &agents, selectors).await?;
    if rows.iter().all(|row| row.present.is_empty()) {
        return Err(Failure::usage(
            "OpenCode has none of the agents of the groups here",
            "`shuntyard pack install` brings them; or name yours in `agent_groups` of the configuration",
        ));
    }
    if global.format() == Format::People {
        show::choice(&listed.catalogue, &listed.problems);
        for row in &rows {
            show::group(&row.recommendation, &row.present, &row.missing, row.named.as_ref());
        }
    }
    let scope = if args.user { Scope::User } else { Scope::Project(&directory) };
    let file = ConfigFile::find(&context, scope).map_err(failure)?;
    let mut choices = Vec::new();
    for row in &rows {
        choices.extend(chosen(&context, &directory, row, args, asks, &file).await?);
    }
    let edit = edit(file, &choices).map_err(failure)?;
    let done = Done { rows, edit, dry_run: args.dry_run };
    if global.format() == Format::People {
        show::edit(&done.edit, args.dry_run, choices.is_empty());
    }
    let (mut proofs, mut cut_off) = (Vec::new(), None);
    if !args.dry_run && !choices.is_empty() {
        write(&done.edit).map_err(failure)?;
        // The written file stays even if the proof fails, and the report contains it: the proof can be repeated.
        cut_off = proven(global, args, &context, &directory, &choices, &mut proofs).await.err();
    }
    let holds = proofs.iter().all(|proof| proof.standing.holds());
    match (global.format(), cut_off) {
        (Format::Json, cut_off) => {
            ui::json(&document(&done, &listed, &proofs, cut_off.as_ref()));
            let failed = cut_off.map(|failure| ExitCode::from(failure.exit as u8));
            Ok(failed.unwrap_or(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) }))
        }
        (Format::People, Some(failure)) => Err(Failure {
            message: format!("{}; what was chosen is written, and not all of it is proven", failure.message),
            ..failure
        }),
        (Format::People, None) => Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) }),
    }
}

/// Refuses arguments that leave a choice to guess, before anything is opened.
fn refuse_unattended(args: &ConfigureArgs, asks: bool) -> Result<(), Failure> {
    let names_none = args.med.is_none() && args.low.is_none();
    let hint = "name the models: `shuntyard agents configure --med MODEL --low MODEL --yes`; --dry-run shows what \
                is recommended";
    if args.yes && names_none {
        return Err(Failure::refused("--yes alone would write models that nobody named", hint));
    }
    if !args.yes && !args.dry_run && !asks {
        return Err(Failure::refused("nobody is there to say yes, so nothing is written", hint));
    }
    Ok(())
}

async fn rows(
    context: &Context,
    directory: &Path,
    agents: &[AgentHere],
    selectors: [(AgentGroup, Option<Selector>); 2],
) -> Result<Vec<Row>, Failure> {
    let is_here = |name: &String| agents.iter().any(|agent| agent.details.name == *name);
    let mut rows = Vec::new();
    for (group, selector) in selectors {
        let named = match selector {
            Some(selector) => Some(resolve_named(context, directory, selector).await?.resolution.model),
            None => None,
        };
        let names = context.config.agent_groups.agents(group).iter().cloned();
        let (present, missing) = names.partition(is_here);
        rows.push(Row { recommendation: recommend(context, directory, group).await?, present, missing, named });
    }
    Ok(rows)
}

/// What is written for a group, if anything.
async fn chosen(
    context: &Context,
    directory: &Path,
    row: &Row,
    args: &ConfigureArgs,
    asks: bool,
    file: &ConfigFile,
) -> Result<Option<Choice>, Failure> {
    if row.present.is_empty() {
        return Ok(None);
    }
    let choice = |model: &ModelRef| Choice { group: row.group(), model: model.clone(), agents: row.present.clone() };
    // As soon as a flag names one group, the others stay unchanged: a dry run shows just what --yes would write.
    let names_some = args.med.is_some() || args.low.is_some();
    if args.yes || (args.dry_run && names_some) {
        return Ok(row.named.as_ref().map(choice));
    }
    if args.dry_run {
        return Ok(row.wanted().map(choice));
    }
    if !asks {
        return Ok(None);
    }
    let picked = match &row.named {
        Some(named) => Some(named.clone()),
        None => pick::pick(context, directory, row.group(), &row.recommendation.offers).await,
    };
    let Some(wanted) = picked.as_ref().map(choice) else { return Ok(None) };
    let preview = edit(file.clone(), std::slice::from_ref(&wanted)).map_err(failure)?;
    show::preview(&preview);
    Ok(pick::says_yes(wanted.group, &wanted.model).then_some(wanted))
}

async fn proven(
    global: &Global,
    args: &ConfigureArgs,
    context: &Context,
    directory: &Path,
    choices: &[Choice],
    proofs: &mut Vec<AgentProof>,
) -> Result<(), Failure> {
    let thoroughness = if args.no_probe { Thoroughness::Resolve } else { Thoroughness::Probe };
    let cancel = CancellationToken::new();
    let format = global.format();
    let mut told = |proof: &AgentProof| {
        if format == Format::People {
            show::proof(proof);
        }
        proofs.push(proof.clone());
    };
    let proving = prove(context, directory, choices, thoroughness, &cancel, &mut told);
    let mut proving = std::pin::pin!(proving);
    let proven = tokio::select! {
        proven = &mut proving => proven,
        () = input::interrupted() => {
            cancel.cancel();
            proving.await
        }
    };
    proven.map(drop).map_err(Failure::from)
}

struct Done {
    rows: Vec<Row>,
    edit: Edit,
    dry_run: bool,
}

fn document(done: &Done, listed: &Listed, proofs: &[AgentProof], cut_off: Option<&Failure>) -> Value {
    let Done { rows, edit, dry_run } = done;
    let groups: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({"group": row.group(), "agents": row.present, "missing": row.missing, "model": row.named,
                "recommended": row.recommendation})
        })
        .collect();
    let models: Vec<Value> = listed
        .catalogue
        .models()
        .map(|(provider, _, model)| json!({"provider": provider, "model": model.id, "variants": model.variants}))
        .collect();
    json!({
        "file": edit.file.path, "changed": edit.changes(), "written": edit.changes() && !dry_run, "diff": edit.diff,
        "groups": groups, "models": models, "agents": proofs,
        "cost_usd": proofs.iter().map(|proof| proof.cost_usd).sum::<f64>(),
        "cost_known": proofs.iter().all(|proof| proof.cost_known), "problems": listed.problems,
        "error": cut_off.map(|failure| failure.to_json()["error"].clone()),
    })
}
