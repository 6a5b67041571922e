//! Asking an agent of OpenCode for a word without naming a model, so that OpenCode's own settings decide who answers;
//! and reading back who did.

use super::{client::Client, http::ApiError};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shuntyard_core::ModelRef;
use std::time::Duration;

const CALL: Duration = Duration::from_secs(10);
/// The first call in a directory boots an instance there and may load its plugins.
const FIRST_CALL: Duration = Duration::from_secs(90);

/// What an agent is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentMode {
    Primary,
    /// Only called by others.
    Subagent,
    #[serde(other)]
    All,
}

impl AgentMode {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Subagent => "subagent",
            Self::All => "all",
        }
    }
}

/// One of OpenCode's agents, with all that its settings come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentDetails {
    pub name: String,
    pub mode: AgentMode,
    /// With the variant that is set, which need not be one that the model has.
    pub model: Option<ModelRef>,
    /// One that OpenCode uses for itself.
    pub hidden: bool,
}

#[derive(Debug, Deserialize)]
struct Listed {
    name: String,
    #[serde(default = "all")]
    mode: AgentMode,
    model: Option<ListedModel>,
    variant: Option<String>,
    hidden: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct ListedModel {
    #[serde(default, rename = "providerID")]
    provider: String,
    #[serde(default, rename = "modelID")]
    model: String,
}

fn all() -> AgentMode {
    AgentMode::All
}

impl From<Listed> for AgentDetails {
    fn from(listed: Listed) -> Self {
        let variant = listed.variant;
        let model = listed.model.map(|model| ModelRef { provider: model.provider, model: model.model, variant });
        Self { name: listed.name, mode: listed.mode, model, hidden: listed.hidden.unwrap_or_default() }
    }
}

/// How an agent gets its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approach<'a> {
    /// It leads the session.
    Leads,
    /// It is called as agents call each other, in a session of its own, on behalf of `leader` or the default one.
    Called { leader: Option<&'a str> },
}

/// The newest answer of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub model: ModelRef,
    /// Why it was no answer, if it was none.
    pub problem: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Stored {
    info: Info,
}

#[derive(Debug, Deserialize)]
struct Info {
    role: String,
    #[serde(rename = "providerID")]
    provider: Option<String>,
    #[serde(rename = "modelID")]
    model: Option<String>,
    variant: Option<String>,
    error: Option<Value>,
}

impl Client {
    /// The agents here, as OpenCode has put them together from all its settings.
    pub async fn agent_details(&self) -> Result<Vec<AgentDetails>, ApiError> {
        let listed: Vec<Listed> = self.http().get("agent", FIRST_CALL).await?;
        Ok(listed.into_iter().map(AgentDetails::from).collect())
    }

    /// Prompts an agent, and returns when the server reports that it is done. No model is named.
    pub async fn ask_agent(
        &self,
        session: &str,
        message: &str,
        agent: &str,
        approach: Approach<'_>,
        text: &str,
    ) -> Result<(), ApiError> {
        let mut body = match approach {
            Approach::Leads => json!({"agent": agent, "parts": [{"type": "text", "text": text}]}),
            Approach::Called { leader } => {
                let part = json!({"type": "subtask", "agent": agent, "description": "probe", "prompt": text});
                leader.map_or_else(|| json!({"parts": [part]}), |leader| json!({"agent": leader, "parts": [part]}))
            }
        };
        body["messageID"] = json!(message);
        self.http().json::<_, Value>(Method::POST, &format!("session/{session}/message"), Some(&body), None).await?;
        Ok(())
    }

    /// The text of an agent that was asked in `session`, from there, or in the session that it was called in.
    pub async fn said_by_agent(&self, session: &str, approach: Approach<'_>) -> Result<Option<Said>, ApiError> {
        let place = match approach {
            Approach::Leads => Some(session.to_owned()),
            Approach::Called { .. } => self.children(session).await?.into_iter().next().map(|child| child.id),
        };
        let Some(place) = place else { return Ok(None) };
        let stored: Vec<Stored> = self.http().get(&format!("session/{place}/message"), CALL).await?;
        Ok(stored.into_iter().rev().find_map(|message| said(message.info)))
    }
}

fn said(info: Info) -> Option<Said> {
    if info.role != "assistant" {
        return None;
    }
    let problem = info.error.map(|error| {
        let message = error["data"]["message"].as_str().or(error["name"].as_str());
        message.unwrap_or("it failed").chars().take(300).collect()
    });
    Some(Said { model: ModelRef { provider: info.provider?, model: info.model?, variant: info.variant }, problem })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_read_tolerantly() {
        let listed = json!([
            {"name": "a", "mode": "subagent", "model": {"providerID": "p", "modelID": "m"}, "variant": "low", "new": 1},
            {"name": "b", "mode": "of another kind", "hidden": true},
        ]);
        let listed: Vec<Listed> = serde_json::from_value(listed).unwrap();
        let found: Vec<AgentDetails> = listed.into_iter().map(AgentDetails::from).collect();
        let model = Some("p/m@low".parse().unwrap());
        let first = AgentDetails { name: "a".into(), mode: AgentMode::Subagent, model, hidden: false };
        let second = AgentDetails { name: "b".into(), mode: AgentMode::All, model: None, hidden: true };
        assert_eq!(found, [first, second]);
    }

    #[test]
    fn only_an_answer_says_who_spoke() {
        let info = |value: Value| serde_json::from_value::<Info>(value).unwrap();
        assert_eq!(said(info(json!({"role": "user"}))), None);
        let failed = info(json!({"role": "assistant", "providerID": "p", "modelID": "m",
            "error": {"name": "APIError", "data": {"message": "no"}}}));
        assert_eq!(said(failed), Some(Said { model: ModelRef::new("p", "m"), problem: Some("no".into()) }));
    }
}
