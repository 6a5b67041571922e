//! The benefit of recorded outcomes: the real recommendation beside simpler policies, in worlds where the truth is
//! known.

mod generator;
mod policy;
mod report;
mod simulate;
mod world;

use crate::figures::Limits;
use policy::{Chooser, Policy};
use shuntyard_core::settings::{Config, Layer, Layered, Origin};
use simulate::{DAYS, TASKS, simulate, tasks};
use world::{Change, PRICES, World};

const SEED: u64 = 2026;
const WORLDS: u64 = 20;
/// What a user sets to let it try, in percent.
const TRIES: u32 = 5;
/// How much of the success of the strongest tier must be kept, and at which part of its cost, in percent.
const LEAST_SUCCESS: f64 = 99.0;
const MOST_COST: f64 = 40.0;

pub fn measure(limits: &mut Limits) {
    let config = config();
    let chooser = Chooser::new(config.clone());
    println!(
        "learning: {TASKS} tasks in {DAYS} days, one try each, every result looked at; explore_percent = {TRIES};"
    );
    println!(
        "a task costs {} dollars, from the weakest tier to the strongest",
        PRICES.map(|usd| usd.to_string()).join(", ")
    );
    stated(&config, &chooser, limits);
    changed(&config, &chooser);
    println!("{WORLDS} worlds with rates drawn at random, success and cost beside always top");
    for change in [Change::None, Change::Silent] {
        let worlds: Vec<World> = (1..=WORLDS).map(|seed| World::random(&config, change, seed)).collect();
        println!("  {}", if change == Change::None { "where nothing changes" } else { "where one tier gets worse" });
        for policy in [Policy::Oracle, Policy::BareRule, Policy::Table, Policy::Learned] {
            report::spread(policy, &spread(&worlds, &chooser, policy));
        }
    }
}

/// The built-in settings, and the one that lets it try.
fn config() -> Config {
    let text = format!("patterns.explore_percent = {TRIES}");
    Layered::merge(&[Layer { origin: Origin::Flag("bench".into()), text }]).expect("a configuration").config
}

/// The world that the limits are for.
fn stated(config: &Config, chooser: &Chooser, limits: &mut Limits) {
    let world = World::stated(config, Change::None);
    let tasks = tasks(&world, SEED);
    let top = simulate(&world, &tasks, chooser, Policy::AlwaysTop);
    report::head();
    for policy in Policy::ALL {
        report::row(policy, &simulate(&world, &tasks, chooser, policy), &top);
    }
    let (success, cost) = simulate(&world, &tasks, chooser, Policy::Learned).beside(&top);
    limits.hold_least("learned, trying: success beside always top", success, LEAST_SUCCESS, "%");
    limits.hold("learned, trying: cost beside always top", cost, MOST_COST, "%");
    println!("  the same world with {WORLDS} other draws of tasks");
    let draws: Vec<World> = (1..=WORLDS).map(|_| world.clone()).collect();
    let (success, cost) = report::spread(Policy::Learned, &spread(&draws, chooser, Policy::Learned));
    limits.hold_least("learned, trying: success, median of the draws", success, LEAST_SUCCESS, "%");
    limits.hold("learned, trying: cost, median of the draws", cost, MOST_COST, "%");
}

/// How fast the policy detects that a provider has changed something.
fn changed(config: &Config, chooser: &Chooser) {
    let world = World::stated(config, Change::Silent);
    let tasks = tasks(&world, SEED);
    println!(
        "the same world, but in the middle of the time the third tier gets 12 points worse and the second 3 better"
    );
    let top = simulate(&world, &tasks, chooser, Policy::AlwaysTop);
    for policy in [Policy::Oracle, Policy::Table, Policy::LearnedWithoutTrying, Policy::Learned] {
        report::over_time(policy, &simulate(&world, &tasks, chooser, policy), &top);
    }
}

/// Success and cost of a policy in each world beside those of the strongest tier.
fn spread(worlds: &[World], chooser: &Chooser, policy: Policy) -> Vec<(f64, f64)> {
    let each = worlds.iter().zip(SEED + 1..).map(|(world, seed)| {
        let tasks = tasks(world, seed);
        let top = simulate(world, &tasks, chooser, Policy::AlwaysTop);
        simulate(world, &tasks, chooser, policy).beside(&top)
    });
    each.collect()
}
