//! How numbers and names of experience are shown, the same in every command.

use shuntyard_core::{
    Nano,
    experience::{Standing, Verdict},
    settings::Patterns,
    values::{clean_line, duration},
};
use std::time::Duration;

const LONGEST: usize = 80;

/// Untrusted text in a cell: one line, without anything that moves the cursor.
pub fn name(text: &str) -> String {
    if text.is_empty() { "–".to_owned() } else { clean_line(text, LONGEST) }
}

pub fn percent(percent: f64) -> String {
    format!("{percent:.0} %")
}

pub fn cost(cost: Option<Nano>) -> String {
    cost.map_or_else(|| "–".to_owned(), |cost| cost.to_string())
}

pub fn millis(millis: Option<u64>) -> String {
    millis.map_or_else(|| "–".to_owned(), |millis| duration::show(Duration::from_millis(millis)))
}

/// How outcomes lose their weight, as the end of a sentence.
pub fn ageing(settings: &Patterns) -> String {
    const DAY: u64 = 86_400;
    let half_life = match settings.half_life.0 {
        None => return String::new(),
        Some(life) if life.as_secs().is_multiple_of(DAY) => format!("{} days", life.as_secs() / DAY),
        Some(life) => duration::show(life),
    };
    format!("; in the rate an outcome counts half after {half_life}")
}

pub fn count(count: u64) -> String {
    if count == 0 { "–".to_owned() } else { count.to_string() }
}

pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Success => "success",
        Verdict::Failure => "failure",
    }
}

/// The head of a table of records; `whose` is what its first column names.
pub fn head(whose: &str) -> [&str; 7] {
    [whose, "COUNTED", "WELL", "PROVEN", "RATE", "AT LEAST", "COST"]
}

pub fn standing(standing: &Standing) -> Vec<String> {
    vec![
        name(&standing.name),
        standing.samples.to_string(),
        standing.successes.to_string(),
        standing.proven.to_string(),
        percent(standing.success_percent),
        percent(standing.lower_percent),
        cost(standing.mean_cost),
    ]
}
