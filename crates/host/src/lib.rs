//! This machine: processes and their trees, the guard that ends them, its load, files, git, npm, paths and the clock.
//!
//! Invariant: no process is signalled by its number alone. A number is reused; an identity (number and start) is not.

pub mod bounded;
pub mod clock;
pub mod day;
pub mod detached;
pub mod former_name;
pub mod git;
pub mod guard;
pub mod guarded;
pub mod load;
pub mod machine;
pub mod npm;
pub mod orphan;
pub mod paths;
pub mod process;
pub mod repository;
pub mod service;
pub mod shell;
pub mod space;
mod table;
pub mod text_file;
pub mod tree;
pub mod watch;

pub use guarded::{GuardedChild, GuardedCommand};
pub use process::{ProcessIdentity, Signal};
