//! The lines that the simulation prints.

use super::{
    LEAST_SUCCESS, MOST_COST,
    policy::Policy,
    simulate::{Outcome, TASKS},
};

/// What the columns of `row` are. Lost and overpaid are by the true rates, beside the oracle: the cheapest tier
/// within one point of the best.
pub fn head() {
    println!(
        "  {:<32} {:>9} {:>8} {:>9} {:>8} {:>8} {:>9} {:>7}",
        "", "success", "of top", "cost", "of top", "lost", "overpaid", "tried"
    );
}

pub fn row(policy: Policy, outcome: &Outcome, top: &Outcome) {
    let (success, cost) = outcome.beside(top);
    println!(
        "  {:<32} {:>7.2} % {success:>6.2} % {:>7.2} $ {cost:>6.1} % {:>8.1} {:>7.2} $ {:>5.2} %",
        policy.name(),
        percent(outcome.successes),
        outcome.cost,
        outcome.lost,
        outcome.overpaid,
        percent(outcome.tried),
    );
}

fn percent(tasks: u32) -> f64 {
    f64::from(tasks) * 100.0 / f64::from(TASKS)
}

pub fn over_time(policy: Policy, outcome: &Outcome, top: &Outcome) {
    let parts = outcome.parts.map(|(done, all)| format!("{:>5.1}", f64::from(done) * 100.0 / f64::from(all.max(1))));
    let (success, cost) = outcome.beside(top);
    println!(
        "  {:<32} {success:>6.2} % of top at {cost:>5.1} %; success in each sixth: {}",
        policy.name(),
        parts.join(" ")
    );
}

/// Prints how success and cost beside the strongest tier vary, and gives their medians.
pub fn spread(policy: Policy, each: &[(f64, f64)]) -> (f64, f64) {
    let reached = each.iter().filter(|(success, cost)| *success >= LEAST_SUCCESS && *cost <= MOST_COST).count();
    let sorted = |values: Vec<f64>| {
        let mut values = values;
        values.sort_by(f64::total_cmp);
        values
    };
    let success = sorted(each.iter().map(|(success, _)| *success).collect());
    let cost = sorted(each.iter().map(|(_, cost)| *cost).collect());
    let middle = each.len() / 2;
    println!(
        "  {:<32} success worst {:>5.2} % median {:>5.2} %; cost median {:>4.1} % worst {:>4.1} %; reached {reached}",
        policy.name(),
        success[0],
        success[middle],
        cost[middle],
        cost[each.len() - 1],
    );
    (success[middle], cost[middle])
}
