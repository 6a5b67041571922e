//! `opencode run` without input. Shuntyard never uses it, but people and scripts beside it do, and
//! it is the quickest sign that the binary as a whole is sound.

use super::{Seen, Surprise, station::Station};
use crate::servers::launch::end;
use shuntyard_host::{GuardedCommand, guarded::Environment};
use shuntyard_scripted::Step;
use std::{ffi::OsString, fs, process::Stdio, time::Duration};
use tokio::time::{Instant, sleep};

const KEY: &str = "conformance-stdin";
const ANSWER: &str = "answered without input";
/// Below the time of a check, so that a command that hangs is ended and named here.
const PATIENCE: Duration = Duration::from_secs(18);

pub(super) async fn stdin(station: &Station) -> Result<Seen, Surprise> {
    station.provider.script(KEY, vec![Step::text(ANSWER)]);
    let output = station.scratch.path("run.out");
    let arguments = ["run", "--model", "scripted/alpha", "--title", "stdin", "--format", "json", KEY];
    let mut command = GuardedCommand::new(&station.binary, arguments);
    command.environment = Environment::Empty;
    let variables = station.environment("run.db").into_iter();
    command.variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    command.directory = Some(station.scratch.path("project"));
    command.stdout = Stdio::from(fs::File::create(&output)?);
    let mut guarded = command.spawn(&station.site.program)?;
    let began = Instant::now();
    while began.elapsed() < PATIENCE && guarded.try_wait()?.is_none() {
        sleep(Duration::from_millis(50)).await;
    }
    let status = guarded.try_wait()?;
    end(guarded).await;
    let answered = fs::read_to_string(&output)?.contains(ANSWER);
    match (status, answered) {
        (Some(_), true) => Ok(Seen::Holds(format!(
            "`opencode run` without input answered and ended in {} s",
            began.elapsed().as_secs()
        ))),
        (Some(status), false) => Err(Surprise(format!("`opencode run` ended without an answer ({status})"))),
        (None, _) => Ok(Seen::WorkedAround {
            how: "Shuntyard never uses `run`; its servers have no input",
            detail: format!("`opencode run` without input had not ended after {} s", PATIENCE.as_secs()),
        }),
    }
}
