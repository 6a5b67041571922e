//! Why no model was chosen.

use crate::{settings::Config, values::nearest::nearest};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    #[error("unknown task type `{name}`{suggestion}; there are: {valid}")]
    UnknownTaskType { name: String, suggestion: String, valid: String },
    #[error("unknown tier `{name}`{suggestion}; there are: {valid}")]
    UnknownTier { name: String, suggestion: String, valid: String },
    #[error("unknown tag `{name}`{suggestion}; there are: {valid}")]
    UnknownTag { name: String, suggestion: String, valid: String },
    #[error("unknown profile `{name}`{suggestion}; there are: {valid}")]
    UnknownProfile { name: String, suggestion: String, valid: String },
    #[error("{problem}")]
    BadName { problem: String },
    #[error("no model is connected, so none can be chosen for {what}")]
    NoModels { what: String },
    #[error("provider `{provider}` is not connected; connected: {connected}")]
    ProviderNotConnected { provider: String, connected: String },
    #[error("provider `{provider}` has no model `{model}`{suggestion}")]
    ModelNotFound { provider: String, model: String, suggestion: String },
    #[error("model {model} has no variant `{variant}`; it has: {valid}")]
    VariantNotFound { model: String, variant: String, valid: String },
    #[error("`{name}` could be any of: {candidates}")]
    Ambiguous { name: String, candidates: String },
    #[error("no connected model is called `{name}`{suggestion}")]
    NoSuchName { name: String, suggestion: String },
    #[error("model {model} cannot {need}; connected models that can: {able}")]
    CapabilityMissing { model: String, need: String, able: String },
    #[error("no connected model fits {what}: {rejected}. Nearest: {nearest}")]
    NothingFits { what: String, rejected: String, nearest: String },
    #[error("the configuration's policy does not allow {provider}; {allowed}")]
    NotAllowed { provider: String, allowed: String },
    #[error("model {model} is over its budget: {why}")]
    OverBudget { model: String, why: String },
    #[error("{what} is over its budget, and no cheaper model that fits is known: {why}")]
    Unaffordable { what: String, why: String },
    #[error("nothing may be spent: {why}")]
    Closed { why: String },
    #[error("no other model is asked: {why}")]
    Held { why: String },
    #[error("no other model can be asked: {why}")]
    Exhausted { why: String },
}

impl RouteError {
    /// A name that is no model's may be a tier's, which has a flag of its own.
    pub(super) fn or_tier(mut self, config: &Config) -> Self {
        let (name, text) = match &mut self {
            Self::NoSuchName { name, suggestion } => (&*name, suggestion),
            Self::Ambiguous { name, candidates } => (&*name, candidates),
            _ => return self,
        };
        if config.tier_named(name).is_some() {
            text.push_str(&format!("; for the tier of that name write `--tier {name}` or `tier:{name}`"));
        }
        self
    }
}

/// "Did you mean …", and the names that there are.
pub(super) fn suggest<'a>(name: &str, valid: impl Iterator<Item = &'a String>) -> (String, String) {
    let names: Vec<&str> = valid.map(String::as_str).collect();
    let suggestion = nearest(name, names.iter().copied(), 1)
        .first()
        .map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
    (suggestion, names.join(", "))
}
