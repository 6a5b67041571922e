//! The direct backend against real HTTP on loopback: the scripted provider, and a test server of our own for what that
//! one cannot be made to do.

mod answers;
mod broken;
mod manners;
mod many;
mod refusals;
mod secrets;
mod station;
mod timers;

use secrecy::SecretString;
use serde_json::{Map, Value};
use shuntyard_agents::{
    openai::{Answered, Ask, Direct, Earlier, Limits, Provider},
    opencode::{Progress, Sink},
};
use shuntyard_core::{ErrorClass, routing::request::Image};
use shuntyard_testkit::SharedProvider;
use std::{
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// No test waits longer than this, whatever goes wrong.
const DEADLINE: Duration = Duration::from_secs(240);
const KEY: &str = "hunter2-the-key-of-tests";

fn scripted() -> &'static SharedProvider {
    static PROVIDER: LazyLock<SharedProvider> = LazyLock::new(SharedProvider::start);
    &PROVIDER
}

fn provider(base_url: &str) -> Provider {
    Provider::new(base_url, Some(&SecretString::from(KEY.to_owned())), []).unwrap()
}

fn limits() -> Limits {
    Limits {
        first_token: Some(Duration::from_secs(60)),
        inactivity: Some(Duration::from_secs(60)),
        total: Some(Duration::from_secs(90)),
        began: Instant::now(),
        retry_wait_cap: Some(Duration::from_secs(10)),
        provider_retries: 1,
    }
}

/// A request with everything that a test may want to change.
struct Question<'a> {
    provider: Provider,
    prompt: &'a str,
    system: Option<&'a str>,
    earlier: &'a [Earlier<'a>],
    images: &'a [Image],
    schema: Option<&'a Value>,
    max_output_tokens: Option<u64>,
    extra: Option<&'a Map<String, Value>>,
    limits: Limits,
    sink: Sink,
    cancel: CancellationToken,
}

impl<'a> Question<'a> {
    fn new(base_url: &str, prompt: &'a str) -> Self {
        Self {
            provider: provider(base_url),
            prompt,
            system: None,
            earlier: &[],
            images: &[],
            schema: None,
            max_output_tokens: None,
            extra: None,
            limits: limits(),
            sink: Arc::new(|_| {}),
            cancel: CancellationToken::new(),
        }
    }

    async fn ask(&self) -> Answered {
        self.ask_with(&Direct::new().unwrap()).await
    }

    async fn ask_with(&self, direct: &Direct) -> Answered {
        let asking = direct.ask(Ask {
            provider: &self.provider,
            model: "alpha",
            system: self.system,
            earlier: self.earlier,
            prompt: self.prompt,
            images: self.images,
            schema: self.schema,
            max_output_tokens: self.max_output_tokens,
            extra: self.extra,
            limits: self.limits,
            sink: &self.sink,
            cancel: &self.cancel,
        });
        tokio::time::timeout(DEADLINE, asking).await.expect("an answer or a failure in time")
    }
}

/// A sink that keeps the texts it is shown.
fn keeping() -> (Sink, Arc<Mutex<Vec<String>>>) {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&shown);
    let sink: Sink = Arc::new(move |progress| {
        if let Progress::Text(text) = progress {
            keep.lock().unwrap().push(text);
        }
    });
    (sink, shown)
}

fn class(answered: &Answered) -> Result<(), ErrorClass> {
    answered.outcome.clone().map_err(|failure| failure.class)
}
