//! Sizes in bytes as people read and write them.

use serde::{Deserializer, de};
use std::fmt;

const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/// The form of a size in the configuration, as a regular expression for other programs.
pub const PATTERN: &str = r"^\s*[0-9]+(\.[0-9]+)?\s*([KkMmGgTt]([Ii]?[Bb])?)?\s*$";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a size: write it like 8GiB or 512MB, or as a number of MiB")]
pub struct BadSize(pub String);

/// Reads `8GiB`, `512MB` or a bare number of MiB, as MiB. What is no whole number of them is rounded up.
pub fn parse_mib(text: &str) -> Result<u64, BadSize> {
    let bad = || BadSize(text.to_owned());
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let number: f64 = trimmed[..digits].parse().map_err(|_| bad())?;
    let bytes = match trimmed[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "m" | "mib" => 1024.0 * 1024.0,
        "k" | "kib" => 1024.0,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "t" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        _ => return Err(bad()),
    };
    let mib = (number * bytes / (1024.0 * 1024.0)).ceil();
    // Beyond any disk; as a float it would not be exact any more.
    if mib > 1e15 { Err(bad()) } else { Ok(mib as u64) }
}

/// A setting in MiB: a number, or a text with its unit.
pub(crate) fn mebibytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Mebibytes)
}

struct Mebibytes;

impl de::Visitor<'_> for Mebibytes {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size like 8GiB, or a number of MiB")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<u64, E> {
        Ok(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<u64, E> {
        u64::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
        parse_mib(text).map_err(E::custom)
    }
}

/// Three digits at most: `512 B`, `1.4 KiB`, `640 MiB`, `8.0 GiB`. Rounded to the nearest.
#[must_use]
pub fn show(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    // A float is exact enough for three digits.
    let mut number = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 999.5 and above would be shown with four digits.
    while number >= 999.5 && unit + 1 < UNITS.len() {
        number /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(number < 9.95);
    format!("{number:.decimals$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::{parse_mib, show};

    #[test]
    fn sizes_are_read_with_their_units() {
        let table = [
            ("512", Some(512)),
            ("8GiB", Some(8192)),
            ("8 gib", Some(8192)),
            ("1.5G", Some(1536)),
            ("512MB", Some(489)),
            ("1KiB", Some(1)),
            ("0", Some(0)),
            ("2TB", Some(1_907_349)),
            ("", None),
            ("GiB", None),
            ("-1", None),
            ("8GiBs", None),
            ("1.2.3", None),
            ("9999999999999999TiB", None),
        ];
        for (text, mib) in table {
            assert_eq!(parse_mib(text).ok(), mib, "{text}");
        }
    }

    #[test]
    fn sizes_have_three_digits_at_most() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 KiB"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (10_188, "9.9 KiB"),
            (10_189, "10 KiB"),
            (1_023_487, "999 KiB"),
            (1_023_488, "1.0 MiB"),
            (654_311_424, "624 MiB"),
            (8192 << 20, "8.0 GiB"),
            (25 << 30, "25 GiB"),
            (3 << 40, "3.0 TiB"),
            (u64::MAX, "16384 PiB"),
        ] {
            assert_eq!(show(bytes), text, "{bytes}");
        }
    }
}
