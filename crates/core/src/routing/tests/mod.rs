//! Each rule of a choice, by tables: the chosen model, the reason, and the message.

mod budget;
mod fallback;
mod hops;
mod properties;

use super::*;
use crate::values::ModelPolicy;
use crate::{
    ModelRef, Nano,
    settings::{Config, Layered},
    values::money::Price,
};
use std::collections::BTreeMap;

pub(super) fn config() -> Config {
    Layered::merge(&[]).unwrap().config
}

pub(super) fn config_with(toml: &str) -> Config {
    let origin = crate::settings::Origin::File("config.toml".into());
    Layered::merge(&[crate::settings::Layer { origin, text: toml.into() }]).unwrap().config
}

pub(super) fn model(id: &str, output_usd: f64) -> Model {
    Model {
        id: id.into(),
        tool_calls: true,
        text_output: true,
        context: 128_000,
        price: Price { output: Nano::from_usd(output_usd).unwrap(), ..Price::default() },
        ..Model::default()
    }
}

pub(super) fn provider(source: Source, has_key: bool, models: Vec<Model>) -> Provider {
    let models = models.into_iter().map(|model| (model.id.clone(), model)).collect();
    Provider { source, has_key, connected: true, models, ..Provider::default() }
}

fn catalogue() -> Catalogue {
    let alpha = Model { variants: vec!["low".into(), "high".into()], context: 9000, ..model("alpha", 0.4) };
    let eyes = Model { image_input: true, ..model("eyes", 3.0) };
    let thinker = Model { reasoning: true, ..model("thinker", 30.0) };
    let sol = Model { image_input: true, ..model("gpt-6-sol", 10.0) };
    Catalogue {
        providers: BTreeMap::from([
            ("local".to_owned(), provider(Source::Config, false, vec![alpha, eyes, thinker])),
            ("openai".to_owned(), provider(Source::Api, true, vec![sol])),
            ("keyless".to_owned(), provider(Source::Api, false, vec![model("m", 1.0)])),
            (
                "far".to_owned(),
                Provider { connected: false, ..provider(Source::Custom, true, vec![model("away", 1.0)]) },
            ),
        ]),
        default_model: Some(ModelRef::new("local", "alpha")),
        small_model: None,
    }
}

#[derive(Clone)]
struct World {
    catalogue: Catalogue,
    config: Config,
    availability: Availability,
    advice: Advice,
}

impl World {
    fn new() -> Self {
        Self {
            catalogue: catalogue(),
            config: config(),
            availability: Availability::default(),
            advice: Advice::default(),
        }
    }

    fn bar(&mut self, target: &str, until: i64) {
        self.availability.bar(target, Bar { until, why: "test".into() });
    }

    fn question<'a>(&'a self, selector: &'a Selector, needs: Needs) -> Question<'a> {
        Question {
            selector,
            needs,
            policy: ModelPolicy::Dynamic,
            catalogue: &self.catalogue,
            config: &self.config,
            availability: &self.availability,
            advice: &self.advice,
            now: 1_794_700_000_000_000,
        }
    }

    fn selector(&self, reference: &str) -> Result<Selector, RouteError> {
        Ok(match reference {
            "" => Selector::Default,
            text => match text.split_once('=') {
                Some(("task", name)) => Selector::TaskType(name.into()),
                Some(("tier", name)) => Selector::Tier(name.into()),
                Some(("profile", name)) => Selector::Profile(name.into()),
                _ => Selector::from_reference(text, &self.config)?,
            },
        })
    }

    fn resolve(&self, reference: &str, needs: Needs) -> Result<Resolution, RouteError> {
        resolve(&self.question(&self.selector(reference)?, needs))
    }
}

#[test]
fn each_selector_finds_its_model_or_says_why_not() {
    let none = Needs::default();
    let image = Needs { images: 1, ..none };
    let long = Needs { context: 20_000, ..none };
    let table = [
        ("local/alpha", none, Ok("local/alpha")),
        ("local/alpha@low", none, Ok("local/alpha@low")),
        ("local/alpha@medium", none, Err("model local/alpha has no variant `medium`; it has: low, high")),
        ("local/alpa", none, Err("provider `local` has no model `alpa`; did you mean alpha?")),
        ("nope/x", none, Err("provider `nope` is not connected; connected: keyless, local, openai")),
        ("far/away", none, Err("provider `far` is not connected; connected: keyless, local, openai")),
        ("keyless/m", none, Ok("keyless/m")),
        (
            "local/alpha",
            image,
            Err("model local/alpha cannot take images; connected models that can: local/eyes, openai/gpt-6-sol"),
        ),
        ("local/alpha", long, Err("model local/alpha cannot hold about 20000 tokens; connected models that can")),
        ("alpha", none, Ok("local/alpha")),
        ("thinker", none, Ok("local/thinker")),
        ("think", none, Err("no connected model is called `think`; did you mean local/thinker?")),
        ("", none, Ok("local/alpha")),
        ("", image, Err("model local/alpha cannot take images")),
        ("tier=sonnet", none, Ok("openai/gpt-6-sol")),
        ("standard", none, Ok("openai/gpt-6-sol")),
        ("task=code-review", none, Ok("openai/gpt-6-sol")),
        (
            "task=code-reveiw",
            none,
            Err("unknown task type `code-reveiw`, did you mean `code-review`?; there are: api-"),
        ),
        ("tier=opsu", none, Err("unknown tier `opsu`, did you mean `opus`?; there are: flash")),
        ("profile=vison", none, Err("unknown profile `vison`, did you mean `vision`?; there are: architect")),
        ("node:vison", none, Err("unknown tag `node:vison`, did you mean `vision`?; there are: auto and node")),
        // Nothing of these tiers is here, so what is here is ranked.
        ("tier=haiku", none, Ok("local/alpha")),
        ("tier=opus", none, Ok("local/thinker")),
        ("tier=haiku", image, Ok("local/eyes")),
        ("node:vision", none, Ok("openai/gpt-6-sol")),
        ("auto:reasoning", none, Ok("local/thinker")),
        ("profile=architect", none, Ok("local/alpha")),
        ("profile=vision", none, Ok("openai/gpt-6-sol")),
        ("auto", none, Ok("local/alpha")),
        ("auto", image, Ok("openai/gpt-6-sol")),
    ];
    let world = World::new();
    for (reference, needs, expected) in table {
        match (world.resolve(reference, needs).map(|found| found.model.to_string()), expected) {
            (Ok(model), Ok(expected)) => assert_eq!(model, expected, "{reference}"),
            (Err(error), Err(expected)) => assert!(error.to_string().starts_with(expected), "{reference}: {error}"),
            (result, _) => panic!("{reference} gave {result:?}"),
        }
    }
}

#[test]
fn every_source_of_a_provider_has_its_standing() {
    let table = [
        (Source::Config, true, true, true),
        (Source::Config, false, true, true),
        (Source::Custom, false, true, true),
        (Source::Env, true, true, true),
        (Source::Api, true, true, true),
        (Source::Api, false, true, false),
        (Source::Config, true, false, false),
        (Source::Custom, true, false, false),
    ];
    for (source, has_key, connected, usable) in table {
        let mut world = World::new();
        let only = Provider { connected, ..provider(source, has_key, vec![model("m", 1.0)]) };
        world.catalogue = Catalogue { providers: BTreeMap::from([("only".to_owned(), only)]), ..Catalogue::default() };
        let chosen = world.resolve("node:fast", Needs::default());
        assert_eq!(chosen.is_ok(), usable, "{source:?} {has_key} {connected}: {chosen:?}");
        // By name it may be used wherever OpenCode would take it, with a word about the key.
        let named = world.resolve("only/m", Needs::default());
        assert_eq!(named.is_ok(), connected);
        let warned = named.is_ok_and(|found| found.warnings == ["provider only has no key"]);
        assert_eq!(warned, connected && !usable);
    }
}

#[test]
fn the_small_model_comes_first_for_fast_and_is_passed_over_with_a_reason() {
    let mut world = World::new();
    let small = |world: &mut World, name: &str| world.catalogue.small_model = Some(name.parse().unwrap());
    let fast = |world: &World, needs| world.resolve("node:fast", needs).unwrap();
    assert!(fast(&world, Needs::default()).reason.contains("`small_model` is not set"));
    small(&mut world, "local/thinker");
    let chosen = fast(&world, Needs::default());
    assert_eq!(chosen.model.to_string(), "local/thinker");
    assert!(chosen.reason.contains("OpenCode's `small_model`"), "{}", chosen.reason);
    let images = fast(&world, Needs { images: 1, ..Needs::default() });
    assert_eq!(images.model.to_string(), "local/eyes");
    assert!(images.reason.contains("passed over: cannot take images"), "{}", images.reason);
    for (name, why) in [("far/away", "not connected"), ("keyless/m", "no key"), ("local/gone", "does not have it")] {
        small(&mut world, name);
        let chosen = fast(&world, Needs::default());
        assert_eq!(chosen.model.to_string(), "local/alpha");
        assert!(chosen.reason.contains(why), "{}", chosen.reason);
    }
}

#[test]
fn a_stand_in_is_never_silent() {
    let found = World::new().resolve("task=deep-research", Needs::default()).unwrap();
    assert_eq!(found.rule, Rule::TaskType);
    assert_eq!(found.warnings, ["tier opus: none of its models fits here; local/thinker stands in"]);
    assert!(found.reason.contains("stands in, the best of 4 by score `strong`"), "{}", found.reason);
    assert_eq!(found.trace.iter().filter(|step| step.chosen).count(), 1);
    assert_eq!(found.considered, 4);
    let rejected: usize = found.rejected.iter().map(|group| group.count).sum();
    assert_eq!(rejected, 2 + world_tier_entries(&found), "{:?}", found.rejected);
}

/// Names of the tier that were looked at before.
fn world_tier_entries(found: &Resolution) -> usize {
    found.trace.iter().filter(|step| step.step == Step::Tier && !step.chosen).count()
}

#[test]
fn what_is_to_be_left_alone_waits_until_all_do() {
    let mut world = World::new();
    let now = 1_794_700_000_000_000;
    world.config = config_with("[tiers]\nmine = [\"local/eyes\", \"local/alpha\", \"openai/gpt-6-sol\"]\n");
    let mine = |world: &World| world.resolve("tier=mine", Needs::default()).unwrap();
    assert_eq!(mine(&world).model.to_string(), "local/eyes");
    world.bar("local/eyes", now + 60_000_000);
    let passed = mine(&world);
    assert_eq!(passed.model.to_string(), "local/alpha");
    assert!(passed.reason.ends_with("local/eyes is in cooldown"), "{}", passed.reason);
    let waits = passed.trace.iter().find(|step| step.step == Step::Availability).unwrap();
    assert_eq!(waits.why, "in cooldown for another 1m: test");
    world.bar("local", now + 90_000_000);
    assert_eq!(mine(&world).model.to_string(), "openai/gpt-6-sol");
    // A cooldown that has ended is none.
    world.bar("openai", now - 1);
    assert_eq!(mine(&world).model.to_string(), "openai/gpt-6-sol");
    world.bar("openai", now + 30_000_000);
    let last = mine(&world);
    assert_eq!(last.model.to_string(), "openai/gpt-6-sol", "it waits least");
    assert_eq!(last.warnings.len(), 1, "{:?}", last.warnings);
    // Named, it is asked all the same, with a warning.
    let named = world.resolve("local/eyes", Needs::default()).unwrap();
    assert!(named.warnings[0].contains("it is asked because it was named"), "{:?}", named.warnings);
}

#[test]
fn the_policy_holds_for_named_models_too_and_fails_closed() {
    let mut world = World::new();
    world.config = config_with("[policy]\nallow_providers = [\"openai\"]\n");
    assert_eq!(world.resolve("node:fast", Needs::default()).unwrap().model.provider, "openai");
    let refused = world.resolve("local/alpha", Needs::default()).unwrap_err();
    assert!(matches!(refused, RouteError::NotAllowed { .. }), "{refused}");
    world.config = config_with("[policy]\nallow_providers = [\"nobody\"]\n");
    let nothing = world.resolve("tier=sonnet", Needs::default()).unwrap_err();
    assert!(nothing.to_string().contains("does not allow any provider that is connected"), "{nothing}");
    world.config = config_with("[policy]\ndeny_providers = [\"local\"]\n");
    assert_eq!(world.resolve("tier=haiku", Needs::default()).unwrap().model.provider, "openai");
}

#[test]
fn the_precedence_is_contest_request_agent_pattern_text_default() {
    let mut world = World::new();
    let default = |world: &World| world.resolve("", Needs::default()).unwrap();
    let steps = |found: &Resolution| found.trace.iter().map(|step| step.step).collect::<Vec<_>>();
    assert_eq!(default(&world).rule, Rule::Default);
    world.advice.classified =
        Some(Classified { task_type: Some("code-review".into()), tier: "sonnet".into(), why: "looks".into() });
    let found = default(&world);
    assert_eq!((found.rule, found.task_type.as_deref()), (Rule::Classifier, Some("code-review")));
    assert_eq!(found.tier.as_deref(), Some("sonnet"));
    let expected = [Step::Contest, Step::Explicit, Step::Agent, Step::Pattern, Step::Classifier];
    assert!(steps(&found).starts_with(&expected), "{:?}", found.trace);
    world.advice.pattern = Some(Pattern { said: "too little".into(), ..Pattern::default() });
    assert_eq!(default(&world).rule, Rule::Classifier, "what is not enough decides nothing");
    let says = |tier: &str| Pattern { tier: Some(tier.into()), said: "learned".into(), propensity: Some(950_000) };
    world.advice.pattern = Some(says("gone"));
    assert_eq!(default(&world).rule, Rule::Classifier, "a tier that is gone decides nothing");
    world.advice.pattern = Some(says("haiku"));
    let found = default(&world);
    assert_eq!((found.rule, found.tier.as_deref()), (Rule::Pattern, Some("haiku")));
    assert_eq!((found.task_type.as_deref(), found.propensity), (Some("code-review"), Some(950_000)));
    let named = resolve(&world.question(&Selector::TaskType("code-review".into()), Needs::default())).unwrap();
    assert_eq!((named.rule, named.tier.as_deref()), (Rule::TaskType, Some("haiku")), "experience before the table");
    assert!(named.reason.contains("goes to tier sonnet, but learned"), "{}", named.reason);
    let tier = resolve(&world.question(&Selector::Tier("opus".into()), Needs::default())).unwrap();
    assert_eq!((tier.tier.as_deref(), tier.propensity), (Some("opus"), None), "who names the tier gets it");
    world.advice.agent = Some(AgentWish { agent: "docs".into(), model: "opus".into() });
    assert_eq!((default(&world).rule, default(&world).tier.as_deref()), (Rule::Agent, Some("opus")));
    world.advice.agent = Some(AgentWish { agent: "docs".into(), model: "///".into() });
    assert_eq!(default(&world).rule, Rule::Pattern, "what is nonsense is passed over");
    assert_eq!(default(&world).warnings.len(), 2, "and said, beside the stand-in");
    world.advice.agent = Some(AgentWish { agent: "docs".into(), model: "local/eyes".into() });
    assert_eq!(default(&world).model.to_string(), "local/eyes");
    assert_eq!(world.resolve("local/thinker", Needs::default()).unwrap().rule, Rule::Explicit);
    let said = "it won t001 1d ago by 40 %".to_owned();
    world.advice.contest = Some(ContestAdvice { winner: Some(ModelRef::new("openai", "gpt-6-sol")), said });
    let found = default(&world);
    assert_eq!((found.model.to_string().as_str(), found.rule), ("openai/gpt-6-sol", Rule::Contest));
    assert_eq!(found.task_type.as_deref(), Some("code-review"));
    let chosen = found.trace.iter().find(|step| step.chosen).unwrap();
    assert_eq!((chosen.step, chosen.why.as_str()), (Step::Contest, "it won t001 1d ago by 40 %"));
    let of_type = resolve(&world.question(&Selector::TaskType("code-review".into()), Needs::default())).unwrap();
    assert_eq!(of_type.rule, Rule::Contest);
}

#[test]
fn a_contest_never_decides_for_a_request_that_says_where_it_goes_nor_for_a_winner_that_cannot_be_asked() {
    let mut world = World::new();
    world.catalogue.default_model = None;
    world.advice.contest = Some(ContestAdvice { winner: "openai/gpt-6-sol".parse().ok(), said: "it won".into() });
    for named in ["local/thinker", "tier=haiku", "node:code"] {
        let found = world.resolve(named, Needs::default()).unwrap();
        assert_ne!(found.rule, Rule::Contest, "{named}");
    }
    let passed = |world: &World, needs: Needs, words: &str| {
        let found = world.resolve("", needs).unwrap();
        assert_ne!(found.rule, Rule::Contest, "{words}");
        let step = found.trace.iter().find(|step| step.step == Step::Contest).unwrap();
        assert!(!step.chosen && step.why.contains(words), "{words}: {}", step.why);
    };
    passed(&world, Needs { reasoning: true, ..Needs::default() }, "cannot reason");
    let mut cooling = world.clone();
    cooling.bar("openai", i64::MAX);
    passed(&cooling, Needs::default(), "passed over");
    let mut poor = world.clone();
    poor.advice.budget.exhausted.insert("openai".into(), "openai has spent its budget".into());
    passed(&poor, Needs::default(), "openai has spent its budget");
    let mut gone = world.clone();
    gone.advice.contest = Some(ContestAdvice { winner: "openai/gone".parse().ok(), said: "it won".into() });
    passed(&gone, Needs::default(), "passed over");
    let mut forbidden = world.clone();
    forbidden.config = config_with("[policy]\ndeny_providers = [\"openai\"]\n");
    passed(&forbidden, Needs::default(), "not allowed");
    world.advice.contest = Some(ContestAdvice { winner: None, said: "it is too old".into() });
    passed(&world, Needs::default(), "it is too old");
}

#[test]
fn the_budget_lowers_a_tier_and_closes_a_provider() {
    let mut world = World::new();
    world.advice.budget.is_set = true;
    world.advice.budget.degraded.insert("opus".into(), "80 % of today's budget is spent".into());
    let lowered = world.resolve("tier=opus", Needs::default()).unwrap();
    assert_eq!((lowered.tier.as_deref(), lowered.requested_tier.as_deref()), (Some("sonnet"), Some("opus")));
    // The tier between the two has no model here.
    assert!(lowered.warnings[0].starts_with("tier opus is downgraded to sonnet"), "{:?}", lowered.warnings);
    world.advice.budget.exhausted.insert("openai".into(), "openai has spent its budget".into());
    let found = world.resolve("tier=sonnet", Needs::default()).unwrap();
    assert_eq!((found.model.to_string().as_str(), found.requested_tier.as_deref()), ("local/eyes", Some("sonnet")));
    let refused = world.resolve("openai/gpt-6-sol", Needs::default()).unwrap_err();
    assert!(matches!(refused, RouteError::OverBudget { .. }), "{refused}");
}

#[test]
fn none_that_fits_is_an_error_that_lists_the_nearest() {
    let world = World::new();
    let needs = Needs { images: 1, context: 900_000, ..Needs::default() };
    let error = world.resolve("node:code", needs).unwrap_err().to_string();
    assert!(error.contains("no connected model fits tag node:code"), "{error}");
    assert!(error.contains("cannot hold about 900000 tokens"), "{error}");
    assert!(error.contains("Nearest: local/alpha (cannot take images)"), "{error}");
    let empty = World { catalogue: Catalogue::default(), ..World::new() };
    let error = empty.resolve("", Needs::default()).unwrap_err();
    assert!(matches!(error, RouteError::NoModels { .. }), "{error}");
}

#[test]
fn the_default_tables_hold_together() {
    // The seventeen types are the product's vocabulary; a lost one would break scripts.
    let config = config();
    assert_eq!(config.task_types.len(), 17);
    assert!(config.task_types.values().all(|tier| config.tiers.contains_key(tier)));
    assert!(config.tiers.keys().all(|tier| config.tier_order.contains(tier) && config.tier_scores.contains_key(tier)));
}
