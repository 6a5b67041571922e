//! What an attempt may cost, before it runs: learned from this model's past, else guessed from the size of the
//! prompt, or the most that it could cost at all.

use crate::{Nano, Usage, money::round_exact, route::Model};

/// How careful a reservation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserving {
    /// What it will probably come to.
    Likely,
    /// The most that it can come to.
    WorstCase,
}

/// What this model's attempts came to before, of the same mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    pub samples: u32,
    pub mean_cost: Nano,
    pub mean_tokens: u64,
}

/// Samples from which a mean is worth more than a guess.
const ENOUGH: u32 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    History,
    Prompt,
    WorstCase,
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
    match (reserving, history) {
        (Reserving::WorstCase, _) => {
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
        (Reserving::Likely, Some(history)) if history.samples >= ENOUGH => Estimate {
            cost: (!model.price.is_zero()).then_some(history.mean_cost),
            tokens: history.mean_tokens,
            basis: Basis::History,
        },
        (Reserving::Likely, _) => of(Usage { input: prompt_tokens, output, ..Usage::default() }, Basis::Prompt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Price;

    #[test]
    fn each_basis_has_its_amount() {
        let price = Price { input: Nano(3_000_000_000), output: Nano(15_000_000_000), ..Price::default() };
        let model = Model { context: 100_000, output: 8000, price, ..Model::default() };
        let past = History { samples: 5, mean_cost: Nano(42), mean_tokens: 7 };
        let few = History { samples: 4, ..past };
        let likely = |history| estimate(&model, 1000, 500, 1, history, Reserving::Likely);
        assert_eq!(likely(None).cost, Some(Nano(3_000_000 + 7_500_000)));
        assert_eq!(likely(Some(&few)).basis, Basis::Prompt);
        assert_eq!(likely(Some(&past)), Estimate { cost: Some(Nano(42)), tokens: 7, basis: Basis::History });
        let most = estimate(&model, 1000, 500, 2, Some(&past), Reserving::WorstCase);
        assert_eq!(most.cost, Some(Nano(2 * (300_000_000 + 120_000_000))));
        let unpriced = Model { price: Price::default(), ..model };
        assert_eq!(estimate(&unpriced, 1000, 500, 1, Some(&past), Reserving::Likely).cost, None);
        let endless = Model { context: u64::MAX, ..unpriced };
        assert_eq!(estimate(&endless, 1, 1, u64::MAX, None, Reserving::WorstCase).basis, Basis::WorstCase);
    }
}
