//! One policy through all tasks of a world. Each task is the same for every policy: its kind, its moment, how hard it
//! is, and the roll that decides whether something else is tried.

use super::{
    generator::Generator,
    policy::{Choice, Chooser, Moment, Policy},
    world::{PRICES, TIERS, World},
};
use shuntyard_core::experience::Tally;

pub const TASKS: u32 = 10_000;
pub const DAYS: i64 = 90;
const DAY: i64 = 86_400 * 1_000_000;
const WEEK: i64 = 7 * DAY;
/// A Thursday, as the weeks of the Unix epoch begin on one.
const BEGIN: i64 = 2900 * WEEK;
/// The time is evaluated in so many parts.
pub const PARTS: usize = 6;

/// The result of a policy.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    pub successes: u32,
    pub cost: f64,
    /// Successes and dollars that the oracle would have had more, and paid less, by the true rates.
    pub lost: f64,
    pub overpaid: f64,
    /// Tasks on which another tier was tried.
    pub tried: u32,
    /// Successes and tasks in each part of the time.
    pub parts: [(u32, u32); PARTS],
}

impl Outcome {
    /// Success and cost in percent of another policy's.
    pub fn beside(&self, other: &Self) -> (f64, f64) {
        (f64::from(self.successes) * 100.0 / f64::from(other.successes), self.cost * 100.0 / other.cost)
    }
}

#[derive(Debug)]
pub struct Task {
    kind: usize,
    at: i64,
    /// A tier with a higher rate than this does it well.
    hardness: f64,
    roll: u32,
}

pub fn tasks(world: &World, seed: u64) -> Vec<Task> {
    let mut generator = Generator::new(seed);
    let whole: f64 = world.kinds.iter().map(|kind| kind.share).sum();
    let step = DAYS * DAY / i64::from(TASKS);
    (0..i64::from(TASKS))
        .map(|index| {
            let mut left = generator.share() * whole;
            let kind = world.kinds.iter().position(|kind| {
                left -= kind.share;
                left < 0.0
            });
            Task {
                kind: kind.unwrap_or_default(),
                at: BEGIN + index * step,
                hardness: generator.share(),
                roll: generator.roll(),
            }
        })
        .collect()
}

pub fn simulate(world: &World, tasks: &[Task], chooser: &Chooser, policy: Policy) -> Outcome {
    let mut known: Vec<Vec<Tally>> = vec![Vec::new(); world.kinds.len()];
    let mut outcome = Outcome::default();
    for (index, task) in tasks.iter().enumerate() {
        let kind = &world.kinds[task.kind];
        let half = index * 2 / tasks.len();
        let moment = Moment { kind, half, now: task.at, roll: task.roll, known: &known[task.kind] };
        let (tier, choice) = chooser.choose(policy, &moment);
        outcome.tried += u32::from(choice == Choice::Tried);
        let rates = &kind.rates[half];
        let mut done = task.hardness < rates[tier];
        note(&mut known[task.kind], task.at, tier, done, chooser);
        outcome.cost += PRICES[tier];
        let best = kind.oracle(half);
        outcome.lost += rates[best] - rates[tier];
        outcome.overpaid += PRICES[tier] - PRICES[best];
        if !done && policy.escalates() && tier + 1 < TIERS {
            // It is not noted: the stronger tier sees only what was too hard for the weaker one, and its record would
            // be too bad.
            outcome.cost += PRICES[tier + 1];
            outcome.overpaid += PRICES[tier + 1];
            outcome.lost -= (rates[tier + 1] - rates[tier]).max(0.0);
            done = task.hardness < rates[tier + 1];
        }
        let part = &mut outcome.parts[index * PARTS / tasks.len()];
        part.1 += 1;
        if done {
            outcome.successes += 1;
            part.0 += 1;
        }
    }
    outcome
}

/// As the store counts: by week, and every result was verified.
fn note(known: &mut Vec<Tally>, at: i64, tier: usize, done: bool, chooser: &Chooser) {
    let week = at.div_euclid(WEEK) * WEEK;
    let name = chooser.tier(tier);
    let place = known.iter().position(|tally| tally.at == week && tally.tier == name).unwrap_or_else(|| {
        let model = format!("provider/{name}");
        known.push(Tally { at: week, tier: name.to_owned(), model, ..Tally::default() });
        known.len() - 1
    });
    let tally = &mut known[place];
    if done {
        tally.successes += 1;
        tally.proven += 1;
    } else {
        tally.failures += 1;
    }
}
