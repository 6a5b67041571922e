//! How long a task is thought to take, or took: `4h`, `2h30m`, `1d`, and how an estimate is made up.

use crate::values::duration;
use std::time::Duration;

/// `~4h (ai:2h test:1h)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    pub total: Duration,
    /// Named parts, in the order of the line. Their sum is not checked.
    pub parts: Vec<(String, Duration)>,
}

/// Reads days, hours and minutes; a day has 24 hours. A number without its unit is no amount.
#[must_use]
pub fn amount(text: &str) -> Option<Duration> {
    let known = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'd' | 'h' | 'm');
    let shaped = text.chars().all(known) && text.ends_with(['d', 'h', 'm']);
    if shaped { duration::parse(text).ok() } else { None }
}

/// Reads the words of a breakdown that starts at the first of them, and returns how many they are.
pub(super) fn breakdown<'t>(words: impl Iterator<Item = &'t str>) -> Option<(Vec<(String, Duration)>, usize)> {
    let mut parts = Vec::new();
    for (index, word) in words.enumerate() {
        let word = if index == 0 { word.strip_prefix('(')? } else { word };
        let (part, is_last) = word.strip_suffix(')').map_or((word, false), |part| (part, true));
        let (name, length) = part.split_once(':')?;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
            return None;
        }
        parts.push((name.to_owned(), amount(length)?));
        if is_last {
            return Some((parts, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_a_unit() {
        let table = [
            ("4h", Some(240)),
            ("2h30m", Some(150)),
            ("30m", Some(30)),
            ("1d", Some(1440)),
            ("1.5h", Some(90)),
            ("4", None),
            ("4s", None),
            ("4ms", None),
            ("4min", None),
            ("4hm", None),
            ("h", None),
            ("", None),
            ("-4h", None),
            (" 4h", None),
            ("99999999999999d", None),
        ];
        for (text, minutes) in table {
            assert_eq!(amount(text), minutes.map(|minutes| Duration::from_secs(minutes * 60)), "{text}");
        }
    }

    #[test]
    fn a_breakdown_is_a_closed_list_of_named_amounts() {
        let hours = |count: u64| Duration::from_secs(count * 3600);
        let both = vec![("ai".to_owned(), hours(2)), ("test".to_owned(), hours(1))];
        let table = [
            ("(ai:2h test:1h) tail", Some((both, 2))),
            ("(ai:2h)", Some((vec![("ai".to_owned(), hours(2))], 1))),
            ("(ai:2h test:1h", None),
            ("(ai:2h and more)", None),
            ("ai:2h)", None),
            ("(:2h)", None),
            ("(see below)", None),
            ("", None),
        ];
        for (text, read) in table {
            assert_eq!(breakdown(text.split_whitespace()), read, "{text}");
        }
    }
}
