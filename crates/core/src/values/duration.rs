//! Durations as people write them, and limits that may be switched off.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr, time::Duration};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a duration: write it like 90s, 2m, 1h30m or 500ms")]
pub struct BadDuration(pub String);

/// What a [`Limit`] looks like, as a regular expression for other programs.
pub const PATTERN: &str =
    r"^\s*([Nn][Oo][Nn][Ee]|([0-9]+\.?[0-9]*|\.[0-9]+)|(([0-9]+\.?[0-9]*|\.[0-9]+)(ms|s|secs?|m|mins?|h|hrs?|d))+)\s*$";

/// A deadline or timer; `0` and `none` mean that there is no timer at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub Option<Duration>);

impl Limit {
    #[must_use]
    pub fn seconds(seconds: u64) -> Self {
        Self(Some(Duration::from_secs(seconds)))
    }
}

impl FromStr for Limit {
    type Err = BadDuration;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().eq_ignore_ascii_case("none") {
            return Ok(Self(None));
        }
        let duration = parse(text)?;
        Ok(Self((!duration.is_zero()).then_some(duration)))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("none"),
            Some(duration) => f.write_str(&show(duration)),
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Reads `90s`, `1h30m`, `1.5h`; a bare number counts seconds.
pub fn parse(text: &str) -> Result<Duration, BadDuration> {
    let bad = || BadDuration(text.to_owned());
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(bad());
    }
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().map_err(|_| bad())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ms" => 0.001,
            "" if rest.is_empty() && total.is_zero() => 1.0,
            "s" | "sec" | "secs" => 1.0,
            "m" | "min" | "mins" => 60.0,
            "h" | "hr" | "hrs" => 3600.0,
            "d" => 86_400.0,
            _ => return Err(bad()),
        };
        rest = &rest[letters..];
        let part = Duration::try_from_secs_f64(number * unit).map_err(|_| bad())?;
        total = total.checked_add(part).ok_or_else(bad)?;
    }
    // A timer that cannot be added to "now" would be a trap; ten years is as good as none.
    if total > Duration::from_secs(10 * 365 * 86_400) {
        return Err(bad());
    }
    Ok(total)
}

/// A duration for people: `350ms`, `1.2s`, `2m05s`, `1h04m`.
#[must_use]
pub fn show(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if duration < Duration::from_secs(1) {
        format!("{}ms", duration.as_millis())
    } else if seconds < 60 {
        if duration.subsec_millis() < 50 { format!("{seconds}s") } else { format!("{:.1}s", duration.as_secs_f64()) }
    } else if seconds < 3600 {
        if seconds.is_multiple_of(60) {
            format!("{}m", seconds / 60)
        } else {
            format!("{}m{:02}s", seconds / 60, seconds % 60)
        }
    } else if seconds.is_multiple_of(3600) {
        format!("{}h", seconds / 3600)
    } else {
        format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_fits_what_is_read() {
        let schema = serde_json::json!({"type": "object", "properties": {"limit": {"pattern": PATTERN}}});
        let schema = crate::values::schema::AnswerSchema::parse(&schema.to_string()).unwrap();
        for text in [
            "90s", "90", " 2h ", "1h30m", "1.5h", ".5h", "500ms", "0", "3d", "None", "", "abc", "1x", "-5s", "5 m",
            "1h30",
        ] {
            let fits = schema.faults(&serde_json::json!({"limit": text})).is_empty();
            assert_eq!(fits, text.parse::<Limit>().is_ok(), "{text:?}");
        }
    }

    #[test]
    fn durations_as_people_write_them() {
        let table = [
            ("90s", Some(90_000)),
            ("90", Some(90_000)),
            ("2h", Some(7_200_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5h", Some(5_400_000)),
            ("500ms", Some(500)),
            ("0", Some(0)),
            ("", None),
            ("abc", None),
            ("-5s", None),
            ("5x", None),
            ("1h30", None),
            ("1e400s", None),
            ("99999999999999999999d", None),
            ("1..5s", None),
        ];
        for (text, millis) in table {
            assert_eq!(parse(text).ok(), millis.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn zero_and_none_switch_a_timer_off() {
        for text in ["0", "0s", "none", "None", " none "] {
            assert_eq!(text.parse(), Ok(Limit(None)), "{text}");
        }
        assert_eq!("2m".parse(), Ok(Limit::seconds(120)));
    }

    #[test]
    fn limits_show_as_they_are_written() {
        for text in ["none", "350ms", "1.2s", "45s", "2m", "2m05s", "1h", "1h04m"] {
            assert_eq!(text.parse::<Limit>().map(|limit| limit.to_string()), Ok(text.to_owned()));
        }
    }
}
