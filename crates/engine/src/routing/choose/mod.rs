//! A decision without a dispatch: which model a text would go to, and why. Needs no server when our copy of the list
//! of models is fresh.

mod agent_file;

use crate::{
    Context,
    base::refusal::Refusal,
    routing::{
        availability::{self, Known},
        budget::{self, CostCheck},
        catalogue::{self, Extent, Listed, Origin, Refresh, Shelf},
        classification::classified_before,
        contests,
        experience::{self, Trying},
    },
    servers::project_stamps,
};
use shuntyard_core::ModelRef;
use shuntyard_core::{
    routing::{
        Advice, AgentWish, Catalogue, Classified, ContestAdvice, Exchange, Needs, Pattern, Question, Resolution,
        RouteError, Selector, Tried, check_names, next, resolve,
    },
    values::{ModelPolicy, Trigger},
};
use shuntyard_host::clock::now_micros;
use std::path::Path;

/// What is to be decided.
#[derive(Debug, Clone)]
pub struct Task<'a> {
    pub selector: Selector,
    /// What the task says; classified when the selector says nothing.
    pub text: Option<&'a str>,
    pub needs: Needs,
    pub directory: &'a Path,
    /// An OpenCode agent that would lead.
    pub agent: Option<&'a str>,
    /// Models that did not manage before: another is taken when there is one.
    pub avoid: &'a [ModelRef],
    pub cost_check: CostCheck<'a>,
}

#[derive(Debug)]
pub struct Decision {
    pub resolution: Resolution,
    pub classified: Option<Classified>,
    pub listed: Listed,
}

/// Everything that a decision is made from.
#[derive(Debug)]
pub struct SelectionInput {
    pub listed: Listed,
    pub known: Known,
    pub advice: Advice,
}

impl SelectionInput {
    #[must_use]
    pub fn question<'a>(&'a self, context: &'a Context, selector: &'a Selector, needs: Needs) -> Question<'a> {
        question(context, selector, needs, &self.listed.catalogue, &self.known, &self.advice)
    }
}

/// The question to the resolver, as of now.
pub(crate) fn question<'a>(
    context: &'a Context,
    selector: &'a Selector,
    needs: Needs,
    catalogue: &'a Catalogue,
    known: &'a Known,
    advice: &'a Advice,
) -> Question<'a> {
    Question {
        selector,
        needs,
        policy: ModelPolicy::Dynamic,
        catalogue,
        config: &context.config,
        availability: &known.availability,
        advice,
        now: now_micros(),
    }
}

/// What earlier work says about a choice: its outcomes, and the contests that were held.
pub(crate) struct Past {
    pub(crate) pattern: Option<Pattern>,
    pub(crate) contest: Option<ContestAdvice>,
}

impl Past {
    pub(crate) async fn of(
        context: &Context,
        selector: &Selector,
        classified: Option<&str>,
        text: Option<&str>,
        directory: &Path,
        trying: Trying,
    ) -> Result<Self, Refusal> {
        let pattern = experience::advice(context, selector, classified, text, directory, trying).await?;
        let contest = contests::advice(context, selector, classified, directory).await?;
        Ok(Self { pattern, contest })
    }
}

pub async fn gather_inputs(context: &Context, directory: &Path, refresh: Refresh) -> Result<SelectionInput, Refusal> {
    gather_inputs_for(context, directory, refresh, CostCheck::default()).await
}

/// The same with the limits and the urgency that apply to this work.
pub async fn gather_inputs_for(
    context: &Context,
    directory: &Path,
    refresh: Refresh,
    cost_check: CostCheck<'_>,
) -> Result<SelectionInput, Refusal> {
    let shelf = Shelf::of(context, directory);
    let listed = catalogue::current_on(context, &shelf, directory, refresh, Extent::Connected).await?;
    let known = availability::load_for(context, directory, now_micros()).await?;
    let limits = budget::lines(context, cost_check.concern).await?;
    let advice = Advice { budget: budget::advice(context, &limits, cost_check.urgency), ..Advice::default() };
    Ok(SelectionInput { listed, known, advice })
}

pub async fn decide(context: &Context, task: &Task<'_>, refresh: Refresh) -> Result<Decision, Refusal> {
    check_names(&task.selector, &context.config)?;
    let mut inputs = gather_inputs_for(context, task.directory, refresh, task.cost_check).await?;
    let classified = task.text.map(|text| classified_before(context, text, task.needs.images));
    let looks = classified.as_ref().and_then(|classified| classified.task_type.as_deref());
    let past = Past::of(context, &task.selector, looks, task.text, task.directory, Trying::Never).await?;
    (inputs.advice.pattern, inputs.advice.contest) = (past.pattern, past.contest);
    inputs.advice.classified.clone_from(&classified);
    inputs.advice.agent = task.agent.and_then(|agent| {
        let model = agent_file::model_of(context, task.directory, agent)?;
        Some(AgentWish { agent: agent.to_owned(), model })
    });
    let stamps = project_stamps(task.directory);
    let first = resolve(&inputs.question(context, &task.selector, task.needs));
    let resolution = match first {
        // The files may list less than a server would. One is not asked about a directory with settings of its own:
        // that would run what is there.
        Err(error) if inputs.listed.origin == Origin::Files && stamps.is_empty() && is_about_the_list(&error) => {
            match catalogue::current(context, task.directory, Refresh::Now, Extent::Connected).await {
                Ok(listed) if listed.origin == Origin::Server => inputs.listed = listed,
                _ => return Err(error.into()),
            }
            resolve(&inputs.question(context, &task.selector, task.needs))?
        }
        other => other?,
    };
    let mut resolution = elsewhere(&inputs.question(context, &task.selector, task.needs), resolution, task);
    if catalogue::foreign(context, task.directory, &stamps).contains(&resolution.model.provider) {
        resolution.warnings.push(catalogue::foreign_warning(&resolution.model.provider));
    }
    Ok(Decision { resolution, classified, listed: inputs.listed })
}

/// Another model than those to avoid; the same when there is no other, or when it was named.
fn elsewhere(question: &Question<'_>, first: Resolution, task: &Task<'_>) -> Resolution {
    let avoided = |model: &ModelRef| task.avoid.contains(model);
    if task.selector.is_explicit() || !avoided(&first.model) {
        return first;
    }
    let tried: Vec<Tried> =
        task.avoid.iter().map(|model| Tried { model: model.clone(), trigger: Trigger::ApiError }).collect();
    match next(question, &first, &tried, Exchange::Routed, task.agent) {
        Ok(other) if !avoided(&other.model) && is_listed_alike(question, &first, &other) => other,
        _ => first,
    }
}

/// Whether both are in the list of their tier, or neither is: one that the tier does not name is no equal of one that
/// it does.
fn is_listed_alike(question: &Question<'_>, first: &Resolution, other: &Resolution) -> bool {
    let listed = first.tier.as_ref().and_then(|tier| question.config.tiers.get(tier));
    let has = |model: &ModelRef| listed.is_some_and(|listed| listed.contains(&model.to_string()));
    has(&first.model) == has(&other.model)
}

/// Whether a longer list could have led to another answer.
fn is_about_the_list(error: &RouteError) -> bool {
    matches!(
        error,
        RouteError::ProviderNotConnected { .. }
            | RouteError::ModelNotFound { .. }
            | RouteError::VariantNotFound { .. }
            | RouteError::NoSuchName { .. }
            | RouteError::NothingFits { .. }
            | RouteError::CapabilityMissing { .. }
            | RouteError::NoModels { .. }
    )
}
