//! What an attempt may cost, before it runs: what the model's earlier requests cost, blended with the size of the
//! prompt while there are few of them; or the most that it can cost.

use crate::{Nano, Usage, routing::Model, values::money::round_exact};
use std::fmt;

/// How careful a reservation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserving {
    /// What it will probably come to.
    Likely,
    /// The most that it can come to.
    WorstCase,
}

/// What this model's requests of the same mode came to before, of those whose cost is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    pub samples: u32,
    pub mean_cost: Nano,
    pub mean_tokens: u64,
}

/// Where an estimate comes from. Shown to people as the reason for a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    History { samples: u32, mean_cost: Nano },
    Prompt,
    WorstCase,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::History { samples: 1, mean_cost } => write!(f, "1 earlier request to this model cost {mean_cost}"),
            Self::History { samples, mean_cost } => {
                write!(f, "{samples} earlier requests to this model averaged {mean_cost}")
            }
            Self::Prompt => f.write_str("prompt size, no history yet"),
            Self::WorstCase => f.write_str("the most that it can cost, because `budget.strict` is set"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// `None` when the model has no price.
    pub cost: Option<Nano>,
    pub tokens: u64,
    pub basis: Basis,
}

/// `steps` is how often the model may be asked, `output` the guess for one answer.
#[must_use]
pub fn estimate(
    model: &Model,
    prompt_tokens: u64,
    output: u64,
    steps: u64,
    history: Option<&History>,
    reserving: Reserving,
) -> Estimate {
    let priced = |usage: &Usage| (!model.price.is_zero()).then(|| round_exact(model.price.exact(usage)));
    let of = |usage: Usage, basis| Estimate { cost: priced(&usage), tokens: usage.total(), basis };
    match reserving {
        Reserving::WorstCase => {
            // The whole context may be read and the whole output written, at every step.
            let known = |limit: u64, otherwise: u64| if limit == 0 { otherwise } else { limit };
            let input = known(model.context, prompt_tokens.saturating_mul(4)).max(prompt_tokens);
            let output = known(model.output, output.saturating_mul(4));
            let input = input.saturating_mul(steps);
            // Some charge more for a prompt that they keep than for one that they only read.
            let (input, cache_write) =
                if model.price.cache_write > model.price.input { (0, input) } else { (input, 0) };
            let usage = Usage { input, cache_write, output: output.saturating_mul(steps), ..Usage::default() };
            of(usage, Basis::WorstCase)
        }
        Reserving::Likely => {
            let by_prompt = of(Usage { input: prompt_tokens, output, ..Usage::default() }, Basis::Prompt);
            match history.filter(|history| history.samples > 0) {
                Some(history) => {
                    blend(&by_prompt, history, priced(&Usage { input: prompt_tokens, ..Usage::default() }))
                }
                None => by_prompt,
            }
        }
    }
}

/// The mean of the history, plus what the guess by the prompt has above it, divided by the number of samples and one:
/// the guess counts as one more sample, and only upwards.
///
/// The mean counts from the first sample on, because the guess takes every answer for a long one and refuses what
/// would fit within the limit. It is never undercut, because an agent's run takes many requests and the guess knows of
/// one. The surplus fades, because a single cheap answer proves little and twenty prove much. A prompt that is itself
/// dearer than all that came before (`floor`) sets the least.
fn blend(by_prompt: &Estimate, history: &History, floor: Option<Nano>) -> Estimate {
    let parts = u64::from(history.samples) + 1;
    let cost = by_prompt.cost.map(|guess| {
        let surplus = guess.less(history.mean_cost).0 / i64::try_from(parts).unwrap_or(i64::MAX);
        (history.mean_cost + Nano(surplus)).max(floor.unwrap_or_default())
    });
    let surplus = by_prompt.tokens.saturating_sub(history.mean_tokens) / parts;
    Estimate {
        cost,
        tokens: history.mean_tokens.saturating_add(surplus),
        basis: Basis::History { samples: history.samples, mean_cost: history.mean_cost },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::money::Price;

    fn model() -> Model {
        let price = Price { input: Nano(3_000_000_000), output: Nano(15_000_000_000), ..Price::default() };
        Model { context: 100_000, output: 8000, price, ..Model::default() }
    }

    fn likely(prompt: u64, history: Option<History>) -> Estimate {
        estimate(&model(), prompt, 500, 1, history.as_ref(), Reserving::Likely)
    }

    #[test]
    fn history_counts_from_the_first_sample_on_and_the_guess_fades() {
        // A prompt of 1000 tokens with 500 of an answer is a guess of 10.5 million nano-dollars.
        let guess = 10_500_000;
        let table = [
            // (samples, mean cost, estimate)
            (1, 2_500_000, 6_500_000),
            (3, 2_500_000, 4_500_000),
            (7, 2_500_000, 3_500_000),
            (79, 2_500_000, 3_000_000),
            (1, 0, guess / 2),
            // What cost more than the guess is believed at once.
            (1, 50_000_000, 50_000_000),
            (1, guess, guess),
        ];
        for (samples, mean, expected) in table {
            let history = History { samples, mean_cost: Nano(mean), mean_tokens: 700 };
            let found = likely(1000, Some(history));
            // Reading the prompt alone costs 3 million.
            assert_eq!(found.cost, Some(Nano(expected.max(3_000_000))), "{samples} of {mean}");
            assert_eq!(found.basis, Basis::History { samples, mean_cost: Nano(mean) });
            assert_eq!(found.tokens, 700 + 800 / (u64::from(samples) + 1));
        }
        assert_eq!(likely(1000, None).cost, Some(Nano(guess)));
        let nothing = History { samples: 0, mean_cost: Nano(1), mean_tokens: 1 };
        assert_eq!(likely(1000, Some(nothing)), likely(1000, None));
    }

    #[test]
    fn a_prompt_that_is_dearer_than_the_past_sets_the_least() {
        let history = History { samples: 1000, mean_cost: Nano(2_500_000), mean_tokens: 700 };
        assert_eq!(likely(50_000, Some(history)).cost, Some(Nano(150_000_000)));
    }

    #[test]
    fn the_worst_case_asks_no_history_and_a_model_without_a_price_has_no_cost() {
        let history = History { samples: 5, mean_cost: Nano(42), mean_tokens: 7 };
        let most = estimate(&model(), 1000, 500, 2, Some(&history), Reserving::WorstCase);
        assert_eq!(most.cost, Some(Nano(2 * (300_000_000 + 120_000_000))));
        let unpriced = Model { price: Price::default(), ..model() };
        assert_eq!(estimate(&unpriced, 1000, 500, 1, Some(&history), Reserving::Likely).cost, None);
        let endless = Model { context: u64::MAX, ..unpriced };
        assert_eq!(estimate(&endless, 1, 1, u64::MAX, None, Reserving::WorstCase).basis, Basis::WorstCase);
    }

    #[test]
    fn each_source_is_named() {
        let history = |samples| Basis::History { samples, mean_cost: Nano(3_000_000) };
        for (basis, text) in [
            (history(1), "1 earlier request to this model cost $0.0030"),
            (history(2), "2 earlier requests to this model averaged $0.0030"),
            (Basis::Prompt, "prompt size, no history yet"),
            (Basis::WorstCase, "the most that it can cost, because `budget.strict` is set"),
        ] {
            assert_eq!(basis.to_string(), text);
        }
    }
}
