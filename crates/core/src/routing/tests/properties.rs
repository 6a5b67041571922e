//! What holds for every choice and every fallback, in any world. What is expected is worked out here once more, from
//! the settings alone, and not with the resolver's own parts.

mod generate;
mod scenes;

use super::*;
use crate::values::Capability;
use crate::values::Trigger;
use generate::{NOW, Scene, scene};
use proptest::{collection::vec, prelude::*, sample::select, test_runner::Config as Run};
use scenes::{
    Goal, barred, can, downwards, fitting, found_in, goal, names_are_known, own, permitted, ready, restrained, suits,
    usable,
};

fn run() -> Run {
    Run { failure_persistence: None, max_global_rejects: u32::MAX, ..Run::default() }
}

proptest! {
    #![proptest_config(run())]

    #[test]
    fn the_chosen_model_may_be_and_can(scene in scene()) {
        let Ok(found) = resolve(&scene.question()) else { return Ok(()) };
        let goal = goal(&scene);
        let model = found_in(&scene, &found.model);
        prop_assert!(model.is_some_and(|model| suits(&scene, &goal, model)), "{:?}", found.model);
        prop_assert!(permitted(&scene, &found.model.provider));
        prop_assert!(goal == Goal::One || usable(&scene, &found.model.provider));
    }

    #[test]
    fn one_is_found_whenever_there_is_one_and_waits_only_when_all_do(scene in scene()) {
        prop_assume!(names_are_known(&scene));
        let goal = goal(&scene);
        prop_assume!(goal != Goal::One);
        let found = resolve(&scene.question());
        if let Goal::Tier(tier) = &goal && restrained(&scene, &goal, tier) {
            // Then not everything that fits may be taken: see below.
            prop_assert!(found.is_err() || fitting(&scene, &goal).next().is_some(), "{:?}", found);
            return Ok(());
        }
        prop_assert_eq!(found.is_ok(), fitting(&scene, &goal).next().is_some(), "{:?}", found);
        let Ok(found) = found else { return Ok(()) };
        if barred(&scene, &found.model.provider, &found.model.model) {
            prop_assert!(fitting(&scene, &goal).all(|(_, _, waits)| waits));
            prop_assert!(found.warnings.iter().any(|said| said.ends_with("there is no other")));
        }
    }

    #[test]
    fn a_tier_takes_the_first_of_its_list_that_can_be_asked(scene in scene()) {
        prop_assume!(names_are_known(&scene));
        let goal = goal(&scene);
        let Goal::Tier(asked) = &goal else { return Ok(()) };
        let free = |tier: &&String| {
            !scene.advice.budget.degraded.contains_key(*tier) && ready(&scene, &goal, tier).is_some()
        };
        let is_restrained = restrained(&scene, &goal, asked);
        let tier = if is_restrained { downwards(&scene, asked).find(free).cloned() } else { Some(asked.clone()) };
        let found = resolve(&scene.question());
        let (Ok(found), Some(tier)) = (&found, &tier) else {
            prop_assert!(found.is_err() || is_restrained);
            prop_assert!(tier.is_none() || !is_restrained, "{:?}", found);
            return Ok(());
        };
        prop_assert_eq!(found.tier.as_ref(), Some(tier));
        prop_assert_eq!(found.requested_tier.as_ref(), Some(asked).filter(|asked| *asked != tier));
        if let Some(ready) = ready(&scene, &goal, tier) {
            prop_assert_eq!(&found.model, &ready);
        }
    }

    #[test]
    fn the_budget_leads_to_nothing_that_costs_as_much(scene in scene()) {
        prop_assume!(names_are_known(&scene));
        let goal = goal(&scene);
        let Goal::Tier(asked) = &goal else { return Ok(()) };
        prop_assume!(restrained(&scene, &goal, asked));
        let found = match resolve(&scene.question()) {
            Ok(found) => found,
            Err(error) => {
                let by_money = matches!(error, RouteError::Unaffordable { .. });
                prop_assert!(by_money || own(&scene, &goal, asked).next().is_none(), "{:?}", error);
                return Ok(());
            }
        };
        let lists = |tier: &&String| {
            scene.config.tiers[*tier].iter().any(|name| name.parse::<ModelRef>().unwrap().base() == found.model.base())
        };
        if downwards(&scene, asked).any(|tier| lists(&tier) && Some(tier) == found.tier.as_ref()) {
            return Ok(());
        }
        let price = found_in(&scene, &found.model).unwrap().price;
        for name in own(&scene, &goal, asked) {
            let other = found_in(&scene, &name).unwrap().price;
            prop_assert!(price.input <= other.input && price.output <= other.output && price != other, "{:?}", found);
        }
        prop_assert!(found.warnings.iter().any(|said| said.contains("spent") || said.contains("empty")));
    }

    #[test]
    fn the_same_inputs_give_the_same_answer_in_any_order(scene in scene()) {
        let first = resolve(&scene.question());
        prop_assert_eq!(&resolve(&scene.question()), &first);
        prop_assert_eq!(&resolve(&scene.reversed().question()), &first);
    }

    #[test]
    fn every_model_is_counted_once_and_every_choice_is_told(scene in scene()) {
        let Ok(found) = resolve(&scene.question()) else { return Ok(()) };
        prop_assert!(!found.reason.is_empty());
        let chosen: Vec<_> = found.trace.iter().filter(|step| step.chosen).collect();
        prop_assert_eq!(chosen.len(), 1, "{:?}", found.trace);
        prop_assert_eq!(chosen[0].candidate.clone(), Some(found.model.to_string()));
        prop_assert!(found.trace.iter().all(|step| !step.why.is_empty()));
        prop_assert!(found.rejected.iter().all(|group| {
            !group.why.is_empty() && (1..=group.count.min(5)).contains(&group.models.len())
        }), "{:?}", found.rejected);
        if let Goal::Tag(tag) = goal(&scene) {
            let setting = match scene.config.tags[&tag].first {
                Some(crate::settings::FirstChoice::Model) => scene.catalogue.default_model.as_ref(),
                Some(crate::settings::FirstChoice::SmallModel) => scene.catalogue.small_model.as_ref(),
                None => None,
            };
            let missing = usize::from(setting.is_some_and(|model| found_in(&scene, model).is_none()));
            let rejected: usize = found.rejected.iter().map(|group| group.count).sum();
            prop_assert_eq!(found.considered + rejected, scene.catalogue.models().count() + missing, "{:?}", found);
            prop_assert_eq!(found.considered, fitting(&scene, &Goal::Tag(tag)).count());
            prop_assert_eq!(found.candidates.len(), found.considered.min(10));
        }
    }

    #[test]
    fn wants_come_first_and_what_is_deprecated_last(scene in scene()) {
        let Ok(found) = resolve(&scene.question()) else { return Ok(()) };
        let goal = goal(&scene);
        if let Goal::Tag(tag) = &goal {
            for want in &scene.config.tags[tag].wants {
                let lacks = !can(found_in(&scene, &found.model).unwrap(), *want);
                let said = format!("{} does not have {want:?}, which {tag} would rather have; ", found.model);
                let told = found.warnings.iter().find_map(|warning| warning.strip_prefix(&said));
                prop_assert_eq!(told.is_some(), lacks);
                let nobody = fitting(&scene, &goal).all(|(_, model, _)| !can(model, *want));
                prop_assert!(told.is_none_or(|others| (others == "no model that fits does") == nobody), "{:?}", told);
            }
        }
        let by_score = found.trace.iter().any(|step| step.chosen && step.step == Step::Score);
        let restrained = matches!(&goal, Goal::Tier(tier) if restrained(&scene, &goal, tier));
        if !by_score || restrained || barred(&scene, &found.model.provider, &found.model.model) {
            return Ok(());
        }
        let wants: &[Capability] = match &goal {
            Goal::Tag(tag) => &scene.config.tags[tag].wants,
            Goal::One | Goal::Tier(_) => &[],
        };
        let place = |model: &Model| {
            let lacking = wants.iter().filter(|want| !can(model, **want)).count();
            (lacking, model.status == Status::Deprecated)
        };
        let chosen = place(found_in(&scene, &found.model).unwrap());
        let best = fitting(&scene, &goal).filter(|(_, _, waits)| !waits).map(|(_, model, _)| place(model)).min();
        prop_assert_eq!(Some(chosen), best, "{:?}", found.model);
    }

    #[test]
    fn no_text_is_too_strange(scene in scene(), text in any_reference()) {
        let mut scene = scene;
        if let Ok(selector) = Selector::from_reference(&text, &scene.config) {
            scene.selector = selector;
            let _ = resolve(&scene.question());
        }
    }

    #[test]
    fn hops_keep_every_rule_and_end(
        scene in scene(),
        triggers in vec((select(&Trigger::ALL[..]), any::<bool>()), 8),
        agent in select(vec![None, Some("docs"), Some("other")]),
    ) {
        prop_assume!(names_are_known(&scene));
        hops(scene, &triggers, agent, Exchange::Asked)?;
    }

    #[test]
    fn hops_of_what_is_not_asked_to_move(scene in scene(), trigger in select(&Trigger::ALL[..])) {
        prop_assume!(names_are_known(&scene));
        // A model that only a setting names may move along a chain.
        let rule = resolve(&scene.question()).map(|found| found.rule);
        let by_setting = matches!(rule, Ok(Rule::Default | Rule::Profile | Rule::Agent));
        let chained = by_setting && !scene.config.fallback.default.is_empty();
        let moved = hops(scene.clone(), &[(trigger, false)], None, Exchange::Routed)?;
        prop_assert!(moved == 0 || goal(&scene) != Goal::One || chained || rule == Ok(Rule::Contest));
    }
}

/// Strings that look like references, and any others.
fn any_reference() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z0-9/@: .*\\-]{0,12}",
        "(auto|node|p[0-6])?[:/@]{0,3}(m[0-8]|any|fast|sonnet)?@{0,2}(high|20)?",
    ]
}

/// Fails one model after the other and returns how often another one was found.
fn hops(
    mut scene: Scene,
    triggers: &[(Trigger, bool)],
    agent: Option<&str>,
    exchange: Exchange,
) -> Result<usize, TestCaseError> {
    let goal = goal(&scene);
    let Ok(mut before) = resolve(&scene.question()) else { return Ok(0) };
    let mut tried: Vec<Tried> = Vec::new();
    for (trigger, cools) in triggers {
        tried.push(Tried { model: before.model.clone(), trigger: *trigger });
        if *cools {
            let bar = Bar { until: NOW + 1_000_000, why: trigger.to_string() };
            scene.bars.push((trigger.scope().target(&before.model), bar.clone()));
            scene.availability.bar(trigger.scope().target(&before.model), bar);
        }
        let found = match next(&scene.question(), &before, &tried, exchange, agent) {
            Ok(found) => found,
            Err(RouteError::Exhausted { why } | RouteError::Held { why }) => {
                prop_assert!(!why.is_empty());
                return Ok(tried.len() - 1);
            }
            Err(other) => return Err(TestCaseError::fail(format!("{other:?}"))),
        };
        let ModelRef { provider, model, .. } = &found.model;
        prop_assert!(tried.len() < scene.config.fallback.depth);
        prop_assert!(tried.iter().all(|tried| tried.model.base() != found.model.base()), "asked twice");
        prop_assert!(
            found_in(&scene, &found.model).is_some_and(|model| suits(&scene, &goal, model)),
            "{provider}/{model}"
        );
        prop_assert!(usable(&scene, provider) && !barred(&scene, provider, model));
        let fallbacks = found.trace.iter().filter(|step| step.step == Step::Fallback).count();
        prop_assert_eq!(fallbacks, tried.len());
        let chosen: Vec<_> = found.trace.iter().filter(|step| step.chosen).map(|step| step.candidate.clone()).collect();
        prop_assert_eq!(chosen, [Some(found.model.to_string())]);
        prop_assert!(found.requested_tier.is_none() || found.requested_tier != found.tier);
        moves_as_it_should(&scene, &before, &found, *trigger, agent)?;
        before = found;
    }
    Ok(tried.len())
}

/// Up after a lack of strength, and only then.
fn moves_as_it_should(
    scene: &Scene,
    before: &Resolution,
    found: &Resolution,
    trigger: Trigger,
    agent: Option<&str>,
) -> Result<(), TestCaseError> {
    let place = |tier: &String| scene.config.tier_order.iter().position(|own| own == tier);
    let lists = |tier: &String, model: &ModelRef| {
        scene.config.tiers[tier].iter().any(|name| name.parse::<ModelRef>().unwrap().base() == model.base())
    };
    if trigger == Trigger::Capability {
        let own = before
            .tier
            .clone()
            .or_else(|| scene.config.tier_order.iter().find(|tier| lists(tier, &before.model)).cloned());
        let (from, to) = (own.as_ref().and_then(place), found.tier.as_ref().and_then(place));
        prop_assert!(from.is_some() && from < to, "{:?} to {:?}", own, found.tier);
        let order = &scene.config.tier_order;
        let is_weaker = order[..=from.unwrap()].iter().any(|tier| lists(tier, &found.model));
        prop_assert!(!is_weaker || lists(found.tier.as_ref().unwrap(), &found.model), "{:?}", found.model);
    } else if chain(&scene.config, agent, before.tier.as_deref()).1.is_empty()
        && before.tier.is_some()
        // Where money has a say, what is left may be of a cheaper tier.
        && scene.advice.budget.exhausted.is_empty()
        && scene.advice.budget.degraded.is_empty()
    {
        prop_assert_eq!(&found.tier, &before.tier);
    }
    Ok(())
}
