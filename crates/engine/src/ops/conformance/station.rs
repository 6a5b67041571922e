//! The place of the check: a scripted provider and a real, isolated OpenCode server that knows no
//! other model, with one way to send it a prompt.

use super::{Seen, Site, Surprise, scratch::Scratch};
use crate::{
    dispatch::fresh_message_id,
    servers::launch::{Launch, end, launch},
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use shuntyard_agents::opencode::{
    Client, EventHub, Expect, NewSession, PermissionPolicy, PromptBody, PromptReport, RunLimits, RunPrompt, Shape,
    Sink, run_prompt,
};
use shuntyard_core::{ModelRef, Nano, values::money::Price};
use shuntyard_host::{GuardedChild, git::Git};
use shuntyard_scripted::{Provider, Step};
use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const PROVIDER: &str = "scripted";
const START: Duration = Duration::from_secs(90);
/// Below the time of a check, so that a run ends by our own timers first.
const RUN: Duration = Duration::from_secs(45);
const DATABASE: &str = "server.db";

/// Fields are dropped in this order: the server has to go before its directory.
pub(super) struct Station {
    pub(super) client: Client,
    pub(super) provider: Provider,
    pub(super) site: Site,
    pub(super) binary: PathBuf,
    hub: EventHub,
    guarded: GuardedChild,
    pub(super) scratch: Scratch,
}

/// One prompt that was run to its end.
pub(super) struct Ran {
    pub(super) session: String,
    pub(super) report: PromptReport,
    pub(super) took: Duration,
}

impl Station {
    pub(super) async fn start(site: &Site, binary: &Path) -> Result<Self, Surprise> {
        let scratch = Scratch::new(&site.temporary)?;
        fs::write(scratch.path("models.json"), "{}")?;
        make_repository(site, &scratch).await;
        let provider = Provider::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        provider.price("alpha", ALPHA);
        let password = SecretString::from(Uuid::new_v4().simple().to_string());
        let mut variables = environment(site, &scratch, &provider, DATABASE);
        variables.push(("OPENCODE_SERVER_PASSWORD".to_owned(), password.expose_secret().to_owned()));
        let launched = launch(Launch {
            program: &site.program,
            binary,
            variables,
            password,
            directory: &scratch.path("project"),
            log: &scratch.path("server.log"),
            patience: START,
        })
        .await
        .map_err(Surprise)?;
        let client = launched.client.in_directory(&scratch.path("project"));
        let hub = EventHub::start(&client);
        hub.wait_connected(Duration::from_secs(20)).await;
        let (site, binary) = (site.clone(), binary.to_owned());
        Ok(Self { client, provider, site, binary, hub, guarded: launched.guarded, scratch })
    }

    pub(super) async fn end(self) {
        self.hub.close().await;
        if !end(self.guarded).await {
            tracing::warn!("processes of the checked server may have survived");
        }
        self.provider.shutdown().await;
        // Removing the directory may wait a little, and nothing else has to be done.
        drop(self.scratch);
    }

    /// The environment of one more OpenCode with a database of its own.
    pub(super) fn environment(&self, database: &str) -> Vec<(String, String)> {
        environment(&self.site, &self.scratch, &self.provider, database)
    }

    /// Sends `key` as the prompt; the provider answers it with `steps`.
    pub(super) async fn prompt(&self, model: &str, key: &str, steps: Vec<Step>) -> Result<Ran, Surprise> {
        self.provider.script(key, steps);
        self.send(model, key, None, &CancellationToken::new()).await
    }

    pub(super) async fn send(
        &self,
        model: &str,
        key: &str,
        schema: Option<Value>,
        cancel: &CancellationToken,
    ) -> Result<Ran, Surprise> {
        let new = NewSession { title: key.to_owned(), metadata: json!({}), ..NewSession::default() };
        let session = self.client.create_session(&new).await?;
        let expect = if schema.is_some() { Expect::Structured } else { Expect::Text };
        let parts = vec![json!({"type": "text", "text": key})];
        let model = ModelRef::new(PROVIDER, model);
        let sink: Sink = Arc::new(|_| {});
        let began = Instant::now();
        let report = run_prompt(RunPrompt {
            client: &self.client,
            hub: &self.hub,
            session: &session.id,
            message: &fresh_message_id(),
            body: &PromptBody::Prompt { parts, model, agent: None, system: None, schema },
            expect,
            shape: Shape::ManySteps,
            limits: limits(),
            approver: None,
            sink: &sink,
            cancel,
        })
        .await;
        Ok(Ran { session: session.id, report, took: began.elapsed() })
    }

    /// The database is read as bytes: it, or its log, contains a session's id as plain text.
    pub(super) async fn database_isolation(&self) -> Result<Seen, Surprise> {
        let ran = self.prompt("alpha", "conformance-database", vec![Step::text("stored")]).await?;
        let shared = self.scratch.path("home/.local/share/opencode/opencode.db");
        if shared.exists() {
            return Err(Surprise("the shared database was created although OPENCODE_DB names another".into()));
        }
        let held = [DATABASE.to_owned(), format!("{DATABASE}-wal")].iter().any(|name| {
            let bytes = fs::read(self.scratch.path(name)).unwrap_or_default();
            bytes.windows(ran.session.len()).any(|window| window == ran.session.as_bytes())
        });
        if !held {
            return Err(Surprise("the session is not in the database that OPENCODE_DB names".into()));
        }
        Ok(Seen::Holds("the session is in the server's own database; the shared one was not touched".into()))
    }
}

/// The project is a repository, so that it ends there even when the scratch directory lies in one of
/// the user's. Without git there is no such end, which matters only in that rare place.
async fn make_repository(site: &Site, scratch: &Scratch) {
    let variables = scratch.variables(&site.search_path);
    let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    let project = scratch.path("project");
    let made = tokio::task::spawn_blocking(move || Git { variables, ..Git::default() }.init(&project)).await;
    if !matches!(made, Ok(Ok(()))) {
        tracing::debug!(?made, "the scratch project is no repository");
    }
}

fn limits() -> RunLimits {
    RunLimits {
        first_token: Some(RUN),
        inactivity: Some(RUN),
        total: Some(RUN),
        began: std::time::Instant::now(),
        retry_wait_cap: Some(Duration::from_secs(10)),
        provider_retries: 1,
        steps: None,
        max_cost: None,
        permission: PermissionPolicy::Reject,
    }
}

const ALPHA: Price = Price {
    input: Nano(3_000_000_000),
    output: Nano(15_000_000_000),
    cache_read: Nano(300_000_000),
    cache_write: Nano::ZERO,
};

fn environment(site: &Site, scratch: &Scratch, provider: &Provider, database: &str) -> Vec<(String, String)> {
    let own = |name: &str| scratch.path(name).to_string_lossy().into_owned();
    let ours = [
        ("OPENCODE_CONFIG_CONTENT", configuration(&provider.base_url()).to_string()),
        ("OPENCODE_DB", own(database)),
        ("OPENCODE_MODELS_PATH", own("models.json")),
        ("OPENCODE_CLIENT", "shuntyard".to_owned()),
        // A registry that no process serves: nothing here may wait for the network.
        ("npm_config_registry", "http://127.0.0.1:9/".to_owned()),
        ("npm_config_fetch_retries", "0".to_owned()),
    ];
    let off = ["MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "CLAUDE_CODE"];
    let also_off = ["EXTERNAL_SKILLS", "PROJECT_CONFIG"];
    let mut variables = scratch.variables(&site.search_path);
    variables.extend(ours.map(|(name, value)| (name.to_owned(), value)));
    variables.extend(off.iter().chain(&also_off).map(|name| (format!("OPENCODE_DISABLE_{name}"), "1".to_owned())));
    variables
}

/// Everything is allowed but what the checks are about: leaving the directory asks.
fn configuration(base_url: &str) -> Value {
    let limit = json!({"context": 128_000, "output": 8192});
    let cost = json!({"input": 3, "output": 15, "cache_read": 0.3});
    json!({
        "enabled_providers": [PROVIDER],
        "model": "scripted/alpha",
        "small_model": "scripted/alpha",
        "share": "disabled",
        "autoupdate": false,
        "snapshot": false,
        "permission": {"*": "allow", "external_directory": "ask", "doom_loop": "deny"},
        "provider": {PROVIDER: {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": base_url, "apiKey": "scripted"},
            "models": {"alpha": {"limit": limit, "cost": cost}, "beta": {"limit": limit}},
        }},
    })
}
