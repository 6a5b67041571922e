//! The environment of everything that the demo starts. It is complete: nothing is inherited.

use super::Scratch;
use std::collections::BTreeMap;

/// What keeps OpenCode from reading the user's files and from fetching anything.
const OPENCODE_SWITCHES: [&str; 7] = [
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS",
    "OPENCODE_DISABLE_PROJECT_CONFIG",
];

/// Git without the user's and the machine's settings; the name of the first branch is fixed.
const GIT: [(&str, &str); 7] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TEMPLATE_DIR", ""),
    ("GIT_CONFIG_PARAMETERS", ""),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "init.defaultBranch"),
    ("GIT_CONFIG_VALUE_0", "main"),
];

/// `owner` is the process that the managed server and the workers end with.
pub(super) fn hermetic(scratch: &Scratch, search_path: Option<&str>, owner: u32) -> BTreeMap<String, String> {
    let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    let mut variables: BTreeMap<String, String> = GIT.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    variables.extend(OPENCODE_SWITCHES.map(|name| (name.to_owned(), "1".to_owned())));
    variables.extend([
        ("PATH".to_owned(), search_path.unwrap_or("/usr/local/bin:/usr/bin:/bin").to_owned()),
        ("HOME".to_owned(), text(scratch.home())),
        ("TMPDIR".to_owned(), text(scratch.temporary())),
        ("SHUNTYARD_CONFIG".to_owned(), text(scratch.config())),
        ("SHUNTYARD_DATA_DIR".to_owned(), text(scratch.data())),
        ("OPENCODE_MODELS_PATH".to_owned(), text(scratch.empty_catalogue())),
        // OpenCode installs its plugin package in the background; here that must fail, and at once.
        ("npm_config_registry".to_owned(), "http://127.0.0.1:9/".to_owned()),
        ("npm_config_fetch_retries".to_owned(), "0".to_owned()),
        ("SHUNTYARD_SERVER_OWNER_PID".to_owned(), owner.to_string()),
    ]);
    variables
}
