//! Tokens and money of a session with all its descendants: OpenCode does not add a child's cost to
//! its parent, and one message knows only its own step.

use super::{client::Client, http::ApiError, judge::steps, types::Session};
use shuntyard_core::{Nano, Usage, limits::Steps};
use std::time::Duration;

/// Deeper than any real tree; a loop in the server's answers must still end.
const MOST_SESSIONS: usize = 500;
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeUsage {
    pub usage: Usage,
    pub cost: Nano,
    /// The root first.
    pub sessions: Vec<String>,
    /// False when the server reported something that is no amount.
    pub cost_known: bool,
}

impl TreeUsage {
    /// What was used since `earlier` was read of the same tree.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> (Usage, Nano) {
        let usage = Usage {
            input: self.usage.input.saturating_sub(earlier.usage.input),
            output: self.usage.output.saturating_sub(earlier.usage.output),
            reasoning: self.usage.reasoning.saturating_sub(earlier.usage.reasoning),
            cache_read: self.usage.cache_read.saturating_sub(earlier.usage.cache_read),
            cache_write: self.usage.cache_write.saturating_sub(earlier.usage.cache_write),
        };
        (usage, Nano(self.cost.0.saturating_sub(earlier.cost.0).max(0)))
    }
}

/// Reads the whole tree under `root`.
pub async fn read_tree(client: &Client, root: &str) -> Result<TreeUsage, ApiError> {
    let reading = async {
        let (session, children) = tokio::try_join!(client.session(root), client.children(root))?;
        let mut tree = TreeUsage { cost_known: true, ..TreeUsage::default() };
        let mut waiting = children;
        add(&mut tree, &session);
        while let Some(child) = waiting.pop() {
            if tree.sessions.len() >= MOST_SESSIONS || tree.sessions.contains(&child.id) {
                continue;
            }
            waiting.extend(client.children(&child.id).await?);
            add(&mut tree, &child);
        }
        Ok(tree)
    };
    tokio::time::timeout(PATIENCE, reading).await.unwrap_or_else(|_| Err(ApiError::Deadline(client.address())))
}

/// The requests to models in these sessions from a moment on, in milliseconds since the Unix epoch: how many have
/// ended, and how many were cut off and never reported.
pub async fn read_steps(client: &Client, sessions: &[String], since: i64) -> Result<Steps, ApiError> {
    let reading = async {
        let mut all = Steps::default();
        for session in sessions {
            // No message comes before the empty one.
            let found = steps(&client.run_messages(session, "").await?, since);
            all.ended = all.ended.saturating_add(found.ended);
            all.cut_off = all.cut_off.saturating_add(found.cut_off);
            all.dearest = all.dearest.max(found.dearest);
        }
        Ok(all)
    };
    tokio::time::timeout(PATIENCE, reading).await.unwrap_or_else(|_| Err(ApiError::Deadline(client.address())))
}

fn add(tree: &mut TreeUsage, session: &Session) {
    tree.sessions.push(session.id.clone());
    tree.usage = tree.usage + session.tokens.into();
    match session.spent() {
        Some(cost) => tree.cost = tree.cost + cost,
        None => tree.cost_known = false,
    }
}
