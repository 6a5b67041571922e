//! `shuntyard events`: everything that has changed, from any position on, and as it happens.

use super::{
    Global,
    moment::{local, rfc3339},
};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use shuntyard_engine::{Context, queue::changes::Changes};
use shuntyard_store::Event;
use std::{process::ExitCode, time::Duration};

/// The version of the envelope. A field may be added to it; what is there keeps its meaning.
const VERSION: u32 = 1;
const PAGE: u32 = 500;
/// Without a position, the newest so many.
const NEWEST: i64 = 50;
const LOOK_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub struct EventsArgs {
    /// Go on and show what happens from now on
    #[arg(long)]
    follow: bool,
    /// Everything after the event with this id; 0 is from the beginning
    #[arg(long, value_name = "ID")]
    after: Option<i64>,
    /// Only kinds that begin with this, such as job. or task.done; may be repeated
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// Only what happened to this: a task, a job, a worker, a provider
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,
    /// At most so many
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
}

/// One event, as scripts may rely on it.
#[derive(Debug, Serialize)]
struct Envelope<'a> {
    version: u32,
    id: i64,
    at: String,
    kind: &'a str,
    subject: &'a str,
    data: &'a Value,
}

pub async fn run(global: &Global, args: &EventsArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let newest = context.store.newest_event().await?;
    let mut position = match args.after {
        Some(after) if after < 0 => {
            return Err(Failure::usage("--after is an id, and ids are not negative", "0 is from the beginning"));
        }
        Some(after) if after > newest => {
            let message = format!("there is no event {after} yet; the newest is {newest}");
            return Err(Failure::usage(message, "leave --after out for the newest events"));
        }
        Some(after) => after,
        None if args.follow && args.limit.is_none() => newest,
        None => (newest - NEWEST).max(0),
    };
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut changes = Changes::of(&context);
    loop {
        show_more(&context, args, global.format(), &mut position, &mut left).await?;
        if !args.follow || left == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        tokio::select! {
            () = changes.next(LOOK_EVERY) => {}
            () = super::input::interrupted() => return Ok(ExitCode::SUCCESS),
        }
    }
}

async fn show_more(
    context: &Context,
    args: &EventsArgs,
    format: Format,
    position: &mut i64,
    left: &mut u64,
) -> Result<(), Failure> {
    while *left > 0 {
        let events = context.store.events_after(*position, PAGE).await?;
        for event in &events {
            *position = event.position;
            if *left > 0 && is_wanted(args, event) {
                *left -= 1;
                show(event, format);
            }
        }
        if events.len() < PAGE as usize {
            return Ok(());
        }
    }
    Ok(())
}

fn is_wanted(args: &EventsArgs, event: &Event) -> bool {
    let kind = args.kind.is_empty() || args.kind.iter().any(|kind| event.kind.starts_with(kind.as_str()));
    kind && args.subject.as_ref().is_none_or(|subject| *subject == event.subject)
}

fn show(event: &Event, format: Format) {
    match format {
        Format::Json => ui::json_line(&Envelope {
            version: VERSION,
            id: event.position,
            at: rfc3339(event.at),
            kind: &event.kind,
            subject: &event.subject,
            data: &event.data,
        }),
        Format::People => {
            let data = match &event.data {
                Value::Object(fields) if fields.is_empty() => String::new(),
                Value::Null => String::new(),
                data => data.to_string(),
            };
            ui::result(
                format!("{:>8}  {}  {:<20} {:<12} {data}", event.position, local(event.at), event.kind, event.subject)
                    .trim_end(),
            );
        }
    }
}
