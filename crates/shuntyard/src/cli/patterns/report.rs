//! All recorded experience, for a person to read.

use super::{Global, SinceArgs, analyze, drift, from_ms, recommend, show, stats, tell_how_to_begin};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use serde_json::{Value, json};
use shuntyard_core::experience::Tally;
use shuntyard_engine::Context;
use shuntyard_host::clock::now_micros;
use std::{collections::BTreeSet, process::ExitCode};

pub async fn report(global: &Global, args: &SinceArgs) -> Result<ExitCode, Failure> {
    let context = &global.context().await?;
    let found = find(context, args).await?;
    let Known { lines, recommendations, analysis, drift, .. } = &found;
    match global.format() {
        Format::Json => ui::json(&found.document()),
        Format::People if lines.is_empty() => {
            ui::note("nothing is known yet");
            tell_how_to_begin();
        }
        Format::People => {
            ui::frame("What was done");
            ui::result(&stats::table(lines));
            ui::frame("\nWhat is recommended");
            let row = |advice: &recommend::Advice| {
                vec![advice.headline(), show::name(advice.table()), advice.reason().to_owned()]
            };
            let rows: Vec<Vec<String>> = recommendations.iter().map(row).collect();
            ui::result(&ui::table(&["EXPERIENCE SAYS", "THE TABLE SAYS", "WHY"], &rows));
            ui::frame("\nWhat stands out");
            analysis.show();
            ui::frame("\nWhere work ended");
            if drift.is_empty() {
                ui::result("nothing ran in a tier in that time");
            } else {
                drift.show();
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug)]
pub struct Known {
    from: i64,
    lines: Vec<stats::Line>,
    recommendations: Vec<recommend::Advice>,
    analysis: analyze::Analysis,
    drift: drift::Found,
}

pub async fn find(context: &Context, args: &SinceArgs) -> Result<Known, Failure> {
    let now = now_micros();
    let from = args.from(&context.config, now);
    let tallies = context.store.outcome_tallies(None, None, from).await?;
    Ok(Known {
        from,
        lines: stats::lines(&tallies, now, context.config.patterns.half_life_micros()),
        recommendations: recommendations(context, &tallies).await?,
        analysis: analyze::find(context, None, from, &tallies).await?,
        drift: drift::find(context, args.since).await?,
    })
}

impl Known {
    pub fn document(&self) -> Value {
        let recommendations: Vec<Value> = self.recommendations.iter().map(recommend::Advice::document).collect();
        json!({"from_ms": from_ms(self.from), "stats": stats::documents(&self.lines),
            "recommendations": recommendations, "analysis": self.analysis.document(), "drift": self.drift.document()})
    }
}

/// What is recommended for each kind of task that there is experience with.
async fn recommendations(context: &Context, tallies: &[Tally]) -> Result<Vec<recommend::Advice>, Failure> {
    let kinds: BTreeSet<&str> = tallies.iter().map(|tally| tally.task_type.as_str()).collect();
    let mut found = Vec::new();
    for kind in kinds.into_iter().filter(|kind| !kind.is_empty()) {
        found.push(recommend::advise(context, kind, None, None).await?);
    }
    Ok(found)
}
