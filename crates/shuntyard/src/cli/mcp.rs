//! `shuntyard mcp`: the MCP server, for one client over standard input and output, or over HTTP on this machine.

use super::{Global, input};
use crate::{
    failure::Failure,
    mcp::{
        Fence, Toolset, Yard, http, stdio,
        token::{self, Token, TokenFile},
    },
    ui::{self, Format},
};
use clap::Args;
use secrecy::SecretString;
use serde_json::json;
use shuntyard_engine::{Context, queue::jobs::JobNotifier};
use std::{net::SocketAddr, path::PathBuf, process::ExitCode, sync::Arc};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shuntyard mcp
  shuntyard mcp --tools dispatch
  shuntyard mcp --http 127.0.0.1:0

OpenCode, in opencode.json:
  \"mcp\": {\"shuntyard\": {\"type\": \"local\", \"command\": [\"shuntyard\", \"mcp\"]}}")]
pub struct McpArgs {
    /// Which tools to offer
    #[arg(long, value_enum, default_value_t = Toolset::All)]
    tools: Toolset,
    /// Serve over HTTP at this address of this machine in place of standard input and output; port 0 takes a free one.
    /// Every request needs a token: SHUNTYARD_MCP_TOKEN, or one that is made and kept in a file
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// The directory to work for; calls reach it and what is inside it. The current one by default
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

pub async fn run(global: &Global, args: &McpArgs) -> Result<ExitCode, Failure> {
    if crate::inside::is_managed() {
        // A delegated agent with these tools could delegate again without end.
        let hint = "the tools are for whoever leads: an OpenCode that you started yourself, or another client";
        return Err(Failure::refused("a managed OpenCode server gets no tools to hand work on", hint));
    }
    let address = args.http.as_deref().map(loopback).transpose()?;
    let directory = input::directory(args.directory.as_ref())?;
    // The settings of that directory's repository hold, wherever the client was started.
    std::env::set_current_dir(&directory).map_err(|error| {
        Failure::usage(format!("{} cannot be worked in: {error}", directory.display()), "name one with --directory")
    })?;
    let fence = Fence::around(&directory)
        .map_err(|error| Failure::usage(format!("{}: {error}", directory.display()), "name one with --directory"))?;
    let mut settings = global.settings()?;
    // The processes that are started from here must not inherit it.
    let token = settings.environment.remove(token::VARIABLE).filter(|token| !token.is_empty());
    let context = Arc::new(settings.into_context().await?);
    let stop = CancellationToken::new();
    let notifier = JobNotifier::start(&context, stop.clone());
    let yard = Yard { context: context.clone(), notifier, fence };
    let serving = async {
        match address {
            None => {
                let served = stdio::serve(yard, args.tools, stop.clone()).await;
                served.map_err(|error| Failure::unavailable("mcp", error, "start it from an MCP client"))
            }
            Some(address) => over_http(global, &context, yard, args.tools, address, token, &stop).await,
        }
    };
    tokio::pin!(serving);
    let served = tokio::select! {
        // A client may send a signal as soon as it has the first message: signals are handled before anything is sent.
        biased;
        () = input::interrupted() => {
            stop.cancel();
            serving.await
        }
        served = &mut serving => served,
    };
    stop.cancel();
    served.map(|()| ExitCode::SUCCESS)
}

async fn over_http(
    global: &Global,
    context: &Context,
    yard: Yard,
    tools: Toolset,
    address: SocketAddr,
    token: Option<String>,
    stop: &CancellationToken,
) -> Result<(), Failure> {
    if token.as_ref().is_some_and(|token| token.len() < token::SHORTEST) {
        let message = format!("{} is shorter than {} characters", token::VARIABLE, token::SHORTEST);
        return Err(Failure::usage(message, "make it longer, or leave it out and one is made"));
    }
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::unavailable("host", format!("{address} cannot be used: {error}"), "name another one with --http")
    })?;
    let address =
        listener.local_addr().map_err(|error| Failure::unavailable("host", error, "name another one with --http"))?;
    let (file, token) = match token {
        Some(token) => (None, SecretString::from(token)),
        None => {
            let made = TokenFile::create(&context.paths.data_dir);
            let (file, token) = made.map_err(|error| {
                Failure::unavailable("host", format!("the token cannot be kept: {error}"), "run `shuntyard doctor`")
            })?;
            (Some(file), token)
        }
    };
    let url = format!("http://{address}{}", http::PATH);
    let kept = file.as_ref().map(|file| file.path.display().to_string());
    match (global.format(), &kept) {
        (Format::Json, _) => ui::note(&json!({"url": url, "token_file": kept}).to_string()),
        (Format::People, Some(kept)) => ui::note(&format!("serving at {url}; the token is in {kept}")),
        (Format::People, None) => ui::note(&format!("serving at {url}; the token is {}", token::VARIABLE)),
    }
    let served = http::serve(listener, yard, tools, Token::new(&token), stop.clone()).await;
    served.map_err(|error| Failure::unavailable("host", error, "start it again"))
}

/// A loopback address, which no other machine can reach.
fn loopback(text: &str) -> Result<SocketAddr, Failure> {
    let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let address: SocketAddr = numeric.as_deref().unwrap_or(text).parse().map_err(|_| {
        Failure::usage(format!("`{text}` is no address with a port"), "write it like --http 127.0.0.1:0")
    })?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    let hint = "use 127.0.0.1, and a tunnel such as ssh -L to reach it from elsewhere";
    Err(Failure::refused(format!("{address} can be reached from other machines"), hint))
}

#[cfg(test)]
mod tests {
    use super::loopback;
    use crate::failure::Exit;

    #[test]
    fn only_this_machine_is_served() {
        for good in ["127.0.0.1:0", "127.0.0.2:80", "[::1]:0", "localhost:4000"] {
            assert!(loopback(good).is_ok(), "{good}");
        }
        for bad in ["0.0.0.0:0", "[::]:0", "192.168.1.5:80", "8.8.8.8:1"] {
            assert_eq!(loopback(bad).map_err(|failure| failure.exit), Err(Exit::Refused), "{bad}");
        }
        for none in ["", "4000", "example.org:80", "127.0.0.1", "localhost:x"] {
            assert_eq!(loopback(none).map_err(|failure| failure.exit), Err(Exit::Usage), "{none}");
        }
    }
}
