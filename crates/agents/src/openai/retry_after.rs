//! How long a provider wants us to wait, from the headers of its refusal. Pure: the time comes in as a value.

use jiff::{
    Timestamp,
    civil::DateTime,
    fmt::rfc2822::DateTimeParser,
    tz::{Offset, TimeZone},
};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use std::time::{Duration, SystemTime};

/// Longer than any caller waits; a larger number means never.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// The two forms of an HTTP date that are out of use and still to be read.
const OLD_DATES: [&str; 2] = ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// The wait that the headers ask for. `None` when they ask for none, or in an unreadable way.
pub(super) fn asked_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    // Finer than whole seconds, where a provider sends both.
    text("retry-after-ms")
        .and_then(|millis| number(millis, 0.001))
        .or_else(|| text(RETRY_AFTER.as_str()).and_then(|value| number(value, 1.0).or_else(|| until(value, now))))
}

fn number(text: &str, unit: f64) -> Option<Duration> {
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let seconds = text.parse::<f64>().ok()? * unit;
    Some(Duration::try_from_secs_f64(seconds).map_or(LONGEST, |wait| wait.min(LONGEST)))
}

/// A moment that has passed is no wait at all.
fn until(date: &str, now: SystemTime) -> Option<Duration> {
    let now = Timestamp::try_from(now).ok()?;
    let then = DateTimeParser::new().relaxed_weekday(true).parse_timestamp(date).ok().or_else(|| old_date(date))?;
    Some(Duration::try_from(then.duration_since(now)).unwrap_or_default().min(LONGEST))
}

fn old_date(date: &str) -> Option<Timestamp> {
    let read = |format: &&str| DateTime::strptime(format, date).ok();
    let civil = OLD_DATES.iter().find_map(read)?;
    TimeZone::fixed(Offset::UTC).to_timestamp(civil).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use reqwest::header::HeaderValue;

    /// Sunday, 6 November 1994, 08:49:37.
    fn then() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)
    }

    fn wait(name: &'static str, value: &[u8]) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_bytes(value).ok()?);
        asked_wait(&headers, then())
    }

    #[test]
    fn seconds_milliseconds_and_dates() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let table = [
            ("retry-after", "0", seconds(0)),
            ("retry-after", "120", seconds(120)),
            ("retry-after", " 7 ", seconds(7)),
            ("retry-after", "1.5", Some(Duration::from_millis(1500))),
            ("retry-after-ms", "1500", Some(Duration::from_millis(1500))),
            ("retry-after", "99999999999999999999999", Some(LONGEST)),
            ("retry-after", "1e400", Some(LONGEST)),
            ("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT", seconds(60)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", seconds(0)),
            // A wrong weekday does not make the date unreadable.
            ("retry-after", "Mon, 06 Nov 1994 08:50:37 GMT", seconds(60)),
            ("retry-after", "Sunday, 06-Nov-94 08:50:37 GMT", seconds(60)),
            ("retry-after", "Sun Nov  6 08:50:37 1994", seconds(60)),
            ("retry-after", "-5", None),
            ("retry-after", "soon", None),
            ("retry-after", "inf", None),
            ("retry-after", "NaN", None),
            ("retry-after", "", None),
            ("retry-after", "Sun, 99 Nov 1994 08:50:37 GMT", None),
            ("x-other", "5", None),
        ];
        for (name, value, expected) in table {
            assert_eq!(wait(name, value.as_bytes()), expected, "{name}: {value}");
        }
        assert_eq!(wait("retry-after", b"\xff\xfe"), None);
    }

    #[test]
    fn the_finer_header_is_preferred_when_it_can_be_read() {
        let both = |millis: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after-ms", HeaderValue::from_static(millis));
            headers.insert("retry-after", HeaderValue::from_static("2"));
            asked_wait(&headers, then())
        };
        assert_eq!(both("1250"), Some(Duration::from_millis(1250)));
        assert_eq!(both("what"), Some(Duration::from_secs(2)));
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic_and_every_wait_is_bounded(
            value in prop_oneof![
                "[ -~]{0,60}",
                "[0-9.e+-]{0,40}",
                "[A-Z][a-z]{2}, [0-9]{1,3} (Jan|Feb|Dec) [0-9]{1,9} [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2} GMT",
                "[A-Z][a-z]{2} (Jan|Feb|Dec) [0-9 ]{2} [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2} [0-9]{1,9}",
            ],
            millis in any::<bool>(),
        ) {
            let name = if millis { "retry-after-ms" } else { "retry-after" };
            prop_assert!(wait(name, value.as_bytes()).is_none_or(|wait| wait <= LONGEST));
        }

        #[test]
        fn whole_seconds_are_read_as_they_are(seconds in 0..LONGEST.as_secs()) {
            prop_assert_eq!(wait("retry-after", seconds.to_string().as_bytes()), Some(Duration::from_secs(seconds)));
        }
    }
}
