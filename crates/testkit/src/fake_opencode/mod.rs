//! A fake OpenCode server: in a test's own process for what the real one cannot be made to do, and as the program
//! `fake-opencode` for what the real one does, only faster.
//!
//! In a test it lives in a thread with a runtime of its own, so that it can die as a killed process does:
//! when the runtime goes, so do the listener and every connection, in the middle of whatever they
//! were doing. Invariant: a request is recorded before it is met, hung ones included.

mod agents;
mod behaviour;
mod catalogue;
mod config;
mod events;
mod gate;
mod instance;
mod machine;
mod pages;
mod place;
pub mod process;
mod routes;
mod run;
mod session_routes;
mod sessions;
mod shapes;
mod store;
#[cfg(test)]
mod tests;
mod work;
mod world;

pub use behaviour::{Behaviour, Events, PermissionReply, Run, Serving};
pub use world::Recorded;

use serde_json::Value;
use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};
use world::World;

/// A running fake; it dies when dropped.
#[derive(Debug)]
pub struct FakeOpencode {
    world: Arc<World>,
    address: SocketAddr,
    thread: Mutex<Option<thread::JoinHandle<io::Result<()>>>>,
}

impl FakeOpencode {
    /// # Errors
    /// When no port can be had.
    pub fn start(behaviour: Behaviour) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let world = Arc::new(World::new(behaviour));
        let inside = world.clone();
        let thread = thread::Builder::new().name("fake-opencode".to_owned()).spawn(move || live(listener, inside))?;
        Ok(Self { world, address, thread: Mutex::new(Some(thread)) })
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.world.requests()
    }

    /// How often a path was asked for.
    #[must_use]
    pub fn count(&self, method: &str, path: &str) -> usize {
        self.requests().iter().filter(|request| request.is(method, path)).count()
    }

    /// Waits until a path was asked for `count` times; false when the deadline came first.
    pub async fn wait_for(&self, method: &str, path: &str, count: usize, deadline: Duration) -> bool {
        let mut changes = self.world.subscribe();
        let arrived = async { while self.count(method, path) < count && changes.changed().await.is_ok() {} };
        tokio::time::timeout(deadline, arrived).await.is_ok()
    }

    /// Puts an event of the test's own choice on the event stream.
    pub fn emit(&self, directory: &str, kind: &str, properties: Value) {
        self.world.publish(directory, kind, properties);
    }

    /// Closes the listener and all connections, and returns when they are closed.
    pub fn kill(&self) {
        self.world.die();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A server that could not even start is dead too.
            drop(thread.join());
        }
    }
}

impl Drop for FakeOpencode {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Serves until the world ends; dropping the runtime then closes every socket.
fn live(listener: TcpListener, world: Arc<World>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tokio::select! {
            served = axum::serve(listener, routes::router(world.clone())) => served,
            () = world.dead() => Ok(()),
        }
    })
}
