//! Choosing from several: the models of a tier, or all that a tag may use.

use super::{
    Needs, Question, Resolution, RouteError, Step, TraceStep,
    pool::{Pool, waits},
    question::{budget_note, listed},
    ranked::Ranked,
    terms::{StandIns, Terms},
    wish::Wish,
};
use crate::{
    ModelRef,
    settings::{FirstChoice, Score, Tag},
};

/// The score of a tier or tag that names none.
const PLAIN_SCORE: &str = "balanced";

/// The first model of the tier that fits. When none is there, what is there is ranked by the tier's score,
/// and the reason and a warning state it: never a silent change.
pub(super) fn of_tier(
    question: &Question<'_>,
    tier: &str,
    mut wish: Wish,
    terms: Terms<'_>,
) -> Result<Resolution, RouteError> {
    let config = question.config;
    let named: Vec<ModelRef> = listed(config, tier).collect();
    let nothing = Score::default();
    let score_name = config.tier_scores.get(tier).map_or(PLAIN_SCORE, String::as_str);
    let score = config.scores.get(score_name).unwrap_or(&nothing);
    let mut pool = Pool::new(question, question.needs, score, &[], terms);
    for model in &named {
        if let Err(why) = pool.add_named(model) {
            wish.trace.push(TraceStep::about(Step::Tier, model, why.to_string()));
        }
    }
    let own = pool.len();
    let all_wait = own > 0 && pool.all_wait();
    if (own == 0 || all_wait) && terms.stand_ins != StandIns::Refused {
        pool.add_all();
    }
    let Some(chosen) = pool.pick() else { return Err(nothing_fits(pool, &wish.said, question)) };
    let model = chosen.reference();
    let is_listed = named.contains(&model);
    let why = if is_listed && !all_wait {
        let first = named.first() == Some(&model);
        wish.said = format!(
            "{}; {model} is the first of it that {}",
            wish.said,
            if first { "fits" } else { "is there and fits" }
        );
        "the first that is there and fits".to_owned()
    } else if is_listed {
        wish.said = format!("{}; all of it is in cooldown, {model} the shortest", wish.said);
        "waits least".to_owned()
    } else {
        let state = match terms.stand_ins {
            StandIns::Cheaper { because: Some(why), .. } => format!("the budget keeps its models away ({why})"),
            _ if all_wait => "all of its models are in cooldown".to_owned(),
            _ => "none of its models fits here".to_owned(),
        };
        wish.said = format!(
            "{}; {state}, so {model} stands in, the best of {} by score `{score_name}`",
            wish.said,
            pool.len() - own
        );
        wish.warnings.push(format!("tier {tier}: {state}; {model} stands in"));
        format!("{} points by score `{score_name}`", chosen.score)
    };
    let step = if is_listed { Step::Tier } else { Step::Score };
    let mut resolution = finish(question, pool, &chosen, wish, (step, why));
    resolution.tier = Some(tier.to_owned());
    Ok(resolution)
}

/// The setting that the tag prefers, or the best by its score.
pub(super) fn through_tag(
    question: &Question<'_>,
    name: &str,
    mut wish: Wish,
    terms: Terms<'_>,
) -> Result<Resolution, RouteError> {
    let config = question.config;
    let Some(tag) = config.tags.get(name) else {
        return Err(RouteError::NoModels { what: format!("tag {name}") });
    };
    let needs = with_needs_of(question.needs, tag);
    let nothing = Score::default();
    let score = config.scores.get(&tag.score).unwrap_or(&nothing);
    let first = tag.first.map(|first| match first {
        FirstChoice::Model => ("model", question.catalogue.default_model.clone()),
        FirstChoice::SmallModel => ("small_model", question.catalogue.small_model.clone()),
    });
    let mut pool = Pool::new(question, needs, score, &tag.wants, terms);
    let mut first_choice = None;
    match &first {
        Some((setting, Some(model))) => match pool.add_named(model) {
            Ok(ranked) => first_choice = Some((*setting, ranked)),
            Err(why) => {
                let why = format!("OpenCode's `{setting}`, passed over: {why}");
                wish.said = format!("{} ({model} is {why})", wish.said);
                wish.trace.push(TraceStep::about(Step::Tag, model, why));
            }
        },
        Some((setting, None)) => {
            wish.trace.push(TraceStep::note(Step::Tag, format!("OpenCode's `{setting}` is not set")));
            wish.said = format!("{}; `{setting}` is not set", wish.said);
        }
        None => {}
    }
    pool.add_all();
    let Some(chosen) = pool.pick() else { return Err(nothing_fits(pool, &wish.said, question)) };
    let model = chosen.reference();
    let by_setting = first_choice.filter(|(_, ranked)| ranked.reference() == model);
    let (step, why) = if let Some((setting, _)) = by_setting {
        wish.said = format!("{}; OpenCode's `{setting}`", wish.said);
        (Step::Tag, format!("OpenCode's `{setting}`"))
    } else {
        wish.said = format!("{}; {model} is the best of {} by score `{}`", wish.said, pool.len(), tag.score);
        (Step::Score, format!("{} points by score `{}`", chosen.score, tag.score))
    };
    for want in tag.wants.iter().filter(|want| !super::needs::has(chosen.model, **want)) {
        let others = if pool.any_has(*want) { "others that do come after it" } else { "no model that fits does" };
        wish.warnings.push(format!("{model} does not have {want:?}, which {name} would rather have; {others}"));
    }
    Ok(finish(question, pool, &chosen, wish, (step, why)))
}

/// What is needed of a model that a tag is to choose.
pub(super) fn with_needs_of(needs: Needs, tag: &Tag) -> Needs {
    tag.needs.iter().fold(needs, |needs, need| needs.and(*need))
}

fn finish(
    question: &Question<'_>,
    mut pool: Pool<'_>,
    chosen: &Ranked<'_>,
    wish: Wish,
    (step, why): (Step, String),
) -> Resolution {
    let Wish { rule, mut said, task_type, mut trace, mut warnings, propensity, .. } = wish;
    let model = chosen.reference();
    let passed = pool.passed_over(chosen);
    for ranked in &passed {
        let Some(barred) = ranked.barred else { continue };
        trace.push(TraceStep::about(Step::Availability, ranked.reference(), waits(&barred, question.now)));
    }
    if let Some(best) = passed.first() {
        said = format!("{said}; {} is in cooldown", best.reference());
    }
    trace.push(TraceStep::chosen(step, &model, why));
    trace.push(budget_note(question, chosen.provider));
    match chosen.barred {
        Some(barred) => {
            let waits = waits(&barred, question.now);
            trace.push(TraceStep::about(Step::Availability, &model, format!("{waits}; all others are too")));
            warnings.push(format!("{model} should be {waits}; there is no other"));
        }
        None => trace.push(TraceStep::about(Step::Availability, &model, "nothing stands against it")),
    }
    Resolution {
        rule,
        reason: said,
        policy: question.policy,
        task_type,
        tier: None,
        requested_tier: None,
        considered: pool.len(),
        candidates: pool.shown(),
        rejected: pool.rejected(),
        trace,
        propensity,
        model,
        warnings,
    }
}

/// Explains why there is none, and what comes nearest: what has to be waited for, or would do but for one thing.
fn nothing_fits(mut pool: Pool<'_>, said: &str, question: &Question<'_>) -> RouteError {
    let rejected = pool.rejected();
    if rejected.is_empty() && pool.len() == 0 {
        return RouteError::NoModels { what: said.to_owned() };
    }
    if pool.len() == 0
        && let Some(why) = pool.only_budget_rejects()
    {
        return RouteError::Closed { why };
    }
    if pool.len() == 0 && pool.only_policy_rejects() {
        let policy = &question.config.policy;
        let allowed = format!(
            "`policy.allow_providers` has: {}; `policy.deny_providers` has: {}",
            policy.allow_providers.join(", "),
            policy.deny_providers.join(", ")
        );
        return RouteError::NotAllowed { provider: "any provider that is connected".into(), allowed };
    }
    let waiting = (pool.len() > 0).then(|| format!("{} in cooldown", pool.len()));
    let others = rejected.iter().map(|group| format!("{} {}", group.count, group.why));
    let reasons: Vec<String> = waiting.into_iter().chain(others).collect();
    let shown = pool.shown().into_iter();
    let mut nearest: Vec<String> =
        shown.filter_map(|waiting| Some(format!("{} ({})", waiting.model, waiting.waits?))).take(5).collect();
    if nearest.is_empty() {
        let allowed = question
            .catalogue
            .models()
            .filter(|(id, provider, _)| provider.is_usable() && question.config.policy.allows(id));
        nearest = allowed
            .filter_map(|(id, _, model)| Some(format!("{id}/{} (cannot {})", model.id, question.needs.lacking(model)?)))
            .take(5)
            .collect();
    }
    if nearest.is_empty() {
        nearest = rejected.iter().flat_map(|group| group.models.iter().cloned()).take(5).collect();
    }
    RouteError::NothingFits { what: said.to_owned(), rejected: reasons.join("; "), nearest: nearest.join(", ") }
}
