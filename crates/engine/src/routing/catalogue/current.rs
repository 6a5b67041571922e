//! The list of models for a decision, from the nearest place that has it: our copy, OpenCode's files, and only then a
//! server.
//!
//! To ask a server about a directory makes OpenCode load what is in it, plugins included. Reading the list must not run
//! what a cloned repository brings, so unless the caller says otherwise only directories without settings of their own
//! are asked about, in their place a neutral one.

use super::{Extent, Listed, Origin, Shelf};
use crate::{
    Context,
    base::{opencode_files::places, refusal::Refusal},
    servers::{Want, acquire, locate_binary, project_stamps, refresh_instance, release},
};
use shuntyard_agents::opencode::{ApiError, Client, Endpoint, catalogue::from_files};
use shuntyard_core::DispatchId;
use shuntyard_host::paths::private_dir;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use uuid::Uuid;

/// How long a server may take to answer, for a command that could do without, and for one that could not.
const GLANCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_secs(90);

/// How true a list has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// A recent copy will do.
    IfStale,
    /// OpenCode itself is to be asked now.
    Now,
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
        Ok(Gathered { listed, keep }) => {
            if keep {
                shelf.put(&listed, Extent::All);
            }
            listed
        }
        Err(refusal) => {
            // An old list is better than none, with a warning.
            let Some(mut old) = copy(None) else { return Err(refusal) };
            old.problems.push(format!("the list of models could not be refreshed: {refusal}"));
            return Ok(old);
        }
    };
    Ok(match extent {
        Extent::All => listed,
        Extent::Connected => listed.connected(),
    })
}

/// What is known of connected models without a request: our copy, however old, else OpenCode's files.
#[must_use]
pub fn at_hand(context: &Context, directory: &Path) -> Listed {
    Shelf::of(context, directory).connected(None).unwrap_or_else(|| {
        let read = from_files(&places(context, directory));
        Listed::now(Origin::Files, read.catalogue, read.problems).connected()
    })
}

/// A list, and whether it may be kept as what OpenCode says of this directory.
struct Gathered {
    listed: Listed,
    keep: bool,
}

async fn gather(context: &Context, directory: &Path, refresh: Refresh) -> Result<Gathered, Refusal> {
    if !context.config.server.url.is_empty() {
        let endpoint = Endpoint { url: context.config.server.url.clone(), password: context.server_password.clone() };
        let client = Client::new(&endpoint)?.with_call_timeout(context.config.server.call_timeout.0);
        let listed = ask_all(context, &client, directory, refresh).await?;
        return Ok(Gathered { listed, keep: true });
    }
    let has_opencode = locate_binary(context).is_ok();
    if refresh == Refresh::Now && has_opencode {
        return on_managed(context, directory, refresh).await;
    }
    let read = from_files(&places(context, directory));
    if read.complete || !has_opencode {
        let mut problems = read.problems;
        if !read.complete {
            problems.push("OpenCode is not here, so its own list of models is not known".into());
        }
        return Ok(Gathered { listed: Listed::now(Origin::Files, read.catalogue, problems), keep: read.complete });
    }
    if project_stamps(directory).is_empty() {
        return on_managed(context, &neutral(context)?, refresh).await;
    }
    let mut problems = read.problems;
    problems.push(
        "not all models may be here: OpenCode was not asked, because this directory has OpenCode settings of its own; \
         --refresh asks it"
            .into(),
    );
    Ok(Gathered { listed: Listed::now(Origin::Files, read.catalogue, problems), keep: false })
}

/// A directory of ours, with nothing in it that OpenCode would load.
fn neutral(context: &Context) -> Result<PathBuf, Refusal> {
    let directory = context.paths.data_dir.join("empty");
    private_dir(&directory)?;
    Ok(directory)
}

/// Asks the managed server, starting one when none runs.
async fn on_managed(context: &Context, directory: &Path, refresh: Refresh) -> Result<Gathered, Refusal> {
    let holder = DispatchId(Uuid::now_v7());
    let acquired = acquire(context, holder, &Want::Any).await?;
    let client = acquired.client.in_directory(directory);
    let stamps = project_stamps(directory);
    let warning = refresh_instance(context, acquired.managed, &client, directory, &stamps).await;
    let listed = ask_all(context, &client, directory, refresh).await;
    release(context, acquired, holder).await;
    let mut listed = listed?;
    let keep = warning.is_none();
    listed.problems.extend(warning);
    Ok(Gathered { listed, keep })
}

async fn ask_all(context: &Context, client: &Client, directory: &Path, refresh: Refresh) -> Result<Listed, ApiError> {
    let client = client.in_directory(directory);
    let patience = patience(refresh, context.config.server.call_timeout.0);
    let asked = tokio::time::timeout(patience, client.full_catalogue()).await;
    let catalogue = asked.map_err(|_| ApiError::Deadline(client.address()))??;
    Ok(Listed::now(Origin::Server, super::clean(context, catalogue), Vec::new()))
}

/// A user who lets a slow server take longer for each call lets it take as long for its list of models.
fn patience(refresh: Refresh, call_timeout: Option<Duration>) -> Duration {
    let usual = match refresh {
        Refresh::IfStale => GLANCE,
        Refresh::Now => LOOK,
    };
    usual.max(call_timeout.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Refresh, patience};
    use std::time::Duration;

    #[test]
    fn a_longer_call_timeout_lets_a_server_take_longer() {
        let seconds = |refresh, timeout| patience(refresh, Some(Duration::from_secs(timeout))).as_secs();
        assert_eq!((seconds(Refresh::IfStale, 5), seconds(Refresh::IfStale, 60)), (10, 60));
        assert_eq!((seconds(Refresh::Now, 60), seconds(Refresh::Now, 300)), (90, 300));
    }
}
