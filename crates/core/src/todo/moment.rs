//! Dates as a task line has them: `2026-11-16`, or `2026-11-16T04:00:00Z`. Anything else is no date, and never a guess.

use jiff::civil::{Date, Time, date};

const DAY: i64 = 86_400 * 1_000_000;
const EPOCH: Date = date(1970, 1, 1);

/// A day or an instant, in microseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Some time in the 24 hours from here; the days are those of UTC.
    Day {
        starts: i64,
    },
    Exact(i64),
}

impl Moment {
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let starts = midnight(text.get(..10)?)?;
        let Some(clock) = text[10..].strip_prefix('T') else {
            return text[10..].is_empty().then_some(Self::Day { starts });
        };
        let clock = clock.strip_suffix('Z')?;
        let (seconds, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
        let has_two_digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        // A leap second is no instant that a clock of ours shows.
        if seconds.split(':').filter(|part| has_two_digits(part)).count() != 3 || seconds.ends_with(":60") {
            return None;
        }
        let time: Time = format!("{seconds}.{fraction}").parse().ok()?;
        let since = time.duration_since(Time::midnight()).as_micros();
        Some(Self::Exact(starts + i64::try_from(since).ok()?))
    }

    /// The last instant that may be meant.
    #[must_use]
    pub fn latest(self) -> i64 {
        match self {
            Self::Day { starts } => starts + DAY - 1,
            Self::Exact(at) => at,
        }
    }
}

/// The first instant of a day such as `2026-11-16`. jiff alone would take other ways to write a day, too.
fn midnight(day: &str) -> Option<i64> {
    let is_plain = day.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let date: Date = day.parse().ok().filter(|_| is_plain)?;
    let since = date.duration_since(EPOCH).as_micros();
    i64::try_from(since).ok().filter(|since| *since >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_dates_and_instants_in_utc_are_read() {
        let table = [
            ("1970-01-01", Some(Moment::Day { starts: 0 })),
            ("2026-11-16", Some(Moment::Day { starts: 20_773 * DAY })),
            ("2024-02-29", Some(Moment::Day { starts: 19_782 * DAY })),
            ("2000-02-29", Some(Moment::Day { starts: 11_016 * DAY })),
            ("2026-11-16T04:00:00Z", Some(Moment::Exact(20_773 * DAY + 4 * 3_600_000_000))),
            ("1970-01-01T00:00:01.5Z", Some(Moment::Exact(1_500_000))),
            ("1970-01-01T00:00:00.000001999Z", Some(Moment::Exact(1))),
            ("1970-01-01T00:00:00.Z", None),
            ("1970-01-01T00:00:00.1234567890Z", None),
            ("2026-02-29", None),
            ("2100-02-29", None),
            ("2026-04-31", None),
            ("2026-00-01", None),
            ("2026-13-01", None),
            ("2026-11-00", None),
            ("1969-12-31", None),
            ("2026-11-6", None),
            ("2026-11", None),
            ("2026/11/16", None),
            ("+026-11-16", None),
            ("2026-11-16Z", None),
            ("2026-11-16 04:00:00Z", None),
            ("2026-11-16T04:00:00", None),
            ("2026-11-16T04:00Z", None),
            ("2026-11-16T04:00:00+00:00", None),
            ("2026-11-16T24:00:00Z", None),
            ("2026-11-16T04:60:00Z", None),
            ("2026-11-16T04:00:60Z", None),
            ("2026-11-16t04:00:00z", None),
            ("yesterday", None),
            ("ÄÄÄÄÄ", None),
            ("2026-11-1Ä", None),
            ("", None),
        ];
        for (text, moment) in table {
            assert_eq!(Moment::parse(text), moment, "{text}");
        }
        assert_eq!(Moment::Day { starts: 0 }.latest(), DAY - 1);
    }
}
