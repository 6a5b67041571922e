//! Random worlds: catalogues, settings, cooldowns and requests, with more nonsense in them than users manage.

use crate::{
    ModelRef, Nano,
    routing::{
        Advice, AgentWish, Availability, Bar, Catalogue, Classified, ContestAdvice, Model, Needs, Pattern, Provider,
        Question, Selector, Source, Status,
    },
    settings::{Config, FirstChoice},
    values::{Capability, ModelPolicy, money::Price},
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use std::{fmt, sync::LazyLock};

pub(super) const NOW: i64 = 1_794_700_000_000_000;
const TIERS: [&str; 5] = ["haiku", "flash", "sonnet", "pro", "opus"];
const TAGS: [&str; 6] = ["any", "fast", "vision", "docs", "code", "reasoning"];

static BUILT_IN: LazyLock<Config> = LazyLock::new(super::super::config);

/// Everything that a question borrows.
#[derive(Clone)]
pub(super) struct Scene {
    pub(super) catalogue: Catalogue,
    pub(super) config: Config,
    /// As they came, so that they can come in another order.
    pub(super) bars: Vec<(String, Bar)>,
    pub(super) availability: Availability,
    pub(super) advice: Advice,
    pub(super) selector: Selector,
    pub(super) needs: Needs,
}

impl fmt::Debug for Scene {
    /// Without the settings that are the same in every world.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { default_model, policy, fallback, tiers, tags, .. } = &self.config;
        f.debug_struct("Scene")
            .field("selector", &self.selector)
            .field("needs", &self.needs)
            .field("advice", &self.advice)
            .field("bars", &self.bars)
            .field("default_model", default_model)
            .field("profile", &self.config.profiles["mine"])
            .field("policy", policy)
            .field("fallback", &(&fallback.default, &fallback.tiers, &fallback.agents, fallback.depth))
            .field("tiers", tiers)
            .field("tags", tags)
            .field("catalogue", &self.catalogue)
            .finish()
    }
}

impl Scene {
    pub(super) fn question(&self) -> Question<'_> {
        Question {
            selector: &self.selector,
            needs: self.needs,
            policy: ModelPolicy::Dynamic,
            catalogue: &self.catalogue,
            config: &self.config,
            availability: &self.availability,
            advice: &self.advice,
            now: NOW,
        }
    }

    /// The same world in another order.
    pub(super) fn reversed(&self) -> Self {
        let mut turned = self.clone();
        turned.catalogue.providers.clear();
        for (id, provider) in self.catalogue.providers.iter().rev() {
            let models = provider.models.iter().rev().map(|(id, model)| (id.clone(), model.clone())).collect();
            turned.catalogue.providers.insert(id.clone(), Provider { models, ..provider.clone() });
        }
        turned.bars.reverse();
        turned.availability = availability(&turned.bars);
        turned
    }
}

fn availability(bars: &[(String, Bar)]) -> Availability {
    let mut availability = Availability::default();
    for (target, bar) in bars {
        availability.bar(target.clone(), bar.clone());
    }
    availability
}

pub(super) fn scene() -> impl Strategy<Value = Scene> {
    (catalogue(), config(), vec(bar(), 0..8), advice(), request(), needs()).prop_map(
        |(catalogue, config, bars, advice, request, needs)| {
            // A name that a tag or tier takes for its own may be no selector in this configuration.
            let selector = request.selector(&config);
            let availability = availability(&bars);
            Scene { catalogue, config, bars, availability, advice, selector, needs }
        },
    )
}

fn catalogue() -> impl Strategy<Value = Catalogue> {
    let providers = vec(provider(), 1..=6);
    (providers, option::of(reference()), option::of(reference())).prop_map(|(providers, default_model, small_model)| {
        let named = providers.into_iter().enumerate().map(|(index, provider)| (format!("p{index}"), provider));
        Catalogue { providers: named.collect(), default_model, small_model }
    })
}

fn provider() -> impl Strategy<Value = Provider> {
    let source = select(vec![Source::Config, Source::Custom, Source::Env, Source::Api, Source::Api]);
    (source, prop::bool::weighted(0.7), prop::bool::weighted(0.85), vec(model(), 0..=8)).prop_map(
        |(source, has_key, connected, models)| {
            let models = models.into_iter().enumerate().map(|(index, model)| {
                let id = name(index);
                (id.clone(), Model { id, ..model })
            });
            Provider { source, has_key, connected, models: models.collect(), ..Provider::default() }
        },
    )
}

/// Some names contain a size or a word that scores.
fn name(index: usize) -> String {
    match index {
        2 => "m2-70b".into(),
        3 => "maker/m3-flash".into(),
        4 => "m4@20260514".into(),
        _ => format!("m{index}"),
    }
}

fn model() -> impl Strategy<Value = Model> {
    let able = || prop::bool::weighted(0.7);
    let abilities = (able(), able(), able(), able(), prop::bool::weighted(0.95));
    let context = select(vec![0, 1, 9000, 128_000, 1_000_000, u64::MAX]);
    let price = || select(vec![-5, 0, 1, 400_000_000, 10_000_000_000, 50_000_000_000, i64::MAX]).prop_map(Nano);
    let status = select(vec![Status::Active, Status::Active, Status::Beta, Status::Alpha, Status::Deprecated]);
    let date = select(vec!["", "soon", "2026-09-22", "2025-02", "2024", "9999-99-99", "-", "2026-00-00", "٢٠٢٦-٠١-٠١"]);
    let variants = prop::bool::ANY.prop_map(|has| if has { vec!["high".to_owned()] } else { Vec::new() });
    (abilities, context, price(), price(), status, date, variants).prop_map(
        |(
            (image_input, tool_calls, reasoning, structured_output, text_output),
            context,
            input,
            output,
            status,
            date,
            variants,
        )| Model {
            image_input,
            tool_calls,
            reasoning,
            structured_output,
            text_output,
            context,
            price: Price { input, output, ..Price::default() },
            status,
            release_date: date.into(),
            variants,
            ..Model::default()
        },
    )
}

/// A model that may be there or not; the first ones more often, since most worlds have those.
fn reference() -> impl Strategy<Value = ModelRef> {
    let provider = select(vec![0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6]);
    let model = select(vec![0_usize, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 8]);
    (provider, model, prop::bool::weighted(0.2)).prop_map(|(provider, model, varied)| {
        let mut reference = ModelRef::new(format!("p{provider}"), name(model));
        reference.variant = varied.then(|| "high".to_owned());
        reference
    })
}

fn written() -> impl Strategy<Value = String> {
    reference().prop_map(|reference| reference.to_string())
}

fn needs() -> impl Strategy<Value = Needs> {
    let needed = || prop::bool::weighted(0.2);
    let context = select(vec![0, 0, 5000, 100_000, 500_000]);
    (needed(), needed(), needed(), needed(), context).prop_map(|(images, tools, structured, reasoning, context)| {
        Needs { images: usize::from(images), tools, structured, reasoning, context }
    })
}

fn bar() -> impl Strategy<Value = (String, Bar)> {
    let target = prop_oneof![
        2 => (0..7_usize).prop_map(|provider| format!("p{provider}")),
        3 => reference().prop_map(|reference| reference.base()),
    ];
    let until = select(vec![i64::MIN, NOW - 1, NOW, NOW + 1, NOW + 60_000_000, NOW + 90_000_000, i64::MAX]);
    (target, until, select(vec!["rate_limit", "quota"]))
        .prop_map(|(target, until, why)| (target, Bar { until, why: why.into() }))
}

fn capabilities() -> impl Strategy<Value = Vec<Capability>> {
    let all = vec![Capability::Vision, Capability::Tools, Capability::Reasoning, Capability::Structured];
    prop_oneof![3 => Just(Vec::new()), 2 => vec(select(all), 1..3)]
}

fn providers() -> impl Strategy<Value = Vec<String>> {
    let some = vec((0..7_usize).prop_map(|provider| format!("p{provider}")), 1..5);
    prop_oneof![3 => Just(Vec::new()), 1 => some]
}

/// A chain of models and tiers, often none.
fn chain() -> impl Strategy<Value = Vec<String>> {
    let entry =
        prop_oneof![3 => written(), 1 => select(&TIERS[..]).prop_map(str::to_owned), 1 => Just("standard".to_owned())];
    prop_oneof![2 => Just(Vec::new()), 1 => vec(entry, 1..5)]
}

fn config() -> impl Strategy<Value = Config> {
    let first = option::of(select(vec![FirstChoice::Model, FirstChoice::SmallModel]));
    let tags = vec((first, capabilities(), capabilities()), TAGS.len());
    let chains = (chain(), chain(), chain(), 1..7_usize);
    let default_model = prop_oneof![2 => Just(String::new()), 1 => written()];
    let profile = prop_oneof![written(), select(vec!["sonnet", "node:fast", "auto", "m1"]).prop_map(str::to_owned)];
    (vec(vec(written(), 0..5), TIERS.len()), tags, chains, (providers(), providers()), default_model, profile).prop_map(
        |(tiers, tags, (default, tier, agent, depth), (allow, deny), default_model, profile)| {
            let mut config = BUILT_IN.clone();
            config.tiers = TIERS.iter().map(|tier| (*tier).to_owned()).zip(tiers).collect();
            for (name, (first, needs, wants)) in TAGS.into_iter().zip(tags) {
                let tag = config.tags.get_mut(name).unwrap();
                (tag.first, tag.needs, tag.wants) = (first, needs, wants);
            }
            config.fallback.default = default;
            config.fallback.tiers.insert("sonnet".into(), tier);
            config.fallback.agents.insert("docs".into(), agent);
            config.fallback.depth = depth;
            config.policy.allow_providers = allow;
            config.policy.deny_providers = deny;
            config.default_model = default_model;
            config.profiles.insert("mine".into(), profile);
            config
        },
    )
}

fn advice() -> impl Strategy<Value = Advice> {
    let rarely = |of: BoxedStrategy<String>| prop_oneof![4 => Just(None), 1 => of.prop_map(Some)];
    let wish = prop_oneof![
        written(),
        select(vec!["opus", "standard", "node:vision", "auto", "///", "m1"]).prop_map(str::to_owned)
    ];
    let tier = select(vec!["haiku", "standard", "opus", "gone"]).prop_map(str::to_owned);
    let kind = select(vec!["haiku", "sonnet", "opus"]).prop_map(str::to_owned);
    let contest = rarely(written().boxed());
    let degraded = vec(select(&TIERS[..]), 0..2);
    let spent = vec((0..7_usize).prop_map(|provider| format!("p{provider}")), 0..2);
    (contest, rarely(wish.boxed()), rarely(tier.boxed()), proptest::bool::ANY, rarely(kind.boxed()), degraded, spent)
        .prop_map(|(contest, agent, pattern, enough, classified, degraded, spent)| {
            let mut advice = Advice {
                contest: contest
                    .map(|model| ContestAdvice { winner: Some(model.parse().unwrap()), said: "it won".into() }),
                agent: agent.map(|model| AgentWish { agent: "docs".into(), model }),
                pattern: pattern.map(|tier| Pattern {
                    tier: Some(tier).filter(|_| enough),
                    said: "learned".into(),
                    propensity: None,
                }),
                classified: classified.map(|tier| Classified { task_type: None, tier, why: "looks".into() }),
                ..Advice::default()
            };
            advice.budget.degraded = degraded.into_iter().map(|tier| (tier.to_owned(), "spent".to_owned())).collect();
            advice.budget.exhausted = spent.into_iter().map(|provider| (provider, "empty".to_owned())).collect();
            advice
        })
}

#[derive(Debug, Clone)]
enum Request {
    Said(String),
    TaskType(&'static str),
    Tier(&'static str),
    Profile(&'static str),
    Nothing,
}

impl Request {
    fn selector(self, config: &Config) -> Selector {
        match self {
            Self::Said(text) => Selector::from_reference(&text, config).unwrap(),
            Self::TaskType(name) => Selector::TaskType(name.into()),
            Self::Tier(name) => Selector::Tier(name.into()),
            Self::Profile(name) => Selector::Profile(name.into()),
            Self::Nothing => Selector::Default,
        }
    }
}

fn request() -> impl Strategy<Value = Request> {
    let tags = vec!["auto", "node", "node:fast", "auto:vision", "node:docs", "node:code", "auto:reasoning"];
    let names = vec!["m1", "M 1", "70b", "flash", "m4@20260514", "m5@high", "none of these"];
    prop_oneof![
        1 => written().prop_map(Request::Said),
        1 => select(names).prop_map(|name| Request::Said(name.to_owned())),
        4 => select(tags).prop_map(|tag| Request::Said(tag.to_owned())),
        3 => select(vec!["haiku", "flash", "sonnet", "pro", "opus", "simple", "thinking", "lost"]).prop_map(Request::Tier),
        1 => select(vec!["code-review", "boilerplate", "deep-research", "lost"]).prop_map(Request::TaskType),
        1 => select(vec!["mine", "architect", "lost"]).prop_map(Request::Profile),
        3 => Just(Request::Nothing),
    ]
}
