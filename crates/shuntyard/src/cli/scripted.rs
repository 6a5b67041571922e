//! `shuntyard scripted`: the scripted provider as a process of its own, for trying things out and for
//! measuring. Loopback only.

use crate::{failure::Failure, ui};
use clap::Args;
use shuntyard_scripted::{Provider, ScriptFile};
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
};

#[derive(Debug, Args)]
pub struct ScriptedArgs {
    /// The port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Scripts as JSON
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

pub async fn run(args: &ScriptedArgs) -> Result<ExitCode, Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let provider = Provider::start(address).await.map_err(|error| {
        Failure::unavailable("host", format!("port {} cannot be used: {error}", args.port), "name another port")
    })?;
    if let Some(path) = &args.script {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("{} cannot be read: {error}", path.display()), "name a script file")
        })?;
        let script = ScriptFile::parse(&text)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display()), "fix the script"))?;
        provider.load(script);
    }
    ui::result(&provider.base_url());
    drop(tokio::signal::ctrl_c().await);
    provider.shutdown().await;
    Ok(ExitCode::SUCCESS)
}
