//! The recorded past under another configuration: who would have been asked, and what the log knows of that.

use crate::{
    Context,
    base::refusal::Refusal,
    routing::{catalogue::Refresh, choose::gather_inputs},
};
use serde_json::{Value, json};
use shuntyard_core::{
    experience::{Chosen, Past, Replay, replay},
    routing::{Advice, Availability, Needs, Question, Selector, TagRef, resolve},
    settings::Config,
    values::ModelPolicy,
};
use shuntyard_host::clock::now_micros;
use std::{collections::BTreeMap, path::Path};

/// What is kept of a request whose text chose.
const BY_TEXT: &str = "route";

/// What an outcome says of a request whose text chose.
pub(crate) fn asked_by_text() -> Value {
    json!({ BY_TEXT: "text" })
}

/// Plays the outcomes of a window again. Today's list of models is taken, everything is taken to be available, and
/// neither the budget nor experience interferes: the policy alone is compared.
pub async fn replay_past(
    context: &Context,
    policy: &Config,
    directory: &Path,
    from: i64,
    until: i64,
) -> Result<Replay, Refusal> {
    let past = context.store.outcome_history(from, until).await?;
    let around = gather_inputs(context, directory, Refresh::IfStale).await?;
    let (advice, availability) = (Advice::default(), Availability::default());
    let mut choices: BTreeMap<(&str, &str), Chosen> = BTreeMap::new();
    for group in &past {
        let asked = (group.requested.as_str(), group.task_type.as_str());
        choices.entry(asked).or_insert_with(|| {
            let selector = match wanted(group, policy) {
                Ok(selector) => selector,
                Err(why) => return Chosen::Refused(why),
            };
            if let Selector::Exact(model) = &selector {
                // A model that was named is asked under any policy that lets it.
                return match policy.policy.allows(&model.provider) {
                    true => Chosen::Model(model.to_string()),
                    false => Chosen::Refused(format!("the policy does not allow provider {}", model.provider)),
                };
            }
            let question = Question {
                selector: &selector,
                needs: Needs::default(),
                policy: ModelPolicy::Dynamic,
                catalogue: &around.listed.catalogue,
                config: policy,
                availability: &availability,
                advice: &advice,
                now: now_micros(),
            };
            match resolve(&question) {
                Ok(found) => Chosen::Model(found.model.to_string()),
                Err(error) => Chosen::Refused(error.to_string()),
            }
        });
    }
    let nobody = || Chosen::Refused("what was asked for is not in the log".to_owned());
    let choose = |group: &Past| {
        choices.get(&(group.requested.as_str(), group.task_type.as_str())).cloned().unwrap_or_else(nobody)
    };
    Ok(replay(&past, u64::from(policy.patterns.samples), choose))
}

/// What a request of the past asks for, in the policy's words.
fn wanted(group: &Past, policy: &Config) -> Result<Selector, String> {
    let requested: Value = serde_json::from_str(&group.requested).unwrap_or_default();
    let word = |key: &str| requested.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(model) = word("model") {
        // A part of a name meant the model that it was taken for.
        return model.parse().or_else(|_| group.model.parse()).map(Selector::Exact).map_err(|error| error.to_string());
    }
    if let Some(tag) = word("tag") {
        return TagRef::require(&tag, policy).map(Selector::Tag).map_err(|error| error.to_string());
    }
    if requested.get(BY_TEXT).is_some() {
        let tier = policy.task_types.get(&group.task_type).unwrap_or(&policy.classifier.default_tier);
        return Ok(Selector::Tier(tier.clone()));
    }
    let named = word("task_type").map(Selector::TaskType).or_else(|| word("tier").map(Selector::Tier));
    Ok(named.or_else(|| word("profile").map(Selector::Profile)).unwrap_or(Selector::Default))
}
