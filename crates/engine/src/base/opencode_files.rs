//! Where the files are that OpenCode would read for a directory.

use crate::Context;
use shuntyard_agents::opencode::catalogue::Places;
use std::path::{Path, PathBuf};

pub(crate) fn places(context: &Context, directory: &Path) -> Places {
    let home = context.variable("HOME").map(PathBuf::from).unwrap_or_default();
    Places { home, variables: context.environment.clone(), directory: directory.to_owned() }
}
