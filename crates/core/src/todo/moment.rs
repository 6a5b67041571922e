//! Dates as a task line has them: `2026-11-16`, or `2026-11-16T04:00:00Z`. Anything else is no date, and never a guess.

const DAY: i64 = 86_400 * 1_000_000;

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
        let (date, rest) = text.split_at_checked(10)?;
        let starts = days(date)? * DAY;
        if rest.is_empty() {
            return Some(Self::Day { starts });
        }
        let time = rest.strip_prefix('T')?.strip_suffix('Z')?;
        let (clock, fraction) = match time.split_once('.') {
            Some((clock, digits)) => (clock, micros(digits)?),
            None => (time, 0),
        };
        Some(Self::Exact(starts + seconds(clock)? * 1_000_000 + fraction))
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

/// Days since the epoch of `2026-11-16`.
fn days(date: &str) -> Option<i64> {
    let [year, month, day] = parts(date, '-', [4, 2, 2])?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if year < 1970 || !(1..=length).contains(&day) {
        return None;
    }
    // Years that begin in March, so that the leap day is the last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year / 4 - year / 100 + year / 400;
    Some(year * 365 + leaps + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// Seconds since midnight of `04:00:00`.
fn seconds(clock: &str) -> Option<i64> {
    let [hour, minute, second] = parts(clock, ':', [2, 2, 2])?;
    (hour < 24 && minute < 60 && second < 60).then_some(hour * 3600 + minute * 60 + second)
}

/// Of a fraction of a second, as many digits as a microsecond has.
fn micros(digits: &str) -> Option<i64> {
    if !(1..=9).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{digits:0<6}").get(..6)?.parse().ok()
}

/// Three numbers with exactly these many digits.
fn parts(text: &str, separator: char, widths: [usize; 3]) -> Option<[i64; 3]> {
    let mut split = text.split(separator);
    let mut numbers = [0; 3];
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = split.next()?;
        if part.len() != width || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    split.next().is_none().then_some(numbers)
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
