//! Which earlier contest advises a choice: the newest clear one for the same kind of task, that of the same repository
//! first. What is too old or too close gives no advice, and the trace notes it.

use super::{ContestAdvice, Question};
use crate::{
    ModelRef,
    settings::{self, micros},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldContest {
    /// What it was about, for people.
    pub subject: String,
    pub at: i64,
    pub repository: String,
    pub winner: Option<ModelRef>,
    /// In millionths.
    pub margin: u32,
}

/// `held` are contests for one kind of task, the newest first. Nothing when none had a winner.
#[must_use]
pub fn advise(held: &[HeldContest], repository: &str, settings: &settings::Contest, now: i64) -> Option<ContestAdvice> {
    let (here, elsewhere): (Vec<&HeldContest>, Vec<&HeldContest>) =
        held.iter().filter(|held| held.winner.is_some()).partition(|held| held.repository == repository);
    let ordered: Vec<&HeldContest> = here.into_iter().chain(elsewhere).collect();
    let first = *ordered.first()?;
    let clear = ordered.into_iter().find(|held| objection(held, settings, now).is_none());
    Some(match (clear, objection(first, settings, now)) {
        (Some(held), _) => {
            let said = format!("{} won {}", shown(held), told(held, now));
            ContestAdvice { winner: held.winner.clone(), said }
        }
        (None, why) => {
            let why = why.unwrap_or_default();
            ContestAdvice { winner: None, said: format!("{} won {}: {why}", shown(first), told(first, now)) }
        }
    })
}

fn shown(held: &HeldContest) -> String {
    held.winner.as_ref().map(ModelRef::to_string).unwrap_or_default()
}

fn told(held: &HeldContest, now: i64) -> String {
    format!("{} {} ago by {} %", held.subject, age(held, now), held.margin / 10_000)
}

fn age(held: &HeldContest, now: i64) -> String {
    let seconds = now.saturating_sub(held.at).max(0) / 1_000_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

fn objection(held: &HeldContest, settings: &settings::Contest, now: i64) -> Option<String> {
    let longest = micros(settings.max_age);
    if settings.max_age.0.is_some() && now.saturating_sub(held.at) > longest {
        return Some("that is older than `contest.max_age`".to_owned());
    }
    let least = settings.min_margin.saturating_mul(10_000);
    (held.margin < least).then(|| format!("that is less than `contest.min_margin`, {} %", settings.min_margin))
}

/// Why the winner of a contest cannot be asked now. Work that a contest only advises is never refused because of it.
pub(super) fn not_usable(question: &Question<'_>, winner: &ModelRef) -> Option<String> {
    let found = match question.catalogue.find(winner) {
        Ok(found) => found,
        Err(error) => return Some(error.to_string()),
    };
    let budget = &question.advice.budget;
    if !question.config.policy.allows(&winner.provider) {
        return Some("its provider is not allowed".to_owned());
    }
    if !question.catalogue.is_usable(&winner.provider) {
        return Some("its provider has no key".to_owned());
    }
    if let Some(lack) = question.needs.lacking(found) {
        return Some(format!("it cannot {lack}"));
    }
    if let Some(why) = budget.exhausted.get(&winner.provider).or_else(|| budget.low.get(&winner.provider)) {
        return Some(why.clone());
    }
    let tier = super::question::tier_of(question.config, winner);
    if let Some(why) = tier.as_deref().and_then(|tier| budget.downgraded_tier(tier)) {
        return Some(why.to_owned());
    }
    let barred = question.availability.of(&winner.provider, &winner.model, question.now)?;
    Some(super::pool::waits(&barred, question.now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::duration::Limit;
    use std::time::Duration;

    const DAY: i64 = 86_400_000_000;
    const NOW: i64 = 100 * DAY;

    fn held(days: i64, repository: &str, winner: &str, percent: u32) -> HeldContest {
        HeldContest {
            subject: format!("the contest of day {days}"),
            at: NOW - days * DAY,
            repository: repository.to_owned(),
            winner: winner.parse().ok(),
            margin: percent * 10_000,
        }
    }

    #[test]
    fn the_newest_clear_contest_advises_and_one_of_the_same_repository_comes_first() {
        let settings = settings::Contest { max_age: Limit(Some(Duration::from_secs(30 * 86_400))), min_margin: 10 };
        let table: [(&[HeldContest], Option<&str>, &str); 8] = [
            (
                &[held(1, "/a", "p/new", 40), held(2, "/a", "p/old", 90)],
                Some("p/new"),
                "won the contest of day 1 1 d ago by 40 %",
            ),
            (&[held(1, "/b", "p/there", 40), held(9, "/a", "p/here", 20)], Some("p/here"), "9 d ago by 20 %"),
            (&[held(1, "/a", "p/close", 9), held(2, "/a", "p/clear", 10)], Some("p/clear"), "by 10 %"),
            (&[held(1, "/a", "p/close", 9), held(2, "/b", "p/clear", 10)], Some("p/clear"), "by 10 %"),
            (&[held(31, "/a", "p/m", 100)], None, "older than `contest.max_age`"),
            (&[held(30, "/a", "p/m", 100)], Some("p/m"), "30 d ago"),
            (&[held(1, "/a", "p/m", 0)], None, "less than `contest.min_margin`, 10 %"),
            (&[held(1, "/a", "", 100), held(2, "/a", "p/m", 50)], Some("p/m"), "2 d ago"),
        ];
        for (held, winner, words) in table {
            let advice = advise(held, "/a", &settings, NOW).unwrap();
            assert_eq!(advice.winner.map(|winner| winner.to_string()).as_deref(), winner, "{held:?}");
            assert!(advice.said.contains(words), "{words}: {}", advice.said);
        }
        assert_eq!(advise(&[held(1, "/a", "", 100)], "/a", &settings, NOW), None);
        assert_eq!(advise(&[], "/a", &settings, NOW), None);
        let no_age = settings::Contest { max_age: Limit(None), ..settings };
        assert!(advise(&[held(99, "/a", "p/m", 50)], "/a", &no_age, NOW).unwrap().winner.is_some());
    }
}
