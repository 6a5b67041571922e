//! The day on which a model came out, kept in place: a decision reads thousands of them.

use jiff::civil::{Date, date};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

const LONGEST: usize = 10;

/// `2026-09-22`, or a part of it, or nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ReleaseDate {
    /// Filled up with zeros.
    text: [u8; LONGEST],
    /// Days since the Unix epoch, worked out once; `None` when it is no day.
    days: Option<i32>,
}

impl ReleaseDate {
    #[must_use]
    pub fn as_str(&self) -> &str {
        let length = self.text.iter().position(|byte| *byte == 0).unwrap_or(LONGEST);
        std::str::from_utf8(&self.text[..length]).unwrap_or_default()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text[0] == 0
    }

    /// Days since the Unix epoch; of `2026-09` or `2026` those of its first day.
    #[must_use]
    pub fn days(&self) -> Option<i64> {
        self.days.map(i64::from)
    }
}

fn days_of(text: &str) -> Option<i32> {
    let mut parts = text.split('-').map(|part| part.parse::<i16>().ok());
    let year = parts.next().flatten().filter(|year| (1970..=2999).contains(year))?;
    let mut part = || parts.next().map_or(Some(1), |part| i8::try_from(part?).ok());
    let released = Date::new(year, part()?, part()?).ok()?;
    i32::try_from(released.duration_since(date(1970, 1, 1)).as_hours() / 24).ok()
}

impl From<&str> for ReleaseDate {
    /// What cannot be a date is nothing.
    fn from(text: &str) -> Self {
        let is_date = |byte: u8| byte.is_ascii_digit() || byte == b'-';
        let mut kept = Self::default();
        if text.len() <= LONGEST && text.bytes().all(is_date) {
            kept.text[..text.len()].copy_from_slice(text.as_bytes());
            kept.days = days_of(text);
        }
        kept
    }
}

impl From<String> for ReleaseDate {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl fmt::Display for ReleaseDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ReleaseDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for ReleaseDate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ReleaseDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(std::borrow::Cow::<str>::deserialize(deserializer)?.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_kept_as_they_are_written_and_count_their_days() {
        let table = [
            ("1970-01-01", "1970-01-01", Some(0)),
            ("2000-03-01", "2000-03-01", Some(11017)),
            ("2026-11-15", "2026-11-15", Some(20772)),
            ("2026-11", "2026-11", Some(20758)),
            ("2026-13-01", "2026-13-01", None),
            ("2026-02-30", "2026-02-30", None),
            ("2026--1", "2026--1", None),
            ("", "", None),
            ("soon", "", None),
            ("2026-11-15T00:00", "", None),
        ];
        for (text, kept, days) in table {
            let date = ReleaseDate::from(text);
            assert_eq!((date.as_str(), date.days(), date.is_empty()), (kept, days, kept.is_empty()), "{text}");
            assert_eq!(serde_json::from_value::<ReleaseDate>(serde_json::json!(text)).unwrap(), date);
        }
        assert!(ReleaseDate::from("2026-09") < ReleaseDate::from("2026-09-22"));
    }
}
