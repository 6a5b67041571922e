//! What a supervisor of work asks of git: branches, working trees, rebases, remotes. The real git, in repositories that
//! know nothing of this machine's settings.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod branches;
mod forwards;
mod rebases;
mod remotes;
mod removals;
mod scene;
mod worktrees;
