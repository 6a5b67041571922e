//! `shuntyard release`: takes a task from a worker that hangs, and puts it back.

use super::{Global, task::find};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_core::work::task::TaskId;
use shuntyard_engine::queue::supervise::{Released, release};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ReleaseArgs {
    /// The task
    id: TaskId,
    /// Also from a worker that shows signs of life: it is ended first, with all that it started
    #[arg(long)]
    force: bool,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(global: &Global, args: &ReleaseArgs) -> Result<ExitCode, Failure> {
    let (id, context) = (&args.id, global.context().await?);
    let before = find(&context, id).await?.task.state;
    if !before.is_held() {
        let message = format!("{id} is {}, and no worker holds it", before.name());
        return Err(Failure::refused(message, format!("see `shuntyard task why {id}`")));
    }
    if args.dry_run {
        match global.format() {
            Format::Json => ui::json(&json!({"id": id, "state": before.name(), "would_release": true})),
            Format::People => ui::result(&format!("{id} would be taken from its worker, which would be ended")),
        }
        return Ok(ExitCode::SUCCESS);
    }
    match release(&context, id, args.force).await.map_err(Failure::task)? {
        Released::Done => {}
        Released::AtWork => {
            let message = format!("the worker of {id} shows signs of life");
            return Err(Failure::refused(message, format!("`shuntyard release {id} --force` ends it first")));
        }
        Released::NotNow => {
            let message = format!("{id} was not released: it has changed, or its agent could not be ended");
            return Err(Failure::failed(message, format!("see `shuntyard task why {id}`, and try again")));
        }
    }
    let after = find(&context, id).await?.task.state;
    match global.format() {
        Format::Json => ui::json(&json!({"id": id, "state": after.name(), "phase": after.phase()})),
        Format::People => ui::result(&format!("{id} is {}", after.name())),
    }
    Ok(ExitCode::SUCCESS)
}
