//! Why a keeper ends its server, and which of that is reported to people as a server that had to be replaced.

use super::order::KeeperOrder;
use crate::Context;
use serde_json::json;
use shuntyard_host::clock::now_micros;

/// The kind of event that a server leaves that was ended for its memory or its health.
pub const RECYCLED: &str = "server.recycled";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Told,
    Died,
    OwnerGone,
    StoreGone,
    Silent,
    Broken,
    Large,
    Unused,
    Removed,
    Replaced,
}

impl Ending {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Told => "it was told to end",
            Self::Died => "it ended by itself",
            Self::OwnerGone => "the process that it belongs to is gone",
            Self::StoreGone => "the store is out of reach",
            Self::Silent => "it no longer answers",
            Self::Broken => "a client found it broken",
            Self::Large => "it has grown too large",
            Self::Unused => "nobody used it for a while",
            Self::Removed => "it was removed from the registry",
            Self::Replaced => "it was replaced or stopped",
        }
    }

    /// Whether something was wrong with the server itself.
    fn is_recycling(self) -> bool {
        match self {
            Self::Died | Self::Silent | Self::Broken | Self::Large => true,
            Self::Told | Self::OwnerGone | Self::StoreGone | Self::Unused | Self::Removed | Self::Replaced => false,
        }
    }

    /// Keeps for people that a server had to be ended. One that cannot be written down is ended all the same.
    pub(super) async fn tell(self, context: &Context, order: &KeeperOrder, resident_bytes: u64, started_at: i64) {
        if !self.is_recycling() {
            return;
        }
        let now = now_micros();
        let lived_seconds = now.saturating_sub(started_at) / 1_000_000;
        let data = json!({
            "slot": order.slot, "why": self.as_str(), "resident_bytes": resident_bytes, "lived_seconds": lived_seconds,
        });
        drop(context.store.append_event(now, RECYCLED, &order.server.to_string(), &data).await);
    }
}
