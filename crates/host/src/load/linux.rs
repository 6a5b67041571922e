//! The load of Linux, from `/proc`: one small file for each number.

use std::fs;

use super::{load_percent, percent};

pub(super) fn memory_available_percent() -> Option<f64> {
    parse_meminfo(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// Kernels without pressure accounting, and containers that hide it, still have the older average.
pub(super) fn cpu_pressure_percent(cores: usize) -> Option<f64> {
    let pressure = fs::read_to_string("/proc/pressure/cpu").ok().and_then(|text| parse_pressure(&text));
    let average = || parse_loadavg(&fs::read_to_string("/proc/loadavg").ok()?);
    pressure.or_else(|| average().map(|average| load_percent(average, cores)))
}

fn parse_meminfo(text: &str) -> Option<f64> {
    let field = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        value.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    // Before Linux 3.14 the system did not add this up.
    let summed = || {
        let caches = ["Buffers", "Cached", "SReclaimable"].iter().filter_map(|name| field(name)).sum::<u64>();
        Some(field("MemFree")?.saturating_add(caches))
    };
    percent(field("MemAvailable").or_else(summed)?, field("MemTotal")?)
}

/// `some avg10=1.23 avg60=… avg300=… total=…`, and perhaps a line `full` of the same kind.
fn parse_pressure(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let value = some.split_ascii_whitespace().find_map(|field| field.strip_prefix("avg10="))?;
    value.parse().ok().filter(|percent| (0.0..=100.0).contains(percent))
}

fn parse_loadavg(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().next()?.parse().ok().filter(|average: &f64| average.is_finite() && *average >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_old_and_new_forms() {
        let table = [
            ("MemTotal:  1000 kB\nMemFree: 100 kB\nMemAvailable:   250 kB\n", Some(25.0)),
            ("MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 50 kB\nCached: 100 kB\nSwapCached: 900 kB\n", Some(25.0)),
            ("MemTotal: 1000 kB\nMemFree: 100 kB\nSReclaimable: 150 kB\n", Some(25.0)),
            ("MemTotal: 100 kB\nMemAvailable: 900 kB\n", Some(100.0)),
            ("MemTotal: 0 kB\nMemAvailable: 0 kB\n", None),
            ("MemTotal: 1000 kB\n", None),
            ("MemAvailable: 1000 kB\n", None),
            ("MemTotal: many kB\nMemAvailable: 1 kB\n", None),
            ("", None),
        ];
        for (text, wanted) in table {
            assert_eq!(parse_meminfo(text), wanted, "{text}");
        }
    }

    #[test]
    fn pressure_is_that_of_some_in_the_last_seconds() {
        let full = "full avg10=99.00 avg60=0.00 avg300=0.00 total=0\n";
        let some = "some avg10=12.50 avg60=1.00 avg300=0.10 total=123\n";
        let table = [
            (format!("{some}{full}"), Some(12.5)),
            (format!("{full}{some}"), Some(12.5)),
            (full.to_owned(), None),
            ("some avg60=1.00\n".to_owned(), None),
            ("some avg10=NaN\n".to_owned(), None),
            ("some avg10=-1\n".to_owned(), None),
            (String::new(), None),
        ];
        for (text, wanted) in table {
            assert_eq!(parse_pressure(&text), wanted, "{text}");
        }
    }

    #[test]
    fn the_average_is_the_first_number() {
        let table =
            [("1.50 0.20 0.10 2/300 4711\n", Some(1.5)), ("inf", None), ("-1", None), ("x 1", None), ("", None)];
        for (text, wanted) in table {
            assert_eq!(parse_loadavg(text), wanted, "{text}");
        }
    }
}
