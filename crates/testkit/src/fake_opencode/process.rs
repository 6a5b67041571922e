//! The fake as a program: the part of OpenCode's command line that is used, and a server that really works.

use super::{
    behaviour::{Behaviour, Run},
    machine::Machine,
    routes,
    world::World,
};
use axum::serve::ListenerExt;
use std::{io::Write, net::Ipv4Addr, sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

/// What the commands that run have to end.
const LAST_BREATH: Duration = Duration::from_millis(50);

/// Runs the command line that `fake-opencode` was started with, and returns the exit code.
#[must_use]
pub fn main(arguments: &[String]) -> u8 {
    match arguments.first().map(String::as_str) {
        Some("--version" | "-v") => {
            say(&Behaviour::default().version);
            0
        }
        Some("serve") => match serve(arguments) {
            Ok(()) => 0,
            Err(error) => fail(&error),
        },
        other => fail(&format!("the fake OpenCode has no command {other:?}")),
    }
}

fn say(line: &str) {
    drop(writeln!(std::io::stdout(), "{line}"));
}

fn fail(error: &str) -> u8 {
    drop(writeln!(std::io::stderr(), "{error}"));
    1
}

fn serve(arguments: &[String]) -> Result<(), String> {
    let port = arguments.iter().position(|argument| argument == "--port").and_then(|at| arguments.get(at + 1));
    let port = port.map_or(Ok(0), |port| port.parse::<u16>()).map_err(|error| error.to_string())?;
    // The client of the fake's providers wants one, although it never encrypts anything.
    drop(rustls::crypto::ring::default_provider().install_default());
    let machine = Machine::of_this_process()?;
    let password = machine.variable("OPENCODE_SERVER_PASSWORD").map(str::to_owned);
    let world = Arc::new(World::on(machine, Behaviour { run: Run::Works, password, ..Behaviour::default() }));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(live(port, world)).map_err(|error| error.to_string())
}

async fn live(port: u16, world: Arc<World>) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    say(&format!("opencode server listening on http://{}", listener.local_addr()?));
    // Events are small and must leave at once; a socket that refuses the option still works.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    tokio::select! {
        served = axum::serve(listener, routes::router(world.clone())) => return served,
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    world.sessions().cancel_all(None);
    tokio::time::sleep(LAST_BREATH).await;
    Ok(())
}
