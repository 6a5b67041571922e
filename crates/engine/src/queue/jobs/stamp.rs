//! The files that a runner's settings and logins are from, as they were when it read them: who has read older ones
//! takes no more jobs.

use crate::Context;
use std::{path::PathBuf, time::SystemTime};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp(Vec<Option<(u64, SystemTime)>>);

impl Stamp {
    pub(super) fn now(context: &Context) -> Self {
        let home = context.variable("HOME").map(PathBuf::from).unwrap_or_default();
        let base =
            |name: &str, otherwise: &str| context.variable(name).map_or_else(|| home.join(otherwise), PathBuf::from);
        let opencode = base("XDG_CONFIG_HOME", ".config").join("opencode");
        let files = [
            Some(context.paths.config_dir.join("config.toml")),
            context.variable("SHUNTYARD_CONFIG").map(PathBuf::from),
            Some(opencode.join("opencode.json")),
            Some(opencode.join("opencode.jsonc")),
            Some(opencode.join("config.json")),
            Some(base("XDG_DATA_HOME", ".local/share").join("opencode/auth.json")),
        ];
        Self(files.into_iter().flatten().map(stamp).collect())
    }
}

fn stamp(path: PathBuf) -> Option<(u64, SystemTime)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}
