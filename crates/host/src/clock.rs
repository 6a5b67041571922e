//! The wall clock in the one unit that is stored: microseconds since the Unix epoch.

use std::time::{SystemTime, UNIX_EPOCH};

/// Negative before 1970, as a machine with a broken clock may report.
pub fn now_micros() -> i64 {
    let micros = |duration: std::time::Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => micros(since),
        Err(before) => -micros(before.duration()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts_microseconds_of_this_century() {
        let year_2020 = 1_577_836_800_000_000;
        let year_2100 = 4_102_444_800_000_000;
        assert!((year_2020..year_2100).contains(&super::now_micros()));
    }
}
