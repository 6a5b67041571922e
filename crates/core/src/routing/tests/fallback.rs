//! Where work goes after a failure, by tables: each row is a configuration, a request, the failures one after
//! another, and the models that are asked.

use super::*;
use crate::values::Trigger;

pub(super) const NOW: i64 = 1_794_700_000_000_000;
pub(super) const SOON: i64 = NOW + 60_000_000;

pub(super) const TIERS: &str = r#"
[tiers]
haiku = ["a/h1", "b/h2"]
flash = ["a/f1"]
sonnet = ["a/s1", "b/s2", "c/s3"]
pro = ["a/p1"]
opus = ["b/o1"]
"#;

/// Three providers with the models of the tiers, one model that no tier lists, and a provider without a key.
pub(super) fn listed(toml: &str) -> World {
    let eyes = Model { image_input: true, ..model("s3", 12.0) };
    let a = vec![model("h1", 0.5), model("f1", 1.0), model("s1", 10.0), model("p1", 20.0)];
    let b = vec![model("h2", 0.6), model("s2", 11.0), model("o1", 50.0)];
    let providers = BTreeMap::from([
        ("a".to_owned(), provider(Source::Config, false, a)),
        ("b".to_owned(), provider(Source::Env, true, b)),
        ("c".to_owned(), provider(Source::Custom, false, vec![eyes])),
        ("extra".to_owned(), provider(Source::Config, false, vec![model("free", 9.0)])),
        ("keyless".to_owned(), provider(Source::Api, false, vec![model("k", 10.0)])),
    ]);
    let catalogue = Catalogue { providers, ..Catalogue::default() };
    World { catalogue, config: config_with(&format!("{toml}\n{TIERS}")), ..World::new() }
}

/// A request and how it may move.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) reference: &'a str,
    pub(super) exchange: Exchange,
    pub(super) agent: Option<&'a str>,
    pub(super) needs: Needs,
}

pub(super) fn routed(reference: &str) -> Asked<'_> {
    Asked { reference, exchange: Exchange::Routed, agent: None, needs: Needs::default() }
}

pub(super) fn asked(reference: &str) -> Asked<'_> {
    Asked { exchange: Exchange::Asked, ..routed(reference) }
}

/// The decisions, one for each model that is asked, and the error when the failures outlast the models.
pub(super) fn walk(world: &World, request: Asked<'_>, failures: &[Trigger]) -> (Vec<Resolution>, Option<RouteError>) {
    let selector = world.selector(request.reference).unwrap();
    let question = world.question(&selector, request.needs);
    let mut hops = vec![resolve(&question).unwrap()];
    let mut tried = Vec::new();
    for trigger in failures {
        let before = hops.last().unwrap();
        tried.push(Tried { model: before.model.clone(), trigger: *trigger });
        match next(&question, before, &tried, request.exchange, request.agent) {
            Ok(found) => hops.push(found),
            Err(error) => return (hops, Some(error)),
        }
    }
    (hops, None)
}

/// The models of a walk, and at its end the text of the error.
#[track_caller]
pub(super) fn check(world: &World, request: Asked<'_>, failures: &[Trigger], expected: &[&str], end: Option<&str>) {
    let (hops, error) = walk(world, request, failures);
    let models: Vec<String> = hops.iter().map(|hop| hop.model.to_string()).collect();
    assert_eq!(models, expected, "{error:?}");
    match (error, end) {
        (None, None) => {}
        (Some(RouteError::Exhausted { why } | RouteError::Held { why }), Some(end)) => {
            assert!(why.contains(end), "{why}")
        }
        (error, end) => panic!("{} ended with {error:?} instead of {end:?}", request.reference),
    }
}

pub(super) const LIMIT: Trigger = Trigger::RateLimit;
pub(super) const WEAK: Trigger = Trigger::Capability;

#[test]
fn the_chain_is_the_agents_then_the_tiers_then_the_default_one() {
    let all = "[fallback]\ndefault = [\"a/p1\"]\n[fallback.tiers]\nsonnet = [\"b/s2\"]\nopus = []\n\
               [fallback.agents]\ndocs = [\"haiku\"]\nempty = []\n";
    let table = [
        (all, Some("docs"), Some("sonnet"), ChainOrigin::Agent, vec!["haiku"]),
        (all, Some("docs"), None, ChainOrigin::Agent, vec!["haiku"]),
        (all, Some("empty"), Some("sonnet"), ChainOrigin::Tier, vec!["b/s2"]),
        (all, Some("other"), Some("sonnet"), ChainOrigin::Tier, vec!["b/s2"]),
        (all, None, Some("sonnet"), ChainOrigin::Tier, vec!["b/s2"]),
        (all, None, Some("opus"), ChainOrigin::Default, vec!["a/p1"]),
        (all, None, Some("haiku"), ChainOrigin::Default, vec!["a/p1"]),
        (all, None, None, ChainOrigin::Default, vec!["a/p1"]),
        ("", Some("docs"), Some("sonnet"), ChainOrigin::BuiltIn, vec![]),
        ("", None, None, ChainOrigin::BuiltIn, vec![]),
    ];
    for (toml, agent, tier, origin, expected) in table {
        let config = config_with(toml);
        let (found, entries) = chain(&config, agent, tier);
        assert_eq!((found, entries), (origin, expected.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice()));
    }
    // And each is what is really followed.
    let world = listed(all);
    check(&world, Asked { agent: Some("docs"), ..routed("sonnet") }, &[LIMIT], &["a/s1", "a/h1"], None);
    check(&world, routed("sonnet"), &[LIMIT], &["a/s1", "b/s2"], None);
    check(&world, routed("haiku"), &[LIMIT], &["a/h1", "a/p1"], None);
    check(&listed(""), routed("sonnet"), &[LIMIT], &["a/s1", "b/s2"], None);
}

#[test]
fn availability_stays_in_the_tier_then_takes_stand_ins() {
    let world = listed("");
    for trigger in Trigger::ALL.into_iter().filter(|trigger| *trigger != WEAK) {
        check(&world, routed("sonnet"), &[trigger; 2], &["a/s1", "b/s2", "c/s3"], None);
    }
    // Nothing of the tier is left, so the best of all by the tier's own score substitutes, whichever tier lists it.
    let (hops, error) = walk(&world, routed("haiku"), &[LIMIT; 3]);
    let last = hops.last().unwrap();
    assert_eq!((last.tier.as_deref(), last.requested_tier.as_deref(), error), (Some("haiku"), None, None));
    let scores: Vec<i64> = last.candidates.iter().map(|candidate| candidate.score).collect();
    assert!(last.candidates[0].model == last.model.to_string() && scores.iter().rev().is_sorted(), "{scores:?}");
    assert!(last.warnings.iter().any(|said| said.starts_with("tier haiku: none of its models fits here")));
    // A tag is asked again as the tag that it was.
    let (hops, _) = walk(&world, routed("node:code"), &[LIMIT]);
    let found = hops[1].reason.split("is asked: ").nth(1).unwrap();
    assert!(found.starts_with("another by tag auto:code; "), "{}", hops[1].reason);
    let (hops, _) = walk(&world, routed(""), &[LIMIT]);
    assert!(hops[1].reason.contains("another by tag auto; "), "{}", hops[1].reason);
}

#[test]
fn capability_goes_up_tier_by_tier_and_never_sideways() {
    let up = ["a/h1", "a/f1", "a/s1", "a/p1", "b/o1"];
    check(&listed("[fallback]\ndepth = 9\n"), routed("haiku"), &[WEAK; 4], &up, None);
    check(&listed("[fallback]\ndepth = 9\n"), routed("haiku"), &[WEAK; 5], &up, Some("opus is the strongest"));
    // A chain lists what is equal, not what is stronger.
    let chained = listed("[fallback.tiers]\nsonnet = [\"b/h2\"]\n");
    check(&chained, routed("sonnet"), &[WEAK], &["a/s1", "a/p1"], None);
    // After going up, what fails there is exchanged there.
    check(&listed(""), routed("flash"), &[WEAK, LIMIT], &["a/f1", "a/s1", "b/s2"], None);
    // A tier whose own cannot be asked is passed over before any model substitutes for it.
    let mut barred = listed("");
    barred.bar("a", SOON);
    check(&barred, routed("haiku"), &[WEAK], &["b/h2", "b/s2"], None);
    // Of the substitutes, none is of the tier that was too weak.
    let mut few = listed("");
    few.catalogue.providers.retain(|id, _| id == "a" || id == "b");
    for (id, kept) in [("a", &["h1"][..]), ("b", &["h2"][..])] {
        few.catalogue
            .providers
            .get_mut(id)
            .unwrap()
            .models
            .edit(|models| models.retain(|model, _| kept.contains(&model.as_str())));
    }
    check(&few, routed("haiku"), &[WEAK], &["a/h1"], Some("1 is of no stronger tier"));
    few.catalogue.providers.insert("d".into(), provider(Source::Config, false, vec![model("any", 5.0)]));
    check(&few, routed("haiku"), &[WEAK], &["a/h1", "d/any"], None);
    // A tag's model has the tier that lists it; without one nothing is known to be stronger.
    let none = listed("tier_order = [\"haiku\", \"flash\", \"sonnet\", \"pro\"]\n");
    check(&none, asked("extra/free"), &[WEAK], &["extra/free"], Some("extra/free is of no tier"));
    check(&none, asked("a/h1"), &[WEAK], &["a/h1", "a/f1"], None);
    check(&none, routed("opus"), &[WEAK], &["b/o1"], Some("tier opus is not in `tier_order`"));
}

#[test]
fn a_chain_is_followed_and_what_it_passes_over_is_said() {
    let toml = "[fallback.tiers]\nsonnet = [\"keyless/k\", \"nope/x\", \"a/gone\", \"b/h2@high\", \"b/s2\", \"a/s1\", \
                \"c/s3\", \"extra/free\", \"haiku\"]\n[policy]\ndeny_providers = [\"c\"]\n";
    let mut world = listed(toml);
    world.bar("b/s2", SOON);
    let (hops, _) = walk(&world, routed("sonnet"), &[LIMIT]);
    let hop = &hops[1];
    assert_eq!(hop.model.to_string(), "extra/free");
    let passed = [
        ("keyless/k", "no key for its provider"),
        ("nope/x", "its provider is not connected"),
        ("a/gone", "its provider does not have it"),
        ("b/h2@high", "it does not have that variant"),
        ("b/s2", "in cooldown for another 1m: test"),
        ("a/s1", "was asked already (rate_limit)"),
        ("c/s3", "its provider is not allowed"),
    ];
    for (entry, why) in passed {
        assert!(hop.reason.contains(&format!("{entry} ({why})")), "{}", hop.reason);
        let noted = |step: &&TraceStep| step.candidate.as_deref() == Some(entry) && step.why == why;
        assert!(hop.trace.iter().any(|step| noted(&step)), "{entry}: {:?}", hop.trace);
    }
    // The end of the chain is a tier.
    check(&world, routed("sonnet"), &[LIMIT; 2], &["a/s1", "extra/free", "a/h1"], None);
    let images = Needs { images: 1, ..Needs::default() };
    let seen = listed("[fallback]\ndefault = [\"b/s2\", \"flash\"]\n");
    let request = Asked { needs: images, ..routed("sonnet") };
    check(&seen, request, &[LIMIT], &["c/s3"], Some("b/s2: cannot take images; flash: "));
    // Models that the chain names come before any substitute for a tier of it.
    let mut first = listed("[fallback]\ndefault = [\"haiku\", \"extra/free\"]\n");
    first.bar("a/h1", SOON);
    first.bar("b/h2", SOON);
    check(&first, routed("sonnet"), &[LIMIT], &["a/s1", "extra/free"], None);
    let (hops, _) = walk(&first, routed("sonnet"), &[LIMIT; 2]);
    assert_eq!((hops[2].tier.as_deref(), hops[2].requested_tier.as_deref()), (Some("haiku"), Some("sonnet")));
}

#[test]
fn a_named_model_stays_until_it_is_asked_to_move() {
    let chained = "[fallback]\ndefault = [\"b/s2\"]\n";
    let profiles = "[profiles]\nmine = \"a/s1\"\ntiered = \"sonnet\"\n";
    let set = "default_model = \"a/s1\"\n";
    let named = Some("the model was named, and `--fallback` was not");
    let without = Some("the model is set without a chain");
    let stays: &[&str] = &["a/s1"];
    let moves: &[&str] = &["a/s1", "b/s2"];
    let table = [
        ("", routed("a/s1"), stays, named),
        (chained, routed("a/s1"), stays, named),
        (chained, routed("s1"), stays, named),
        ("", asked("a/s1"), moves, None),
        ("", asked("s1"), moves, None),
        (chained, asked("a/s1"), moves, None),
        (set, routed(""), stays, without),
        (set, asked(""), moves, None),
        (profiles, routed("profile=mine"), stays, without),
        (profiles, asked("profile=mine"), moves, None),
        (profiles, routed("profile=tiered"), moves, None),
    ];
    for (toml, request, expected, end) in table {
        check(&listed(toml), request, &[LIMIT], expected, end);
    }
    let both = |one: &str, other: &str| listed(&format!("{one}{other}"));
    check(&both(set, chained), routed(""), &[LIMIT], moves, None);
    check(&both(chained, profiles), routed("profile=mine"), &[LIMIT], moves, None);
    // OpenCode's own setting is one as well.
    let mut theirs = listed("");
    theirs.catalogue.default_model = Some("a/s1".parse().unwrap());
    check(&theirs, routed(""), &[LIMIT], stays, without);
}

#[test]
fn what_an_agent_asks_for_moves_unless_it_is_one_model() {
    let mut world = listed("");
    let wish = |model: &str| Some(AgentWish { agent: "docs".into(), model: model.into() });
    world.advice.agent = wish("a/s1");
    check(&world, routed(""), &[LIMIT], &["a/s1"], Some("the model is set without a chain"));
    check(&world, asked(""), &[LIMIT], &["a/s1", "b/s2"], None);
    world.advice.agent = wish("sonnet");
    check(&world, routed(""), &[LIMIT], &["a/s1", "b/s2"], None);
    // A tag's needs go along, although the tier of its model has others.
    world.advice.agent = wish("node:vision");
    check(&world, routed(""), &[LIMIT], &["c/s3"], Some("was asked already (rate_limit)"));
}

#[test]
fn a_contest_decides_once() {
    let mut world = listed("[fallback]\ndefault = [\"b/s2\"]\n");
    world.advice.contest =
        Some(ContestAdvice { winner: "a/s1".parse().ok(), said: "it won t001 1d ago by 40 %".into() });
    check(&world, routed(""), &[LIMIT], &["a/s1", "b/s2"], None);
    check(&world, routed("haiku"), &[], &["a/h1"], None);
    check(&listed(""), asked("a/s1"), &[LIMIT; 2], &["a/s1", "b/s2", "c/s3"], None);
}

#[test]
fn a_trigger_that_is_switched_off_does_not_move() {
    for off in Trigger::ALL {
        let mut world = listed("");
        world.config.fallback.triggers.retain(|trigger| *trigger != off);
        check(&world, routed("haiku"), &[off], &["a/h1"], Some(&format!("`fallback.triggers` does not have {off}")));
        let other = if off == LIMIT { Trigger::Timeout } else { LIMIT };
        check(&world, routed("haiku"), &[other, off], &["a/h1", "b/h2"], Some("`fallback.triggers`"));
    }
}

#[test]
fn the_depth_ends_it() {
    let mut world = listed("");
    let names = ["v", "w", "x", "y", "z"];
    let more = names.map(|id| model(id, 10.0)).to_vec();
    world.catalogue.providers.insert("more".into(), provider(Source::Config, false, more));
    let (hops, error) = walk(&world, routed("sonnet"), &[LIMIT; 9]);
    assert_eq!(hops.len(), 5);
    assert_eq!(error.unwrap().to_string(), "no other model can be asked: 5 were asked, which is `fallback.depth`");
    for depth in [1, 2, 7] {
        world.config.fallback.depth = depth;
        assert_eq!(walk(&world, routed("sonnet"), &[LIMIT; 9]).0.len(), depth);
    }
}

#[test]
fn a_hop_waits_for_nobody() {
    let mut world = listed("");
    world.bar("b/s2", SOON);
    check(&world, routed("sonnet"), &[LIMIT], &["a/s1", "c/s3"], None);
    world.bar("c", NOW);
    check(&world, routed("sonnet"), &[LIMIT], &["a/s1", "c/s3"], None);
    for provider in ["a", "b", "c", "extra"] {
        world.bar(provider, SOON);
    }
    // The first choice may wait when all do; a fallback may not, and its error names what waits and for how long.
    let (hops, error) = walk(&world, routed("sonnet"), &[LIMIT]);
    assert_eq!(hops[0].model.to_string(), "a/s1");
    let why = error.unwrap().to_string();
    assert!(why.contains("8 in cooldown; 1 no key for its provider; 1 was asked already"), "{why}");
    assert!(why.contains("c/s3 (in cooldown for another 1m: test)"), "{why}");
    assert!(!why.contains("; ."), "{why}");
    let (_, error) = walk(&world, routed("haiku"), &[WEAK]);
    let why = error.unwrap().to_string();
    assert!(why.contains("tier flash: ") && why.contains("in cooldown"), "{why}");
}
