//! How well a model fits a purpose, in points: whole numbers, so that the same inputs rank the same everywhere.

use super::{Model, ReleaseDate, Status};
use crate::settings::Score;

/// A trait at its fullest.
const FULL: i64 = 1000;
/// Where `middle` peaks: about the price of a good everyday model.
const MIDDLE: i64 = 740;
/// For an unknown value.
const UNKNOWN: i64 = 450;
/// A model of this age counts as old as any older one.
const OLD_DAYS: i64 = 3 * 365;

/// The points of a model; `today` is days since the Unix epoch.
pub(super) fn points(model: &Model, score: &Score, today: i64) -> i64 {
    let mut sum = Sum::of_plain(model, score);
    if sum.needs_strength {
        sum.add_strength(strength(model), score);
    }
    sum.add(score.recent, || recency(model.release_date, today));
    sum.add(score.words, || yes(has_word(&model.id, &score.prefer)));
    sum.points(model)
}

/// At least as many points, without reading a name: most models can be passed over by this alone.
pub(super) fn most_points(model: &Model, score: &Score, today: i64) -> i64 {
    let mut sum = Sum::of_plain(model, score);
    if sum.needs_strength {
        sum.add(score.cheap.max(0), || FULL);
        sum.add(score.strong.max(0), || FULL);
        sum.add(score.middle.max(0), || FULL);
    }
    sum.add(score.recent, || recency(model.release_date, today));
    sum.add(score.words.max(0), || FULL);
    sum.points(model)
}

fn yes(has: bool) -> i64 {
    if has { FULL } else { 0 }
}

/// Traits that are added up. Weights come from the user, who may write any number.
struct Sum {
    sum: i64,
    /// Whether its strength is still to be read from its name.
    needs_strength: bool,
}

impl Sum {
    /// The values from the model's own numbers.
    fn of_plain(model: &Model, score: &Score) -> Self {
        let mut sum = Self { sum: 0, needs_strength: false };
        if score.cheap != 0 || score.strong != 0 || score.middle != 0 {
            match priced_strength(model) {
                Some(strong) => sum.add_strength(strong, score),
                None => sum.needs_strength = true,
            }
        }
        sum.add(score.context, || width(model.context));
        sum.add(score.reasoning, || yes(model.reasoning));
        sum.add(score.vision, || yes(model.image_input));
        sum.add(score.tools, || yes(model.tool_calls));
        sum
    }

    fn add(&mut self, weight: i64, fill: impl FnOnce() -> i64) {
        // What does not count is not worked out: a decision scores thousands of models.
        if weight != 0 {
            self.sum = self.sum.saturating_add(weight.saturating_mul(fill()));
        }
    }

    fn add_strength(&mut self, strong: i64, score: &Score) {
        self.add(score.cheap, || FULL - strong);
        self.add(score.strong, || strong);
        self.add(score.middle, || (FULL - (strong - MIDDLE).abs() * FULL / MIDDLE).max(0));
    }

    fn points(&self, model: &Model) -> i64 {
        let trust = match model.status {
            Status::Active => 0,
            Status::Beta => 50,
            Status::Alpha => 100,
            Status::Deprecated => 500,
        };
        self.sum / 100 - trust
    }
}

/// By the price of what it writes; without one, by its size.
pub(super) fn strength(model: &Model) -> i64 {
    priced_strength(model).unwrap_or_else(|| {
        billions(&model.id)
            .or_else(|| billions(&model.name))
            .map_or(UNKNOWN, |size| (log2(size + 1) * FULL / (9 << 10)).min(FULL))
    })
}

fn priced_strength(model: &Model) -> Option<i64> {
    let dime_per_million = model.price.output.0 / 100_000_000;
    (model.price.output.0 > 0).then(|| (log2(dime_per_million + 1) * FULL / (9 << 10)).min(FULL))
}

/// The number of parameters in a name, such as `70b`, in billions.
fn billions(name: &str) -> Option<i64> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let sizes = words.filter_map(|word| {
        let number = word.strip_suffix(['b', 'B'])?;
        let number = number.rsplit(['x', 'X']).next()?;
        let whole = number.split('.').next()?;
        whole.parse::<i64>().ok().filter(|size| (1..=5000).contains(size))
    });
    sizes.max()
}

/// Newer is better, over three years.
fn recency(date: ReleaseDate, today: i64) -> i64 {
    date.days().map_or(UNKNOWN, |released| FULL - (today - released).clamp(0, OLD_DAYS) * FULL / OLD_DAYS)
}

/// From 4 thousand tokens to a million.
fn width(context: u64) -> i64 {
    let context = i64::try_from(context).unwrap_or(i64::MAX);
    if context == 0 { UNKNOWN } else { ((log2(context) - (12 << 10)) * FULL / (8 << 10)).clamp(0, FULL) }
}

/// The logarithm in 1024ths, straight between powers of two.
fn log2(value: i64) -> i64 {
    let value = value.max(1);
    let power = i64::from(value.ilog2());
    let rest = value - (1_i64 << power);
    (power << 10) + if power < 50 { (rest << 10) >> power } else { (rest >> (power - 50) << 10) >> 50 }
}

fn has_word(id: &str, words: &[String]) -> bool {
    // By bytes: what is no letter or digit of ASCII ends a word, whatever it is a part of.
    let mut own = id.as_bytes().split(|byte| !byte.is_ascii_alphanumeric());
    own.any(|own| words.iter().any(|word| own.eq_ignore_ascii_case(word.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nano, settings::Layered, values::money::Price};

    #[test]
    fn sizes_and_strengths() {
        assert_eq!(billions("qwen3-30b-a3b-2507"), Some(30));
        assert_eq!(billions("mixtral-8x7b"), Some(7));
        assert_eq!(billions("llama3.1:70b"), Some(70));
        assert_eq!(billions("gpt-6-sol"), None);
        let priced = |usd: f64| Model {
            price: Price { output: Nano::from_usd(usd).unwrap(), ..Price::default() },
            ..Model::default()
        };
        let strengths: Vec<i64> = [0.5, 3.75, 10.0, 20.0, 50.0, 600.0].map(|usd| strength(&priced(usd))).to_vec();
        assert!(strengths.is_sorted() && strengths[5] == FULL, "{strengths:?}");
        assert!((strengths[2] - MIDDLE).abs() < 60, "{strengths:?}");
    }

    #[test]
    fn no_weight_is_too_large() {
        let most = Score { cheap: i64::MAX, strong: i64::MAX, recent: i64::MAX, tools: i64::MIN, ..Score::default() };
        let able = Model { tool_calls: true, context: u64::MAX, ..Model::default() };
        let priced = Model { price: Price { output: Nano(i64::MAX), ..Price::default() }, ..able.clone() };
        for model in [Model::default(), able, priced] {
            let _ = points(&model, &most, i64::MAX / 86_400_000_000);
        }
        assert!(points(&Model::default(), &most, 0) > 1_000_000);
    }

    #[test]
    fn nothing_has_more_points_than_the_most() {
        let config = Layered::merge(&[]).unwrap().config;
        let ids = ["qwen3:4b", "gpt-oss:120b", "claude-haiku-4-5", "codex", "x"];
        let dates = ["2026-11-01", "2020-01-01", "", "soon"];
        for (id, date, usd) in
            ids.iter().flat_map(|id| dates.iter().flat_map(move |date| [0.0, 3.0, 90.0].map(|usd| (id, date, usd))))
        {
            let price = Price { output: Nano::from_usd(usd).unwrap(), ..Price::default() };
            let model =
                Model { id: (*id).into(), release_date: (*date).into(), price, context: 9000, ..Model::default() };
            let negative = Score { cheap: -5, recent: -9, words: -7, prefer: vec!["x".into()], ..Score::default() };
            for score in config.scores.values().chain([&negative]) {
                assert!(points(&model, score, 20772) <= most_points(&model, score, 20772), "{model:?} {score:?}");
            }
        }
    }

    #[test]
    fn one_local_provider_still_has_a_sensible_order() {
        let config = Layered::merge(&[]).unwrap().config;
        let model = |id: &str| Model { id: id.into(), tool_calls: true, text_output: true, ..Model::default() };
        let best = |score: &str| {
            let names = ["qwen3:4b", "qwen3:32b", "gpt-oss:120b", "llama:405b"];
            names.into_iter().max_by_key(|id| points(&model(id), &config.scores[score], 20772)).unwrap()
        };
        assert_eq!(best("cheap"), "qwen3:4b");
        assert_eq!(best("balanced"), "gpt-oss:120b");
        assert_eq!(best("strong"), "llama:405b");
    }
}
