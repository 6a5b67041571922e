//! `shuntyard task add`: one task by flags, or many from a file; all of them or none.

use super::{bulk, claim::failure, wanted::Wanted};
use crate::{
    cli::{Global, input},
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::{
    routing::{Needs, Selector},
    values::clean_line,
    work::task::TaskId,
};
use shuntyard_engine::{
    Context,
    fanout::batch::{Targets, expand},
    queue::{
        claims,
        supervise::{NewTaskOrder, add, check_orders},
    },
};
use std::{collections::BTreeSet, path::Path, process::ExitCode};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shuntyard task add \"Give parse() an error for empty input\" --verify \"cargo test\"
  shuntyard task add @plan.md --tier opus --deliver merge --max-cost 2
  shuntyard task add --command \"make docs\" --verify \"test -f docs/index.html\"
  shuntyard task add --from tasks.jsonl --batch spring

A file for --from has one description on each line; or one JSON object on each line, or an array
of such objects, with the flags as keys: {\"id\": \"b\", \"description\": \"…\", \"depends_on\": [\"a\"]}.
Flags hold for every entry that does not say something else.")]
pub struct AddArgs {
    /// What is to be done: text, @file, or - for standard input
    #[arg(conflicts_with = "from")]
    description: Option<String>,
    /// Add many: a file, or - for standard input
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
    /// What it is called; the next free number by default, as in t001. In a repository with `todo = true` the id of a
    /// line of TODO.md links the task to that line, claims it, and takes from it what is not given here
    #[arg(long, conflicts_with = "from")]
    id: Option<TaskId>,
    #[command(flatten)]
    wanted: Wanted,
    /// Only check, and say what would be added
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(global: &Global, args: &AddArgs) -> Result<ExitCode, Failure> {
    let mut orders = match &args.from {
        Some(from) => bulk::read(from, &args.wanted)?,
        None => vec![one(args)?],
    };
    let context = global.context().await?;
    for order in &mut orders {
        order.spec.model = model(&context, order).await?;
    }
    refuse_unknown_batches(&context, &orders).await?;
    let orders = claims::link(&context, orders).await.map_err(failure)?;
    if args.dry_run {
        would_add(global, &context, orders).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let ids = add(&context, orders).await?;
    let notes = claims::claim_added(&context, &ids).await.map_err(failure)?;
    notes.iter().for_each(|note| ui::warn(note));
    match (global.format(), args.from.is_some(), ids.as_slice()) {
        (Format::Json, false, [id]) => ui::json(&json!({ "id": id })),
        (Format::Json, _, ids) => ui::json(&json!({ "ids": ids })),
        (Format::People, _, ids) => ids.iter().for_each(|id| ui::result(id.as_str())),
    }
    Ok(ExitCode::SUCCESS)
}

fn one(args: &AddArgs) -> Result<NewTaskOrder, Failure> {
    let description = match (&args.description, &args.wanted.command) {
        (Some(description), _) => input::text(description, "the description")?,
        // The line of TODO.md that has this id may contain it.
        (None, _) if args.id.is_some() => String::new(),
        // A command is its own description.
        (None, Some(command)) => command.clone(),
        (None, None) => {
            let message = "no description was given";
            return Err(Failure::usage(message, "give it as text, as @file, or as - for standard input"));
        }
    };
    args.wanted.order(args.id.clone(), description.trim().to_owned())
}

/// A name that a tier has as well must be that of one connected model. Any other is resolved when the task begins.
async fn model(context: &Context, order: &NewTaskOrder) -> Result<Option<String>, Failure> {
    let Some(typed) = &order.spec.model else { return Ok(None) };
    let reference = Selector::flag_reference(typed, &context.config);
    if reference != typed.trim() {
        let named = Targets::Named(vec![reference.clone()]);
        let (found, _) = expand(context, &named, Needs::default(), Path::new(&order.spec.repository)).await?;
        if let Some(refusal) = found.into_iter().find_map(|target| target.chosen.err()) {
            return Err(refusal.into());
        }
    }
    Ok(Some(reference))
}

async fn refuse_unknown_batches(context: &Context, orders: &[NewTaskOrder]) -> Result<(), Failure> {
    let wanted: BTreeSet<&str> = orders.iter().filter_map(|order| order.batch.as_deref()).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let known = context.store.batches().await?;
    match wanted.into_iter().find(|name| known.iter().all(|batch| batch.name != *name)) {
        Some(name) => Err(crate::cli::batches::unknown(name)),
        None => Ok(()),
    }
}

async fn would_add(global: &Global, context: &Context, orders: Vec<NewTaskOrder>) -> Result<(), Failure> {
    let checked = check_orders(context, orders).await?;
    let mut seen = BTreeSet::new();
    for id in checked.iter().filter_map(|new| new.id.as_ref()) {
        if !seen.insert(id) || context.store.task(id).await.is_ok() {
            let message = format!("there is a task {id} already");
            return Err(Failure::usage(message, "choose another id, or leave it out"));
        }
    }
    match global.format() {
        Format::Json => {
            let tasks: Vec<Value> = checked
                .iter()
                .map(|new| {
                    let spec = &new.task.spec;
                    json!({"id": new.id, "description": spec.description, "repo": spec.repository, "base": spec.base,
                        "batch": new.task.batch, "depends_on": new.task.depends_on})
                })
                .collect();
            ui::json(&json!({ "would_add": tasks }));
        }
        Format::People => {
            for new in &checked {
                let id = new.id.as_ref().map_or("(the next number)", TaskId::as_str);
                ui::result(&format!("would add {id}: {}", clean_line(&new.task.spec.description, 80)));
            }
        }
    }
    Ok(())
}
