//! OpenCode servers: the user's own when one is named, otherwise a managed one that is started on
//! demand, kept by a keeper process, and shared by later commands.

mod acquire;
pub(crate) mod archive;
mod ending;
mod fingerprint;
mod instance;
mod keeper;
pub(crate) mod launch;
mod order;
mod private;
pub(crate) mod recovery;
mod registry;
pub(crate) mod session_cost;
mod watch;

pub use acquire::{Acquired, Want, acquire, locate_binary, locate_with, release};
pub use ending::RECYCLED;
pub use keeper::keep;
pub use order::KeeperOrder;
pub use registry::{ServerStatus, Stopped, prune, statuses, stop_all};

pub(crate) use acquire::{OWN_SLOT, give_up, version_warning};
pub(crate) use fingerprint::{fingerprint, project_stamps};
pub(crate) use instance::{has_read, refresh_instance, retire_unreadable};
pub(crate) use private::endpoint_of;

/// Every process of a managed server carries the server's id in this variable. It is inherited by all
/// that the server starts, which makes it the proof that a leftover is ours.
pub const SERVER_MARK: &str = "SHUNTYARD_SERVER_ID";
