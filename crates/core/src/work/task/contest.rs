//! A contest: several models work on one task, each as an entry of its own, and one result is delivered.
//!
//! Invariant: evidence comes first. An entry without green verify commands never wins over one that has them, a judge
//! is asked only among entries that the evidence ranks equal, and every verdict names the rule that decided.

use super::{BadTaskId, Phase, TaskId};
use crate::{
    Nano,
    compare::judge::{Decision, Judgement},
};
use serde::{Deserialize, Serialize};
use std::{cmp::Reverse, ops::RangeInclusive};

/// How many models may take part.
pub const ENTRIES: RangeInclusive<usize> = 2..=10;
/// The margin of a contest that nothing speaks against, in millionths.
pub const WHOLE: u32 = 1_000_000;
/// The highest score that a judge gives.
const BEST_SCORE: f64 = 10.0;

/// What a task asks for whose work several models do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contest {
    /// As people write them, in the order of the entries.
    pub models: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadContest {
    #[error("a contest needs 2 to 10 different models, and {0} were named")]
    Count(usize),
    #[error("`{0}` is named twice, and each model of a contest has one entry")]
    Twice(String),
}

impl Contest {
    pub fn new(models: Vec<String>) -> Result<Self, BadContest> {
        if !ENTRIES.contains(&models.len()) {
            return Err(BadContest::Count(models.len()));
        }
        let mut seen = std::collections::BTreeSet::new();
        match models.iter().find(|model| !seen.insert(model.as_str())) {
            Some(twice) => Err(BadContest::Twice(twice.clone())),
            None => Ok(Self { models }),
        }
    }

    /// The ids of the entries, in the order of the models.
    pub fn entry_ids(&self, contest: &TaskId) -> Result<Vec<TaskId>, BadTaskId> {
        (1..=self.models.len()).map(|number| format!("{contest}.{number}").parse()).collect()
    }
}

/// What is decided about a contest: which work is delivered, and whose model goes on when it needs another attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    pub entry: TaskId,
    pub model: String,
    /// The commit that the entry's work starts from, and its last one.
    pub base: String,
    pub head: String,
    /// Whether the work of the task is that of the entry by now. Later attempts go on from there.
    #[serde(default)]
    pub taken: bool,
}

/// What a contest needs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Some entries do not exist yet.
    Create,
    /// So many of all entries are still to settle.
    Await {
        open: usize,
        of: usize,
    },
    Decide,
}

/// By the phases of the entries that exist.
#[must_use]
pub fn readiness(contest: &Contest, entries: &[Phase]) -> Readiness {
    let of = contest.models.len();
    if entries.len() < of {
        return Readiness::Create;
    }
    match entries.iter().filter(|phase| !phase.is_settled()).count() {
        0 => Readiness::Decide,
        open => Readiness::Await { open, of },
    }
}

/// The result of the verify commands for the work of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryCheck {
    Green,
    Red,
    /// There are no commands, or they were not run.
    None,
}

/// The commits of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryWork {
    pub base: String,
    pub head: String,
    /// Lines added and deleted.
    pub lines: u64,
}

/// The state of one entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub id: TaskId,
    pub model: String,
    pub branch: Option<String>,
    pub verify: EntryCheck,
    pub cost: Nano,
    pub phase: Phase,
    /// Why it is in that phase.
    pub reason: String,
    /// Of an entry that is done.
    pub work: Option<EntryWork>,
}

/// Which entries can win.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    Empty,
    One(usize),
    /// The evidence ranks these equal.
    Several(Vec<usize>),
}

/// Which entries can win, by the evidence.
#[must_use]
pub fn field(entries: &[Entry]) -> Field {
    let done = |entry: &Entry| entry.phase == Phase::Done && entry.work.is_some() && entry.verify != EntryCheck::Red;
    let of = |wanted: &dyn Fn(&Entry) -> bool| -> Vec<usize> {
        entries.iter().enumerate().filter(|(_, entry)| wanted(entry)).map(|(place, _)| place).collect()
    };
    let green = of(&|entry| done(entry) && entry.verify == EntryCheck::Green);
    let good = if green.is_empty() { of(&done) } else { green };
    match good.as_slice() {
        [] => Field::Empty,
        [one] => Field::One(*one),
        _ => Field::Several(good),
    }
}

/// The winner and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub winner: usize,
    /// How clear it is, in millionths; 0 when only a rule for ties decided.
    pub margin: u32,
    pub reason: String,
}

/// For people: why no entry can win, and the next command.
#[must_use]
pub fn no_winner(contest: &TaskId, entries: &[Entry]) -> String {
    let ends: Vec<String> = entries
        .iter()
        .map(|Entry { id, model, phase, reason, .. }| {
            let colon = if reason.is_empty() { "" } else { ": " };
            format!("{id} by {model} is {phase}{colon}{reason}")
        })
        .collect();
    format!(
        "no entry of the contest can be delivered: {}; `shuntyard task retry {contest}` gives them another attempt",
        ends.join("; ")
    )
}

/// The one entry that can win. The margin is whole when another model failed by itself where this one is green: entries
/// that never worked, or work that nothing verified, show nothing about the models.
#[must_use]
pub fn only_one(entries: &[Entry], winner: usize) -> Option<Verdict> {
    let entry = entries.get(winner)?;
    let of = entries.len();
    let (is_green, said) = match entry.verify {
        EntryCheck::Green => (true, "whose verify commands are green"),
        EntryCheck::None | EntryCheck::Red => (false, "that came to an end; nothing verified it"),
    };
    let has_beaten = entries.iter().any(|other| other.phase == Phase::Failed);
    let margin = if is_green && has_beaten { WHOLE } else { 0 };
    Some(Verdict { winner, margin, reason: format!("{} is the only one of {of} entries {said}", entry.model) })
}

/// A judge's verdict on the entries `shown`, in their order. A tie goes to [`by_rule`].
#[must_use]
pub fn by_judge(entries: &[Entry], shown: &[usize], judge: &str, judgement: &Judgement) -> Option<Verdict> {
    let place = |target: &usize| shown.get(*target).copied();
    match &judgement.decision {
        Decision::Winner { target, unmoved } => {
            let winner = place(target)?;
            let margin = margin(judgement, *target, *unmoved);
            let model = &entries.get(winner)?.model;
            let percent = margin / (WHOLE / 100);
            let reason =
                format!("{judge} found the work of {model} the best of {} in both orders, by {percent} %", shown.len());
            Some(Verdict { winner, margin, reason })
        }
        Decision::Tie { targets } => {
            let tied: Vec<usize> = targets.iter().filter_map(place).collect();
            by_rule(entries, &tied, &format!("{judge} named another winner when it saw them in the other order"))
        }
        Decision::NoVerdict { why } => by_rule(entries, shown, &format!("{judge} gave no verdict ({why})")),
    }
}

/// How far the winner is ahead of the next, in millionths. A winner that had the same position in both orders could
/// be due to that position.
#[must_use]
pub fn margin(judgement: &Judgement, winner: usize, unmoved: bool) -> u32 {
    let of_winner = judgement.scores.get(&winner).copied().unwrap_or_default();
    let others = judgement.scores.iter().filter(|(target, _)| **target != winner).map(|(_, score)| *score);
    let next = others.fold(0.0, f64::max);
    let ahead = ((of_winner - next) / BEST_SCORE).clamp(0.0, 1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and a million")]
    let millionths = (ahead * f64::from(WHOLE)).round() as u32;
    if unmoved { millionths / 2 } else { millionths }
}

/// Among entries that neither evidence nor a judge distinguishes: the cheaper, then the smaller change, then the first.
#[must_use]
pub fn by_rule(entries: &[Entry], tied: &[usize], why: &str) -> Option<Verdict> {
    let lines = |entry: &Entry| entry.work.as_ref().map_or(u64::MAX, |work| work.lines);
    let mut ranked: Vec<(usize, &Entry)> =
        tied.iter().filter_map(|place| Some((*place, entries.get(*place)?))).collect();
    ranked.sort_by_key(|(place, entry)| (entry.cost, lines(entry), *place));
    let (winner, first) = *ranked.first()?;
    let rule = match ranked.get(1) {
        Some((_, next)) if first.cost != next.cost => {
            format!("{} is the cheapest, at {} against {}", first.model, first.cost, next.cost)
        }
        Some((_, next)) if lines(first) != lines(next) => {
            format!("{} has the smallest change, {} lines against {}", first.model, lines(first), lines(next))
        }
        _ => format!("{} is the first of them", first.model),
    };
    Some(Verdict { winner, margin: 0, reason: format!("{why}, so a rule decided: {rule}") })
}

/// What one entry may still spend: of what the settled ones have left of the limit, an equal part for each of the
/// others, less what it has spent itself. All entries together stay within the limit, however they follow each other.
#[must_use]
pub fn share(limit: Nano, settled: &[Nano], open: usize, own: Nano) -> Nano {
    let left = limit.less(settled.iter().copied().sum());
    let parts = i64::try_from(open.max(1)).unwrap_or(i64::MAX);
    Nano(left.0 / parts).less(own)
}

/// Entries come right after their contest, in their own order; everything else stays where it was.
pub fn group_entries<T>(tasks: &mut Vec<T>, identity: impl Fn(&T) -> (TaskId, Option<TaskId>)) {
    let place_of: std::collections::BTreeMap<TaskId, usize> =
        tasks.iter().enumerate().map(|(place, task)| (identity(task).0, place)).collect();
    let mut keyed: Vec<(usize, Reverse<bool>, usize, T)> = std::mem::take(tasks)
        .into_iter()
        .enumerate()
        .map(|(place, task)| match identity(&task).1.and_then(|contest| place_of.get(&contest).copied()) {
            Some(contest) => (contest, Reverse(false), place, task),
            None => (place, Reverse(true), place, task),
        })
        .collect();
    keyed.sort_by_key(|(group, is_entry, place, _)| (*group, *is_entry, *place));
    tasks.extend(keyed.into_iter().map(|(_, _, _, task)| task));
}
