//! Medians, and the limits that they are held to.

use std::{process::ExitCode, time::Duration};

#[derive(Debug, Default)]
pub struct Limits {
    broken: Vec<String>,
}

impl Limits {
    /// Prints a figure beside the most that it may be.
    pub fn hold(&mut self, what: &str, figure: f64, limit: f64, unit: &str) {
        self.note(what, figure, limit, unit, figure <= limit);
    }

    /// Prints a figure beside the least that it must be.
    pub fn hold_least(&mut self, what: &str, figure: f64, limit: f64, unit: &str) {
        self.note(what, figure, limit, unit, figure >= limit);
    }

    fn note(&mut self, what: &str, figure: f64, limit: f64, unit: &str, holds: bool) {
        println!("  {what:<52} {figure:>8.2} {unit:<4} limit {limit:>7.2} {}", if holds { "holds" } else { "BROKEN" });
        if !holds {
            self.broken.push(format!("{what}: {figure:.2} {unit}, limit {limit:.2}"));
        }
    }

    pub fn verdict(self) -> ExitCode {
        if self.broken.is_empty() {
            println!("all limits hold");
            return ExitCode::SUCCESS;
        }
        println!("broken limits:");
        self.broken.iter().for_each(|broken| println!("  {broken}"));
        ExitCode::FAILURE
    }
}

/// Prints a figure that has no limit.
pub fn show(what: &str, figure: f64, unit: &str) {
    println!("  {what:<52} {figure:>8.2} {unit}");
}

/// The value at a fraction of the sorted times.
pub fn quantile(times: &[Duration], fraction: f64) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[place_of(fraction, sorted.len())]
}

/// The same for plain numbers, which may be below zero.
pub fn fraction_of(values: &[f64], fraction: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[place_of(fraction, sorted.len())]
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "an index into a short list"
)]
fn place_of(fraction: f64, count: usize) -> usize {
    ((count - 1) as f64 * fraction).round() as usize
}

pub fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

pub fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000_000.0
}
