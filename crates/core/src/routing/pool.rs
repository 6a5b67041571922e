//! The models that a request may go to: judged one by one, ranked, and chosen from.
//!
//! Invariants: every model that is looked at is either a candidate or rejected with a reason; one that waits for a
//! cooldown is chosen only when all others wait too.

use super::{
    Candidate, Catalogue, Model, Needs, Provider, Rejected, Status, Tried,
    availability::{Barred, ProviderBars},
    needs::has,
    question::{Question, listed, tier_of},
    ranked::{Best, Ranked, SHOWN, Why, first_in_order},
    score::{most_points, points, strength},
    terms::{Low, StandIns, Terms, Waiting},
};
use crate::{
    ModelRef,
    settings::Score,
    values::{Capability, duration, money::Price},
};
use std::{collections::BTreeMap, time::Duration};

const MICROS_PER_DAY: i64 = 24 * 3600 * 1_000_000;
/// Names that a decision gives for each reason.
const NAMED: usize = 5;

/// Places: those that are named and paid for already, the others that are named, and those that only a score ranks.
const UNPAID: u16 = 10_000;
const SCORED: u16 = 30_000;

pub(super) struct Pool<'a> {
    question: &'a Question<'a>,
    needs: Needs,
    score: &'a Score,
    wants: &'a [Capability],
    terms: Terms<'a>,
    /// Those that were named and are there, so that nothing is judged or counted twice.
    named: Vec<(&'a str, &'a str)>,
    candidates: Vec<Ranked<'a>>,
    /// Candidates that cannot be among the best, and are counted only.
    others: usize,
    rejected: BTreeMap<Why<'a>, (usize, Vec<String>)>,
}

impl<'a> Pool<'a> {
    pub(super) fn new(
        question: &'a Question<'a>,
        needs: Needs,
        score: &'a Score,
        wants: &'a [Capability],
        terms: Terms<'a>,
    ) -> Self {
        let (named, candidates) = (Vec::new(), Vec::new());
        Self { question, needs, score, wants, terms, named, candidates, others: 0, rejected: BTreeMap::new() }
    }

    /// Judges a model that is named; the later it is named, the lower it ranks.
    pub(super) fn add_named(&mut self, wanted: &'a ModelRef) -> Result<Ranked<'a>, Why<'a>> {
        let found = find(self.question.catalogue, wanted).and_then(|(id, provider, model)| {
            self.named.push((id, &model.id));
            self.judge_access(id, provider)?;
            self.judge_model(id, model)?;
            self.judge_money(id)?;
            if let StandIns::Cheaper { because: Some(why), .. } = self.terms.stand_ins {
                return Err(Why::Exhausted(why));
            }
            Ok((id, model))
        });
        match found {
            Ok((provider, model)) => {
                let bars = self.question.availability.of_provider(provider, self.question.now);
                let mut ranked = self.rank(provider, model, &bars);
                ranked.variant = wanted.variant.as_deref();
                let paid = self.is_paid(provider);
                let place = u16::try_from(self.candidates.len()).unwrap_or(UNPAID);
                ranked.rank = (place + if paid { 0 } else { UNPAID }, 0, Status::Active);
                self.candidates.push(ranked);
                Ok(ranked)
            }
            Err(why) => {
                self.reject(why, 1, || wanted.to_string());
                Err(why)
            }
        }
    }

    /// A named model that would do if money were no matter, with any other cooldown that it has.
    pub(super) fn would_do(&self, wanted: &ModelRef) -> Option<(&'a str, &'a Model, Option<Barred<'a>>)> {
        let (id, provider, model) = find(self.question.catalogue, wanted).ok()?;
        self.judge_access(id, provider).and_then(|()| self.judge_model(id, model)).ok()?;
        Some((id, model, self.question.availability.of(id, &model.id, self.question.now)))
    }

    /// Judges everything that is connected and was not named.
    pub(super) fn add_all(&mut self) {
        let mut best = Best::default();
        let capped = self.capped();
        let today = self.question.now.div_euclid(MICROS_PER_DAY);
        for (id, provider) in &self.question.catalogue.providers {
            let mut named: Vec<&str> =
                self.named.iter().filter(|(own, _)| own == id).map(|(_, model)| *model).collect();
            named.sort_unstable();
            named.dedup();
            if let Err(why) = self.judge_access(id, provider).and_then(|()| self.judge_money(id)) {
                self.reject(why, provider.models.len() - named.len(), || format!("{id}/*"));
                continue;
            }
            let bars = self.question.availability.of_provider(id, self.question.now);
            let place = if self.is_paid(id) { SCORED } else { SCORED + 1 };
            for model in provider.models.values().filter(|model| named.binary_search(&model.id.as_str()).is_err()) {
                let judged = self.judge_model(id, model).and_then(|()| self.judge_strength(id, model));
                match judged.and_then(|()| self.judge_stand_in(id, model, &capped)) {
                    Ok(()) => {
                        let rank = self.place(place, model);
                        if best.is_out_of_reach(rank, || most_points(model, self.score, today)) {
                            self.others += 1;
                            continue;
                        }
                        let score = points(model, self.score, today);
                        let ranked =
                            Ranked { provider: id, model, variant: None, score, barred: bars.of(&model.id), rank };
                        best.add(&ranked);
                        self.candidates.push(ranked);
                    }
                    Err(why) => self.reject(why, 1, || format!("{id}/{}", model.id)),
                }
            }
        }
    }

    pub(super) fn all_wait(&self) -> bool {
        self.candidates.iter().all(|ranked| ranked.barred.is_some())
    }

    pub(super) fn len(&self) -> usize {
        self.candidates.len() + self.others
    }

    /// The best that can be asked now; when all wait, the one that waits least.
    fn best(&self) -> Option<Ranked<'a>> {
        self.ready().or_else(|| {
            let waits_less = |left: &&Ranked<'_>, right: &&Ranked<'_>| {
                left.patience().cmp(&right.patience()).then_with(|| left.order(right))
            };
            self.candidates.iter().min_by(waits_less).copied()
        })
    }

    /// The best that can be asked now.
    fn ready(&self) -> Option<Ranked<'a>> {
        self.candidates.iter().filter(|ranked| ranked.barred.is_none()).min_by(|left, right| left.order(right)).copied()
    }

    /// What can be chosen under the terms.
    pub(super) fn pick(&self) -> Option<Ranked<'a>> {
        match self.terms.waiting {
            Waiting::Allowed => self.best(),
            Waiting::Refused => self.ready(),
        }
    }

    /// Better ones than `chosen` that wait.
    pub(super) fn passed_over(&self, chosen: &Ranked<'_>) -> Vec<Ranked<'a>> {
        let waits = |ranked: &&Ranked<'_>| ranked.barred.is_some() && ranked.order(chosen).is_lt();
        let mut better: Vec<Ranked<'_>> = self.candidates.iter().filter(waits).copied().collect();
        let best = first_in_order(&mut better, NAMED).len();
        better.truncate(best);
        better
    }

    /// Whether any candidate can do that.
    pub(super) fn any_has(&self, capability: Capability) -> bool {
        self.candidates.iter().any(|ranked| has(ranked.model, capability))
    }

    /// The best candidates with their scores.
    pub(super) fn shown(&mut self) -> Vec<Candidate> {
        let now = self.question.now;
        let shown = first_in_order(&mut self.candidates, SHOWN).iter().map(|ranked| Candidate {
            model: ranked.reference().to_string(),
            score: ranked.score,
            waits: ranked.barred.map(|barred| waits(&barred, now)),
        });
        shown.collect()
    }

    pub(super) fn rejected(&self) -> Vec<Rejected> {
        let rejected = self.rejected.iter();
        rejected
            .map(|(why, (count, models))| Rejected { why: why.to_string(), count: *count, models: models.clone() })
            .collect()
    }

    /// Whether it is only the policy that leaves none: what is not connected could not be asked anyway.
    pub(super) fn only_policy_rejects(&self) -> bool {
        let could = |why: &&Why<'_>| !matches!(why, Why::NotConnected | Why::NoKey | Why::NoSuchModel);
        let mut reasons = self.rejected.keys().filter(could).peekable();
        reasons.peek().is_some() && reasons.all(|why| matches!(why, Why::NotAllowed))
    }

    /// The reason of the budget, when it is what leaves no model.
    pub(super) fn only_budget_rejects(&self) -> Option<String> {
        let could =
            |why: &&Why<'_>| !matches!(why, Why::NotConnected | Why::NoKey | Why::NoSuchModel | Why::NotAllowed);
        let reasons: Vec<&Why<'_>> = self.rejected.keys().filter(could).collect();
        let spent = |why: &&Why<'_>| match why {
            Why::Exhausted(told) => Some((*told).to_owned()),
            _ => None,
        };
        reasons.iter().map(spent).collect::<Option<Vec<_>>>()?.into_iter().next()
    }

    /// Whether asking this provider costs nothing more.
    fn is_paid(&self, provider: &str) -> bool {
        self.question.advice.budget.preferred.contains_key(provider)
    }

    /// The rank of a model before its points count.
    fn place(&self, place: u16, model: &Model) -> (u16, u16, Status) {
        let lacking = self.wants.iter().filter(|want| !has(model, **want)).count();
        let aside = if model.status == Status::Deprecated { Status::Deprecated } else { Status::Active };
        (place, u16::try_from(lacking).unwrap_or(u16::MAX), aside)
    }

    fn rank(&self, provider: &'a str, model: &'a Model, bars: &ProviderBars<'a>) -> Ranked<'a> {
        Ranked {
            provider,
            model,
            variant: None,
            score: points(model, self.score, self.question.now.div_euclid(MICROS_PER_DAY)),
            barred: bars.of(&model.id),
            rank: self.place(0, model),
        }
    }

    fn judge_access(&self, id: &str, provider: &Provider) -> Result<(), Why<'a>> {
        if !provider.connected {
            Err(Why::NotConnected)
        } else if !provider.is_usable() {
            Err(Why::NoKey)
        } else if !self.question.config.policy.allows(id) {
            Err(Why::NotAllowed)
        } else {
            Ok(())
        }
    }

    fn judge_money(&self, id: &str) -> Result<(), Why<'a>> {
        let budget = &self.question.advice.budget;
        match (budget.exhausted.get(id), self.terms.low, budget.low.get(id)) {
            (Some(why), ..) | (None, Low::Refused, Some(why)) => Err(Why::Exhausted(why)),
            (None, ..) => Ok(()),
        }
    }

    /// The models of tiers whose own limit would be passed by asking them for another tier.
    fn capped(&self) -> Vec<(ModelRef, &'a str)> {
        let (config, budget) = (self.question.config, &self.question.advice.budget);
        let tiers: Vec<&'a String> = match self.terms.stand_ins {
            StandIns::Allowed | StandIns::Refused => budget.used_up.keys().collect(),
            StandIns::Cheaper { .. } => budget.used_up.keys().chain(budget.degraded.keys()).collect(),
        };
        let belongs = |tier: &&'a String, model: &ModelRef| {
            let weakest = tier_of(config, model);
            weakest.is_none_or(|weakest| weakest == **tier)
        };
        let of_tier = |tier: &'a String| {
            let own = listed(config, tier).filter(move |model| belongs(&tier, model));
            own.filter_map(move |model| Some((model, budget.downgraded_tier(tier)?)))
        };
        tiers.into_iter().flat_map(of_tier).collect()
    }

    fn judge_stand_in(&self, provider: &str, model: &Model, capped: &[(ModelRef, &'a str)]) -> Result<(), Why<'a>> {
        let is_own = |own: &ModelRef| own.provider == provider && own.model == model.id;
        if let Some((_, why)) = capped.iter().find(|(own, _)| is_own(own)) {
            return Err(Why::Exhausted(why));
        }
        match self.terms.stand_ins {
            StandIns::Cheaper { than, .. } if !than.iter().all(|price| is_cheaper(&model.price, price)) => {
                Err(Why::NotCheaper)
            }
            StandIns::Allowed | StandIns::Refused | StandIns::Cheaper { .. } => Ok(()),
        }
    }

    fn judge_model(&self, provider: &str, model: &Model) -> Result<(), Why<'a>> {
        if let Some(lack) = self.needs.lacking(model) {
            return Err(Why::Lacks(lack));
        }
        let is_tried = |tried: &&Tried| tried.model.provider == provider && tried.model.model == model.id;
        self.terms.tried.iter().find(is_tried).map_or(Ok(()), |tried| Err(Why::Tried(tried.trigger)))
    }

    fn judge_strength(&self, provider: &str, model: &Model) -> Result<(), Why<'a>> {
        let is_weaker = |weaker: &ModelRef| weaker.provider == provider && weaker.model == model.id;
        let passes = self.terms.stronger_than < 0 || strength(model) > self.terms.stronger_than;
        if !passes || self.terms.weaker.iter().any(is_weaker) { Err(Why::NotStronger) } else { Ok(()) }
    }

    fn reject(&mut self, why: Why<'a>, count: usize, name: impl FnOnce() -> String) {
        if count == 0 {
            return;
        }
        let (rejected, models) = self.rejected.entry(why).or_default();
        *rejected += count;
        if models.len() < NAMED {
            models.push(name());
        }
    }
}

/// Whether a price is known to be lower: in no respect higher, and a price at all.
fn is_cheaper(one: &Price, other: &Price) -> bool {
    let is_lower = one.input < other.input || one.output < other.output;
    !one.is_zero() && is_lower && one.input <= other.input && one.output <= other.output
}

fn find<'a>(catalogue: &'a Catalogue, wanted: &ModelRef) -> Result<(&'a str, &'a Provider, &'a Model), Why<'static>> {
    let (id, provider) = catalogue.providers.get_key_value(&wanted.provider).ok_or(Why::NotConnected)?;
    let model = provider.models.get(&wanted.model).ok_or(Why::NoSuchModel)?;
    match &wanted.variant {
        Some(variant) if !model.variants.contains(variant) => Err(Why::NoSuchVariant),
        _ => Ok((id, provider, model)),
    }
}

/// `in cooldown for another 43s: rate_limit …`
pub(super) fn waits(barred: &Barred<'_>, now: i64) -> String {
    let left = Duration::from_micros(u64::try_from(barred.bar.until.saturating_sub(now)).unwrap_or_default());
    // Whole seconds are exact enough for people, and never zero.
    let left = Duration::from_secs(left.as_secs() + u64::from(left.subsec_micros() > 0));
    format!("in cooldown for another {}: {}", duration::show(left), barred.bar.why)
}
