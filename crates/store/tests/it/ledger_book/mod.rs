//! What must be true of the ledger, kept by hand.

use shuntyard_store::{SpendKey, SpendKind, bucket};
use std::collections::{BTreeMap, BTreeSet};

pub const DAY: i64 = 86_400 * 1_000_000;
const PROVIDERS: [&str; 2] = ["north", "acme"];
const TASKS: [&str; 2] = ["docs", "review"];
/// Of everything in a day, of a provider in a day, and of a task for all time.
const LIMITS: [i64; 3] = [1000, 700, 900];

/// An attempt.
#[derive(Debug, Clone)]
pub struct Known {
    pub expects: i64,
    pub real: i64,
    pub provider: String,
    pub task: String,
    began: i64,
    /// In which quarter of an hour it counts, and with how much.
    at: i64,
    pub told: i64,
    /// Whether that is all of it.
    is_known: bool,
    /// What it was settled at.
    first: i64,
    /// What was added afterwards, when nothing was reserved for it any more.
    risen: i64,
}

impl Known {
    pub fn new(expects: i64, real: i64, provider: usize, task: usize, began: i64) -> Self {
        let [provider, task] = [PROVIDERS[provider], TASKS[task]].map(str::to_owned);
        Self { expects, real, provider, task, began, at: 0, told: 0, is_known: false, first: 0, risen: 0 }
    }

    fn overrun(&self) -> i64 {
        (self.first - self.expects).max(0) + self.risen
    }

    fn counts_for(&self, key: &SpendKey) -> bool {
        match key.kind {
            SpendKind::Overall => true,
            SpendKind::Provider => key.name == self.provider,
            SpendKind::Task => key.name == self.task,
            SpendKind::Tier | SpendKind::Batch => false,
        }
    }
}

pub fn key_of(kind: SpendKind, name: &str) -> SpendKey {
    SpendKey::new(kind, name)
}

/// What an attempt is held to.
pub fn keys(known: &Known) -> Vec<(SpendKey, i64)> {
    let [overall, provider, task] = LIMITS;
    vec![
        (SpendKey::overall(), overall),
        (key_of(SpendKind::Provider, &known.provider), provider),
        (key_of(SpendKind::Task, &known.task), task),
    ]
}

pub fn all_keys() -> Vec<(SpendKey, i64)> {
    let mut all = vec![(SpendKey::overall(), LIMITS[0])];
    all.extend(PROVIDERS.map(|name| (key_of(SpendKind::Provider, name), LIMITS[1])));
    all.extend(TASKS.map(|name| (key_of(SpendKind::Task, name), LIMITS[2])));
    all
}

pub fn day_of(at: i64) -> i64 {
    at.div_euclid(DAY) * DAY
}

#[derive(Debug, Default)]
pub struct Book {
    pub running: BTreeMap<u128, Known>,
    pub settled: BTreeMap<u128, Known>,
}

impl Book {
    pub fn spent(&self, key: &SpendKey, from: i64, until: i64) -> i64 {
        self.counted(key, from, until).map(|known| known.told).sum()
    }

    /// By how much the estimates of what counts there were too low. What is reported after the end came when nothing
    /// was set aside for it any more, so all of it may be too much.
    pub fn overrun(&self, key: &SpendKey, from: i64, until: i64) -> i64 {
        self.counted(key, from, until).map(|known| known.overrun()).sum()
    }

    fn counted(&self, key: &SpendKey, from: i64, until: i64) -> impl Iterator<Item = &Known> {
        let key = key.clone();
        let settled = self.settled.values().filter(move |known| known.counts_for(&key));
        settled.filter(move |known| (from..until).contains(&known.at))
    }

    pub fn aside(&self, key: &SpendKey) -> i64 {
        self.running.values().filter(|known| known.counts_for(key)).map(|known| known.expects).sum()
    }

    /// Whether every limit allows it. The day after counts as well: a clock that was set back has been there already.
    pub fn fits(&self, known: &Known, now: i64) -> bool {
        keys(known).iter().all(|(key, limit)| {
            let day = day_of(now);
            let (from, until) = match key.kind {
                SpendKind::Task => (i64::MIN, i64::MAX),
                _ => (day, day + 2 * DAY),
            };
            self.spent(key, from, until) + self.aside(key) + known.expects <= *limit
        })
    }

    /// What is not known counts as what it had reserved.
    pub fn settle(&mut self, number: u128, (told, is_known): (i64, bool), now: i64) {
        let Some(mut known) = self.running.remove(&number) else { return };
        // It did not end before it began, whatever the clock shows.
        known.at = bucket(now.max(known.began));
        known.told = if is_known { told } else { told.max(known.expects) };
        known.is_known = is_known;
        known.first = known.told;
        self.settled.insert(number, known);
    }

    /// An exact amount replaces an estimate; otherwise the higher one counts.
    pub fn tell(&mut self, number: u128, (told, is_known): (i64, bool)) {
        if let Some(known) = self.settled.get_mut(&number) {
            let now = if is_known && !known.is_known { told } else { known.told.max(told) };
            known.risen += (now - known.told).max(0);
            known.told = now;
            known.is_known |= is_known;
        }
    }

    pub fn cancel(&mut self, number: u128, now: i64) {
        if let Some(known) = self.running.get_mut(&number) {
            known.real = 0;
        }
        self.settle(number, (0, true), now);
    }

    pub fn days(&self) -> Vec<i64> {
        let days: BTreeSet<i64> = self.settled.values().map(|known| day_of(known.at)).collect();
        days.into_iter().collect()
    }
}
