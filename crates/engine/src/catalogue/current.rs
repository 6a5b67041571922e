//! The list of models for a decision, from the nearest place that has it: our copy, a server that runs, OpenCode's
//! files, and only then a server that has to be started.

use super::{Listed, Origin, Shelf};
use crate::{
    Context,
    dispatch::Refusal,
    server::{Want, acquire, endpoint_of, fingerprint, locate_binary, release},
};
use std::path::{Path, PathBuf};
use switchyard_agents::opencode::{
    ApiError, Client, Endpoint,
    catalogue::{Places, from_files},
};
use switchyard_core::DispatchId;
use switchyard_store::ServerState;
use uuid::Uuid;

/// How true a list has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// A recent copy will do.
    IfStale,
    /// OpenCode itself is to be asked now.
    Now,
}

/// How much of it is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Connected,
    /// Also what is only known of.
    All,
}

pub async fn current(context: &Context, directory: &Path, refresh: Refresh, extent: Extent) -> Result<Listed, Refusal> {
    current_on(context, &Shelf::of(context, directory), directory, refresh, extent).await
}

/// The same for those who have the shelf already.
pub(crate) async fn current_on(
    context: &Context,
    shelf: &Shelf,
    directory: &Path,
    refresh: Refresh,
    extent: Extent,
) -> Result<Listed, Refusal> {
    let copy = |max_age| match extent {
        Extent::Connected => shelf.connected(max_age),
        Extent::All => shelf.all(max_age),
    };
    if refresh == Refresh::IfStale
        && let Some(listed) = copy(context.config.catalogue.max_age.0)
    {
        return Ok(listed);
    }
    let listed = match gather(context, directory, refresh).await {
        Ok(listed) => listed,
        Err(refusal) => {
            // An old list is better than none, when it is said.
            let Some(mut old) = copy(None) else { return Err(refusal) };
            old.problems.push(format!("the list of models could not be refreshed: {refusal}"));
            return Ok(old);
        }
    };
    shelf.put(&listed, Extent::All);
    Ok(match extent {
        Extent::All => listed,
        Extent::Connected => listed.connected(),
    })
}

async fn gather(context: &Context, directory: &Path, refresh: Refresh) -> Result<Listed, Refusal> {
    if !context.config.server.url.is_empty() {
        let endpoint = Endpoint { url: context.config.server.url.clone(), password: context.server_password.clone() };
        return Ok(ask_all(&Client::new(&endpoint)?, directory).await?);
    }
    if let Some(client) = running(context).await
        && let Ok(listed) = ask_all(&client, directory).await
    {
        return Ok(listed);
    }
    let read = from_files(&places(context, directory));
    let has_opencode = locate_binary(context).is_ok();
    if (read.complete && refresh == Refresh::IfStale) || !has_opencode {
        let mut problems = read.problems;
        if !read.complete {
            problems.push("OpenCode is not here, so its own list of models is not known".into());
        }
        return Ok(Listed::now(Origin::Files, read.catalogue, problems));
    }
    let holder = DispatchId(Uuid::now_v7());
    let acquired = acquire(context, holder, &Want::Any).await?;
    let listed = ask_all(&acquired.client, directory).await;
    release(context, acquired, holder).await;
    Ok(listed?)
}

async fn ask_all(client: &Client, directory: &Path) -> Result<Listed, ApiError> {
    let catalogue = client.in_directory(directory).full_catalogue().await?;
    Ok(Listed::now(Origin::Server, catalogue, Vec::new()))
}

/// A managed server that runs already, with what this command would start one with.
async fn running(context: &Context) -> Option<Client> {
    let print = fingerprint(context, &locate_binary(context).ok()?.path);
    let servers = context.store.servers().await.ok()?;
    let server = servers.iter().find(|server| server.state == ServerState::Ready && server.fingerprint == print)?;
    Client::new(&endpoint_of(context, server).ok()?).ok()
}

fn places(context: &Context, directory: &Path) -> Places {
    let home = context.variable("HOME").map(PathBuf::from).unwrap_or_default();
    Places { home, variables: context.environment.clone(), directory: directory.to_owned() }
}
