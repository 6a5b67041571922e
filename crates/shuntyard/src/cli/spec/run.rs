//! `shuntyard spec run`: the roles of a spec one after the other, each as a supervised task, until the verdict.

use super::{Where, read};
use crate::{
    cli::{Global, input},
    failure::{Exit, Failure},
    ui::{self, Format},
};
use clap::{Args, ValueEnum};
use serde_json::json;
use shuntyard_core::{
    ErrorClass, Nano,
    values::{Deliver, clean_line},
};
use shuntyard_engine::{
    Context,
    roles::spec::run::{
        self as engine, PartReport, Plan, Planned, RunError, RunProgress, RunReport, Stand, Teller, Wish,
    },
};
use shuntyard_store::ErrorKind;
use std::{process::ExitCode, sync::Arc};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shuntyard spec run 7 --dry-run
  shuntyard spec run add-export --verify \"cargo test\" --deliver merge
  shuntyard spec run 7 --tier sonnet --max-cost 5

It may be ended at any moment: what is at work goes on by itself, and the same command takes it up.")]
pub struct RunArgs {
    /// The task by its number, its name or its directory
    #[arg(value_name = "ID|PATH")]
    task: String,
    /// What becomes of validated work: a branch that is ready, a merge into what is checked out, or a pull request
    #[arg(long, value_enum, value_name = "HOW", default_value = "branch")]
    deliver: How,
    /// The model that works, or a tag, as for dispatch
    #[arg(short, long, value_name = "P/M[@VARIANT]")]
    model: Option<String>,
    /// The tier to begin with
    #[arg(long)]
    tier: Option<String>,
    /// A command that has to end with 0 from the implementer on; may be repeated. By default `verify` of the repository in
    /// your configuration
    #[arg(long, value_name = "CMD")]
    verify: Vec<String>,
    /// The most that the whole spec may cost
    #[arg(long, value_name = "USD", value_parser = input::dollars)]
    max_cost: Option<Nano>,
    #[command(flatten)]
    at: Where,
    /// Only show who would work, from which branch, and on what
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    Branch,
    Merge,
    Pr,
}

pub async fn run(global: &Global, args: &RunArgs) -> Result<ExitCode, Failure> {
    let (place, here) = args.at.place()?;
    let (planned, task) = (place.clone(), args.task.clone());
    let plan = input::in_thread(move || engine::plan(&planned, &here, &task).map_err(failure)).await?;
    let context = global.context().await?;
    // The repository's settings hold for its specs as for its tasks.
    let set = context.config.repository_named(&plan.repository.display().to_string());
    let verify = match set {
        Some(set) if args.verify.is_empty() => set.verify.clone(),
        _ => args.verify.clone(),
    };
    let wish = Wish {
        deliver: match args.deliver {
            How::Branch => Deliver::Branch,
            How::Merge => Deliver::Merge,
            How::Pr => Deliver::Pr,
        },
        model: args.model.clone(),
        tier: args.tier.clone(),
        verify,
        max_cost: args.max_cost,
    };
    if args.dry_run {
        return preview(global, &context, plan, &wish).await;
    }
    let name = plan.name.to_string();
    let format = global.format();
    let teller: Teller = Arc::new(move |told| tell(&told));
    let report = tokio::select! {
        report = engine::run(&context, plan, &wish, &teller) => report.map_err(failure)?,
        () = input::interrupted() => {
            let hint = format!("`shuntyard spec run {name}` takes it up");
            let said = "ended before the spec was done; what is at work goes on by itself";
            return Err(Failure { hint, ..Failure::classed(ErrorClass::Cancelled, said) });
        }
    };
    match format {
        Format::Json => ui::json(&report),
        Format::People => show(&report),
    }
    Ok(match (report.outcome, report.class) {
        (Stand::Done, _) => ExitCode::SUCCESS,
        (_, Some(class)) if class == ErrorClass::BudgetRefused.as_str() => ExitCode::from(Exit::Refused as u8),
        _ => ExitCode::from(Exit::Work as u8),
    })
}

fn tell(told: &RunProgress<'_>) {
    match told {
        RunProgress::Added { task, base } => ui::note(&format!("{task} begins from {}", shortened(base))),
        RunProgress::Became { stand: Stand::Running, .. }
        | RunProgress::Became { stand: Stand::Waiting, reason: "", .. } => {}
        RunProgress::Became { task, stand: Stand::Waiting, reason } => {
            ui::note(&format!("{task} waits: {}", clean_line(reason, 200)));
        }
        RunProgress::Became { task, stand, reason: "" } => ui::note(&format!("{task}: {}", stand.as_str())),
        RunProgress::Became { task, stand, reason } => {
            ui::note(&format!("{task}: {} ({})", stand.as_str(), clean_line(reason, 200)));
        }
        RunProgress::Held(why) => ui::note(&format!("nothing more is started at the moment: {}", clean_line(why, 200))),
        RunProgress::Trouble(why) => {
            ui::complain(&format!("a pass failed and is tried again: {}", clean_line(why, 300)))
        }
    }
}

fn show(report: &RunReport) {
    let rows: Vec<Vec<String>> = report.units.iter().flat_map(rows).collect();
    if !rows.is_empty() {
        ui::result(&ui::table(&["UNIT", "ROLE", "CYCLE", "OUTCOME", "BRANCH", "COST"], &rows));
    }
    left(report);
    if report.outcome == Stand::Done {
        let place = match (&report.delivered, &report.branch) {
            (Some(delivered), _) => format!(": {}", clean_line(delivered, 200)),
            (None, Some(branch)) => format!(", ready on {branch}"),
            (None, None) => " before, and there was nothing to do".to_owned(),
        };
        ui::result(&format!("{} is validated{place}", report.id));
        return;
    }
    ui::complain(&format!(
        "{} needs a person: {}",
        report.id,
        clean_line(report.reason.as_deref().unwrap_or("-"), 600)
    ));
    if let Some(next) = &report.next {
        ui::note(&clean_line(next, 600));
    }
}

/// Reports which branches of merged work were removed, and which were kept.
fn left(report: &RunReport) {
    match report.removed.len() {
        0 => {}
        1 => ui::note(&format!("removed {}, which was merged", report.removed[0])),
        many => ui::note(&format!("removed {many} branches of roles, which were merged")),
    }
    for kept in &report.kept {
        ui::note(&format!("kept {}: {}", kept.branch, clean_line(&kept.reason, 200)));
    }
}

fn rows(part: &PartReport) -> Vec<Vec<String>> {
    let unit = part.unit.clone().unwrap_or_default();
    let row = |role: &shuntyard_engine::roles::spec::run::RoleReport| {
        let cost = format!("${:.4}", role.cost_usd);
        vec![
            unit.clone(),
            role.role.into(),
            role.cycle.to_string(),
            role.outcome.as_str().into(),
            role.branch.clone().unwrap_or_default(),
            cost,
        ]
    };
    if part.roles.is_empty() && part.unit.is_some() {
        return vec![vec![unit.clone(), String::new(), String::new(), part.outcome.as_str().into()]];
    }
    part.roles.iter().map(row).collect()
}

async fn preview(global: &Global, context: &Context, plan: Plan, wish: &Wish) -> Result<ExitCode, Failure> {
    let (name, base) = (plan.name.to_string(), plan.base.name().to_owned());
    let planned = engine::preview(context, plan, wish).await.map_err(failure)?;
    match global.format() {
        Format::Json => {
            ui::json(&json!({"id": name, "base": base, "deliver": wish.deliver.as_str(), "would_run": planned}));
        }
        Format::People => {
            let rows: Vec<Vec<String>> = planned.iter().map(planned_row).collect();
            ui::result(&ui::table(&["WAVE", "UNIT", "ROLE", "TASK", "STATE", "FROM", "MAY CHANGE"], &rows));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Patterns that fit into a line.
const SHOWN: usize = 2;

fn planned_row(step: &Planned) -> Vec<String> {
    let allowed = match (step.allow.as_slice(), step.deny.as_slice()) {
        ([], []) => "what was validated".to_owned(),
        // The other rules are those of all roles, the same in every task; --json has them.
        ([], deny) if deny.len() > SHOWN + 1 => {
            format!("all but {} and {} more", deny[..SHOWN].join(", "), deny.len() - SHOWN)
        }
        ([], deny) => format!("all but {}", deny.join(", ")),
        (allow, _) => allow.join(", "),
    };
    vec![
        step.wave.to_string(),
        step.unit.clone().unwrap_or_default(),
        step.role.into(),
        step.task.clone(),
        step.stand.as_str().into(),
        step.base.clone(),
        clean_line(&allowed, 120),
    ]
}

fn failure(error: RunError) -> Failure {
    match error {
        RunError::Read(error) => read(error),
        RunError::Usage { message, hint } => Failure::usage(message, hint),
        RunError::Refused { message, hint } => Failure::refused(message, hint),
        RunError::Add(error) => error.into(),
        RunError::Change(error) => Failure::task(error),
        RunError::Store(error) if error.kind() == ErrorKind::Conflict => Failure::refused(error, "run it again"),
        RunError::Store(error) => error.into(),
        RunError::Git(_) | RunError::CutOff => Failure::unavailable("git", error, "see that `git status` works there"),
        RunError::Name(_) => Failure::refused(error, "rename the directory of the task"),
        RunError::Handoff(_) => Failure::unavailable("host", error, "look at who may write there"),
    }
}

/// A commit as people write it; a branch as it is.
fn shortened(base: &str) -> &str {
    let is_commit = base.len() >= 40 && base.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_commit { &base[..10] } else { base }
}
