//! What a choice makes of a recommendation. What has shown that it can is worth knowing; but that a dear tier did
//! well is no reason to leave a cheaper one which nobody has seen failing.

use super::{Asked, Recommendation, Recommended};

/// The tier to go to, or why the table's own stays.
pub fn follow<'a>(recommendation: &'a Recommendation, asked: &Asked<'_>) -> Result<&'a str, String> {
    let reason = recommendation.recommended.reason();
    let Some(tier) = recommendation.recommended.tier() else { return Err(reason.to_owned()) };
    let place = |name: &str| asked.tier_order.iter().position(|tier| tier == name);
    if !matches!(recommendation.recommended, Recommended::Tier { .. }) {
        return Ok(tier);
    }
    let Some(table) = asked.table.filter(|table| place(tier) > place(table)) else { return Ok(tier) };
    let own = recommendation.tiers.iter().find(|standing| standing.name == table);
    // With a record of its own it was weighed against the stronger one already.
    if own.is_some_and(|own| own.samples >= u64::from(asked.settings.samples)) {
        return Ok(tier);
    }
    Err(format!("{reason}; but {table}, the tier of the table, has not been seen failing"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{Config, DEFAULTS},
        pattern::{Tally, recommend},
    };

    fn tally(tier: &str, successes: u64, failures: u64) -> Tally {
        Tally { tier: tier.into(), successes, proven: successes, failures, ..Tally::default() }
    }

    #[test]
    fn a_dear_tier_that_does_well_is_no_reason_to_leave_a_cheap_one() {
        let config: Config = toml::from_str(DEFAULTS).unwrap();
        let asked = Asked {
            settings: &config.patterns,
            tier_order: &config.tier_order,
            table: Some("haiku"),
            hard: None,
            now: 0,
        };
        let table = [
            (vec![tally("opus", 30, 0)], None),
            (vec![tally("opus", 30, 0), tally("haiku", 2, 0)], None),
            (vec![tally("opus", 300, 0), tally("haiku", 5, 0)], None),
            (vec![tally("opus", 300, 0), tally("haiku", 60, 40)], Some("opus")),
        ];
        for (tallies, expected) in table {
            let recommendation = recommend(&asked, &tallies);
            let found = follow(&recommendation, &asked);
            // On the way up from one that fails, tiers that nobody knows come first.
            let went_up = found.as_ref().is_ok_and(|tier| *tier != "haiku");
            assert_eq!(went_up, expected.is_some(), "{tallies:?}: {found:?}");
        }
        let down = Asked { table: Some("opus"), ..asked };
        let recommendation = recommend(&down, &[tally("haiku", 40, 0)]);
        assert_eq!(follow(&recommendation, &down), Ok("haiku"));
    }
}
