//! `shuntyard task cancel`, `retry` and `reset`: a user's changes to existing tasks.
//!
//! Invariant: of several tasks either all that are named can be changed so, or none is.

use super::{
    discard::{self, What},
    document::Whole,
};
use crate::{
    cli::{Global, input, progress::Display},
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_core::{
    ErrorClass,
    values::{clean, duration::Limit},
    work::task::{Event, State, TaskId, step},
};
use shuntyard_engine::{
    Context,
    queue::supervise::{self as engine, ChangeError, Leftovers},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::TaskRecord;
use std::{process::ExitCode, time::Duration};
use tokio::time::Instant;

/// The name of the state in which nothing but its leftovers can be removed.
const CANCELLED: &str = "cancelled";
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
    /// Also remove their workspaces; waits until those that are at work have ended
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "workspace")]
    discard: Option<What>,
}

pub async fn cancel(global: &Global, args: &CancelArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let by = who(&context);
    let event = Event::Cancel { by: by.clone() };
    let mut changed = match prepared(global, &context, &args.order, &event, args.discard).await? {
        Prepared::Done => return Ok(ExitCode::SUCCESS),
        Prepared::Go => Vec::with_capacity(args.order.ids.len()),
    };
    for id in &args.order.ids {
        changed.push(match engine::cancel(&context, id, &by).await {
            // What was cancelled before can still be discarded.
            Err(ChangeError::Illegal(illegal)) if args.discard.is_some() && illegal.state == CANCELLED => {
                super::find(&context, id).await?
            }
            cancelled => cancelled.map_err(Failure::task)?,
        });
    }
    if args.wait || args.discard.is_some() {
        changed = ended(&context, changed, args.timeout).await?;
    }
    let discarded = match args.discard {
        Some(what) => discard::discard(&context, &args.order.ids, what).await?,
        None => Vec::new(),
    };
    told(global, &context, changed, &discarded).await
}

pub async fn retry(global: &Global, args: &OrderArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    if let Prepared::Done = prepared(global, &context, args, &Event::Retry, None).await? {
        return Ok(ExitCode::SUCCESS);
    }
    let mut changed = Vec::with_capacity(args.ids.len());
    for id in &args.ids {
        changed.push(engine::retry(&context, id).await.map_err(Failure::task)?);
    }
    told(global, &context, changed, &[]).await
}

pub async fn reset(global: &Global, args: &OrderArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    if let Prepared::Done = prepared(global, &context, args, &Event::Reset, None).await? {
        return Ok(ExitCode::SUCCESS);
    }
    let mut changed = Vec::with_capacity(args.ids.len());
    for id in &args.ids {
        changed.push(engine::reset(&context, id).await.map_err(Failure::task)?);
    }
    told(global, &context, changed, &[]).await
}

/// The user whom a cancelled task names.
pub fn who(context: &Context) -> String {
    context.variable("USER").unwrap_or("a person").to_owned()
}

enum Prepared {
    Go,
    /// It was a dry run, and the preview was printed.
    Done,
}

/// Checks whether every one of them can be changed so, before any is.
async fn prepared(
    global: &Global,
    context: &Context,
    args: &OrderArgs,
    event: &Event,
    discarded: Option<What>,
) -> Result<Prepared, Failure> {
    let rules = context.config.supervise.rules(&context.config.tier_order);
    let mut would = Vec::with_capacity(args.ids.len());
    for id in &args.ids {
        let record = super::find(context, id).await?;
        let after = match step(&record.task, event.clone(), &rules, now_micros()) {
            Ok(after) => after.task.state,
            Err(illegal) if discarded.is_some() && illegal.state == CANCELLED => record.task.state.clone(),
            Err(illegal) => return Err(Failure::task(ChangeError::Illegal(illegal))),
        };
        would.push((record, after));
    }
    if !args.dry_run {
        return Ok(Prepared::Go);
    }
    let mut tasks = Vec::with_capacity(would.len());
    for (record, after) in &would {
        let TaskRecord { task, .. } = record;
        let mut document = json!({"id": task.id, "state": task.state.name(), "would_be": after.name()});
        let left = match discarded {
            Some(what) => Some(discard::describe(context, &task.id, what).await?),
            None => None,
        };
        if global.format() == Format::People {
            let (now, then) = (task.state.name(), after.name());
            let would = if now == then { format!("stays {now}") } else { format!("{now} would become {then}") };
            ui::result(&format!("{}: {would}", task.id));
            left.iter().for_each(|(text, _)| ui::result(text));
        }
        if let Some((_, left)) = left {
            document["discards"] = left;
        }
        tasks.push(document);
    }
    if global.format() == Format::Json {
        ui::json(&json!({ "tasks": tasks }));
    }
    Ok(Prepared::Done)
}

async fn told(
    global: &Global,
    context: &Context,
    changed: Vec<TaskRecord>,
    discarded: &[(TaskId, Leftovers)],
) -> Result<ExitCode, Failure> {
    if global.format() == Format::Json {
        let mut tasks = Vec::with_capacity(changed.len());
        for record in changed {
            let left = discarded.iter().find(|(id, _)| *id == record.task.id);
            let mut document = Whole::of(context, record).await?.document();
            if let Some((_, left)) = left {
                document["discarded"] = discard::document(left);
            }
            tasks.push(document);
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
    discard::tell(discarded);
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
                        format!("`shuntyard task why {}`; a pass of the supervisor takes it back", record.task.id);
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
