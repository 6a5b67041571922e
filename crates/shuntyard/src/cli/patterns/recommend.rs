//! Which tier experience recommends for a kind of task, with the records that this rests on.

use super::{super::input, Global, fields, show, tell_how_to_begin};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::experience::{Followed, Recommendation, Recommended, by_model};
use shuntyard_engine::{
    Context,
    routing::experience::{Scope, Task, known, since},
};
use shuntyard_host::clock::now_micros;
use std::{path::PathBuf, process::ExitCode};

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 there is a recommendation, 1 there is none.

Examples:
  shuntyard patterns recommend code-review
  git diff | shuntyard patterns recommend code-review --text -")]
pub struct RecommendArgs {
    /// The kind of task (see `shuntyard task-types`)
    #[arg(value_name = "TYPE")]
    task_type: String,
    /// A directory of the repository whose own experience counts first; the current one by default
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// The task itself, to see whether it is a hard one: text, @file, or - for standard input
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

/// A recommendation with everything that the command prints about it.
#[derive(Debug)]
pub struct Advice {
    task_type: String,
    table: Option<String>,
    scope: Scope,
    recommendation: Recommendation,
    /// The model itself, or the one with the best record in the tier.
    model: Option<String>,
    /// Where routing follows it, or why it stays with the table.
    routing: Result<Followed, String>,
}

pub async fn recommend(global: &Global, args: &RecommendArgs) -> Result<ExitCode, Failure> {
    if args.task_type.is_empty() {
        return Err(Failure::usage("the kind of task is empty", "see `shuntyard task-types`"));
    }
    let text = args.text.as_ref().map(|text| input::text(text, "the task")).transpose()?;
    let repository = fields::repository(args.repo.as_ref())?;
    let context = global.context().await?;
    let advice = advise(&context, &args.task_type, text.as_deref(), Some(&repository)).await?;
    match global.format() {
        Format::Json => ui::json(&advice.document()),
        Format::People => {
            advice.show();
            if let Some(note) = fields::unknown_type(&context.config, &args.task_type) {
                ui::note(&note);
            }
        }
    }
    let refused = matches!(advice.recommendation.recommended, Recommended::Nothing { .. });
    Ok(if refused { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

pub async fn advise(
    context: &Context,
    task_type: &str,
    text: Option<&str>,
    repository: Option<&str>,
) -> Result<Advice, Failure> {
    let table = context.config.task_types.get(task_type).map(String::as_str);
    let found = known(context, &Task { task_type, text, repository, table }).await?;
    let model = match &found.recommendation.recommended {
        Recommended::Tier { tier, .. } | Recommended::Stronger { tier, .. } => {
            best_of_tier(context, task_type, tier, &found.scope).await?
        }
        Recommended::Model { model, .. } => Some(model.clone()),
        Recommended::Nothing { .. } => None,
    };
    let table = table.map(str::to_owned);
    let (scope, recommendation) = (found.scope, found.recommendation);
    let routing = if context.config.patterns.choose {
        found.follow
    } else {
        Err("`patterns.choose` is off, so experience does not choose".to_owned())
    };
    Ok(Advice { task_type: task_type.to_owned(), table, scope, recommendation, model, routing })
}

/// The model of a tier that did best, if any did well.
async fn best_of_tier(
    context: &Context,
    task_type: &str,
    tier: &str,
    scope: &Scope,
) -> Result<Option<String>, Failure> {
    let repository = match scope {
        Scope::Repository(name) => Some(name.as_str()),
        Scope::Everywhere => None,
    };
    let now = now_micros();
    let mut tallies = context.store.outcome_tallies(Some(task_type), repository, since(&context.config, now)).await?;
    tallies.retain(|tally| tally.tier == tier);
    let records = by_model(&tallies, now, context.config.patterns.half_life_micros());
    let best = records
        .into_iter()
        .filter(|standing| standing.successes > 0)
        .max_by(|a, b| a.lower_percent.total_cmp(&b.lower_percent).then_with(|| b.name.cmp(&a.name)));
    Ok(best.map(|standing| standing.name))
}

impl Advice {
    pub fn document(&self) -> Value {
        let (kind, numbers) = match &self.recommendation.recommended {
            Recommended::Tier { samples, success_percent, lower_percent, .. } => {
                ("tier", Some((samples, success_percent, lower_percent)))
            }
            Recommended::Stronger { .. } => ("stronger", None),
            Recommended::Model { samples, success_percent, lower_percent, .. } => {
                ("model", Some((samples, success_percent, lower_percent)))
            }
            Recommended::Nothing { .. } => ("nothing", None),
        };
        let scope = match &self.scope {
            Scope::Repository(name) => name.as_str(),
            Scope::Everywhere => "everywhere",
        };
        json!({
            "task_type": self.task_type,
            "recommends": kind,
            "tier": self.recommendation.recommended.tier(),
            "model": self.model,
            "samples": numbers.map(|(samples, _, _)| samples),
            "success_percent": numbers.map(|(_, rate, _)| rate),
            "lower_percent": numbers.map(|(_, _, lower)| lower),
            "reason": self.recommendation.recommended.reason(),
            "table_tier": self.table,
            "followed": self.is_followed(),
            "routed_tier": self.routed_tier(),
            "routed_reason": self.routed_reason(),
            "scope": scope,
            "tiers": self.recommendation.tiers,
            "models": self.recommendation.models,
        })
    }

    /// The recommendation in a few words.
    pub fn headline(&self) -> String {
        let task_type = show::name(&self.task_type);
        let model = self.model.as_ref().map(|model| show::name(model)).unwrap_or_default();
        match &self.recommendation.recommended {
            Recommended::Tier { tier, .. } | Recommended::Stronger { tier, .. } if model.is_empty() => {
                format!("{task_type}: tier {tier}")
            }
            Recommended::Tier { tier, .. } | Recommended::Stronger { tier, .. } => {
                format!("{task_type}: tier {tier}, where {model} did best")
            }
            Recommended::Model { .. } => format!("{task_type}: model {model}"),
            Recommended::Nothing { .. } => format!("{task_type}: nothing is recommended"),
        }
    }

    pub fn reason(&self) -> &str {
        self.recommendation.recommended.reason()
    }

    /// Whether routing follows the recommendation.
    fn is_followed(&self) -> bool {
        let wanted = self.recommendation.recommended.tier();
        wanted.is_some() && wanted == self.routing.as_ref().ok().map(|followed| followed.tier.as_str())
    }

    /// The tier that such a task is routed to now.
    fn routed_tier(&self) -> Option<&str> {
        self.routing.as_ref().map_or(self.table.as_deref(), |followed| Some(followed.tier.as_str()))
    }

    fn routed_reason(&self) -> &str {
        match &self.routing {
            Ok(followed) => &followed.reason,
            Err(why) => why,
        }
    }

    /// How routing uses the recommendation, in a sentence.
    pub fn routing(&self) -> String {
        match (&self.recommendation.recommended, self.is_followed()) {
            (Recommended::Nothing { .. }, _) => "routing: as without experience".to_owned(),
            (_, true) => "routing: goes there".to_owned(),
            (Recommended::Model { .. }, false) => "routing: does not follow, since it takes tiers only".to_owned(),
            (_, false) => {
                let place = self.routed_tier().map_or_else(String::new, |tier| format!(" and goes to tier {tier}"));
                let reason = self.routed_reason();
                let why = reason.strip_prefix(self.reason()).unwrap_or(reason);
                let why = why.strip_prefix("; not followed: ").unwrap_or(why);
                format!("routing: does not follow{place}: {why}")
            }
        }
    }

    /// The tier that such a task is routed to without any experience.
    pub fn table(&self) -> &str {
        self.table.as_deref().unwrap_or("–")
    }

    fn show(&self) {
        ui::frame(&self.headline());
        ui::result(&format!("why: {}", self.reason()));
        ui::result(&self.routing());
        let place = match &self.scope {
            Scope::Repository(name) => format!("in {}", show::name(name)),
            Scope::Everywhere => "everywhere".to_owned(),
        };
        let table = self.table.as_ref().map_or_else(
            || "without experience: the configuration does not say".to_owned(),
            |table| format!("without experience: tier {table}"),
        );
        ui::result(&format!("{table}; experience counted {place}"));
        let Recommendation { tiers, models, .. } = &self.recommendation;
        if models.is_empty() {
            tell_how_to_begin();
        }
        for (whose, records) in [("TIER", tiers), ("MODEL", models)] {
            if !records.is_empty() {
                let rows: Vec<Vec<String>> = records.iter().map(show::standing).collect();
                ui::result(&format!("\n{}", ui::table(&show::head(whose), &rows)));
            }
        }
    }
}
