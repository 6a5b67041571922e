//! A decision by itself: from a request to the model, with every model of the public catalogue to choose from.

use super::texts::LONG;
use crate::figures::{Limits, micros, quantile};
use shuntyard_core::{
    routing::{Advice, Availability, Bar, Catalogue, Needs, Question, Selector, classify, resolve},
    settings::{Config, Layer, Layered, Origin},
    values::ModelPolicy,
};
use std::{
    hint::black_box,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

const RUNS: usize = 2000;
const BARS: usize = 50;
/// The most that a decision may add to a request, in microseconds.
const LONGEST: f64 = 1000.0;

/// All that stays the same between the cases.
struct Bench<'a> {
    catalogue: &'a Catalogue,
    config: Config,
    /// The same with tiers that list no model.
    emptied: Config,
    nothing_known: Availability,
    advice: Advice,
    now: i64,
}

pub fn measure(catalogue: &Catalogue, limits: &mut Limits) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
    let bench = Bench {
        catalogue,
        config: config(""),
        emptied: config("tiers = { opus = [], pro = [], sonnet = [], flash = [], haiku = [] }"),
        nothing_known: Availability::default(),
        advice: Advice::default(),
        now: i64::try_from(now.as_micros()).expect("microseconds"),
    };
    let (providers, models) = (catalogue.providers.len(), catalogue.models().count());
    println!("a decision over {models} models of {providers} providers, all usable, {RUNS} runs each");
    let worst = bench.decisions().into_iter().chain(bench.refusals()).max().unwrap_or_default();
    limits.hold("a decision, the slowest p99", micros(worst), LONGEST, "µs");
    limits.hold("a megabyte of repetition, the slowest p99", micros(bench.repetitions()), LONGEST, "µs");
}

fn config(text: &str) -> Config {
    let layer = Layer { origin: Origin::Flag("bench".into()), text: text.to_owned() };
    Layered::merge(&[layer]).expect("a configuration").config
}

impl<'a> Bench<'a> {
    fn question(&'a self, selector: &'a Selector) -> Question<'a> {
        Question {
            selector,
            needs: Needs::default(),
            policy: ModelPolicy::Dynamic,
            catalogue: self.catalogue,
            config: &self.config,
            availability: &self.nothing_known,
            advice: &self.advice,
            now: self.now,
        }
    }

    /// The p99 of each case that ends with a model.
    fn decisions(&self) -> Vec<Duration> {
        let code = self.selector("auto:code");
        let (opus, sonnet) = (Selector::Tier("opus".into()), Selector::Tier("sonnet".into()));
        let fuzzy = self.unique_name();
        let needs = Needs { images: 1, context: 200_000, ..Needs::default() };
        let best = self.bars(&self.question(&code));
        let unlisted = Question { config: &self.emptied, ..self.question(&opus) };
        let best_unlisted = self.bars(&unlisted);
        let able = Question { needs, ..self.question(&code) };
        assert!(resolve(&unlisted).is_ok_and(|found| found.tier.as_deref() == Some("opus") && found.considered > 5000));
        vec![
            case("tag auto:code", &self.question(&code)),
            case("tier opus, none listed", &unlisted),
            case("tier sonnet, models listed", &self.question(&sonnet)),
            case("tag auto:code, vision and 200k context", &able),
            case("tier opus, none listed, the same needs", &Question { needs, ..unlisted }),
            case("a name without its provider", &self.question(&fuzzy)),
            case("tag auto:code, 50 best barred", &Question { availability: &best, ..self.question(&code) }),
            case("tier opus, none listed, 50 best barred", &Question { availability: &best_unlisted, ..unlisted }),
            self.classified("2 kB of text, classified; models listed", &self.config),
            self.classified("2 kB of text, classified; none listed", &self.emptied),
        ]
    }

    /// The p99 of each case that ends with a reason instead; it has to search for what was meant.
    fn refusals(&self) -> Vec<Duration> {
        let cases = [("a name of several models", "sonnet"), ("a name of none", "clawd-sonet-55"), ("nonsense", "zq")];
        let refusal = |(what, name): (&str, &str)| {
            let selector = Selector::Fuzzy(name.into());
            let question = self.question(&selector);
            assert!(resolve(&question).is_err(), "{name}");
            times(what, || resolve(&question))
        };
        cases.map(refusal).to_vec()
    }

    fn classified(&self, what: &str, config: &Config) -> Duration {
        let look = || {
            let advice = Advice { classified: Some(classify(LONG, 0, config)), ..Advice::default() };
            resolve(&Question { config, advice: &advice, ..self.question(&Selector::Default) })
        };
        assert!(look().is_ok_and(|found| found.task_type.is_some()), "the text is not taken for any kind of task");
        times(what, look)
    }

    /// What could be read more than once.
    fn repetitions(&self) -> Duration {
        let texts = ["write ", "a", "#", "\n", "is ", ":1"].map(|again| again.repeat(1_000_000 / again.len()));
        let measure = |text: &String| times(&format!("{:?}…", &text[..2]), || classify(text, 0, &self.config));
        texts.iter().map(measure).max().unwrap_or_default()
    }

    fn selector(&self, text: &str) -> Selector {
        Selector::from_reference(text, &self.config).expect("a reference")
    }

    /// A name, not quite as it is written, that only one model of all has.
    fn unique_name(&self) -> Selector {
        let names = self.catalogue.models().map(|(_, _, model)| Selector::Fuzzy(model.id.replace(['-', '/'], " ")));
        let names: Vec<Selector> = names.collect();
        let unique = names.into_iter().rev().find(|name| resolve(&self.question(name)).is_ok());
        unique.expect("a model with a name of its own")
    }

    /// Bars the models and providers that would be chosen, one after the other.
    fn bars(&self, question: &Question<'_>) -> Availability {
        let mut availability = Availability::default();
        for count in 0..BARS {
            let found = resolve(&Question { availability: &availability, ..*question }).expect("a model");
            let target = if count % 10 == 9 { found.model.provider.clone() } else { found.model.base() };
            let until = self.now + 60_000_000;
            availability.bar(target, Bar { until, why: "rate_limit, asked to wait".into() });
        }
        assert_eq!(availability.iter().count(), BARS);
        availability
    }
}

fn case(what: &str, question: &Question<'_>) -> Duration {
    resolve(question).unwrap_or_else(|error| panic!("{what}: {error}"));
    times(what, || resolve(question))
}

/// Prints the median and the p99, and gives the p99.
fn times<T>(what: &str, decide: impl Fn() -> T) -> Duration {
    (0..RUNS / 10).for_each(|_| drop(black_box(decide())));
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let began = Instant::now();
        let decided = black_box(decide());
        times.push(began.elapsed());
        drop(decided);
    }
    let (p50, p99) = (quantile(&times, 0.5), quantile(&times, 0.99));
    println!("  {what:<42} p50 {:>8.1} µs   p99 {:>8.1} µs", micros(p50), micros(p99));
    p99
}
