//! What every layer above needs: the context, owners of work, refusals, notices, and names of files.

pub mod context;
pub mod direct_cache;
pub(crate) mod hash;
pub(crate) mod in_thread;
pub(crate) mod notify;
pub(crate) mod opencode_files;
pub(crate) mod owner;
pub mod refusal;
pub(crate) mod repository_settings;
