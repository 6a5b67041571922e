//! The handle on a running provider, which tests and the demo hold.
//!
//! Dropping it ends its answers; [`Provider::shutdown`] also waits for them.

use crate::{
    actor::Actor,
    ledger::Ledger,
    openai::Said,
    script::ScriptFile,
    server::{Hub, run},
    step::Step,
};
use shuntyard_core::values::money::Price;
use std::{io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{net::TcpListener, task::JoinHandle};

const LONGEST_SHUTDOWN: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Provider {
    hub: Arc<Hub>,
    address: SocketAddr,
    task: JoinHandle<io::Result<()>>,
}

/// A wait that its deadline ended; the ledger records how far it had come.
#[derive(Debug, thiserror::Error)]
#[error("see what was waited for within {waited:?}; {} requests had arrived", ledger.entries.len())]
pub struct TimedOut {
    pub waited: Duration,
    pub ledger: Ledger,
}

impl Provider {
    /// Listens on `address`, where port 0 takes a free one, and serves on the current runtime.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn start(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let hub = Arc::new(Hub::new());
        let stop = hub.stop.clone();
        let task = tokio::spawn(run(listener, hub.clone(), async move { stop.cancelled().await }));
        Ok(Self { hub, address, task })
    }

    /// What a client takes as its base URL.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Adds steps for the requests that mention `key`. Without steps the requests are only counted.
    pub fn script(&self, key: &str, steps: Vec<Step>) {
        self.hub.setup().scripts.add_key(key, steps);
    }

    /// Adds steps for the requests to a model that mention no key.
    pub fn script_model(&self, model: &str, steps: Vec<Step>) {
        self.hub.setup().scripts.add_model(model, steps);
    }

    /// Lets a function answer the requests to a model that mention no key and find no step. It is given the messages,
    /// those of the system included.
    pub fn act(&self, model: &str, answer: impl Fn(&[Said]) -> Step + Send + Sync + 'static) {
        self.hub.setup().scripts.cast(model, Actor::new(answer));
    }

    /// What is answered when no step is left.
    pub fn default_reply(&self, step: Step) {
        self.hub.setup().scripts.default_reply = Some(step);
    }

    /// Adds everything that a script file holds.
    pub fn load(&self, file: ScriptFile) {
        let mut setup = self.hub.setup();
        for (key, steps) in file.keys {
            setup.scripts.add_key(&key, steps);
        }
        for (model, steps) in file.models {
            setup.scripts.add_model(&model, steps);
        }
        if file.default_reply.is_some() {
            setup.scripts.default_reply = file.default_reply;
        }
    }

    pub fn price(&self, model: &str, price: Price) {
        self.hub.setup().prices.insert(model.to_owned(), price);
    }

    /// From now on a request needs `Authorization: Bearer KEY`.
    pub fn require_api_key(&self, key: &str) {
        self.hub.setup().api_key = Some(key.to_owned());
    }

    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.hub.book.ledger()
    }

    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.hub.book.look(Ledger::in_flight)
    }

    /// Waits until `count` requests for the script `key` have arrived.
    ///
    /// # Errors
    /// When they have not within `deadline`.
    pub async fn wait_for(&self, key: &str, count: usize, deadline: Duration) -> Result<Ledger, TimedOut> {
        self.wait_until(deadline, |ledger| ledger.requests_for_key(key) >= count).await
    }

    /// Waits until the ledger is as wished.
    ///
    /// # Errors
    /// When it is not within `deadline`.
    pub async fn wait_until(&self, deadline: Duration, wished: impl Fn(&Ledger) -> bool) -> Result<Ledger, TimedOut> {
        let mut changes = self.hub.book.subscribe();
        let reached = tokio::time::timeout(deadline, async {
            // The ledger holds the sender, so the wait for a change cannot fail while this reads it.
            while !self.hub.book.look(&wished) && changes.changed().await.is_ok() {}
        });
        match reached.await {
            Ok(()) => Ok(self.ledger()),
            Err(_elapsed) => Err(TimedOut { waited: deadline, ledger: self.ledger() }),
        }
    }

    /// Ends all answers, hung ones included, and waits a few seconds at most.
    pub async fn shutdown(mut self) {
        self.hub.stop.cancel();
        if tokio::time::timeout(LONGEST_SHUTDOWN, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.hub.stop.cancel();
    }
}
