//! `shuntyard supervise` and `shuntyard pulse`: the same pass, again and again or once.

use super::Global;
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use shuntyard_core::{settings::Repository, work::task::TaskId};
use shuntyard_engine::{
    Context,
    queue::supervise::{self as engine, Pulse, SupervisorReport, TodoPass, Watcher},
};
use shuntyard_host::clock::now_micros;
use std::{process::ExitCode, sync::Arc};
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub struct SuperviseArgs {
    /// Start only tasks of this batch
    #[arg(long)]
    batch: Option<String>,
    /// End when nothing is queued, waiting or at work any more
    #[arg(long)]
    until_idle: bool,
    /// Say what would be started now, and start nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub struct PulseArgs {
    /// Start only tasks of this batch
    #[arg(long)]
    batch: Option<String>,
    /// Start again at once after failures of the environment
    #[arg(long)]
    clear_breaker: bool,
    /// Say what would be started, and start nothing
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(global: &Global, args: &SuperviseArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    check_batch(&context, args.batch.as_deref()).await?;
    if args.dry_run {
        let pulse = engine::would_start(&context, args.batch.as_deref()).await.map_err(Failure::task)?;
        return Ok(conclude(&pulse, global.format()));
    }
    let cancel = CancellationToken::new();
    let format = global.format();
    let watcher: Watcher = Arc::new(move |told| match told {
        SupervisorReport::Pulse(pulse) => show(pulse, format),
        SupervisorReport::Todo(todo) if format == Format::Json => ui::json_line(&serde_json::json!({ "todo": [todo] })),
        SupervisorReport::Todo(todo) => show_todo(todo),
        SupervisorReport::Trouble(error) => ui::complain(&format!("a pass failed and is tried again: {error}")),
    });
    if format == Format::People {
        ui::note("supervising; Ctrl-C ends this, and what is at work goes on by itself");
    }
    let supervising = engine::supervise(&context, args.batch.as_deref(), &watcher, &cancel);
    let idle = async {
        if args.until_idle {
            engine::until_idle(&context, args.batch.as_deref()).await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::pin!(supervising);
    tokio::select! {
        () = &mut supervising => return Ok(ExitCode::SUCCESS),
        () = super::input::interrupted() => return Ok(ExitCode::SUCCESS),
        () = idle => cancel.cancel(),
    }
    // A pass that has begun is finished: otherwise its work would stay incomplete until another supervisor may claim
    // it.
    tokio::select! {
        () = supervising => {}
        () = super::input::interrupted() => {}
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn pulse(global: &Global, args: &PulseArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    check_batch(&context, args.batch.as_deref()).await?;
    if args.clear_breaker && !args.dry_run {
        let now = now_micros();
        context.store.set_mark(engine::BREAKER_CLEARED, now).await?;
        // For a supervisor that waits for something to do.
        context.store.append_event(now, engine::BREAKER_CLEARED, "", &serde_json::json!({})).await?;
    }
    let pulse = if args.dry_run {
        engine::would_start(&context, args.batch.as_deref()).await
    } else {
        engine::pulse(&context, args.batch.as_deref()).await
    };
    Ok(conclude(&pulse.map_err(Failure::task)?, global.format()))
}

/// A batch that neither exists nor is made for a repository's tasks is a name that was mistyped.
async fn check_batch(context: &Context, batch: Option<&str>) -> Result<(), Failure> {
    let Some(name) = batch else { return Ok(()) };
    let made_later = |settings: &Repository| settings.batch == name;
    if context.config.repository.values().any(made_later) {
        return Ok(());
    }
    super::batches::find(context, name).await.map(drop)
}

/// Shows a pass that was the only one.
fn conclude(pulse: &Pulse, format: Format) -> ExitCode {
    match format {
        Format::Json => ui::json(pulse),
        Format::People if pulse.is_idle() => {
            ui::result(pulse.held.as_deref().unwrap_or("there was nothing to do"));
        }
        Format::People => show(pulse, Format::People),
    }
    ExitCode::SUCCESS
}

fn show(pulse: &Pulse, format: Format) {
    if pulse.is_idle() {
        return;
    }
    if format == Format::Json {
        ui::json_line(pulse);
        return;
    }
    pulse.todo.iter().for_each(show_todo);
    let mut parts = Vec::new();
    if !pulse.started.is_empty() {
        let ids: Vec<&str> = pulse.started.iter().map(TaskId::as_str).collect();
        parts.push(format!("started {}", ids.join(", ")));
    }
    for (count, what) in [
        (pulse.taken_back, "taken back from workers that are gone"),
        (pulse.woken, "woken"),
        (pulse.stopped, "stopped"),
        (pulse.effects, "notices and lessons done"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    if !parts.is_empty() {
        ui::note(&parts.join("; "));
    }
}

fn show_todo(todo: &TodoPass) {
    let TodoPass { repository, added, ticked, released, cancelled, problem } = todo;
    for (ids, what) in [
        (added, "added"),
        (ticked, "ticked"),
        (released, "given back"),
        (cancelled, "cancelled, since TODO.md has it over"),
    ] {
        if !ids.is_empty() {
            let ids: Vec<&str> = ids.iter().map(TaskId::as_str).collect();
            ui::note(&format!("TODO.md of {repository}: {} {what}", ids.join(", ")));
        }
    }
    if let Some(problem) = problem {
        ui::complain(&format!("TODO.md of {repository}: {problem}"));
    }
}
