//! The plain alternative: the fewest requests with which a prompt gets its answer from OpenCode and
//! leaves no session behind. It checks nothing and believes everything.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Bare {
    client: reqwest::Client,
    url: String,
    authorization: String,
    directory: String,
}

impl Bare {
    pub fn new(url: &str, password: &str, directory: &str) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let authorization = format!("Basic {}", STANDARD.encode(format!("opencode:{password}")));
        Self { client, url: url.to_owned(), authorization, directory: directory.to_owned() }
    }

    /// Creates a session, prompts, reads the answer, deletes the session.
    pub async fn prompt(&self, text: &str) -> Duration {
        let began = Instant::now();
        let deny = json!([{"permission": "*", "pattern": "*", "action": "deny"}]);
        let session = self.post("session", json!({"title": "bare", "permission": deny})).await;
        let id = session["id"].as_str().expect("a session");
        let prompt = json!({
            "agent": "switchyard-text",
            "model": {"providerID": "scripted", "modelID": "alpha"},
            "parts": [{"type": "text", "text": text}],
        });
        let answer = self.post(&format!("session/{id}/message"), prompt).await;
        assert_eq!(answer["info"]["finish"], "stop", "{answer}");
        let request = self.client.delete(format!("{}/session/{id}", self.url));
        request.header("authorization", &self.authorization).send().await.expect("deleted");
        began.elapsed()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}/{path}", self.url)).json(&body);
        let request =
            request.header("authorization", &self.authorization).header("x-opencode-directory", &self.directory);
        request.send().await.expect("an answer").json().await.expect("JSON")
    }
}
