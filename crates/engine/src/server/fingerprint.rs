//! What a managed server was started with. A command that would start it differently (another key in
//! the environment, an edited configuration, another binary) must not be served by an older one.

use crate::Context;
use jsonc_parser::ParseOptions;
use sha2::{Digest, Sha256};
use std::{
    fs,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

/// Files below a configuration directory that are looked at, at most.
const MOST_FILES: usize = 500;

pub(crate) fn fingerprint(context: &Context, binary: &Path) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    add(&stamp(binary));
    for (name, value) in context.environment.iter().filter(|(name, _)| matters(name)) {
        add(name);
        add(value);
    }
    let home = context.variable("HOME").map(PathBuf::from).unwrap_or_default();
    let base = |name: &str, otherwise: &str| context.variable(name).map_or_else(|| home.join(otherwise), PathBuf::from);
    let mut stamps = Vec::new();
    stamp_directory(&base("XDG_CONFIG_HOME", ".config").join("opencode"), 3, &mut stamps);
    if let Some(directory) = context.variable("OPENCODE_CONFIG_DIR") {
        stamp_directory(Path::new(directory), 3, &mut stamps);
    }
    if let Some(file) = context.variable("OPENCODE_CONFIG") {
        let file = Path::new(file);
        stamps.push(settings_of(file).unwrap_or_else(|| stamp(file)));
    }
    stamps.push(logins(&base("XDG_DATA_HOME", ".local/share").join("opencode/auth.json")));
    stamps.iter().for_each(|text| add(text));
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a variable can change what a server does: where it looks, which keys it has, what its tools find.
fn matters(name: &str) -> bool {
    const EXACT: [&str; 8] =
        ["HOME", "PATH", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "TMPDIR"];
    const STARTS: [&str; 8] =
        ["OPENCODE_", "XDG_CONFIG", "XDG_DATA", "AWS_", "GOOGLE_", "AZURE_", "NODE_", "npm_config_"];
    const ENDS: [&str; 8] =
        ["_KEY", "_TOKEN", "_SECRET", "_BASE_URL", "_ENDPOINT", "_API_BASE", "_HOST", "_RESOURCE_NAME"];
    EXACT.contains(&name)
        || STARTS.iter().any(|start| name.starts_with(start))
        || (ENDS.iter().any(|end| name.ends_with(end)) && !name.starts_with("SWITCHYARD_"))
}

/// A file's path, size and time of change; its content is not needed to see that it changed.
fn stamp(path: &Path) -> String {
    let changed = fs::metadata(path).ok().map(|meta| {
        let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        (meta.len(), modified.as_nanos())
    });
    format!("{} {changed:?}", path.display())
}

/// The content of a configuration file, without `$schema`: OpenCode adds that to the user's file when
/// it first reads it, which changes nothing. `None` for anything but readable JSON.
fn settings_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    if !matches!(name, "opencode.json" | "opencode.jsonc" | "config.json") {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let mut value: serde_json::Value = jsonc_parser::parse_to_serde_value(&text, &ParseOptions::default()).ok()?;
    value.as_object_mut()?.remove("$schema");
    Some(format!("{} {value}", path.display()))
}

/// The files that OpenCode reads below a configuration directory, without those that it writes there.
fn stamp_directory(directory: &Path, depth: u32, stamps: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let written_by_opencode =
            matches!(name.as_str(), "node_modules" | "package.json" | "package-lock.json" | "bun.lock")
                || name.starts_with('.') && name != ".opencode";
        if written_by_opencode || stamps.len() >= MOST_FILES {
            continue;
        }
        if path.is_dir() {
            if depth > 0 {
                stamp_directory(&path, depth - 1, stamps);
            }
        } else {
            stamps.push(settings_of(&path).unwrap_or_else(|| stamp(&path)));
        }
    }
}

/// `opencode.json(c)` and `.opencode/` from the directory up to the repository's root.
pub(crate) fn project_stamps(directory: &Path) -> String {
    let mut stamps = Vec::new();
    for level in directory.ancestors() {
        for name in ["opencode.json", "opencode.jsonc"] {
            let file = level.join(name);
            if file.is_file() {
                stamps.push(settings_of(&file).unwrap_or_else(|| stamp(&file)));
            }
        }
        stamp_directory(&level.join(".opencode"), 2, &mut stamps);
        if level.join(".git").exists() {
            break;
        }
    }
    stamps.join("\n")
}

/// Which logins there are. A refreshed token is no other login, so only keys count by their value.
fn logins(file: &Path) -> String {
    let parsed: Option<serde_json::Map<String, serde_json::Value>> =
        fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let entries = parsed.iter().flatten().map(|(provider, login)| {
        let kind = login.get("type").and_then(|kind| kind.as_str()).unwrap_or_default();
        let key = if kind == "api" { login.get("key").map(ToString::to_string) } else { None };
        format!("{provider} {kind} {}", key.unwrap_or_default())
    });
    entries.collect::<Vec<_>>().join("\n")
}
