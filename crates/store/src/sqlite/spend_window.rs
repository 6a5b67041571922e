//! Sums over a window of time, however long it is and however much was spent in it: the quarters of an hour at its two
//! ends, and between them whole days of UTC. Both are kept as sums, so half a year costs hardly more than a day, and a
//! busy day no more than a quiet one.
//!
//! Invariant: what a day holds is what its quarters hold together.

use super::{
    script::Script,
    spend::{sum, summed},
};
use crate::{SpendKey, SpendKind};

/// How long a day lasts, in microseconds.
const DAY_MICROS: i64 = 86_400 * 1_000_000;

/// A length that sums are kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    Quarter,
    Day,
}

impl Span {
    pub const ALL: [Self; 2] = [Self::Quarter, Self::Day];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quarter => "quarter",
            Self::Day => "day",
        }
    }

    /// The beginning of the one that a bucket lies in.
    pub fn start(self, bucket: i64) -> i64 {
        match self {
            Self::Quarter => bucket,
            Self::Day => day(bucket),
        }
    }
}

macro_rules! part {
    ($from:literal, $kind:literal, $which:literal, $span:literal) => {
        concat!(
            "SELECT name, cost_nano, attempts, unknown, tokens FROM ",
            $from,
            " WHERE kind = ",
            $kind,
            $which,
            " AND span = ",
            $span,
            " AND start >= ? AND start < ?"
        )
    };
}

/// The parameters are those of [`bind`]: for each of the three parts what is asked for, and its ends.
macro_rules! in_window {
    ($from:literal, $kind:literal, $which:literal) => {
        concat!(
            summed!("name"),
            " FROM (",
            part!($from, $kind, $which, "'quarter'"),
            " UNION ALL ",
            part!($from, $kind, $which, "'day'"),
            " UNION ALL ",
            part!($from, $kind, $which, "'quarter'"),
            ")"
        )
    };
}

/// The names are looked up one after the other in the index: there are few of them, each with very many rows.
macro_rules! each {
    ($kind:literal) => {
        concat!(
            "WITH RECURSIVE known(name) AS (
                 SELECT min(name) FROM spend_sum WHERE kind = ",
            $kind,
            " UNION ALL
                 SELECT (SELECT min(name) FROM spend_sum WHERE kind = ",
            $kind,
            " AND name > known.name) FROM known WHERE known.name IS NOT NULL
             ) ",
            in_window!("known CROSS JOIN spend_sum USING (name)", $kind, ""),
            " GROUP BY name ORDER BY name"
        )
    };
}

pub(super) const OVERALL: &str = in_window!("spend_sum", "'overall'", " AND name = ''");
pub(super) const OF_PROVIDER: &str = in_window!("spend_sum", "'provider'", " AND name = ?");
pub(super) const OF_TIER: &str = in_window!("spend_sum", "'tier'", " AND name = ?");
pub(super) const TOTAL: &str = concat!(summed!("''"), " FROM spend_total WHERE kind = ? AND name = ?");

pub(super) const BY_PROVIDER: &str = each!("'provider'");
pub(super) const BY_TIER: &str = each!("'tier'");
pub(super) const BY_BUCKET: &str = "
    SELECT CAST(start AS TEXT) AS name, cost_nano, attempts, unknown, tokens FROM spend_sum
    WHERE kind = 'overall' AND name = '' AND span = 'quarter' AND start >= ? AND start < ? ORDER BY start";

/// Where the whole days of a window begin and end. Without any, all of it is the first part.
fn parts(from: i64, until: i64) -> [(i64, i64); 3] {
    let first = from.checked_add(DAY_MICROS - 1).map_or(i64::MAX, day);
    let last = day(until);
    if first < last { [(from, first), (first, last), (last, until)] } else { [(from, until), (0, 0), (0, 0)] }
}

/// The beginning of the day of UTC that a moment lies in.
fn day(at: i64) -> i64 {
    at.div_euclid(DAY_MICROS).saturating_mul(DAY_MICROS)
}

/// Adds one of the sums above with its parameters.
pub(super) fn bind(script: &mut Script, sql: &'static str, from: i64, until: i64, name: Option<&str>) {
    script.add(sql);
    for (from, until) in parts(from, until) {
        if let Some(name) = name {
            script.bind(name);
        }
        script.bind(from).bind(until);
    }
}

/// Asks what is settled for a key in a window, or over all time where no window is kept. The answer is one row.
pub(super) fn ask(script: &mut Script, key: &SpendKey, from: i64, until: i64) {
    match key.kind {
        SpendKind::Overall => bind(script, OVERALL, from, until, None),
        SpendKind::Provider => bind(script, OF_PROVIDER, from, until, Some(&key.name)),
        SpendKind::Tier => bind(script, OF_TIER, from, until, Some(&key.name)),
        SpendKind::Batch | SpendKind::Task => {
            script.add(TOTAL).bind(key.kind.as_str()).bind(&key.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_window_are_the_window() {
        const D: i64 = DAY_MICROS;
        for (from, until, expected) in [
            (0, D, [(0, 0), (0, D), (D, D)]),
            (1, D, [(1, D), (0, 0), (0, 0)]),
            (-D, 2 * D, [(-D, -D), (-D, 2 * D), (2 * D, 2 * D)]),
            (D / 2, 3 * D + 5, [(D / 2, D), (D, 3 * D), (3 * D, 3 * D + 5)]),
            (D - 1, D + 1, [(D - 1, D + 1), (0, 0), (0, 0)]),
            (-1, D, [(-1, 0), (0, D), (D, D)]),
            (9, 3, [(9, 3), (0, 0), (0, 0)]),
            (i64::MAX, i64::MAX, [(i64::MAX, i64::MAX), (0, 0), (0, 0)]),
            (i64::MIN, i64::MIN, [(i64::MIN, i64::MIN), (0, 0), (0, 0)]),
        ] {
            assert_eq!(parts(from, until), expected, "{from} {until}");
        }
        let [head, days, tail] = parts(i64::MIN, i64::MAX);
        assert_eq!((head.0, tail.1), (i64::MIN, i64::MAX));
        assert_eq!((head.1, days.1), (days.0, tail.0));
        assert!(head.1 - head.0 < D && tail.1 - tail.0 < D && days.0 % D == 0 && days.1 % D == 0);
    }
}
