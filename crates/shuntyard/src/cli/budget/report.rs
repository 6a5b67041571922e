//! What was spent, as a table, JSON or CSV.

use super::super::csv::{cell, dollars};
use super::clock;
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use shuntyard_engine::Context;
use shuntyard_host::clock::now_micros;
use shuntyard_store::{GroupBy, Spent, bucket};
use std::{collections::BTreeMap, process::ExitCode};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    Provider,
    Tier,
    Model,
    Task,
    Batch,
    Day,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// What to sum up by; tasks and batches are summed up over all time
    #[arg(long, value_enum, default_value_t = By::Provider)]
    by: By,
    /// The days to look at, today included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
    /// Print comma-separated values
    #[arg(long)]
    csv: bool,
}

pub async fn report(context: &Context, format: Format, args: &ReportArgs) -> Result<ExitCode, Failure> {
    if args.csv && format == Format::Json {
        return Err(Failure::usage("--csv and --json are two forms of one report", "leave one of the two out"));
    }
    let clock = clock(context)?;
    let now = now_micros();
    let from = clock.days_before(now, i64::from(args.days) - 1).from;
    let group = match args.by {
        By::Provider => GroupBy::Provider,
        By::Tier => GroupBy::Tier,
        By::Model => GroupBy::Model,
        By::Task => GroupBy::Task,
        By::Batch => GroupBy::Batch,
        By::Day => GroupBy::Bucket,
    };
    let mut rows = context.store.spending(bucket(from), i64::MAX, group).await?;
    if args.by == By::Day {
        let mut days: BTreeMap<String, Spent> = BTreeMap::new();
        for (at, spent) in rows {
            let day = days.entry(clock.label(at.parse().unwrap_or_default())).or_default();
            *day = *day + spent;
        }
        rows = days.into_iter().collect();
    }
    let total = rows.iter().fold(Spent::default(), |sum, (_, spent)| sum + *spent);
    match (args.csv, format) {
        (true, _) => ui::result(&csv(&rows)),
        (false, Format::Json) => {
            let list: Vec<Value> = rows.iter().map(|(name, spent)| document(name, spent)).collect();
            ui::json(&json!({"by": format!("{:?}", args.by).to_lowercase(), "from_ms": from / 1000, "rows": list,
                "total": document("", &total)}));
        }
        (false, Format::People) => {
            let mut lines: Vec<Vec<String>> = rows.iter().map(|(name, spent)| line(name, spent)).collect();
            lines.push(line("in all", &total));
            let head = format!("{:?}", args.by).to_uppercase();
            ui::result(&ui::table(&[&head, "COST", "ATTEMPTS", "TOKENS", "OF UNKNOWN COST"], &lines));
            note_unknown(total.unknown);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what the amounts of unknown cost are.
pub(super) fn note_unknown(count: u64) {
    if count > 0 {
        ui::note(
            "attempts of unknown cost count with an estimate until their cost can be read; a model without a price counts as nothing",
        );
    }
}

fn document(name: &str, spent: &Spent) -> Value {
    json!({"name": name, "cost_usd": spent.cost.as_usd(), "cost_nano": spent.cost, "attempts": spent.attempts,
        "tokens": spent.tokens, "unknown_costs": spent.unknown})
}

fn line(name: &str, spent: &Spent) -> Vec<String> {
    let name = if name.is_empty() { "(none)" } else { name };
    vec![
        name.to_owned(),
        spent.cost.to_string(),
        spent.attempts.to_string(),
        spent.tokens.to_string(),
        if spent.unknown == 0 { String::new() } else { spent.unknown.to_string() },
    ]
}

/// Names come from outside: a comma, a quote or a line in one must not become a column.
fn csv(rows: &[(String, Spent)]) -> String {
    let mut lines = vec!["name,cost_usd,attempts,tokens,unknown_costs".to_owned()];
    for (name, spent) in rows {
        let name = cell(name);
        let Spent { cost, attempts, unknown, tokens } = spent;
        lines.push(format!("{name},{},{attempts},{tokens},{unknown}", dollars(*cost)));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuntyard_core::Nano;

    #[test]
    fn names_stay_in_their_column() {
        let spent = Spent { cost: Nano(1_500_000_001), attempts: 2, unknown: 1, tokens: 30 };
        let rows = [("a,\"b\"".to_owned(), spent), ("plain".to_owned(), Spent::default())];
        let lines: Vec<String> = csv(&rows).lines().map(str::to_owned).collect();
        assert_eq!(lines[1], "\"a,\"\"b\"\"\",1.500000001,2,30,1");
        assert!(csv(&[("=1+1".to_owned(), spent)]).contains("\"'=1+1\","), "no formula");
        assert_eq!(lines[2], "plain,0.000000000,0,0,0");
    }
}
