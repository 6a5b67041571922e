//! What learning brings: the real recommendation beside simpler policies, in worlds where the truth is known.

mod generator;
mod policy;
mod simulate;
mod world;

use crate::figures::Limits;
use policy::{Chooser, Policy};
use simulate::{DAYS, Outcome, PARTS, TASKS, simulate, tasks};
use switchyard_core::config::{Config, Layer, Layered, Origin};
use world::{Change, PRICES, World};

const SEED: u64 = 20_26;
const RANDOM_WORLDS: u64 = 20;
/// How much of the success of the strongest tier must be kept, and at which part of its cost, in percent.
const LEAST_SUCCESS: f64 = 99.0;
const MOST_COST: f64 = 40.0;

pub fn measure(limits: &mut Limits) {
    let config = config();
    let chooser = Chooser::new(config.clone());
    for c in [Change::None,Change::Silent]{ for d in 0..5 { stated(&World::stated(&config, c), &chooser, limits, d); } }
    random(&config, &chooser, Change::None);
    random(&config, &chooser, Change::Silent);
}

/// The built-in settings, and the one that a user sets to let it try.
fn config() -> Config {
    let layer = Layer { origin: Origin::Flag("bench".into()), text: "patterns.explore_percent = 5".into() };
    Layered::merge(&[layer]).expect("a configuration").config
}

fn stated(world: &World, chooser: &Chooser, limits: &mut Limits, d: u64) {
    let tasks = tasks(world, SEED + d);
    let top = simulate(world, &tasks, chooser, Policy::AlwaysTop);
    let o = simulate(world, &tasks, chooser, Policy::Learned);
    let (s, c) = ratios(&o, &top);
    print!("{s:.2}/{c:.1} ");
    row("", &o);
    if std::env::var("DBG").is_ok() { for k in &o.kinds { println!("   {:?}", k); } }
}

fn row(name: &str, outcome: &Outcome) {
    let parts: [String; PARTS] =
        outcome.parts.map(|(done, all)| format!("{:>5.1}", f64::from(done) * 100.0 / f64::from(all.max(1))));
    println!(
        "  {name:<28} {:>7.2} % {:>8.2} {:>8.1} {:>9.2}   {}",
        outcome.success_percent(),
        outcome.cost,
        outcome.lost,
        outcome.overpaid,
        parts.join(" ")
    );
}

/// Success and cost in percent of another policy's.
fn ratios(outcome: &Outcome, other: &Outcome) -> (f64, f64) {
    (f64::from(outcome.successes) * 100.0 / f64::from(other.successes), outcome.cost * 100.0 / other.cost)
}

fn random(config: &Config, chooser: &Chooser, change: Change) {
    let mut all = Vec::new();
    println!("{RANDOM_WORLDS} worlds with rates drawn at random");
    for seed in 1..=RANDOM_WORLDS {
        let world = World::random(config, change, seed);
        let tasks = tasks(&world, SEED + seed);
        let top = simulate(&world, &tasks, chooser, Policy::AlwaysTop);
        let line: Vec<String> = [Policy::Oracle, Policy::Table, Policy::BareRule, Policy::LearnedWithoutTrying, Policy::Learned].map(|p| {
            let o = simulate(&world, &tasks, chooser, p);
            let (s, c) = ratios(&o, &top);
            format!("{:.2}/{:.1}", s, c)
        }).into_iter().collect();
        if std::env::var("DBG").is_ok() {println!("  {seed} {}", line.join("  "));}
        all.push(ratios(&simulate(&world, &tasks, chooser, Policy::Learned), &top));
    }
    let mut x: Vec<f64> = all.iter().map(|a| a.0).collect(); x.sort_by(f64::total_cmp);
    let mut y: Vec<f64> = all.iter().map(|a| a.1).collect(); y.sort_by(f64::total_cmp);
    println!("success worst {:.2} median {:.2}; cost median {:.1} worst {:.1}", x[0], x[10], y[10], y[19]);
}
