//! `shuntyard memory` and `shuntyard respawn-history`: what managed servers use, and which were ended for it.

use super::{
    Global,
    moment::{local, rfc3339},
};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::values::size;
use shuntyard_engine::{
    Context,
    servers::{RECYCLED, statuses},
};
use shuntyard_store::Event;
use std::{collections::VecDeque, process::ExitCode};

const PAGE: u32 = 2000;

pub async fn memory(global: &Global) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let limit = context.config.server.memory_limit_mib.saturating_mul(1 << 20);
    let servers = statuses(&context).await?;
    let used = |leases: usize| if leases > 0 { "busy" } else { "idle" };
    if global.format() == Format::Json {
        let servers: Vec<Value> = servers
            .iter()
            .map(|server| {
                json!({
                    "id": server.record.id, "url": server.record.url,
                    "pid": server.record.process.as_ref().map(|process| process.pid),
                    "keeper_pid": server.record.keeper.pid,
                    "resident_bytes": server.resident_bytes, "limit_bytes": limit,
                    "over_limit": server.resident_bytes > limit,
                    "use": used(server.leases), "leases": server.leases, "healthy": server.version.is_some(),
                    "started_at": rfc3339(server.record.started_at),
                })
            })
            .collect();
        ui::json(&json!({"limit_bytes": limit, "servers": servers}));
        return Ok(ExitCode::SUCCESS);
    }
    if servers.is_empty() {
        ui::result("no managed server runs");
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = servers
        .iter()
        .map(|server| {
            let process = server.record.process.as_ref();
            vec![
                server.record.url.clone(),
                process.map(|process| process.pid.to_string()).unwrap_or_default(),
                size::show(server.resident_bytes),
                size::show(limit),
                used(server.leases).to_owned(),
                if server.version.is_some() { "answers" } else { "does not answer" }.to_owned(),
            ]
        })
        .collect();
    ui::result(&ui::table(&["SERVER", "PID", "MEMORY", "LIMIT", "USE", "HEALTH"], &rows));
    ui::note("a server that is idle and above the limit is ended by itself, and the next dispatch starts another");
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// At most so many, the newest
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

pub async fn history(global: &Global, args: &HistoryArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let events = recycled(&context, args.limit).await?;
    match global.format() {
        Format::Json => {
            let servers: Vec<Value> = events
                .iter()
                .map(|event| {
                    json!({"at": rfc3339(event.at), "server": event.subject, "slot": event.data["slot"],
                        "why": event.data["why"], "resident_bytes": event.data["resident_bytes"],
                        "lived_seconds": event.data["lived_seconds"]})
                })
                .collect();
            ui::json(&json!({ "respawns": servers }));
        }
        Format::People if events.is_empty() => ui::result("no server had to be ended for its memory or its health"),
        Format::People => {
            let rows: Vec<Vec<String>> = events.iter().map(row).collect();
            ui::result(&ui::table(&["ENDED", "WHY", "MEMORY", "SERVER"], &rows));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The newest, the newest of them last.
async fn recycled(context: &Context, limit: usize) -> Result<VecDeque<Event>, Failure> {
    let mut newest = VecDeque::new();
    let mut after = 0;
    loop {
        let page = context.store.events_after(after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(newest) };
        after = last.position;
        for event in page.into_iter().filter(|event| event.kind == RECYCLED) {
            newest.push_back(event);
            if newest.len() > limit {
                newest.pop_front();
            }
        }
    }
}

fn row(event: &Event) -> Vec<String> {
    let memory = event.data["resident_bytes"].as_u64().map(size::show);
    let why = event.data["why"].as_str().unwrap_or_default().to_owned();
    vec![local(event.at), why, memory.unwrap_or_default(), event.subject.clone()]
}
