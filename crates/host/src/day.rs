//! Days as people count them: in their time zone, from the hour at which a day begins for them. A day has 23, 24
//! or 25 hours; what counts is when the next one begins.

use jiff::{
    Timestamp, ToSpan, Zoned,
    civil::{Date, Time},
    tz::TimeZone,
};
use std::path::Path;

/// Where systems keep their zones.
const ZONES: &str = "/usr/share/zoneinfo";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDay {
    #[error("`{0}` is no time zone: write \"local\", \"UTC\" or a name like \"Europe/Berlin\"")]
    Zone(String),
    #[error("`{0}` is no time of day: write it like 00:00 or 04:30")]
    Time(String),
    #[error("`{0}` is no date: write it like 2026-02-01")]
    Date(String),
}

/// Where days begin.
#[derive(Debug, Clone)]
pub struct DayClock {
    zone: TimeZone,
    starts_at: Time,
}

/// From a moment up to the next one, in microseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    pub from: i64,
    pub until: i64,
}

/// A zone by its file. Who asks for it by name has all zones of the world listed first, which takes longer than all
/// that is done with it here.
fn zone_file(name: &str) -> Option<TimeZone> {
    let is_plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+-".contains(&byte));
    if !name.split('/').all(|part| !part.is_empty() && is_plain(part)) {
        return None;
    }
    let bytes = std::fs::read(Path::new(ZONES).join(name)).ok()?;
    TimeZone::tzif(name, &bytes).ok()
}

impl DayClock {
    pub fn new(zone: &str, starts_at: &str) -> Result<Self, BadDay> {
        let zone = match zone {
            "local" => TimeZone::system(),
            "UTC" => TimeZone::UTC,
            name => match zone_file(name) {
                Some(zone) => zone,
                None => TimeZone::get(name).map_err(|_| BadDay::Zone(name.to_owned()))?,
            },
        };
        let starts_at = starts_at.parse().map_err(|_| BadDay::Time(starts_at.to_owned()))?;
        Ok(Self { zone, starts_at })
    }

    /// The day that a moment lies in.
    #[must_use]
    pub fn day_of(&self, now: i64) -> Day {
        let date = self.date_of(now);
        Day { from: self.begin(date), until: self.begin(after(date, 1)) }
    }

    /// The days before the one that a moment lies in, as one span.
    #[must_use]
    pub fn days_before(&self, now: i64, count: i64) -> Day {
        let date = self.date_of(now);
        Day { from: self.begin(after(date, -count)), until: self.begin(date) }
    }

    /// When the day of a date begins, as in `2026-02-01`.
    pub fn parse(&self, text: &str) -> Result<i64, BadDay> {
        let date: Date = text.parse().map_err(|_| BadDay::Date(text.to_owned()))?;
        Ok(self.begin(date))
    }

    /// The date of the day that a moment lies in, as in `2026-02-01`.
    #[must_use]
    pub fn label(&self, now: i64) -> String {
        self.date_of(now).to_string()
    }

    /// A moment as people read it, with its zone.
    #[must_use]
    pub fn show(&self, at: i64) -> String {
        self.zoned(at).strftime("%Y-%m-%d %H:%M %Z").to_string()
    }

    fn zoned(&self, at: i64) -> Zoned {
        Timestamp::from_microsecond(at).unwrap_or_default().to_zoned(self.zone.clone())
    }

    fn date_of(&self, now: i64) -> Date {
        let here = self.zoned(now);
        let date = here.date();
        // In the small hours it may still be yesterday, by the day that counts.
        if now < self.begin(date) { after(date, -1) } else { date }
    }

    /// A time that the clocks skip on that day is taken as the moment after.
    fn begin(&self, date: Date) -> i64 {
        let local = date.to_datetime(self.starts_at);
        local.to_zoned(self.zone.clone()).map_or(0, |zoned| zoned.timestamp().as_microsecond())
    }
}

fn after(date: Date, days: i64) -> Date {
    date.checked_add(days.days()).unwrap_or(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3600 * 1_000_000;

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_microsecond()
    }

    #[test]
    fn days_have_the_hours_that_they_have() {
        let table = [
            // zone, starts at, now, the day's name, hours in it, hours since it began
            ("UTC", "00:00", "2026-11-15T23:30:00Z", "2026-11-15", 24, 23),
            ("UTC", "04:00", "2026-11-15T03:30:00Z", "2026-11-14", 24, 23),
            ("Europe/Berlin", "00:00", "2026-03-29T12:00:00Z", "2026-03-29", 23, 13),
            ("Europe/Berlin", "00:00", "2026-10-25T12:00:00Z", "2026-10-25", 25, 14),
            ("Europe/Berlin", "02:30", "2026-03-29T12:00:00Z", "2026-03-29", 23, 10),
            ("Asia/Kolkata", "00:00", "2026-11-15T18:30:00Z", "2026-11-16", 24, 0),
            ("America/New_York", "00:00", "2026-11-01T12:00:00Z", "2026-11-01", 25, 8),
        ];
        for (zone, starts_at, now, label, hours, since) in table {
            let clock = DayClock::new(zone, starts_at).unwrap();
            let day = clock.day_of(at(now));
            let case = format!("{zone} from {starts_at} at {now}");
            assert_eq!(clock.label(at(now)), label, "{case}");
            assert_eq!(((day.until - day.from) / HOUR, (at(now) - day.from) / HOUR), (hours, since), "{case}");
            assert!((day.from..day.until).contains(&at(now)), "{case}");
            assert_eq!(clock.parse(label), Ok(day.from), "{case}");
        }
    }

    #[test]
    fn a_zone_is_the_same_by_its_file_and_by_its_name() {
        let moment = Timestamp::from_microsecond(at("2026-07-01T00:00:00Z")).unwrap();
        for name in ["Europe/Berlin", "America/Argentina/Ushuaia", "Etc/GMT+5"] {
            let by_name = TimeZone::get(name).unwrap();
            if let Some(by_file) = zone_file(name) {
                assert_eq!(by_file.to_offset(moment), by_name.to_offset(moment), "{name}");
                assert_eq!(by_file.iana_name(), Some(name));
            }
        }
        for name in ["", "/", "..", "../zoneinfo/Europe/Berlin", "/etc/passwd", "Europe/", "Europe//Berlin", "Europe"] {
            assert!(zone_file(name).is_none() && DayClock::new(name, "00:00").is_err(), "{name}");
        }
    }

    #[test]
    fn every_hour_of_a_year_is_in_one_day_and_days_follow_each_other() {
        for zone in ["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "UTC"] {
            let clock = DayClock::new(zone, "03:00").unwrap();
            let mut day = clock.day_of(at("2026-01-01T00:00:00Z"));
            for hour in 0..(366 * 24) {
                let now = at("2026-01-01T00:00:00Z") + hour * HOUR;
                let here = clock.day_of(now);
                assert!(here == day || here.from == day.until, "{zone} {hour}");
                assert!((here.from..here.until).contains(&now), "{zone} {hour}");
                day = here;
            }
            let week = clock.days_before(day.from, 7);
            assert_eq!(week.until, day.from);
        }
        assert_eq!(DayClock::new("Mars/Base", "00:00").err(), Some(BadDay::Zone("Mars/Base".into())));
        assert_eq!(DayClock::new("UTC", "soon").err(), Some(BadDay::Time("soon".into())));
    }
}
