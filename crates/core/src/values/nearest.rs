//! "Did you mean …": the names closest to a mistyped one.

use crate::values::letters::letters;

/// At most `limit` of `names`, the closest first; names that share nothing are left out.
#[must_use]
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    nearest_by_letters(wanted, names.into_iter().map(|name| (name, letters(name))), limit)
}

/// The same for a caller that knows the [`letters`] of each name already.
pub(crate) fn nearest_by_letters<'a>(
    wanted: &str,
    names: impl Iterator<Item = (&'a str, Option<u64>)>,
    limit: usize,
) -> Vec<&'a str> {
    let wanted = Wanted::new(wanted);
    let mut best: Vec<(usize, &str)> = Vec::new();
    for (name, own) in names {
        let last = limit.checked_sub(1).and_then(|last| best.get(last));
        let most = last.map_or(usize::MAX, |(distance, _)| *distance);
        let Some(distance) = wanted.distance(name, own, most) else { continue };
        let place = best.partition_point(|known| *known <= (distance, name));
        best.insert(place, (distance, name));
        best.truncate(limit);
    }
    best.into_iter().map(|(_, name)| name).collect()
}

/// A mistyped name, with what is needed to compare thousands of names with it.
struct Wanted {
    lower: String,
    length: usize,
    letters: Option<u64>,
    /// The places of each ASCII character, for a text that is short enough.
    places: Option<[u64; 128]>,
    /// Names of which neither contains the other are meant up to this distance.
    farthest: usize,
}

impl Wanted {
    fn new(name: &str) -> Self {
        let lower = name.to_lowercase();
        let length = lower.chars().count();
        let places = (lower.is_ascii() && (1..=64).contains(&length)).then(|| {
            let mut places = [0; 128];
            lower.bytes().enumerate().for_each(|(place, byte)| places[usize::from(byte & 127)] |= 1 << place);
            places
        });
        Self { length, letters: letters(&lower), places, farthest: 2.max(length / 3), lower }
    }

    /// How far away a name is; `None` when it is too far to be meant or farther than `most`.
    fn distance(&self, name: &str, own: Option<u64>, most: usize) -> Option<usize> {
        let unrelated_most = most.min(self.farthest);
        if let (Some(wanted), Some(own)) = (self.letters, own) {
            // Each character that only one of them has costs an edit, and neither contains the other when both do.
            let (missing, surplus) = ((wanted & !own).count_ones(), (own & !wanted).count_ones());
            let edits = (missing.max(surplus) as usize).max(name.len().abs_diff(self.length));
            let may_be_related = missing == 0 || surplus == 0;
            if edits > if may_be_related { most } else { unrelated_most } {
                return None;
            }
            if let Some(places) = &self.places
                && !may_be_related
            {
                let distance = short_distance(places, self.length, name.as_bytes());
                return (distance <= unrelated_most).then_some(distance);
            }
        }
        let lower = name.to_lowercase();
        let is_related = lower.contains(&self.lower) || self.lower.contains(&lower);
        let distance = edit_distance(&self.lower, &lower);
        (distance <= if is_related { most } else { unrelated_most }).then_some(distance)
    }
}

/// The same as [`edit_distance`] for ASCII, with a whole column of its table in two words (Myers 1999): where a
/// value is one more than the value above it, and where it is one less.
fn short_distance(places: &[u64; 128], length: usize, name: &[u8]) -> usize {
    let (mut more, mut less) = (u64::MAX, 0);
    let mut distance = length;
    for byte in name {
        let equal = places[usize::from(byte.to_ascii_lowercase() & 127)];
        let diagonal = ((equal & more).wrapping_add(more) ^ more) | equal;
        let (right_more, right_less) = (less | !(diagonal | more), more & diagonal);
        let last = length - 1;
        distance = distance + (right_more >> last & 1) as usize - (right_less >> last & 1) as usize;
        let (right_more, right_less) = (right_more << 1 | 1, right_less << 1);
        let vertical = equal | less;
        more = right_less | !(vertical | right_more);
        less = right_more & vertical;
    }
    distance
}

fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    #[test]
    fn the_closest_names_come_first() {
        let names = ["code-review", "quick-check", "simple-fix", "security-review", "research"];
        assert_eq!(nearest("code-reveiw", names, 3), ["code-review"]);
        assert_eq!(nearest("review", names, 3), ["code-review", "security-review"]);
        assert!(nearest("zzzzzz", names, 3).is_empty());
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    /// The same by comparing every name in full.
    fn plainly<'a>(wanted: &str, names: &[&'a str]) -> Vec<&'a str> {
        let wanted = wanted.to_lowercase();
        let farthest = 2.max(wanted.chars().count() / 3);
        let mut scored: Vec<(usize, &str)> = Vec::new();
        for name in names {
            let lower = name.to_lowercase();
            let distance = edit_distance(&wanted, &lower);
            if distance <= farthest || lower.contains(&wanted) || wanted.contains(&lower) {
                scored.push((distance, name));
            }
        }
        scored.sort_unstable();
        scored.into_iter().map(|(_, name)| name).collect()
    }

    proptest! {
        #[test]
        fn both_ways_give_the_same_distance(left in "[a-d-]{1,64}", right in "[a-dA-D-]{0,70}") {
            let places = Wanted::new(&left).places.unwrap();
            let expected = edit_distance(&left, &right.to_lowercase());
            prop_assert_eq!(short_distance(&places, left.len(), right.as_bytes()), expected);
        }

        #[test]
        fn nothing_near_is_ruled_out(wanted in "[a-dK5é-]{0,12}", names in vec("[a-dAK5é-]{0,14}", 0..20), limit in 0usize..9) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut expected = plainly(&wanted, &names);
            expected.truncate(limit);
            prop_assert_eq!(nearest(&wanted, names, limit), expected);
        }
    }
}
