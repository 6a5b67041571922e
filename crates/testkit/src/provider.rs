//! The scripted provider on a thread of its own, so that plain tests can use it.

use shuntyard_core::{Nano, values::money::Price};
use shuntyard_scripted::{Ledger, Provider, Said, Step};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    time::Duration,
};

#[derive(Debug, Clone)]
pub struct SharedProvider {
    provider: Arc<Provider>,
}

impl SharedProvider {
    /// Starts a provider that lives as long as the test process.
    pub fn start() -> Self {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let provider = Provider::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.expect("a free port");
                sender.send(Arc::new(provider)).expect("the test waits for its provider");
                std::future::pending::<()>().await;
            });
        });
        Self { provider: receiver.recv().expect("the provider started") }
    }

    pub fn base_url(&self) -> String {
        self.provider.base_url()
    }

    pub fn require_api_key(&self, key: &str) {
        self.provider.require_api_key(key);
    }

    pub fn price(&self, model: &str, [input, output, cache_read]: [f64; 3]) {
        let nano = |usd: f64| Nano::from_usd(usd).expect("a price");
        let price =
            Price { input: nano(input), output: nano(output), cache_read: nano(cache_read), cache_write: Nano::ZERO };
        self.provider.price(model, price);
    }

    /// A key that no other test uses.
    pub fn fresh_key(&self, name: &str) -> String {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        format!("<<{name}-{}>>", COUNTER.fetch_add(1, Ordering::Relaxed))
    }

    /// Scripts the answers to prompts that contain `key`.
    pub fn script_key(&self, key: &str, steps: Vec<Step>) {
        self.provider.script(key, steps);
    }

    /// Scripts the answers to prompts that contain the returned key.
    pub fn script(&self, name: &str, steps: Vec<Step>) -> String {
        let key = self.fresh_key(name);
        self.script_key(&key, steps);
        key
    }

    /// Lets a function answer what is asked of a model without any key.
    pub fn act(&self, model: &str, answer: impl Fn(&[Said]) -> Step + Send + Sync + 'static) {
        self.provider.act(model, answer);
    }

    pub fn ledger(&self) -> Ledger {
        self.provider.ledger()
    }

    /// The requests that a key has made so far.
    pub fn requests(&self, key: &str) -> Ledger {
        self.provider.ledger().for_key(key)
    }

    pub fn wait_for_requests(&self, key: &str, count: usize) {
        let what = format!("{count} requests for {key}");
        crate::eventually(&what, Duration::from_secs(40), || self.provider.ledger().requests_for_key(key) >= count);
    }
}
