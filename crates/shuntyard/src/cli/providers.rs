//! `shuntyard providers`: which providers there are, and whether they answer.

use super::{Global, dispatch::cancel_on_signal, input, progress::Display};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use shuntyard_core::{
    routing::{HealthStatus, Provider},
    values::duration::{self, Limit},
};
use shuntyard_engine::{
    Context,
    dispatch::probe::{Check, Freshness, check},
    routing::{
        availability::{Known, load},
        catalogue::{Extent, Refresh, current},
    },
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::HealthRecord;
use std::{path::Path, process::ExitCode, time::Duration};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ProvidersArgs {
    #[command(subcommand)]
    command: Option<ProvidersCommand>,
    /// Also providers that are not connected
    #[arg(long)]
    all: bool,
    /// Ask OpenCode for its providers now
    #[arg(long)]
    refresh: bool,
}

#[derive(Debug, Subcommand)]
enum ProvidersCommand {
    /// Find out whether a provider answers, with one tiny prompt unless it is known
    #[command(after_help = "\
Exit codes: 0 available, 1 unavailable, 2 rate-limited, 3 key invalid or missing.
Of several providers the worst counts: a key before an outage before a limit.")]
    Check(CheckArgs),
    /// Forget what stands against a provider and its models, or against all
    Forget {
        /// The provider; all of them when none is named
        provider: Option<String>,
    },
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// The provider; all usable ones when none is named
    provider: Option<String>,
    /// Ask, whatever is known
    #[arg(long)]
    force: bool,
    /// Ask when what is known is older than this, like 30s
    #[arg(long, value_name = "DURATION")]
    ttl: Option<String>,
}

pub async fn run(global: &Global, args: &ProvidersArgs) -> Result<ExitCode, Failure> {
    match &args.command {
        None => list(global, args).await,
        Some(ProvidersCommand::Check(args)) => run_check(global, args).await,
        Some(ProvidersCommand::Forget { provider }) => {
            let context = global.context().await?;
            forget(&context, provider.as_deref()).await?;
            match global.format() {
                Format::Json => ui::json(&json!({"forgotten": provider})),
                Format::People => ui::note(&format!("forgotten: {}", provider.as_deref().unwrap_or("all"))),
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Whether a cooldown's target is this provider or one of its models.
fn concerns(target: &str, provider: &str) -> bool {
    target.strip_prefix(provider).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Removes the cooldowns and the recorded health of a provider and its models, or of all.
async fn forget(context: &Context, provider: Option<&str>) -> Result<(), Failure> {
    let now = now_micros();
    let is_meant = |target: &str| provider.is_none_or(|provider| concerns(target, provider));
    let cooldowns = context.store.cooldowns(now).await?;
    let targets: Vec<&str> =
        cooldowns.iter().map(|row| row.target.as_str()).filter(|target| is_meant(target)).collect();
    context.store.end_cooldowns(&targets, now, now).await?;
    Ok(context.store.forget_health(provider).await?)
}

async fn list(global: &Global, args: &ProvidersArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let refresh = if args.refresh { Refresh::Now } else { Refresh::IfStale };
    let extent = if args.all { Extent::All } else { Extent::Connected };
    let listed = current(&context, &input::directory(None)?, refresh, extent).await?;
    let known = load(&context, now_micros()).await?;
    let providers = &listed.catalogue.providers;
    match global.format() {
        Format::Json => {
            let rows: Vec<Value> = providers.iter().map(|(id, found)| document(id, found, &known)).collect();
            ui::json(&json!({"providers": rows, "from": listed.origin, "problems": listed.problems}));
        }
        Format::People => {
            for problem in &listed.problems {
                ui::warn(problem);
            }
            let rows: Vec<Vec<String>> = providers
                .iter()
                .map(|(id, found)| {
                    let health = known.health_of(id, now_micros());
                    let mut health = health.map_or_else(|| "not checked".to_owned(), told);
                    for row in known.cooldowns.iter().filter(|row| concerns(&row.target, id)) {
                        let left = u64::try_from(row.until - now_micros()).unwrap_or_default() / 1_000_000 + 1;
                        let left = duration::show(Duration::from_secs(left));
                        health = format!("{health}\n{} in cooldown for another {left} ({})", row.target, row.trigger);
                    }
                    vec![id.clone(), found.standing().to_owned(), found.models.len().to_string(), health]
                })
                .collect();
            ui::result(&ui::table(&["PROVIDER", "STANDING", "MODELS", "HEALTH"], &rows));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn document(id: &str, found: &Provider, known: &Known) -> Value {
    let cooldowns: Vec<Value> = known
        .cooldowns
        .iter()
        .filter(|row| concerns(&row.target, id))
        .map(|row| json!({"target": row.target, "trigger": row.trigger, "until_ms": row.until / 1000, "message": row.message}))
        .collect();
    json!({"provider": id, "name": found.name, "source": found.source, "has_key": found.has_key,
        "connected": found.connected, "usable": found.is_usable(), "standing": found.standing(),
        "models": found.models.len(), "health": known.health_of(id, now_micros()).map(health), "cooldowns": cooldowns})
}

fn health(record: &HealthRecord) -> Value {
    json!({"status": record.status, "error_class": record.class, "message": record.message, "source": record.source,
        "latency_ms": record.latency_ms, "checked_at_ms": record.checked_at / 1000,
        "expires_at_ms": record.expires_at / 1000})
}

fn told(record: &HealthRecord) -> String {
    let age = Duration::from_micros(u64::try_from(now_micros() - record.checked_at).unwrap_or_default());
    let age = match age.as_secs() {
        0 => "just now".to_owned(),
        seconds => format!("{} ago", duration::show(Duration::from_secs(seconds))),
    };
    let took = record.latency_ms.map_or_else(String::new, |took| format!(" in {took}ms"));
    let why = record.message.as_deref().map_or_else(String::new, |message| format!(": {message}"));
    format!("{}{took}, {age}{why}", record.status)
}

async fn run_check(global: &Global, args: &CheckArgs) -> Result<ExitCode, Failure> {
    let ttl = args.ttl.as_deref().map(str::parse::<Limit>).transpose();
    let ttl = ttl.map_err(|error| Failure::usage(error, "for example --ttl 30s"))?;
    let freshness = Freshness { force: args.force, ttl: ttl.map(|Limit(ttl)| ttl.unwrap_or_default()) };
    let context = global.context().await?;
    let directory = input::directory(None)?;
    let names = match &args.provider {
        Some(name) => vec![name.clone()],
        None => usable(&context, &directory).await?,
    };
    let cancel = cancel_on_signal();
    let mut checks = Vec::new();
    let mut unasked = false;
    for name in &names {
        let display = Display::new(false, &format!("asking {name}"));
        let checked = check(&context, &directory, name, freshness, &cancel).await;
        display.finish();
        match checked {
            Ok(checked) => checks.push(checked),
            // Earlier results are still printed; a provider that cannot be checked is no reason to stop.
            Err(refusal) if names.len() > 1 && !cancel.is_cancelled() => {
                ui::warn(&format!("{name} could not be checked: {refusal}"));
                unasked = true;
            }
            Err(refusal) => return Err(refusal.into()),
        }
    }
    show(global.format(), args.provider.is_some(), &checks);
    let worst = checks.iter().map(|check| severity(check.record.status)).max();
    // One that could not be asked counts as unavailable.
    let worst = worst.max(unasked.then(|| severity(HealthStatus::Unavailable)));
    Ok(ExitCode::from(worst.map_or(1, |(_, code)| code)))
}

async fn usable(context: &Context, directory: &Path) -> Result<Vec<String>, Failure> {
    let listed = current(context, directory, Refresh::IfStale, Extent::Connected).await?;
    let policy = &context.config.policy;
    let usable = listed.catalogue.providers.iter().filter(|(id, found)| found.is_usable() && policy.allows(id));
    Ok(usable.map(|(id, _)| id.clone()).collect())
}

/// How bad it is, and its exit code.
fn severity(status: HealthStatus) -> (u8, u8) {
    match status {
        HealthStatus::Available => (0, 0),
        HealthStatus::RateLimited => (1, 2),
        HealthStatus::Unavailable => (2, 1),
        HealthStatus::KeyInvalid | HealthStatus::KeyMissing => (3, 3),
    }
}

fn show(format: Format, single: bool, checks: &[Check]) {
    match format {
        Format::Json => {
            let mut rows: Vec<Value> = checks.iter().map(check_document).collect();
            match rows.pop() {
                Some(only) if single => ui::json(&only),
                last => {
                    rows.extend(last);
                    ui::json(&json!({"checks": rows}));
                }
            }
        }
        Format::People => {
            let rows: Vec<Vec<String>> = checks
                .iter()
                .map(|check| {
                    let how = match (&check.model, check.cached) {
                        (Some(model), _) => format!("asked {model}"),
                        (None, true) => "known".to_owned(),
                        (None, false) => "not asked".to_owned(),
                    };
                    vec![check.record.provider.clone(), told(&check.record), how]
                })
                .collect();
            if rows.is_empty() {
                ui::note("no provider is connected");
            } else {
                ui::result(&ui::table(&["PROVIDER", "HEALTH", ""], &rows));
            }
        }
    }
}

fn check_document(check: &Check) -> Value {
    let mut document = health(&check.record);
    if let Value::Object(fields) = &mut document {
        fields.insert("provider".into(), json!(check.record.provider));
        fields.insert("cached".into(), json!(check.cached));
        fields.insert("model".into(), json!(check.model.as_ref().map(ToString::to_string)));
        fields.insert("cost_usd".into(), json!(check.cost_usd));
        fields.insert("cost_known".into(), json!(check.cost_known));
        fields.insert("exit".into(), json!(severity(check.record.status).1));
    }
    document
}
