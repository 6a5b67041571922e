//! The client: asks until there is an answer, a failure that lasts, or no patience left.
//!
//! One pool of connections serves every request. Once a model has begun to answer, nothing is asked again.

use super::{
    adapt::Manner,
    again::Trouble,
    answered::{Account, Answered},
    ask::Ask,
    body::request_body,
    clock::{Clock, HangUp},
    exchange::exchange,
    heard::Heard,
    judge::judge,
    listen::{Halt, Listening},
    provider::Provider,
};
use crate::{opencode::Expect, web::install_tls};
use shuntyard_core::ErrorClass;
use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

const CONNECT: Duration = Duration::from_secs(15);
/// Shorter than servers keep an idle connection: one that dies under a request costs a retry.
const IDLE: Duration = Duration::from_secs(30);
const MOST_IDLE: usize = 256;

/// Cheap to clone; all clones share their connections.
#[derive(Debug, Clone)]
pub struct Direct {
    local: reqwest::Client,
    /// Made when first needed: loading the system's certificates takes longer than a local request.
    remote: Arc<OnceLock<reqwest::Client>>,
}

#[derive(Debug, thiserror::Error)]
#[error("make an HTTP client: {0}")]
pub struct NoClient(#[source] reqwest::Error);

impl Direct {
    pub fn new() -> Result<Self, NoClient> {
        install_tls();
        // A proxy of the environment does not apply to this machine.
        let local = builder().no_proxy().tls_certs_only(std::iter::empty()).build().map_err(NoClient)?;
        Ok(Self { local, remote: Arc::default() })
    }

    /// Asks a model. Cancelling it, or dropping the future, drops the connection at once.
    pub async fn ask(&self, ask: Ask<'_>) -> Answered {
        let mut talk = Talk {
            clock: Clock::new(ask.limits, Instant::now()),
            manner: Manner::first(&ask),
            heard: Heard::default(),
            account: Account::default(),
            retries: 0,
        };
        let ended = tokio::select! {
            biased;
            () = ask.cancel.cancelled() => Err(Halt::HungUp(HangUp::Cancelled)),
            ended = talk.until_answered(self, &ask) => ended,
        };
        talk.conclude(&ask, ended)
    }

    fn client(&self, provider: &Provider) -> Result<&reqwest::Client, Trouble> {
        if provider.is_loopback() && provider.completions().scheme() == "http" {
            return Ok(&self.local);
        }
        if let Some(client) = self.remote.get() {
            return Ok(client);
        }
        let client =
            builder().build().map_err(|error| Trouble::lasting(ErrorClass::Network, NoClient(error).to_string()))?;
        Ok(self.remote.get_or_init(|| client))
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .http1_only()
        .tcp_nodelay(true)
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(MOST_IDLE)
        // A redirect would carry the key to another host, or turn the request into one without a body.
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .user_agent(concat!("shuntyard/", env!("CARGO_PKG_VERSION")))
}

/// One request with all its tries.
#[derive(Debug)]
struct Talk {
    clock: Clock,
    manner: Manner,
    /// Of the exchange that goes on.
    heard: Heard,
    account: Account,
    retries: u32,
}

impl Talk {
    async fn until_answered(&mut self, direct: &Direct, ask: &Ask<'_>) -> Result<(), Halt> {
        loop {
            let trouble = match self.try_once(direct, ask).await {
                Err(Halt::Trouble(trouble)) if !self.heard.has_begun() => trouble,
                ended => return ended,
            };
            if let Some(manner) = trouble.complaint.as_ref().and_then(|complaint| self.manner.after(complaint)) {
                tracing::debug!(?manner, "the provider wants the request in another manner");
                self.manner = manner;
            } else {
                let Some(pause) = trouble.pause(self.retries, &ask.limits, &self.clock, Instant::now()) else {
                    return Err(Halt::Trouble(trouble));
                };
                tracing::debug!(class = %trouble.failure.class, ?pause, "the provider is asked again");
                tokio::time::sleep(pause).await;
                self.retries += 1;
            }
            self.account.book(&std::mem::take(&mut self.heard));
        }
    }

    async fn try_once(&mut self, direct: &Direct, ask: &Ask<'_>) -> Result<(), Halt> {
        let request = direct.client(ask.provider)?.post(ask.provider.completions().clone());
        // Made for each try, and not kept for the next: images are large, and retries are rare.
        let body = request_body(ask, self.manner).map_err(|error| {
            Trouble::lasting(ErrorClass::ServerError, format!("the request cannot be written: {error}"))
        })?;
        let listening = Listening::new(ask.provider, ask.sink, &mut self.clock, &mut self.heard);
        exchange(request, body, listening).await
    }

    fn conclude(mut self, ask: &Ask<'_>, ended: Result<(), Halt>) -> Answered {
        self.account.book(&self.heard);
        let expect = if ask.schema.is_some() { Expect::Structured } else { Expect::Text };
        let (judged, gave_up) = match ended {
            Ok(()) => (judge(&self.heard, expect), None),
            Err(Halt::HungUp(reason)) => (Err(reason.failure()), Some(reason.into())),
            Err(Halt::Trouble(trouble)) => {
                let (failure, gave_up) = trouble.conclude(self.retries);
                (Err(failure), gave_up)
            }
        };
        let (outcome, structured) = match judged {
            Ok(structured) => (Ok(()), structured),
            Err(failure) => (Err(failure), None),
        };
        Answered {
            outcome,
            structured,
            form: self.manner.form,
            model: self.heard.model,
            usage: self.account.usage(),
            usage_known: self.account.is_known(),
            cost: self.account.cost(),
            retries: self.retries,
            first_token: self.clock.first_token(),
            gave_up,
            text: self.heard.text,
        }
    }
}
