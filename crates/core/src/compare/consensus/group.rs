//! The same finding of several reviewers, put together.
//!
//! A group is held by its first finding, and every other one is compared with that one alone: a chain of close lines
//! cannot grow beyond the tolerance. The order of the reviewers changes nothing.

use super::{Finding, Key, Sameness};
use crate::values::Percent;
use crate::values::Severity;
use serde::Serialize;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

/// A finding and who has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    pub reviewer: usize,
    #[serde(flatten)]
    pub finding: Finding,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The highest of all.
    pub severity: Severity,
    pub file: Option<String>,
    pub line: Option<u32>,
    /// In the words of the first with the highest severity.
    pub text: String,
    /// Each reviewer once.
    pub found_by: Vec<usize>,
    /// How many answered; those who did not are in neither number.
    pub answered: usize,
    pub agreement: Percent,
    pub findings: Vec<Found>,
}

/// Groups the findings of those who answered, the gravest and most agreed first.
#[must_use]
pub fn group(reviews: &[(usize, &[Finding])], sameness: &Sameness) -> Vec<Group> {
    let mut all = ordered(reviews, sameness);
    number_words(&mut all);
    mark_crowded(&mut all, sameness);
    let mut groups: Vec<Vec<Entry<'_>>> = Vec::new();
    // Only groups of one file are ever compared.
    let mut by_file: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
    for alike in alike(all) {
        let Some(file) = alike.first().map(|entry| entry.key.file.clone()) else { continue };
        let places = by_file.entry(file).or_default();
        let fits = places.iter().filter_map(|place| {
            let strength = fits(&alike, &groups[*place], sameness)?;
            Some((strength, Reverse(*place)))
        });
        match fits.max() {
            Some((_, Reverse(place))) => groups[place].extend(alike),
            None => {
                places.push(groups.len());
                groups.push(alike);
            }
        }
    }
    let mut groups: Vec<Group> = groups.into_iter().filter_map(|entries| summed_up(entries, reviews.len())).collect();
    groups.sort_by(|a, b| {
        let rank =
            |group: &Group| (Reverse(group.severity), Reverse(group.found_by.len()), group.line.is_none(), group.line);
        rank(a).cmp(&rank(b)).then_with(|| (&a.file, &a.text).cmp(&(&b.file, &b.text)))
    });
    groups
}

struct Entry<'a> {
    reviewer: usize,
    finding: &'a Finding,
    key: Key,
    /// The words of its key as numbers, ascending: each finding is compared with many.
    words: Vec<u32>,
    /// A reviewer has several findings close to this line, so the line alone does not identify one of them.
    is_crowded: bool,
}

/// How well findings that are alike fit a group: by words first, then by lines.
fn fits(alike: &[Entry<'_>], group: &[Entry<'_>], sameness: &Sameness) -> Option<(Percent, Reverse<u32>)> {
    let (entry, first) = (alike.first()?, group.first()?);
    let (needed, distance) = match (entry.finding.line, first.finding.line) {
        (Some(line), Some(other)) => match line.abs_diff(other) {
            distance if distance > sameness.line_tolerance => return None,
            0 if !entry.is_crowded && !first.is_crowded => (sameness.same_line, 0),
            distance => (sameness.near_line, distance),
        },
        (Some(_) | None, Some(_) | None) => (sameness.no_line, u32::MAX),
    };
    let said_before = alike.iter().any(|entry| group.iter().any(|other| other.reviewer == entry.reviewer));
    let needed = if said_before { needed.max(sameness.anywhere) } else { needed };
    let likeness = likeness(&entry.words, &first.words);
    (likeness >= needed).then_some((likeness, Reverse(distance)))
}

/// Equal findings about the same line stay together: otherwise the first of them could open a group that only
/// the others may choose, and the order of the reviewers would matter.
fn alike(entries: Vec<Entry<'_>>) -> Vec<Vec<Entry<'_>>> {
    let mut sets: Vec<Vec<Entry<'_>>> = Vec::new();
    for entry in entries {
        let is_alike = |last: &Entry<'_>| last.key == entry.key && last.finding.line == entry.finding.line;
        match sets.last_mut().filter(|set| set.first().is_some_and(is_alike)) {
            Some(set) => set.push(entry),
            None => sets.push(vec![entry]),
        }
    }
    sets
}

impl Entry<'_> {
    fn is_close(&self, other: &Self, sameness: &Sameness) -> bool {
        let lines = self.finding.line.zip(other.finding.line);
        self.key.file == other.key.file
            && lines.is_some_and(|(line, other)| line.abs_diff(other) <= sameness.line_tolerance)
    }
}

/// In an order that depends on what was found, and on who found it only between equals.
fn ordered<'a>(reviews: &[(usize, &'a [Finding])], sameness: &Sameness) -> Vec<Entry<'a>> {
    let entries = reviews.iter().flat_map(|(reviewer, findings)| {
        findings.iter().map(|finding| {
            let key = Key::of(finding, sameness);
            Entry { reviewer: *reviewer, finding, key, words: Vec::new(), is_crowded: false }
        })
    });
    let mut entries: Vec<Entry<'a>> = entries.collect();
    entries.sort_by(|a, b| {
        let line = |entry: &Entry<'_>| (entry.finding.line.is_none(), entry.finding.line);
        let by_place = a.key.file.cmp(&b.key.file).then_with(|| line(a).cmp(&line(b)));
        let by_words = by_place.then_with(|| a.key.words.cmp(&b.key.words));
        let by_text = by_words.then_with(|| a.finding.text.cmp(&b.finding.text));
        by_text.then_with(|| (b.finding.severity, a.reviewer).cmp(&(a.finding.severity, b.reviewer)))
    });
    entries
}

fn number_words(entries: &mut [Entry<'_>]) {
    let all: BTreeSet<&String> = entries.iter().flat_map(|entry| &entry.key.words).collect();
    let numbers: BTreeMap<String, u32> = all.into_iter().cloned().zip(0..).collect();
    for entry in entries {
        entry.words = entry.key.words.iter().filter_map(|word| numbers.get(word).copied()).collect();
    }
}

/// As [`Key::likeness`].
fn likeness(one: &[u32], other: &[u32]) -> Percent {
    let (mut common, mut at, mut place) = (0, 0, 0);
    while let (Some(word), Some(with)) = (one.get(at), other.get(place)) {
        common += usize::from(word == with);
        at += usize::from(word <= with);
        place += usize::from(with <= word);
    }
    Percent::share(2 * common, one.len() + other.len())
}

fn mark_crowded(entries: &mut [Entry<'_>], sameness: &Sameness) {
    let is_crowded = |entry: &Entry<'_>| {
        let mut seen: BTreeMap<usize, u32> = BTreeMap::new();
        for other in entries.iter().filter(|other| entry.is_close(other, sameness)) {
            *seen.entry(other.reviewer).or_default() += 1;
        }
        seen.values().any(|count| *count > 1)
    };
    let crowded: Vec<bool> = entries.iter().map(is_crowded).collect();
    for (entry, is_crowded) in entries.iter_mut().zip(crowded) {
        entry.is_crowded = is_crowded;
    }
}

fn summed_up(entries: Vec<Entry<'_>>, answered: usize) -> Option<Group> {
    let severity = entries.iter().map(|entry| entry.finding.severity).max()?;
    let text = entries.iter().find(|entry| entry.finding.severity == severity)?.finding.text.clone();
    let mut found_by: Vec<usize> = entries.iter().map(|entry| entry.reviewer).collect();
    found_by.sort_unstable();
    found_by.dedup();
    Some(Group {
        severity,
        file: entries.first()?.key.file.clone(),
        line: entries.first()?.finding.line,
        text,
        agreement: Percent::share(found_by.len(), answered),
        found_by,
        answered,
        findings: entries
            .into_iter()
            .map(|entry| Found { reviewer: entry.reviewer, finding: entry.finding.clone() })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    proptest! {
        #[test]
        fn numbers_are_as_alike_as_their_words(texts in vec("[a-f]{3}( [a-f]{3}){0,9}", 2)) {
            let finding = |text: &String| Finding { severity: Severity::Info, file: None, line: None, text: text.clone() };
            let findings: Vec<Finding> = texts.iter().map(finding).collect();
            let mut entries = ordered(&[(0, &findings)], &Sameness::default());
            number_words(&mut entries);
            prop_assert_eq!(likeness(&entries[0].words, &entries[1].words), entries[0].key.likeness(&entries[1].key));
        }
    }
}
