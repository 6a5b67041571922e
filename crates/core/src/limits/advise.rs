//! From limits to what a choice of model has to respect.

use super::{Billing, Kind, Level, Line};
use crate::routing::Budget;
use crate::values::Urgency;

/// The advice from the lines that concern a request. `tiers` are all tiers there are.
#[must_use]
pub fn advise<'a>(lines: &[Line], urgency: Urgency, tiers: impl Iterator<Item = &'a String> + Clone) -> Budget {
    let mut budget = Budget { is_set: !lines.is_empty(), ..Budget::default() };
    for line in lines {
        let told = line.told();
        if line.level() != Level::Exhausted {
            prefer(&mut budget, line, &told);
        }
        match (line.level(), urgency) {
            (Level::Exhausted, Urgency::PastTheStop) => budget.notes.push(format!("{told}; passed on request")),
            (Level::Exhausted, _) => stop(&mut budget, line, format!("{told}{}", line.told_use())),
            (Level::Degraded, Urgency::Normal) => degrade(&mut budget, line, told, tiers.clone()),
            (Level::Degraded, _) => budget.notes.push(format!("{told}; critical, so it keeps its tier")),
            (Level::Fine, _) => {}
        }
    }
    budget
}

fn stop(budget: &mut Budget, line: &Line, told: String) {
    match line.key.kind {
        Kind::Overall | Kind::Batch | Kind::Task => budget.closed = Some(told),
        Kind::Provider => {
            budget.preferred.remove(&line.key.name);
            budget.exhausted.insert(line.key.name.clone(), told);
        }
        // Its models are not to blame: they may be asked by name, and for what is no matter of tiers.
        Kind::Tier => {
            budget.used_up.insert(line.key.name.clone(), told);
        }
    }
}

fn degrade<'a>(budget: &mut Budget, line: &Line, told: String, tiers: impl Iterator<Item = &'a String>) {
    match (line.key.kind, line.billing) {
        (Kind::Overall | Kind::Batch | Kind::Task, _) => {
            for tier in tiers {
                budget.degraded.entry(tier.clone()).or_insert_with(|| told.clone());
            }
        }
        (Kind::Provider, Billing::Token) => {
            budget.low.insert(line.key.name.clone(), told);
        }
        (Kind::Tier, _) => {
            budget.degraded.insert(line.key.name.clone(), told);
        }
        // An allowance is there to be used; an alert announces its end, and with the preference the trace shows it.
        (Kind::Provider, Billing::Subscription) => {}
    }
}

/// What is paid for is used while there is any of it.
fn prefer(budget: &mut Budget, line: &Line, told: &str) {
    let is_paid = line.billing == Billing::Subscription && line.key.kind == Kind::Provider;
    if is_paid && !budget.exhausted.contains_key(&line.key.name) {
        budget.preferred.insert(line.key.name.clone(), told.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::{super::line::tests::line, *};

    #[test]
    fn each_level_has_its_consequence() {
        let tiers = ["haiku".to_owned(), "opus".to_owned()];
        let told = |lines: &[Line], urgency| advise(lines, urgency, tiers.iter());
        let low = [line(Kind::Provider, "p", 800), line(Kind::Tier, "opus", 800)];
        let budget = told(&low, Urgency::Normal);
        assert_eq!(budget.low.keys().collect::<Vec<_>>(), ["p"]);
        assert_eq!(budget.degraded.keys().collect::<Vec<_>>(), ["opus"]);
        let critical = told(&low, Urgency::Critical);
        assert!(critical.low.is_empty() && critical.degraded.is_empty() && critical.notes.len() == 2);
        let out = [line(Kind::Provider, "p", 950), line(Kind::Tier, "opus", 950)];
        for urgency in [Urgency::Normal, Urgency::Critical] {
            let budget = told(&out, urgency);
            assert_eq!(budget.exhausted.keys().collect::<Vec<_>>(), ["p"]);
            assert_eq!(budget.used_up.keys().collect::<Vec<_>>(), ["opus"]);
            assert!(budget.degraded.is_empty(), "{budget:?}");
        }
        assert!(told(&out, Urgency::PastTheStop).exhausted.is_empty());
        assert!(told(&[line(Kind::Overall, "", 950)], Urgency::Critical).closed.is_some());
        for (kind, name) in [(Kind::Overall, ""), (Kind::Batch, "b"), (Kind::Task, "t")] {
            let low = [line(kind, name, 800)];
            assert_eq!(told(&low, Urgency::Normal).degraded.len(), 2, "{kind:?}");
            assert_eq!(told(&low, Urgency::Critical).notes.len(), 1, "{kind:?}");
        }
        assert!(told(&[line(Kind::Batch, "b", 950)], Urgency::Normal).closed.is_some());
        let paid = Line { billing: Billing::Subscription, ..line(Kind::Provider, "p", 100) };
        assert_eq!(told(std::slice::from_ref(&paid), Urgency::Normal).preferred.keys().collect::<Vec<_>>(), ["p"]);
        let nearly = Line { settled: 850, ..paid.clone() };
        let budget = told(&[nearly], Urgency::Normal);
        assert_eq!((budget.preferred.len(), budget.notes.len()), (1, 0), "announced by the alert, used all the same");
        // One window that is used up ends the preference that another one gives.
        let gone = Line { settled: 990, ..paid.clone() };
        for lines in [[paid.clone(), gone.clone()], [gone, paid]] {
            let budget = told(&lines, Urgency::Normal);
            assert!(budget.preferred.is_empty() && budget.exhausted.len() == 1, "{budget:?}");
        }
    }
}
