//! What a tool call may do: the rules decide, and where they ask, the call waits for a reply.

use super::{
    super::{
        agents::{Agent, listed_rules, rules_json},
        run::tell,
        world::World,
    },
    Job,
};
use serde_json::{Value, json};
use shuntyard_core::roles::pack::{Action, Rule, evaluate, wildcard::matches};
use std::sync::PoisonError;
use tokio::sync::oneshot;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Reply {
    Once,
    Always,
    /// With the message for the model; without it the run ends.
    Reject(Option<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    /// The model reads why and goes on.
    Told(String),
    /// The run ends.
    Rejected(String),
}

/// One thing that a call asks for.
#[derive(Debug, Clone)]
pub(super) struct Asked<'a> {
    pub permission: &'a str,
    pub patterns: Vec<String>,
    pub metadata: Value,
    pub message: &'a str,
    pub call: &'a str,
}

impl Job {
    /// The rules of an agent in this session, the last of which that matches decides.
    pub fn rules(&self, agent: &Agent) -> Vec<Rule> {
        let of_session = listed_rules(&self.info()["permission"]);
        let approved = self.instance.approved.lock().unwrap_or_else(PoisonError::into_inner).clone();
        [agent.rules.clone(), of_session, approved].concat()
    }

    pub(super) async fn permit(&self, rules: &[Rule], asked: Asked<'_>) -> Result<(), Refused> {
        let actions: Vec<Action> =
            asked.patterns.iter().map(|pattern| evaluate(rules, asked.permission, pattern).action).collect();
        if actions.contains(&Action::Deny) {
            let relevant: Vec<Rule> =
                rules.iter().filter(|rule| matches(asked.permission, &rule.permission)).cloned().collect();
            return Err(Refused::Told(format!(
                "The user has specified a rule which prevents you from using this specific tool call. Here are some of \
                 the relevant rules {}",
                rules_json(&relevant)
            )));
        }
        if !actions.contains(&Action::Ask) {
            return Ok(());
        }
        match self.wait(&asked).await {
            Some(Reply::Once) => Ok(()),
            Some(Reply::Always) => {
                let allowed = asked.patterns.iter().map(|pattern| Rule::own(asked.permission, pattern, Action::Allow));
                self.instance.approved.lock().unwrap_or_else(PoisonError::into_inner).extend(allowed);
                Ok(())
            }
            Some(Reply::Reject(Some(message))) => Err(Refused::Told(format!(
                "The user rejected permission to use this specific tool call with the following feedback: {message}"
            ))),
            Some(Reply::Reject(None)) | None => {
                Err(Refused::Rejected("The user rejected permission to use this specific tool call.".to_owned()))
            }
        }
    }

    async fn wait(&self, asked: &Asked<'_>) -> Option<Reply> {
        let (sender, receiver) = oneshot::channel();
        let request = {
            let mut sessions = self.world.sessions();
            let id = sessions.new_id("per");
            let request = json!({
                "id": id, "sessionID": self.session, "permission": asked.permission, "patterns": asked.patterns,
                "metadata": asked.metadata, "always": asked.patterns,
                "tool": { "messageID": asked.message, "callID": asked.call },
            });
            sessions.permissions.insert(id.clone(), request.clone());
            sessions.waiting.insert(id, sender);
            request
        };
        let id = request["id"].as_str().unwrap_or_default().to_owned();
        tell(&self.world, &self.session, "permission.asked", request);
        let reply = tokio::select! {
            reply = receiver => reply.ok(),
            () = self.cancel.cancelled() => None,
        };
        let mut sessions = self.world.sessions();
        sessions.permissions.remove(&id);
        sessions.waiting.remove(&id);
        reply
    }
}

/// Answers a request; false when there is none of that id. A rejection also rejects whatever else the session asks.
pub(in super::super) fn reply(world: &World, id: &str, reply: &Reply, told: &Value) -> bool {
    let Some(request) = world.sessions().permissions.get(id).cloned() else { return false };
    let session = request["sessionID"].as_str().unwrap_or_default();
    let also: Vec<String> = match reply {
        Reply::Reject(_) => {
            let sessions = world.sessions();
            let same = sessions.permissions.iter().filter(|(_, other)| other["sessionID"] == session);
            same.map(|(id, _)| id.clone()).collect()
        }
        Reply::Once | Reply::Always => vec![id.to_owned()],
    };
    for other in also {
        let reply = if other == id { reply.clone() } else { Reply::Reject(None) };
        let sender = {
            let mut sessions = world.sessions();
            sessions.permissions.remove(&other);
            sessions.waiting.remove(&other)
        };
        tell(world, session, "permission.replied", json!({ "requestID": other, "reply": told }));
        if let Some(sender) = sender {
            drop(sender.send(reply));
        }
    }
    true
}
