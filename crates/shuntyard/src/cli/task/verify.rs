//! `shuntyard task verify`: the receipt of a task, made again in a fresh checkout.

use crate::{
    cli::{Global, progress::Display},
    failure::{Exit, Failure},
    ui::{self, Format},
};
use shuntyard_core::{values::clean_line, work::task::TaskId};
use shuntyard_engine::queue::supervise::{Verified, verify};
use std::process::ExitCode;

pub async fn run(global: &Global, id: &TaskId) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let display = Display::new(false, "checking again");
    let verified = verify(&context, id).await;
    display.finish();
    let verified = verified?;
    match global.format() {
        Format::Json => ui::json(&verified),
        Format::People => people(&verified),
    }
    Ok(if verified.good { ExitCode::SUCCESS } else { ExitCode::from(Exit::Work as u8) })
}

fn people(verified: &Verified) {
    let head: String = verified.head.chars().take(10).collect();
    for check in &verified.checks {
        ui::result(&format!("{}: {}", clean_line(&check.command, 100), check.exit.shown()));
    }
    for fault in &verified.faults {
        ui::result(&format!("not as it should be: {}", clean_line(fault, 200)));
    }
    let verdict = if verified.good { "the receipt holds" } else { "the receipt does not hold" };
    ui::frame(&format!("{}: {verdict}, at {head}", verified.task));
}
