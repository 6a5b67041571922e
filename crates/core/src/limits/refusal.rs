//! What people read when a request would exceed a limit. Example: "the overall daily limit is $0.0200 and stops at
//! 95 % ($0.0190); $0.0062 is spent, $0.0100 is reserved by running requests, and this request is estimated at $0.0031
//! (prompt size, no history yet)".

use super::{Estimate, Kind, Line, Unit};
use crate::Nano;

/// Why a request exceeds `line`, with what was settled and reserved when that was checked.
#[must_use]
pub fn no_room(line: &Line, settled: i64, reserved: i64, estimate: &Estimate) -> String {
    let unit = line.unit;
    let share = match unit {
        Unit::Usd => format!("is estimated at {} ({})", estimate.cost.unwrap_or_default(), estimate.basis),
        Unit::Tokens => format!("is estimated at {} tokens ({})", estimate.tokens, estimate.basis),
        Unit::Requests => "is one more".to_owned(),
    };
    format!(
        "{} is {} and stops at {} % ({}); {} is spent, {} is reserved by running requests, and this request {share}",
        name(line),
        unit.show(line.limit),
        line.stop_percent,
        unit.show(line.stop_at()),
        unit.show(settled),
        unit.show(reserved),
    )
}

/// Why a request does not fit into the rest of its own limit.
#[must_use]
pub fn over_max_cost(model: &str, left: Nano, estimate: &Estimate) -> String {
    format!(
        "{left} is left of --max-cost, and this request to {model} is estimated at {} ({})",
        estimate.cost.unwrap_or_default(),
        estimate.basis
    )
}

fn name(line: &Line) -> String {
    let what = if line.period.is_some() { "allowance" } else { "limit" };
    match line.key.kind {
        Kind::Overall => format!("the overall daily {what}"),
        Kind::Provider | Kind::Tier if line.period.is_none() => format!("the daily {what} of {}", line.key),
        Kind::Provider | Kind::Tier | Kind::Batch | Kind::Task => format!("the {what} of {}", line.key),
    }
}

/// The command that would raise it.
#[must_use]
pub fn raise_command(line: &Line) -> String {
    let name = &line.key.name;
    let whose = match line.key.kind {
        _ if line.period.is_some() => return format!("shuntyard budget period {name} --help"),
        Kind::Overall => "--overall".to_owned(),
        Kind::Provider => name.clone(),
        Kind::Tier => format!("--tier {name}"),
        Kind::Batch => format!("--batch {name}"),
        Kind::Task => format!("--task {name}"),
    };
    format!("shuntyard budget configure {whose} --daily-budget AMOUNT")
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Basis, line::tests::line},
        *,
    };

    #[test]
    fn a_refusal_states_limit_spent_reserved_estimate_and_source() {
        let estimate = Estimate { cost: Some(Nano(3_100_000)), tokens: 70, basis: Basis::Prompt };
        let limit = |kind, name: &str| Line { limit: 20_000_000, ..line(kind, name, 0) };
        let rest = "is $0.0200 and stops at 95 % ($0.0190); $0.0062 is spent, $0.0100 is reserved by running requests, \
                    and this request is estimated at $0.0031 (prompt size, no history yet)";
        for (kind, name, begins, command) in [
            (Kind::Overall, "", "the overall daily limit", "--overall"),
            (Kind::Provider, "north", "the daily limit of provider north", "north"),
            (Kind::Tier, "opus", "the daily limit of tier opus", "--tier opus"),
            (Kind::Batch, "night", "the limit of batch night", "--batch night"),
            (Kind::Task, "t1", "the limit of task t1", "--task t1"),
        ] {
            let line = limit(kind, name);
            assert_eq!(no_room(&line, 6_200_000, 10_000_000, &estimate), format!("{begins} {rest}"));
            assert_eq!(raise_command(&line), format!("shuntyard budget configure {command} --daily-budget AMOUNT"));
        }
        let allowance = |unit| Line { unit, limit: 40, period: Some(3), ..limit(Kind::Provider, "north") };
        assert_eq!(
            no_room(&allowance(Unit::Requests), 38, 0, &estimate),
            "the allowance of provider north is 40 requests and stops at 95 % (38 requests); 38 requests is spent, \
             0 requests is reserved by running requests, and this request is one more"
        );
        assert_eq!(
            no_room(&allowance(Unit::Tokens), 1, 2, &estimate),
            "the allowance of provider north is 40 tokens and stops at 95 % (38 tokens); 1 tokens is spent, \
             2 tokens is reserved by running requests, and this request is estimated at 70 tokens (prompt size, \
             no history yet)"
        );
        assert_eq!(
            over_max_cost("p/m", Nano(1_000_000), &estimate),
            "$0.0010 is left of --max-cost, and this request to p/m is estimated at $0.0031 (prompt size, no history yet)"
        );
    }
}
