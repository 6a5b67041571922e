//! Moments as they are shown: in RFC 3339 for scripts, in the time of this machine for people.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// As in `2026-02-01T14:30:00.25Z`.
pub fn rfc3339(at: i64) -> String {
    Timestamp::from_microsecond(at).unwrap_or_default().to_string()
}

/// Reads a moment with its offset, or one in the time of this machine; in microseconds.
pub fn moment(text: &str) -> Option<i64> {
    let text = text.trim();
    let here = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::system()).ok().map(|zoned| zoned.timestamp());
    text.parse::<Timestamp>().ok().or_else(here).map(Timestamp::as_microsecond)
}

/// As in `2026-02-01 15:30:00`.
pub fn local(at: i64) -> String {
    let here = Timestamp::from_microsecond(at).unwrap_or_default().to_zoned(TimeZone::system());
    here.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_back() {
        let at = 1_769_956_200_250_000;
        assert_eq!(rfc3339(at), "2026-02-01T14:30:00.25Z");
        assert_eq!(rfc3339(at).parse::<Timestamp>().unwrap().as_microsecond(), at);
        assert_eq!(local(at).len(), "2026-02-01 15:30:00".len());
    }
}
