//! Medians, and the limits that they are held to.

use std::{process::ExitCode, time::Duration};

#[derive(Debug, Default)]
pub struct Limits {
    broken: u32,
}

impl Limits {
    /// Prints a figure beside its limit.
    pub fn hold(&mut self, what: &str, figure: f64, limit: f64, unit: &str) {
        let holds = figure <= limit;
        self.broken += u32::from(!holds);
        println!(
            "  {:<52} {figure:>8.2} {unit:<4} limit {limit:>7.2} {}",
            what,
            if holds { "holds" } else { "BROKEN" }
        );
    }

    pub fn verdict(self) -> ExitCode {
        println!("{}", if self.broken == 0 { "all limits hold" } else { "some limits are broken" });
        ExitCode::from(u8::from(self.broken > 0))
    }
}

/// The value at a fraction of the sorted times.
pub fn quantile(times: &[Duration], fraction: f64) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index into a short list"
    )]
    let index = ((sorted.len() - 1) as f64 * fraction).round() as usize;
    sorted[index]
}

pub fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
