//! Which members support which position.
//!
//! In the last round a member supports another when it names it in `agree_with`, unless that one changed its position
//! in the same round, because the position agreed to is then withdrawn; or when both give the same position word for
//! word. Support goes on through others. A position is unanimous when all members that answered, at least two,
//! are its author or support it directly or through each other. A member that did not answer in the last round counts
//! on no side, but its earlier position can still be agreed to.

use super::{Answer, Contribution, Round, Standing};
use crate::compare::Label;
use std::collections::{BTreeMap, BTreeSet};

/// The support of each position after the last of these rounds; `None` without an answer in it.
#[must_use]
pub fn standing(rounds: &[Round]) -> Option<Standing> {
    let (last, _) = rounds.split_last()?;
    let present: BTreeMap<Label, &Answer> = last.given().collect();
    if present.is_empty() {
        return None;
    }
    // The newest answer of each member, also of those without one in this round.
    let heard: BTreeMap<Label, &Answer> = rounds.iter().flat_map(Round::given).collect();
    let best = heard
        .keys()
        .map(|holder| (*holder, supporters(*holder, &present)))
        .reduce(|best, next| if next.1.len() > best.1.len() { next } else { best });
    let (holder, supporters) = best?;
    Some(Standing {
        holder,
        position: heard.get(&holder)?.position.clone(),
        dissenters: present.keys().copied().filter(|label| !supporters.contains(label)).collect(),
        supporters: supporters.into_iter().filter(|label| present.contains_key(label)).collect(),
    })
}

impl Round {
    /// The round that follows `earlier`, with what came of it.
    #[must_use]
    pub fn after(earlier: &[Self], answers: BTreeMap<Label, Contribution>) -> Self {
        let number = u32::try_from(earlier.len()).unwrap_or(u32::MAX).saturating_add(1);
        let mut round = Self { number, answers, changed: Vec::new(), standing: None };
        // A first answer cannot change a position.
        let spoke_before = |label: &Label| earlier.iter().any(|round| round.given().any(|(other, _)| other == *label));
        let changed = round.given().filter(|(label, answer)| answer.changed && spoke_before(label));
        round.changed = changed.map(|(label, _)| label).collect();
        let rounds: Vec<Self> = earlier.iter().cloned().chain([round.clone()]).collect();
        round.standing = standing(&rounds);
        round
    }
}

/// All from whom support leads to `holder`, and itself.
fn supporters(holder: Label, present: &BTreeMap<Label, &Answer>) -> BTreeSet<Label> {
    let mut found = BTreeSet::from([holder]);
    loop {
        let more: Vec<Label> = present
            .iter()
            .filter(|(label, _)| !found.contains(label))
            .filter(|(_, answer)| found.iter().any(|other| supports(answer, *other, present)))
            .map(|(label, _)| *label)
            .collect();
        if more.is_empty() {
            // A holder that is silent now has no voice of its own.
            found.retain(|label| present.contains_key(label));
            return found;
        }
        found.extend(more);
    }
}

fn supports(answer: &Answer, other: Label, present: &BTreeMap<Label, &Answer>) -> bool {
    let now = present.get(&other);
    let has_moved = now.is_some_and(|now| now.changed);
    (answer.agree_with.contains(&other) && !has_moved)
        || now.is_some_and(|now| words(&now.position) == words(&answer.position))
}

/// The wording alone, in order: `Yes.` is `yes`, and `not` makes a difference. Without any word, unchanged.
fn words(position: &str) -> Vec<String> {
    let words = position.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    if words.is_empty() { vec![position.trim().to_owned()] } else { words }
}
