//! `switchyard task cancel`, `retry` and `reset`: what people say about tasks that are there.
//!
//! Invariant: of several tasks either all that are named can be changed so, or none is.

use super::document::Whole;
use crate::{
    cli::{Global, input, progress::Display},
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use std::{process::ExitCode, time::Duration};
use switchyard_core::{
    ErrorClass,
    compare::clean,
    duration::Limit,
    task::{Event, State, TaskId, step},
};
use switchyard_engine::{
    Context,
    supervise::{self as engine, ChangeError},
};
use switchyard_host::clock::now_micros;
use switchyard_store::TaskRecord;
use tokio::time::Instant;

const LOOK_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
pub struct OrderArgs {
    /// The tasks
    #[arg(required = true)]
    ids: Vec<TaskId>,
    /// Only say what they would become
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub struct CancelArgs {
    #[command(flatten)]
    order: OrderArgs,
    /// Wait until those that are at work have ended
    #[arg(long)]
    wait: bool,
    /// How long to wait at most, or none
    #[arg(long, value_name = "DURATION", default_value = "5m", requires = "wait")]
    timeout: Limit,
}

pub async fn cancel(global: &Global, args: &CancelArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let by = who(&context);
    let event = Event::Cancel { by: by.clone() };
    let mut changed = match prepared(global, &context, &args.order, &event).await? {
        Prepared::Done => return Ok(ExitCode::SUCCESS),
        Prepared::Go => Vec::with_capacity(args.order.ids.len()),
    };
    for id in &args.order.ids {
        changed.push(engine::cancel(&context, id, &by).await.map_err(Failure::task)?);
    }
    if args.wait {
        changed = ended(&context, changed, args.timeout).await?;
    }
    told(global, &context, changed).await
}

pub async fn retry(global: &Global, args: &OrderArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    if let Prepared::Done = prepared(global, &context, args, &Event::Retry).await? {
        return Ok(ExitCode::SUCCESS);
    }
    let mut changed = Vec::with_capacity(args.ids.len());
    for id in &args.ids {
        changed.push(engine::retry(&context, id).await.map_err(Failure::task)?);
    }
    told(global, &context, changed).await
}

pub async fn reset(global: &Global, args: &OrderArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    if let Prepared::Done = prepared(global, &context, args, &Event::Reset).await? {
        return Ok(ExitCode::SUCCESS);
    }
    let mut changed = Vec::with_capacity(args.ids.len());
    for id in &args.ids {
        changed.push(engine::reset(&context, id).await.map_err(Failure::task)?);
    }
    told(global, &context, changed).await
}

/// Whom a cancelled task names.
pub fn who(context: &Context) -> String {
    context.variable("USER").unwrap_or("a person").to_owned()
}

enum Prepared {
    Go,
    /// Only what would happen was wanted, and it was told.
    Done,
}

/// Looks whether every one of them can be changed so, before any is.
async fn prepared(global: &Global, context: &Context, args: &OrderArgs, event: &Event) -> Result<Prepared, Failure> {
    let rules = context.config.supervise.rules(&context.config.tier_order);
    let mut would = Vec::with_capacity(args.ids.len());
    for id in &args.ids {
        let record = super::find(context, id).await?;
        let after = step(&record.task, event.clone(), &rules, now_micros());
        would.push((record, after.map_err(|illegal| Failure::task(ChangeError::Illegal(illegal)))?.task.state));
    }
    if !args.dry_run {
        return Ok(Prepared::Go);
    }
    match global.format() {
        Format::Json => {
            let tasks: Vec<_> = would
                .iter()
                .map(|(record, after)| {
                    json!({"id": record.task.id, "state": record.task.state.name(), "would_be": after.name()})
                })
                .collect();
            ui::json(&json!({ "tasks": tasks }));
        }
        Format::People => {
            for (record, after) in &would {
                let TaskRecord { task, .. } = record;
                ui::result(&format!("{}: {} would become {}", task.id, task.state.name(), after.name()));
            }
        }
    }
    Ok(Prepared::Done)
}

async fn told(global: &Global, context: &Context, changed: Vec<TaskRecord>) -> Result<ExitCode, Failure> {
    if global.format() == Format::Json {
        let mut tasks = Vec::with_capacity(changed.len());
        for record in changed {
            tasks.push(Whole::of(context, record).await?.document());
        }
        ui::json(&json!({ "tasks": tasks }));
        return Ok(ExitCode::SUCCESS);
    }
    for record in changed {
        let state = &record.task.state;
        let more = match state {
            State::Stopping { .. } => " (its worker ends it within seconds)".to_owned(),
            state if state.reason().is_empty() => String::new(),
            state => format!(" ({})", clean(&state.reason())),
        };
        ui::result(&format!("{}: {}{more}", record.task.id, state.name()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits until no worker holds any of them. What then became of each is read again.
async fn ended(context: &Context, changed: Vec<TaskRecord>, timeout: Limit) -> Result<Vec<TaskRecord>, Failure> {
    let deadline = timeout.0.map(|patience| Instant::now() + patience);
    let display = Display::new(false, "waiting for their workers to end");
    let waiting = async {
        let mut found = Vec::with_capacity(changed.len());
        for mut record in changed {
            while record.task.state.is_held() {
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    let message = format!("{} is still {}", record.task.id, record.task.state.name());
                    let hint =
                        format!("`switchyard task why {}`; a pass of the supervisor takes it back", record.task.id);
                    return Err(Failure { hint, ..Failure::classed(ErrorClass::Timeout, message) });
                }
                tokio::time::sleep(LOOK_EVERY).await;
                record = super::find(context, &record.task.id).await?;
            }
            found.push(record);
        }
        Ok(found)
    };
    let found = tokio::select! {
        found = waiting => found,
        () = input::interrupted() => {
            Err(Failure::classed(ErrorClass::Cancelled, "the waiting was interrupted; the tasks end all the same"))
        }
    };
    display.finish();
    found
}
