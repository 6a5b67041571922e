//! "Did you mean …": the names closest to a mistyped one.

/// At most `limit` of `names`, the closest first; names that share nothing are left out.
#[must_use]
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    let wanted_lower = wanted.to_lowercase();
    let length = wanted_lower.chars().count();
    let farthest = 2.max(length / 3);
    let mut scored: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let related = lower.contains(&wanted_lower) || wanted_lower.contains(&lower);
            // Names of other lengths are no nearer than the difference.
            if !related && lower.chars().count().abs_diff(length) > farthest {
                return None;
            }
            let distance = edit_distance(&wanted_lower, &lower);
            (related || distance <= farthest).then_some((distance, name))
        })
        .collect();
    scored.sort_unstable();
    scored.into_iter().take(limit).map(|(_, name)| name).collect()
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

    #[test]
    fn the_closest_names_come_first() {
        let names = ["code-review", "quick-check", "simple-fix", "security-review", "research"];
        assert_eq!(nearest("code-reveiw", names, 3), ["code-review"]);
        assert_eq!(nearest("review", names, 3), ["code-review", "security-review"]);
        assert!(nearest("zzzzzz", names, 3).is_empty());
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
