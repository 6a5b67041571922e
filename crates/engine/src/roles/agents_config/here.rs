//! The agents that OpenCode has in a directory, as it has put them together from all its settings.

use crate::{
    Context,
    base::refusal::Refusal,
    servers::{Acquired, Want, acquire, project_stamps, refresh_instance, release},
};
use shuntyard_agents::opencode::{AgentDetails, Client};
use shuntyard_core::{DispatchId, settings::AgentGroup};
use std::path::Path;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentHere {
    pub details: AgentDetails,
    pub group: Option<AgentGroup>,
}

/// Without those that OpenCode uses for itself.
pub async fn agents_here(context: &Context, directory: &Path) -> Result<Vec<AgentHere>, Refusal> {
    let desk = Desk::open(context, directory).await?;
    let listed = desk.client.agent_details().await;
    desk.close(context).await;
    let shown = listed?.into_iter().filter(|details| !details.hidden);
    Ok(shown.map(|details| AgentHere { group: context.config.agent_groups.group_of(&details.name), details }).collect())
}

/// A server that has read the directory's settings as they are now. To be closed.
pub(super) struct Desk {
    pub(super) client: Client,
    pub(super) acquired: Acquired,
    /// What the user should know about the settings.
    pub(super) warning: Option<String>,
    holder: DispatchId,
}

impl Desk {
    pub(super) async fn open(context: &Context, directory: &Path) -> Result<Self, Refusal> {
        if !directory.is_dir() {
            return Err(Refusal::NoDirectory(directory.display().to_string()));
        }
        let holder = DispatchId(Uuid::now_v7());
        let acquired = acquire(context, holder, &Want::Any).await?;
        let client = acquired.client.in_directory(directory);
        let stamps = project_stamps(directory);
        let warning = match acquired.managed {
            Some(_) => refresh_instance(context, acquired.managed, &client, directory, &stamps).await,
            None => {
                Some("a server that you run reads its configuration when it starts: restart it after a change".into())
            }
        };
        Ok(Self { client, acquired, warning, holder })
    }

    pub(super) async fn close(self, context: &Context) {
        release(context, self.acquired, self.holder).await;
    }
}
