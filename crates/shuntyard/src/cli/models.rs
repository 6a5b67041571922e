//! `shuntyard models`: what there is to choose from, and side by side.

use super::{Global, input, route::Need};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    routing::{Catalogue, Model, Needs, Provider, Selector, resolve},
};
use shuntyard_engine::{
    Context,
    base::refusal::Refusal,
    routing::{
        catalogue::{Extent, Listed, Origin, Refresh, current},
        choose::gather_inputs,
    },
};
use std::{path::Path, process::ExitCode};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ModelsArgs {
    #[command(subcommand)]
    command: Option<ModelsCommand>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum ModelsCommand {
    /// Prices, limits and capabilities side by side
    Compare(CompareArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Words that the name must contain
    query: Vec<String>,
    /// Only this provider
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// Only what has this; may be repeated
    #[arg(long, value_enum, value_name = "CAPABILITY")]
    need: Vec<Need>,
    /// Also models of providers that are not connected
    #[arg(long)]
    all: bool,
    /// Ask OpenCode for its models now
    #[arg(long)]
    refresh: bool,
}

#[derive(Debug, Args)]
struct CompareArgs {
    /// Two models or more: provider/model, a tier, a tag, or a name
    #[arg(required = true, num_args = 2..)]
    models: Vec<String>,
    /// Ask OpenCode for its models now
    #[arg(long)]
    refresh: bool,
}

/// One line of the list.
pub type Row<'a> = (&'a str, &'a Provider, &'a Model);

pub async fn run(global: &Global, args: &ModelsArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    match &args.command {
        Some(ModelsCommand::Compare(args)) => compare(global, &context, args).await,
        None => list(global, &context, &args.list).await,
    }
}

async fn list(global: &Global, context: &Context, args: &ListArgs) -> Result<ExitCode, Failure> {
    let extent = if args.all { Extent::All } else { Extent::Connected };
    let listed = current(context, &input::directory(None)?, refresh(args.refresh), extent).await?;
    if let Some(name) = &args.provider
        && !listed.catalogue.providers.contains_key(name)
    {
        let known = listed.catalogue.providers.keys().take(20).cloned().collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(
            format!("there is no provider `{name}` here; there are: {known}"),
            "see `shuntyard providers`; --all shows those that are not connected",
        ));
    }
    let words: Vec<String> = args.query.iter().map(|word| word.to_lowercase()).collect();
    let needs = Need::all(&args.need);
    let rows: Vec<Row<'_>> = listed
        .catalogue
        .models()
        .filter(|(id, ..)| args.provider.as_deref().is_none_or(|wanted| wanted == *id))
        .filter(|(_, _, model)| needs == Needs::default() || needs.lacking(model).is_none())
        .filter(|row| fits(row, &words))
        .collect();
    match global.format() {
        Format::Json => {
            let models: Vec<Value> = rows.iter().map(document).collect();
            ui::json(&json!({"models": models, "from": listed.origin, "problems": listed.problems}));
        }
        Format::People => show_list(&rows, &listed, args.all),
    }
    Ok(ExitCode::SUCCESS)
}

fn refresh(asked: bool) -> Refresh {
    if asked { Refresh::Now } else { Refresh::IfStale }
}

fn fits((id, _, model): &Row<'_>, words: &[String]) -> bool {
    let text = format!("{id}/{} {} {}", model.id, model.name, model.family).to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

fn document((id, provider, model): &Row<'_>) -> Value {
    let usd = |price: Nano| price.as_usd();
    json!({
        "provider": id, "model": model.id, "name": model.name, "family": model.family,
        "usable": provider.is_usable(), "connected": provider.connected, "source": provider.source,
        "has_key": provider.has_key,
        "capabilities": {"image": model.image_input, "tools": model.tool_calls, "reasoning": model.reasoning,
            "structured_output": model.structured_output || model.tool_calls, "attachments": model.attachments},
        "limits": {"context": model.context, "output": model.output},
        "price": {"input": usd(model.price.input), "output": usd(model.price.output),
            "cache_read": usd(model.price.cache_read), "cache_write": usd(model.price.cache_write),
            "known": !model.price.is_zero()},
        "variants": model.variants, "status": model.status, "release_date": model.release_date,
    })
}

fn show_list(rows: &[Row<'_>], listed: &Listed, all: bool) {
    for problem in &listed.problems {
        ui::warn(problem);
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|(id, provider, model)| {
            let state = if provider.is_usable() { model.status.as_str() } else { provider.standing() };
            vec![
                format!("{id}/{}", model.id),
                tokens(model.context),
                price(model),
                can(model),
                if state == "active" { String::new() } else { state.to_owned() },
            ]
        })
        .collect();
    if cells.is_empty() {
        ui::note("no model fits");
    } else {
        ui::result(&ui::table(&["MODEL", "CONTEXT", "$ IN/OUT PER M", "CAN", ""], &cells));
    }
    let more = if all { "" } else { "; --all shows those that you could connect" };
    let from = if listed.origin == Origin::Files { ", from OpenCode's files" } else { "" };
    let count = if rows.len() == 1 { "1 model".to_owned() } else { format!("{} models", rows.len()) };
    ui::note(&format!("{count}{from}{more}"));
}

fn tokens(count: u64) -> String {
    match count {
        0 => "?".into(),
        1_000_000.. => format!("{:.1}M", count as f64 / 1e6).replace(".0M", "M"),
        1000.. => format!("{}k", count / 1000),
        _ => count.to_string(),
    }
}

fn price(model: &Model) -> String {
    if model.price.is_zero() {
        return "?".into();
    }
    format!("{} / {}", model.price.input.as_usd(), model.price.output.as_usd())
}

fn can(model: &Model) -> String {
    let traits = [
        (model.image_input, "vision"),
        (model.tool_calls, "tools"),
        (model.reasoning, "reasoning"),
        (model.attachments, "files"),
    ];
    traits.iter().filter(|(has, _)| *has).map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
}

async fn compare(global: &Global, context: &Context, args: &CompareArgs) -> Result<ExitCode, Failure> {
    let directory = input::directory(None)?;
    let refresh = refresh(args.refresh);
    match global.format() {
        Format::Json => ui::json(&compared(context, &directory, &args.models, refresh, comparison).await?),
        Format::People => ui::result(&compared(context, &directory, &args.models, refresh, side_by_side).await?),
    }
    Ok(ExitCode::SUCCESS)
}

/// Models side by side, as JSON.
pub fn comparison(rows: &[Row<'_>]) -> Value {
    json!({"models": rows.iter().map(document).collect::<Vec<_>>()})
}

/// Finds each model and reads what is shown of it.
pub async fn compared<T>(
    context: &Context,
    directory: &Path,
    models: &[String],
    refresh: Refresh,
    tell: impl FnOnce(&[Row<'_>]) -> T,
) -> Result<T, Failure> {
    let listed = current(context, directory, refresh, Extent::All).await?;
    let mut around = gather_inputs(context, directory, Refresh::IfStale).await?;
    // One list for all of them, so that what is compared can be compared.
    around.listed.catalogue = listed.catalogue.connected();
    let mut rows: Vec<Row<'_>> = Vec::new();
    for name in models {
        let selector = super::selection::model_or_tier(&context.config, name)?;
        let known = match &selector {
            Selector::Exact(model) => lookup(&listed.catalogue, &model.provider, &model.model),
            _ => None,
        };
        let row = match known {
            Some(row) => row,
            None => {
                let question = around.question(context, &selector, Needs::default());
                let model = resolve(&question).map_err(Refusal::Route)?.model;
                lookup(&around.listed.catalogue, &model.provider, &model.model)
                    .ok_or_else(|| Failure::usage(format!("{model} is not there any more"), "try again"))?
            }
        };
        rows.push(row);
    }
    Ok(tell(&rows))
}

fn lookup<'a>(catalogue: &'a Catalogue, provider: &str, model: &str) -> Option<Row<'a>> {
    let (id, found) = catalogue.providers.get_key_value(provider)?;
    Some((id, found, found.models.get(model)?))
}

fn side_by_side(rows: &[Row<'_>]) -> String {
    let names: Vec<String> = rows.iter().map(|(id, _, model)| format!("{id}/{}", model.id)).collect();
    let head: Vec<&str> = [""].into_iter().chain(names.iter().map(String::as_str)).collect();
    let usd = |price: Nano| if price == Nano::ZERO { "–".to_owned() } else { price.as_usd().to_string() };
    let yes = |has: bool| if has { "yes" } else { "–" }.to_owned();
    let line = |name: &str, cell: &dyn Fn(&Row<'_>) -> String| {
        [name.to_owned()].into_iter().chain(rows.iter().map(cell)).collect::<Vec<String>>()
    };
    let lines = vec![
        line("name", &|(_, _, model)| model.name.clone()),
        line("provider", &|(_, provider, _)| provider.standing().to_owned()),
        line("status", &|(_, _, model)| model.status.as_str().to_owned()),
        line("released", &|(_, _, model)| model.release_date.to_string()),
        line("context", &|(_, _, model)| tokens(model.context)),
        line("output", &|(_, _, model)| tokens(model.output)),
        line("$ in per M", &|(_, _, model)| usd(model.price.input)),
        line("$ out per M", &|(_, _, model)| usd(model.price.output)),
        line("$ cache read", &|(_, _, model)| usd(model.price.cache_read)),
        line("$ cache write", &|(_, _, model)| usd(model.price.cache_write)),
        line("vision", &|(_, _, model)| yes(model.image_input)),
        line("tools", &|(_, _, model)| yes(model.tool_calls)),
        line("reasoning", &|(_, _, model)| yes(model.reasoning)),
        line("files", &|(_, _, model)| yes(model.attachments)),
        line("variants", &|(_, _, model)| model.variants.join(" ")),
    ];
    ui::table(&head, &lines)
}
