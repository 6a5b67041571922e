//! OpenCode's v1 routes, one function each. The `/api/*` routes are unfinished and not used.

use super::{
    catalogue::{self, AllProviders, ConfiguredModels, ConfiguredProviders},
    http::{ApiError, Endpoint, Http},
    types::{MessageWithParts, Pending, PermissionRule, RunStatus, Session},
};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shuntyard_core::{ModelRef, routing::Catalogue};
use std::{collections::HashMap, path::Path, time::Duration};

/// Answers of one run that are read one by one, at most.
const MOST_STEPS: usize = 200;
/// For a call that does not wait for a model, unless the configuration has another.
const CALL: Duration = Duration::from_secs(10);
/// The first call in a directory boots an instance there and may load its plugins.
const FIRST_CALL: Duration = Duration::from_secs(90);

#[derive(Debug, Clone)]
pub struct Client {
    http: Http,
    call: Duration,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Health {
    pub healthy: bool,
    #[serde(default)]
    pub version: String,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct NewSession {
    /// A title saves the model call that would invent one.
    pub title: String,
    pub permission: Vec<PermissionRule>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}

/// One of OpenCode's agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub name: String,
    /// As its description has it: a model, or a word that OpenCode took for a provider without a model.
    pub model: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ListedAgent {
    name: String,
    #[serde(default)]
    model: Option<ListedAgentModel>,
}

#[derive(Debug, Deserialize)]
struct ListedAgentModel {
    #[serde(default, rename = "providerID")]
    provider: String,
    #[serde(default, rename = "modelID")]
    model: String,
}

impl From<ListedAgent> for Agent {
    fn from(listed: ListedAgent) -> Self {
        let model = listed.model.map(|model| {
            if model.model.is_empty() { model.provider } else { format!("{}/{}", model.provider, model.model) }
        });
        Self { name: listed.name, model: model.filter(|model| !model.is_empty()) }
    }
}

/// What starts a run: a prompt, or one of the user's commands.
#[derive(Debug, Clone)]
pub enum PromptBody {
    Prompt { parts: Vec<Value>, model: ModelRef, agent: Option<String>, system: Option<String>, schema: Option<Value> },
    Command { name: String, arguments: String, model: ModelRef, agent: Option<String>, files: Vec<Value> },
}

impl Client {
    pub fn new(endpoint: &Endpoint) -> Result<Self, ApiError> {
        Ok(Self { http: Http::new(endpoint)?, call: CALL })
    }

    /// The same server, with another deadline for calls that do not wait for a model.
    #[must_use]
    pub fn with_call_timeout(self, timeout: Option<Duration>) -> Self {
        Self { call: timeout.unwrap_or(self.call), ..self }
    }

    /// The deadline for a call that may make the server load a directory first.
    fn first_call(&self) -> Duration {
        FIRST_CALL.max(self.call)
    }

    /// The same server, for one working directory.
    #[must_use]
    pub fn in_directory(&self, directory: &Path) -> Self {
        Self { http: self.http.clone().in_directory(directory), call: self.call }
    }

    #[must_use]
    pub fn address(&self) -> String {
        self.http.address()
    }

    pub(super) fn http(&self) -> &Http {
        &self.http
    }

    pub async fn health(&self, deadline: Duration) -> Result<Health, ApiError> {
        self.http.get("global/health", deadline).await
    }

    /// The providers that this server would use in this directory, with their models.
    pub async fn catalogue(&self) -> Result<Catalogue, ApiError> {
        let (used, models) = tokio::try_join!(self.used_providers(), self.configured_models())?;
        let found = catalogue::connected(used, &models);
        if found.providers.is_empty() {
            // Some servers have it only in their other list.
            return Ok(self.full_catalogue().await?.connected());
        }
        Ok(found)
    }

    /// The same with all that the server merely knows of: megabytes, where it knows the public catalogue.
    pub async fn full_catalogue(&self) -> Result<Catalogue, ApiError> {
        let known = async {
            let known = self.http.get::<AllProviders>("provider", self.first_call()).await;
            // An addition: a server without this list still reports what it would use.
            Ok(known.unwrap_or_default())
        };
        let (used, models, known) = tokio::try_join!(self.used_providers(), self.configured_models(), known)?;
        Ok(catalogue::full(used, known, &models))
    }

    async fn used_providers(&self) -> Result<ConfiguredProviders, ApiError> {
        self.http.get("config/providers", self.first_call()).await
    }

    async fn configured_models(&self) -> Result<ConfiguredModels, ApiError> {
        self.http.get("config", self.first_call()).await
    }

    /// The agents here, each with the model that its own description asks for.
    pub async fn agents(&self) -> Result<Vec<Agent>, ApiError> {
        let listed: Vec<ListedAgent> = self.http.get("agent", self.first_call()).await?;
        Ok(listed.into_iter().map(Agent::from).collect())
    }

    pub async fn commands(&self) -> Result<Vec<String>, ApiError> {
        self.names("command").await
    }

    async fn names(&self, path: &str) -> Result<Vec<String>, ApiError> {
        #[derive(Deserialize)]
        struct Named {
            name: String,
        }
        let named: Vec<Named> = self.http.get(path, self.first_call()).await?;
        Ok(named.into_iter().map(|named| named.name).collect())
    }

    pub async fn create_session(&self, session: &NewSession) -> Result<Session, ApiError> {
        self.http.json(Method::POST, "session", Some(session), Some(self.first_call())).await
    }

    pub async fn session(&self, id: &str) -> Result<Session, ApiError> {
        self.http.get(&format!("session/{id}"), self.call).await
    }

    pub async fn children(&self, id: &str) -> Result<Vec<Session>, ApiError> {
        self.http.get(&format!("session/{id}/children"), self.call).await
    }

    /// Sessions of this directory whose title contains `text`.
    pub async fn find_sessions(&self, text: &str) -> Result<Vec<Session>, ApiError> {
        self.http.get(&format!("session?limit=20&search={text}"), self.call).await
    }

    pub async fn messages(&self, id: &str) -> Result<Vec<MessageWithParts>, ApiError> {
        self.http.get(&format!("session/{id}/message"), self.call / 2).await
    }

    /// The run that the user message `prompt` started: that message, if it can be read, and the rest.
    ///
    /// OpenCode 1.18 stores a prompt with a JSON schema in a form that it then refuses to list, with
    /// every listing that it is part of. Its answers can be read one by one, the newest first.
    pub(super) async fn run_messages(&self, id: &str, prompt: &str) -> Result<Vec<MessageWithParts>, ApiError> {
        match self.messages(id).await {
            Err(ApiError::Refused { status: 400, .. }) => {}
            other => return other,
        }
        let mut newest_first = Vec::new();
        let mut cursor = String::new();
        while newest_first.len() < MOST_STEPS {
            let path = format!("session/{id}/message?limit=1{cursor}");
            let (page, next) = match self.http.page::<Vec<MessageWithParts>>(&path, self.call / 2).await {
                Ok(page) => page,
                // The prompt itself, at the latest.
                Err(ApiError::Refused { status: 400, .. }) => break,
                Err(error) => return Err(error),
            };
            let before = newest_first.len();
            // Ids ascend: an older answer belongs to an older prompt.
            let follows =
                |message: &MessageWithParts| message.info.role == "assistant" && message.info.id.as_str() > prompt;
            newest_first.extend(page.into_iter().filter(follows));
            match next {
                Some(next) if newest_first.len() > before => cursor = format!("&before={next}"),
                _ => break,
            }
        }
        newest_first.push(MessageWithParts::unread_prompt(prompt));
        newest_first.reverse();
        Ok(newest_first)
    }

    /// Sessions of this directory that are not idle.
    pub async fn running(&self) -> Result<HashMap<String, RunStatus>, ApiError> {
        self.http.get("session/status", self.call / 2).await
    }

    /// The same for a directory that the server may have to read first, with its configuration and plugins.
    pub async fn running_once_read(&self) -> Result<HashMap<String, RunStatus>, ApiError> {
        self.http.get("session/status", self.first_call()).await
    }

    /// Starts a run and returns when the server reports its end, with its last message. The call may
    /// break while the run goes on: what counts is what can be read afterwards.
    pub(super) async fn run(
        &self,
        session: &str,
        message: &str,
        body: &PromptBody,
    ) -> Result<Option<MessageWithParts>, ApiError> {
        match body {
            PromptBody::Prompt { parts, model, agent, system, schema } => {
                let mut prompt = json!({
                    "messageID": message,
                    "model": {"providerID": model.provider, "modelID": model.model},
                    "parts": parts,
                });
                set(&mut prompt, "variant", model.variant.as_ref());
                set(&mut prompt, "agent", agent.as_ref());
                set(&mut prompt, "system", system.as_ref());
                if let Some(schema) = schema {
                    prompt["format"] = json!({"type": "json_schema", "schema": schema, "retryCount": 0});
                }
                match self.answer(&format!("session/{session}/message"), &prompt).await {
                    // Something that only takes prompts without waiting for them.
                    Err(ApiError::NotFound(_) | ApiError::NotOpencode { .. }) => {
                        let path = format!("session/{session}/prompt_async");
                        self.http.empty(&path, Some(&prompt), self.first_call()).await.map(|()| None)
                    }
                    answered => answered,
                }
            }
            PromptBody::Command { name, arguments, model, agent, files } => {
                let mut command = json!({
                    "messageID": message,
                    "command": name,
                    "arguments": arguments,
                    "model": model.base(),
                });
                set(&mut command, "variant", model.variant.as_ref());
                set(&mut command, "agent", agent.as_ref());
                if !files.is_empty() {
                    command["parts"] = json!(files);
                }
                self.answer(&format!("session/{session}/command"), &command).await
            }
        }
    }

    /// `None` for an answer that is JSON, but no message.
    async fn answer(&self, path: &str, body: &Value) -> Result<Option<MessageWithParts>, ApiError> {
        let answer: Value = self.http.json(Method::POST, path, Some(body), None).await?;
        Ok(serde_json::from_value(answer).ok())
    }

    /// Ends what a session is doing. Harmless when it does nothing.
    pub async fn abort(&self, id: &str) -> Result<(), ApiError> {
        self.http.empty(&format!("session/{id}/abort"), None::<&()>, self.call / 2).await
    }

    /// Removes a session that has been stopped: OpenCode does not stop a run when it is deleted.
    pub async fn delete_stopped_session(&self, id: &str) -> Result<(), ApiError> {
        let deleted = self
            .http
            .json::<(), Value>(Method::DELETE, &format!("session/{id}"), None, Some(self.call))
            .await
            .map(|_| ());
        match deleted {
            Err(ApiError::NotFound(_)) => Ok(()),
            other => other,
        }
    }

    pub async fn archive_session(&self, id: &str, unix_millis: i64) -> Result<(), ApiError> {
        let body = json!({"time": {"archived": unix_millis}});
        self.http
            .json::<_, Value>(Method::PATCH, &format!("session/{id}"), Some(&body), Some(self.call))
            .await
            .map(|_| ())
    }

    pub(super) async fn pending_permissions(&self) -> Result<Vec<Pending>, ApiError> {
        self.http.get("permission", self.call / 2).await
    }

    pub(super) async fn pending_questions(&self) -> Result<Vec<Pending>, ApiError> {
        self.http.get("question", self.call / 2).await
    }

    pub(super) async fn allow_once(&self, id: &str) -> Result<(), ApiError> {
        self.http.empty(&format!("permission/{id}/reply"), Some(&json!({"reply": "once"})), self.call / 2).await
    }

    pub(super) async fn allow_always(&self, id: &str) -> Result<(), ApiError> {
        self.http.empty(&format!("permission/{id}/reply"), Some(&json!({"reply": "always"})), self.call / 2).await
    }

    /// A rejection with a message lets the run go on; without one OpenCode ends it.
    pub(super) async fn reject(&self, id: &str, message: &str) -> Result<(), ApiError> {
        let body = json!({"reply": "reject", "message": message});
        self.http.empty(&format!("permission/{id}/reply"), Some(&body), self.call / 2).await
    }

    pub(super) async fn reject_question(&self, id: &str) -> Result<(), ApiError> {
        self.http.empty(&format!("question/{id}/reject"), None::<&()>, self.call / 2).await
    }

    /// Makes the server read the configuration of this directory again. Ends its runs.
    pub async fn dispose_instance(&self) -> Result<(), ApiError> {
        self.http.empty("instance/dispose", None::<&()>, self.call).await
    }
}

fn set(body: &mut Value, key: &str, value: Option<&String>) {
    if let Some(value) = value {
        body[key] = json!(value);
    }
}
