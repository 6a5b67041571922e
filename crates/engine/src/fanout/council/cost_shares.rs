//! What a council will probably cost, held against the limits before the first call.

use super::{Member, Seats};
use crate::{
    Context,
    base::refusal::Refusal,
    dispatch::Options,
    routing::{budget, catalogue::Refresh, choose::gather_inputs},
};
use shuntyard_core::{
    Nano,
    compare::council::{CouncilEstimate, MemberEstimate, Settings, estimate},
    limits::{Kind, Line, Unit},
    routing::{Catalogue, estimate_tokens, request::Request},
    values::Urgency,
};

/// The form of an answer and the rules around the question, in tokens.
const FRAME: u64 = 600;

/// The estimate, when the limits allow it.
pub async fn check_purse(
    context: &Context,
    question: &Request,
    options: &Options,
    seats: &Seats,
    settings: &Settings,
) -> Result<CouncilEstimate, Refusal> {
    let around = gather_inputs(context, &question.directory, Refresh::IfStale).await?;
    let catalogue = &around.listed.catalogue;
    let whole = of(context, question, seats, settings, catalogue, |_| true);
    if options.urgency == Urgency::PastTheStop {
        return Ok(whole);
    }
    let lines = budget::lines(context, options.concern()).await?;
    let held: Vec<&Line> = lines.iter().filter(|line| line.unit == Unit::Usd).collect();
    let is_held = !held.is_empty() || options.max_cost.is_some();
    let allowed = context.config.budget.unknown_allowed;
    if let Some(member) = whole.unpriced.first().filter(|_| is_held && !allowed) {
        let model = &seats.members.get(*member).unwrap_or(&seats.synthesis).model;
        let why = format!(
            "{model} has no price, so the council cannot be held to a limit; `budget.unknown_allowed` would let it"
        );
        return Err(Refusal::Budget { why, next: None });
    }
    let cost = whole.cost.unwrap_or_default();
    if let Some(most) = options.max_cost.filter(|most| cost > *most) {
        let why = format!("the council would cost up to {cost} in {} calls, and --max-cost is {most}", whole.calls);
        return Err(Refusal::Budget { why, next: None });
    }
    let share_of = |counts: &dyn Fn(&Member) -> bool| {
        of(context, question, seats, settings, catalogue, counts).cost.unwrap_or_default()
    };
    for line in held {
        let share = match line.key.kind {
            Kind::Overall | Kind::Batch | Kind::Task => cost,
            Kind::Provider => share_of(&|member| member.model.provider == line.key.name),
            // A member that was named itself counts for no tier.
            Kind::Tier => share_of(&|member| tier_of(member) == Some(&line.key.name)),
        };
        let room = Nano(line.stop_at()).less(Nano(line.settled)).less(Nano(line.reserved));
        if share > room {
            let why =
                format!("the council would cost up to {share}, and {} has {room} left: {}", line.key, line.told());
            return Err(Refusal::Budget { why, next: None });
        }
    }
    Ok(whole)
}

fn tier_of(member: &Member) -> Option<&String> {
    member.chosen_for.as_ref()?.tier.as_ref()
}

/// The estimate for the members that count.
fn of(
    context: &Context,
    question: &Request,
    seats: &Seats,
    settings: &Settings,
    catalogue: &Catalogue,
    counts: impl Fn(&Member) -> bool,
) -> CouncilEstimate {
    let prompt_tokens = question.needs().context + FRAME;
    let output_tokens = context.config.budget.expected_output;
    let estimated = |member: &Member| MemberEstimate {
        prompt_tokens,
        output_tokens,
        price: catalogue.find(&member.model).map(|found| found.price).unwrap_or_default(),
    };
    let members: Vec<MemberEstimate> = seats.members.iter().filter(|member| counts(member)).map(estimated).collect();
    let synthesis = Some(&seats.synthesis).filter(|member| counts(member)).map(estimated);
    let shown = estimate_tokens(&"x".repeat(settings.characters.min(1_000_000)));
    estimate(&members, synthesis.as_ref(), settings.rounds, settings.showing, shown)
}
