//! Downgrades: what the budget leaves of a tier.
//!
//! Invariants: a limit on money never leads to a model that costs as much as the tier that was asked for; what is
//! taken from a cheaper tier is of that tier in every account; the result names the budget as the reason.

use super::{
    Advice, Budget, Model, Question, Resolution, RouteError, Step, TraceStep,
    pool::Pool,
    pooled::of_tier,
    question::{listed, tier_of},
    terms::{GivingWay, Low, StandIns, Terms},
    wish::Wish,
};
use crate::{settings::Score, values::money::Price};

/// How the budget leaves a tier.
enum Standing<'a> {
    /// One of its models may be asked.
    Free,
    /// It is to be spared, and may be asked when there is nothing cheaper.
    Low { why: &'a str, whose: Whose, can_be_asked: bool },
    /// Nothing is left of it.
    Spent { why: &'a str },
    /// None of its models is there and fits, whatever the budget allows.
    Absent,
}

/// Whose limit it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Tier,
    Provider,
}

/// A tier that was passed over because of the budget.
struct Passed<'a> {
    tier: &'a str,
    why: &'a str,
}

/// The tier, or the next cheaper one that the budget leaves and that has a model which fits. When no tier has, what is
/// cheaper substitutes; else what is only to be spared is asked; else it is refused.
pub(super) fn through_tier(
    question: &Question<'_>,
    asked: &str,
    wish: Wish,
    terms: Terms<'_>,
) -> Result<Resolution, RouteError> {
    if !question.advice.budget.restrains() {
        return of_tier(question, asked, wish, terms);
    }
    let mut passed: Vec<Passed<'_>> = Vec::new();
    let mut absent: Vec<&str> = Vec::new();
    let mut spared = None;
    // Who is running low is asked only for a cheaper tier than the one that was wanted.
    let mut low = Low::Refused;
    let mut following = Some(asked);
    while let Some(tier) = following {
        match standing(question, tier, terms, low) {
            Standing::Free => {
                let wish = led_to(wish, &passed, &absent, tier);
                return land(question, asked, tier, wish, Terms { low, ..terms });
            }
            // It is not a matter of money.
            Standing::Absent if passed.is_empty() => return of_tier(question, asked, wish, terms),
            Standing::Absent => absent.push(tier),
            Standing::Low { why, whose, can_be_asked } => {
                spared = if can_be_asked { Some(tier) } else { spared };
                low = if whose == Whose::Provider { Low::Allowed } else { low };
                passed.push(Passed { tier, why });
            }
            Standing::Spent { why } => passed.push(Passed { tier, why }),
        }
        following = question.config.tier_below(tier).filter(|_| terms.downgrade == GivingWay::Allowed);
    }
    let Some(Passed { why, .. }) = passed.first() else { return of_tier(question, asked, wish, terms) };
    let refused = || RouteError::Unaffordable { what: wish.said.clone(), why: (*why).to_owned() };
    if terms.downgrade == GivingWay::Refused {
        return Err(refused());
    }
    let mut prices = Vec::new();
    if terms.stand_ins == StandIns::Allowed {
        prices = prices_of(question, asked, &wish, terms)?;
        for tier in &absent {
            let wish = led_to(wish.clone(), &passed, &[], tier);
            let stand_ins = StandIns::Cheaper { than: &prices, because: None };
            if let Ok(found) = of_tier(question, tier, wish, Terms { stand_ins, ..terms }) {
                return Ok(belonging(question, asked, found, Some(tier)));
            }
        }
    }
    if let Some(tier) = spared {
        let way = passed.iter().position(|passed| passed.tier == tier).unwrap_or_default();
        let mut wish = led_to(wish, &passed[..way], &absent, tier);
        let stays = format!("no cheaper tier has a model that can be asked, so {tier} is: {}", passed[way].why);
        wish.trace.push(TraceStep::note(Step::Budget, stays));
        return land(question, asked, tier, wish, Terms { low: Low::Allowed, ..terms });
    }
    if terms.stand_ins == StandIns::Allowed {
        let stand_ins = StandIns::Cheaper { than: &prices, because: Some(why) };
        if let Ok(found) = of_tier(question, asked, wish.clone(), Terms { stand_ins, ..terms }) {
            return Ok(belonging(question, asked, found, None));
        }
    }
    Err(refused())
}

/// The status of the tier, by its own list.
fn standing<'a>(question: &Question<'a>, tier: &str, terms: Terms<'_>, low: Low) -> Standing<'a> {
    let budget: &'a Budget = &question.advice.budget;
    let candidates = fitting(question, tier, terms);
    let ready: Vec<&str> =
        candidates.iter().filter(|(_, _, waits)| !waits).map(|(provider, ..)| provider.as_str()).collect();
    let told = |of: &'a std::collections::BTreeMap<String, String>, provider: &&str| of.get(*provider);
    let affordable: Vec<&str> =
        ready.iter().filter(|provider| told(&budget.exhausted, provider).is_none()).copied().collect();
    if let Some(why) = budget.used_up.get(tier) {
        return Standing::Spent { why };
    }
    if let Some(why) = budget.degraded.get(tier) {
        return Standing::Low { why, whose: Whose::Tier, can_be_asked: !affordable.is_empty() };
    }
    match (ready.first(), affordable.first()) {
        (None, _) => Standing::Absent,
        (Some(first), None) => told(&budget.exhausted, first).map_or(Standing::Absent, |why| Standing::Spent { why }),
        (Some(_), Some(first)) => {
            let is_low = |provider: &&str| told(&budget.low, provider).is_some();
            match told(&budget.low, first) {
                Some(why) if low == Low::Refused && affordable.iter().all(is_low) => {
                    Standing::Low { why, whose: Whose::Provider, can_be_asked: true }
                }
                _ => Standing::Free,
            }
        }
    }
}

/// The tier's own models that would do if money were no matter: their providers, and whether they are cooling down.
fn fitting<'a>(question: &Question<'a>, tier: &str, terms: Terms<'_>) -> Vec<(String, &'a Model, bool)> {
    let nothing = Score::default();
    let pool = Pool::new(question, question.needs, &nothing, &[], terms);
    let would_do = |model| {
        let (provider, _, barred) = pool.would_do(&model)?;
        let found: &'a Model = question.catalogue.find(&model).ok()?;
        Some((provider.to_owned(), found, barred.is_some()))
    };
    listed(question.config, tier).filter_map(would_do).collect()
}

/// A model of the tier's own list. Who is running low is left out when another of the list would be asked.
fn land(
    question: &Question<'_>,
    asked: &str,
    tier: &str,
    wish: Wish,
    terms: Terms<'_>,
) -> Result<Resolution, RouteError> {
    let own = Terms { stand_ins: StandIns::Refused, low: Low::Allowed, ..terms };
    let plain = of_tier(question, tier, wish.clone(), own)?;
    let spares = terms.low == Low::Refused && question.advice.budget.low.contains_key(&plain.model.provider);
    let mut found = if spares { of_tier(question, tier, wish, Terms { low: Low::Refused, ..own })? } else { plain };
    found.requested_tier = (tier != asked).then(|| asked.to_owned());
    Ok(found)
}

/// A substitute chosen for the budget is of the tier that lists it, and of no dearer one.
fn belonging(question: &Question<'_>, asked: &str, mut found: Resolution, otherwise: Option<&str>) -> Resolution {
    let config = question.config;
    let listed = tier_of(config, &found.model).or_else(|| config.only_tier_of(&found.model).map(str::to_owned));
    found.tier = listed.or_else(|| otherwise.map(str::to_owned));
    found.requested_tier = Some(asked.to_owned()).filter(|asked| found.tier.as_ref() != Some(asked));
    found
}

/// What the tier costs: the prices of its models that fit, or of the one that would substitute for it if money were no
/// matter.
fn prices_of(question: &Question<'_>, asked: &str, wish: &Wish, terms: Terms<'_>) -> Result<Vec<Price>, RouteError> {
    let own: Vec<Price> = fitting(question, asked, terms).into_iter().map(|(_, model, _)| model.price).collect();
    if !own.is_empty() {
        return Ok(own);
    }
    let advice = Advice { budget: Budget::default(), ..question.advice.clone() };
    let unbound = Question { advice: &advice, ..*question };
    let found = of_tier(&unbound, asked, wish.clone(), terms)?;
    Ok(vec![question.catalogue.find(&found.model)?.price])
}

/// Records which tiers were downgraded until this one, each to the next.
fn led_to(mut wish: Wish, passed: &[Passed<'_>], absent: &[&str], tier: &str) -> Wish {
    let next = passed.iter().skip(1).map(|passed| passed.tier).chain([tier]);
    for (Passed { tier, why }, next) in passed.iter().zip(next) {
        let change = format!("tier {tier} is downgraded to {next}: {why}");
        wish.trace.push(TraceStep::note(Step::Budget, change.clone()));
        wish.warnings.push(change.clone());
        wish.said = format!("{}; {change}", wish.said);
    }
    for tier in absent {
        let passed = format!("tier {tier} is passed over: none of its models is there and fits");
        wish.trace.push(TraceStep::note(Step::Budget, passed));
    }
    wish
}
