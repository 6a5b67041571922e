//! The counts of each kind of task and model.

use super::{Global, WindowArgs, from_ms, show, tell_how_to_begin};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    experience::{Standing, Tally, by_model},
};
use shuntyard_host::clock::now_micros;
use std::{collections::BTreeMap, process::ExitCode};

const HEAD: [&str; 11] =
    ["TASK TYPE", "MODEL", "RUNS", "RATE", "AT LEAST", "UNCOUNTED", "COST", "TIME", "TOKENS", "RETRIES", "QUALITY"];

/// One kind of task with one model.
#[derive(Debug)]
pub struct Line {
    task_type: String,
    model: String,
    whole: Tally,
    /// Absent when nothing counts.
    standing: Option<Standing>,
}

pub async fn stats(global: &Global, args: &WindowArgs) -> Result<ExitCode, Failure> {
    let context = &global.context().await?;
    let now = now_micros();
    let from = args.since.from(&context.config, now);
    let tallies = context.store.outcome_tallies(args.task_type.as_deref(), None, from).await?;
    let lines = lines(&tallies, now, context.config.patterns.half_life_micros());
    match global.format() {
        Format::Json => ui::json(&json!({"from_ms": from_ms(from), "rows": documents(&lines)})),
        Format::People if lines.is_empty() => {
            ui::note("nothing is known of such work yet");
            tell_how_to_begin();
        }
        Format::People => {
            ui::result(&table(&lines));
            ui::note(&format!("cost, time and tokens are means of a run{}", show::ageing(&context.config.patterns)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub fn lines(tallies: &[Tally], now: i64, half_life: i64) -> Vec<Line> {
    let mut groups: BTreeMap<(&str, &str), Vec<Tally>> = BTreeMap::new();
    for tally in tallies {
        groups.entry((&tally.task_type, &tally.model)).or_default().push(tally.clone());
    }
    let line = |((task_type, model), group): ((&str, &str), Vec<Tally>)| {
        let mut whole = Tally::default();
        group.iter().for_each(|tally| whole.add(tally));
        let standing = by_model(&group, now, half_life).into_iter().find(|standing| standing.samples > 0);
        Line { task_type: task_type.to_owned(), model: model.to_owned(), whole, standing }
    };
    groups.into_iter().map(line).collect()
}

pub fn documents(lines: &[Line]) -> Vec<Value> {
    let document = |line: &Line| {
        let Line { whole, standing, .. } = line;
        json!({
            "task_type": line.task_type,
            "model": line.model,
            "runs": whole.runs(),
            "successes": whole.successes,
            "proven": whole.proven,
            "failures": whole.failures,
            "uncounted": whole.uncounted,
            "success_percent": standing.as_ref().map(|standing| standing.success_percent),
            "lower_percent": standing.as_ref().map(|standing| standing.lower_percent),
            "upper_percent": standing.as_ref().map(|standing| standing.upper_percent),
            "mean_cost_usd": whole.mean_cost().map(Nano::as_usd),
            "mean_duration_ms": line.mean(whole.duration_ms),
            "mean_tokens": line.mean(whole.tokens),
            "retries": whole.retries,
            "mean_quality": line.quality(),
        })
    };
    lines.iter().map(document).collect()
}

pub fn table(lines: &[Line]) -> String {
    let row = |line: &Line| {
        let Line { whole, standing, .. } = line;
        let share = |of: fn(&Standing) -> f64| {
            standing.as_ref().map_or_else(|| "–".to_owned(), |standing| show::percent(of(standing)))
        };
        vec![
            show::name(&line.task_type),
            show::name(&line.model),
            whole.runs().to_string(),
            share(|standing| standing.success_percent),
            share(|standing| standing.lower_percent),
            show::count(whole.uncounted),
            show::cost(whole.mean_cost()),
            show::millis(line.mean(whole.duration_ms)),
            show::count(line.mean(whole.tokens).unwrap_or_default()),
            show::count(whole.retries),
            line.quality().map_or_else(|| "–".to_owned(), |quality| format!("{quality:.1}")),
        ]
    };
    ui::table(&HEAD, &lines.iter().map(row).collect::<Vec<_>>())
}

impl Line {
    /// The mean for each run. `None` when the sum is zero, because then no run has a value.
    fn mean(&self, sum: u64) -> Option<u64> {
        sum.checked_div(self.whole.runs()).filter(|_| sum > 0)
    }

    /// From 0 to 2, of those that were given one.
    fn quality(&self) -> Option<f64> {
        let tenths = self.whole.quality.saturating_mul(10).checked_div(self.whole.rated)?;
        Some(f64::from(u32::try_from(tenths).unwrap_or_default()) / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_summed_up_by_kind_and_model() {
        let week = |at: i64, successes, failures| Tally {
            at,
            task_type: "code-review".into(),
            model: "a/b".into(),
            successes,
            failures,
            uncounted: 1,
            cost: Nano(3_000_000),
            priced: 2,
            duration_ms: 9000,
            tokens: 300,
            quality: 3,
            rated: 2,
            ..Tally::default()
        };
        let other = Tally { task_type: "draft".into(), model: "a/b".into(), uncounted: 2, ..Tally::default() };
        let lines = lines(&[week(0, 2, 0), week(7, 1, 1), other], 0, 0);
        let documents = documents(&lines);
        assert_eq!(documents.len(), 2);
        let expected = json!({"task_type": "code-review", "model": "a/b", "runs": 6, "successes": 3, "proven": 0,
            "failures": 1, "uncounted": 2, "success_percent": 75.0, "mean_cost_usd": 0.0015,
            "mean_duration_ms": 3000, "mean_tokens": 100, "retries": 0, "mean_quality": 1.5});
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&documents[0][key], value, "{key}");
        }
        assert_eq!(documents[1]["success_percent"], Value::Null, "what does not count has no rate");
        let shown = table(&lines);
        assert!(shown.lines().nth(2).is_some_and(|line| line.contains("draft") && line.contains('–')), "{shown}");
    }
}
