//! The plain alternative: the fewest requests with which a prompt gets its answer from OpenCode and leaves no session
//! behind. It checks nothing.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

/// Where the prompt goes, passed in the environment so that the password is in no argument.
pub const TARGET: [&str; 3] = ["BARE_URL", "BARE_PASSWORD", "BARE_DIRECTORY"];

/// One prompt from a process that does nothing else, as a command of its own.
pub fn run_once() {
    let [url, password, directory] = TARGET.map(|name| std::env::var(name).expect("the target"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let text = runtime.block_on(Bare::new(&url, &password, &directory).prompt("hello"));
    println!("{text}");
    runtime.shutdown_background();
}

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
        let client =
            reqwest::Client::builder().no_proxy().tls_certs_only(std::iter::empty()).build().expect("a client");
        let authorization = format!("Basic {}", STANDARD.encode(format!("opencode:{password}")));
        Self { client, url: url.to_owned(), authorization, directory: directory.to_owned() }
    }

    /// Creates a session, prompts, reads the answer, deletes the session.
    pub async fn prompt(&self, text: &str) -> String {
        self.prompt_to("alpha", text).await
    }

    pub async fn prompt_to(&self, model: &str, text: &str) -> String {
        let deny = json!([{"permission": "*", "pattern": "*", "action": "deny"}]);
        let session = self.post("session", json!({"title": "bare", "permission": deny})).await;
        let id = session["id"].as_str().expect("a session");
        let prompt = json!({
            "agent": "shuntyard-text",
            "model": {"providerID": "scripted", "modelID": model},
            "parts": [{"type": "text", "text": text}],
        });
        let answer = self.post(&format!("session/{id}/message"), prompt).await;
        assert_eq!(answer["info"]["finish"], "stop", "{answer}");
        let request = self.client.delete(format!("{}/session/{id}", self.url));
        request.header("authorization", &self.authorization).send().await.expect("deleted");
        answer["parts"].to_string()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}/{path}", self.url)).json(&body);
        let request =
            request.header("authorization", &self.authorization).header("x-opencode-directory", &self.directory);
        request.send().await.expect("an answer").json().await.expect("JSON")
    }
}

/// Asks a provider itself, one call after the other, and reads each answer to its end.
pub async fn direct(base_url: &str, text: &str, calls: usize) {
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = reqwest::Client::builder()
        .no_proxy()
        .tcp_nodelay(true)
        .tls_certs_only(std::iter::empty())
        .build()
        .expect("a client");
    for number in 0..calls {
        let body = json!({
            "model": format!("m{number}"), "stream": true, "stream_options": {"include_usage": true},
            "messages": [{"role": "user", "content": text}],
        });
        let request =
            client.post(format!("{base_url}/chat/completions")).bearer_auth(shuntyard_testkit::environment::API_KEY);
        let answer = request.json(&body).send().await.expect("an answer").text().await.expect("a text");
        assert!(answer.contains("[DONE]"), "{answer}");
    }
}
