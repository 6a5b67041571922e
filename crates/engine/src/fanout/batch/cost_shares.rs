//! One limit for all: what each target of a batch may cost, so that together they stay below `--max-cost`.

use super::Target;
use crate::{
    Context,
    routing::{catalogue::Refresh, choose::gather_inputs},
};
use shuntyard_core::{
    Nano, Usage,
    routing::{Catalogue, request::Request},
    values::money::round_exact,
};

/// What each may cost: its own estimate and an equal part of what is left over. When not even the estimates fit, no
/// model is asked.
pub(super) async fn shares(
    context: &Context,
    request: &Request,
    targets: &[Target],
    most: Option<Nano>,
) -> Result<Vec<Option<Nano>>, String> {
    let Some(most) = most else { return Ok(vec![None; targets.len()]) };
    let around =
        gather_inputs(context, &request.directory, Refresh::IfStale).await.map_err(|error| error.to_string())?;
    let usage =
        Usage { input: request.needs().context, output: context.config.budget.expected_output, ..Usage::default() };
    split(&estimates(targets, &around.listed.catalogue, &usage), most)
}

fn estimates(targets: &[Target], catalogue: &Catalogue, usage: &Usage) -> Vec<Nano> {
    let cost = |target: &Target| {
        let model = target.chosen.as_ref().ok().and_then(|model| catalogue.find(model).ok());
        model.map_or(Nano::ZERO, |model| round_exact(model.price.exact(usage)))
    };
    targets.iter().map(cost).collect()
}

fn split(estimates: &[Nano], most: Nano) -> Result<Vec<Option<Nano>>, String> {
    let all: Nano = estimates.iter().copied().sum();
    if all > most {
        let count = estimates.len();
        return Err(format!("{count} models would probably cost {all} together, and --max-cost is {most}"));
    }
    let parts = i64::try_from(estimates.len()).unwrap_or(i64::MAX).max(1);
    let more = Nano(most.less(all).0 / parts);
    Ok(estimates.iter().map(|own| Some(*own + more)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_never_add_up_to_more() {
        for (estimates, most) in [(vec![1, 2, 3], 10), (vec![0, 0], 1), (vec![5, 5], 10), (vec![], 3)] {
            let estimates: Vec<Nano> = estimates.into_iter().map(Nano).collect();
            let shares = split(&estimates, Nano(most)).unwrap();
            let sum: Nano = shares.iter().copied().flatten().sum();
            assert!(sum <= Nano(most), "{estimates:?} {most}");
            assert!(shares.iter().zip(&estimates).all(|(share, own)| share.unwrap() >= *own));
        }
        assert!(split(&[Nano(6), Nano(5)], Nano(10)).is_err());
    }
}
