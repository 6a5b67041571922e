//! What a supervisor of work asks of git: branches, working trees, rebases, remotes. The real git, in repositories that
//! know nothing of this machine's settings.

mod bound;
mod branches;
mod busy;
mod deaths;
mod forwards;
mod inner_deaths;
mod kinds;
mod large_files;
mod linked;
mod mover;
mod other_git;
mod rebases;
mod remotes;
mod removals;
mod scans;
mod scene;
mod settings;
mod stage;
mod users;
mod workspace_deaths;
mod workspace_losses;
mod workspace_sources;
mod workspace_states;
mod workspaces;
mod worktrees;
