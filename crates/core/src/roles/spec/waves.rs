//! Which units may run at the same time: waves, each of which begins when the one before has ended.
//!
//! Invariant: a unit runs after all that it depends on; units of one wave are all marked as parallel, and
//! no two of them touch the same file; a unit marked otherwise is alone in its wave.

use super::{
    path::{inside, overlap},
    units::{MOST_UNITS, Parallel, Unit},
};
use std::collections::{HashMap, HashSet};

/// Why there is no order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoOrder {
    #[error("units wait for each other: {}", circle(.0))]
    Cycle(Vec<String>),
    #[error("{unit} depends on {dependency}, which is no unit")]
    Unknown { unit: String, dependency: String },
    #[error("there are two units called {0}")]
    Twice(String),
    #[error("there are {0} units, and {MOST_UNITS} is the most")]
    TooMany(usize),
}

/// The names of the units, in the order of the table as far as it can be kept.
pub fn waves(units: &[Unit]) -> Result<Vec<Vec<String>>, NoOrder> {
    if units.len() > MOST_UNITS {
        return Err(NoOrder::TooMany(units.len()));
    }
    let graph = Graph::of(units)?;
    if let Some(cycle) = graph.cycles().into_iter().next() {
        return Err(NoOrder::Cycle(cycle.iter().map(|unit| units[*unit].name.clone()).collect()));
    }
    let mut waves: Vec<Vec<String>> = Vec::new();
    let mut done = HashSet::new();
    while done.len() < units.len() {
        let ready = (0..units.len())
            .filter(|unit| !done.contains(unit) && graph.edges[*unit].iter().all(|before| done.contains(before)));
        let wave = together(units, ready);
        if wave.is_empty() {
            break;
        }
        waves.push(wave.iter().map(|unit| units[*unit].name.clone()).collect());
        done.extend(wave);
    }
    Ok(waves)
}

/// The first unit that can run, and those that may run beside it.
fn together(units: &[Unit], ready: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut wave: Vec<usize> = Vec::new();
    for unit in ready {
        let fits = match wave.first() {
            None => true,
            Some(first) => {
                let both = units[*first].parallel == Parallel::Yes && units[unit].parallel == Parallel::Yes;
                both && wave.iter().all(|other| shared_file(&units[*other], &units[unit]).is_none())
            }
        };
        if fits {
            wave.push(unit);
        }
    }
    wave
}

/// A file that both touch, if there is one. A text that is no valid path is compared as written.
pub(super) fn shared_file(left: &Unit, right: &Unit) -> Option<String> {
    let plain = |file: &String| inside(file).unwrap_or_else(|_| file.clone());
    let theirs: Vec<String> = right.files.iter().map(plain).collect();
    left.files.iter().map(plain).find(|file| theirs.iter().any(|their| overlap(file, their)))
}

/// Units by their place in the table, and for each those that it waits for.
#[derive(Debug)]
pub(super) struct Graph {
    pub edges: Vec<Vec<usize>>,
}

impl Graph {
    fn of(units: &[Unit]) -> Result<Self, NoOrder> {
        let mut seen = HashSet::new();
        if let Some(twice) = units.iter().find(|unit| !seen.insert(unit.name.as_str())) {
            return Err(NoOrder::Twice(twice.name.clone()));
        }
        for unit in units {
            if let Some(unknown) = unit.depends_on.iter().find(|name| !seen.contains(name.as_str())) {
                return Err(NoOrder::Unknown { unit: unit.name.clone(), dependency: unknown.clone() });
            }
        }
        Ok(Self::known(units))
    }

    /// What is unknown is left out, and the first of two with one name counts.
    pub fn known(units: &[Unit]) -> Self {
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, unit) in units.iter().enumerate() {
            places.entry(unit.name.as_str()).or_insert(place);
        }
        let known =
            |unit: &Unit| unit.depends_on.iter().filter_map(|name| places.get(name.as_str()).copied()).collect();
        Self { edges: units.iter().map(known).collect() }
    }

    /// Circles that share no unit, each from its first unit in the table: every unit that can never run is in one of
    /// them or waits for one.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let mut settled = HashSet::new();
        let mut found = Vec::new();
        loop {
            self.settle(&mut settled);
            let stuck = |unit: &usize| !settled.contains(unit);
            let Some(start) = (0..self.edges.len()).find(stuck) else { return found };
            // Each stuck unit waits for another, so this way has to come back to itself.
            let mut path = vec![start];
            let circle = loop {
                let here = path[path.len() - 1];
                let Some(next) = self.edges[here].iter().copied().find(stuck) else { return found };
                if let Some(begin) = path.iter().position(|passed| *passed == next) {
                    break path.split_off(begin);
                }
                path.push(next);
            };
            settled.extend(&circle);
            let first = (0..circle.len()).min_by_key(|place| circle[*place]).unwrap_or(0);
            found.push([&circle[first..], &circle[..first]].concat());
        }
    }

    /// Adds every unit that waits for nothing but settled ones.
    fn settle(&self, settled: &mut HashSet<usize>) {
        loop {
            let ready = |unit: &usize| {
                !settled.contains(unit) && self.edges[*unit].iter().all(|before| settled.contains(before))
            };
            let more: Vec<usize> = (0..self.edges.len()).filter(ready).collect();
            if more.is_empty() {
                return;
            }
            settled.extend(more);
        }
    }

    /// Whether one waits for the other, directly or by way of others.
    pub fn waits(&self, unit: usize, before: usize) -> bool {
        let mut seen = HashSet::from([unit]);
        let mut open = vec![unit];
        while let Some(here) = open.pop() {
            for next in &self.edges[here] {
                if *next == before {
                    return true;
                }
                if seen.insert(*next) {
                    open.push(*next);
                }
            }
        }
        false
    }
}

/// `a → b → a`.
pub(super) fn circle(names: &[String]) -> String {
    names.iter().chain(names.first()).map(String::as_str).collect::<Vec<_>>().join(" → ")
}
