//! The OpenCode server of a dispatch: acquired when an attempt first needs one, and given back at the end.

use super::transport::close_abandoned;
use crate::base::refusal::Refusal;
use crate::{
    Context,
    servers::{Acquired, Want, acquire, project_stamps, refresh_instance, release},
};
use shuntyard_agents::opencode::{Client, launch::TEXT_AGENT};
use shuntyard_core::{DispatchId, routing::request::Request, values::Mode};
use tokio::sync::OnceCell;

/// A server with a client that works in the request's directory.
pub(super) struct ServerHandle {
    pub(super) acquired: Acquired,
    pub(super) client: Client,
    /// The agent that leads. One that was named is looked for before the first prompt.
    pub(super) agent: Option<String>,
}

impl ServerHandle {
    pub(super) fn new(acquired: Acquired, request: &Request) -> Self {
        let client = acquired.client.in_directory(&request.directory);
        let agent = request.agent.clone().or_else(|| own_agent(request, &acquired));
        Self { acquired, client, agent }
    }
}

/// Our own agent exists on servers that we started.
fn own_agent(request: &Request, acquired: &Acquired) -> Option<String> {
    (request.mode == Mode::Text && acquired.managed.is_some()).then(|| TEXT_AGENT.to_owned())
}

/// The server handle of a dispatch that began without one.
pub(super) async fn late<'a>(
    cell: &'a OnceCell<ServerHandle>,
    context: &Context,
    request: &Request,
    id: DispatchId,
) -> Result<&'a ServerHandle, Refusal> {
    cell.get_or_try_init(|| async {
        let mut server_handle = ServerHandle::new(acquire(context, id, &Want::Any).await?, request);
        let stamps = project_stamps(&request.directory);
        let managed = server_handle.acquired.managed;
        let warning = refresh_instance(context, managed, &server_handle.client, &request.directory, &stamps).await;
        server_handle.acquired.warnings.extend(warning);
        Ok(server_handle)
    })
    .await
}

/// Without a server there is no keeper either, that would close what the dead have left open.
pub(super) async fn leave(cell: OnceCell<ServerHandle>, context: &Context, id: DispatchId) {
    match cell.into_inner() {
        Some(server_handle) => release(context, server_handle.acquired, id).await,
        None => close_abandoned(context).await,
    }
}
