//! What a managed server was started with. A command that would start it differently (another key in the environment,
//! an edited configuration, another binary) must not be served by an older one.
//!
//! Invariant: what a repository holds costs little to check. Only small regular files are read, and of directories only
//! so much is visited.

use crate::Context;
use crate::base::hash::short_hash;
use jsonc_parser::ParseOptions;
use sha2::{Digest, Sha256};
use shuntyard_host::text_file::{MOST_CONFIG_BYTES, read_text};
use std::{
    fs,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

/// Files below a configuration directory that are looked at, at most.
const MOST_FILES: usize = 500;
/// Entries of all directories that are looked at, at most: a link can lead to a directory of any size.
const MOST_ENTRIES: usize = 5000;

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
    let mut walk = Walk::default();
    walk.directory(&base("XDG_CONFIG_HOME", ".config").join("opencode"), 3);
    if let Some(directory) = context.variable("OPENCODE_CONFIG_DIR") {
        walk.directory(Path::new(directory), 3);
    }
    if let Some(file) = context.variable("OPENCODE_CONFIG") {
        walk.file(Path::new(file));
    }
    walk.stamps.push(logins(&base("XDG_DATA_HOME", ".local/share").join("opencode/auth.json")));
    walk.stamps.iter().for_each(|text| add(text));
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
        || (ENDS.iter().any(|end| name.ends_with(end)) && !name.starts_with("SHUNTYARD_"))
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
/// it first reads it, which changes nothing. It is hashed, since there may be many. `None` for anything but readable
/// JSON in a small regular file.
fn settings_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    if !matches!(name, "opencode.json" | "opencode.jsonc" | "config.json") {
        return None;
    }
    let text = read_text(path, MOST_CONFIG_BYTES).ok()?;
    let mut value: serde_json::Value = jsonc_parser::parse_to_serde_value(&text, &ParseOptions::default()).ok()?;
    value.as_object_mut()?.remove("$schema");
    Some(format!("{} {}", path.display(), short_hash(&value.to_string())))
}

/// The stamps of the files that were met, and what was visited for them.
#[derive(Default)]
struct Walk {
    stamps: Vec<String>,
    entries: usize,
}

impl Walk {
    fn file(&mut self, path: &Path) {
        self.stamps.push(settings_of(path).unwrap_or_else(|| stamp(path)));
    }

    /// The files that OpenCode reads below a configuration directory, without those that it writes there.
    fn directory(&mut self, directory: &Path, depth: u32) {
        let Ok(entries) = fs::read_dir(directory) else { return };
        let entries = entries.take(MOST_ENTRIES.saturating_sub(self.entries));
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        self.entries += paths.len();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let written_by_opencode =
                matches!(name.as_str(), "node_modules" | "package.json" | "package-lock.json" | "bun.lock")
                    || name.starts_with('.') && name != ".opencode";
            if written_by_opencode || self.stamps.len() >= MOST_FILES {
                continue;
            }
            if path.is_dir() {
                if depth > 0 {
                    self.directory(&path, depth - 1);
                }
            } else {
                self.file(&path);
            }
        }
    }
}

/// `opencode.json(c)` and `.opencode/` from the directory up to the repository's root.
pub(crate) fn project_stamps(directory: &Path) -> String {
    let mut walk = Walk::default();
    for level in directory.ancestors() {
        for name in ["opencode.json", "opencode.jsonc"] {
            let file = level.join(name);
            if file.exists() && !file.is_dir() {
                walk.file(&file);
            }
        }
        walk.directory(&level.join(".opencode"), 2);
        if level.join(".git").exists() {
            break;
        }
    }
    walk.stamps.join("\n")
}

/// Which logins there are. A refreshed token is no other login, so only keys count by their value.
fn logins(file: &Path) -> String {
    let parsed: Option<serde_json::Map<String, serde_json::Value>> =
        read_text(file, MOST_CONFIG_BYTES).ok().and_then(|text| serde_json::from_str(&text).ok());
    let entries = parsed.iter().flatten().map(|(provider, login)| {
        let kind = login.get("type").and_then(|kind| kind.as_str()).unwrap_or_default();
        let key = if kind == "api" { login.get("key").map(ToString::to_string) } else { None };
        format!("{provider} {kind} {}", key.unwrap_or_default())
    });
    entries.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{MOST_ENTRIES, MOST_FILES, Walk, logins, project_stamps, settings_of};
    use std::{
        fs,
        os::unix::fs::symlink,
        path::{Path, PathBuf},
        process::Command,
        sync::mpsc,
        time::Duration,
    };

    /// A check that waits must fail the test instead of holding it.
    fn soon<T: Send + 'static>(look: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(look()));
        receiver.recv_timeout(Duration::from_secs(60)).expect("it takes too long")
    }

    fn project() -> (shuntyard_testkit::Scratch, PathBuf) {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let directory = scratch.path().to_owned();
        fs::create_dir_all(directory.join(".git")).unwrap();
        fs::create_dir_all(directory.join(".opencode")).unwrap();
        (scratch, directory)
    }

    #[test]
    fn a_setting_counts_and_the_schema_does_not() {
        let (_scratch, directory) = project();
        let stamps = |text: &str| {
            fs::write(directory.join("opencode.json"), text).unwrap();
            project_stamps(&directory)
        };
        let before = stamps(r#"{"model": "a/secret-marker"}"#);
        assert_eq!(stamps(r#"{"$schema": "x", /* mine */ "model": "a/secret-marker"}"#), before);
        assert_ne!(stamps(r#"{"model": "a/c"}"#), before);
        assert!(!before.is_empty() && !before.contains("marker"));
    }

    #[test]
    fn what_is_no_small_regular_file_counts_by_its_metadata() {
        let make: [fn(&Path); 4] = [
            |path| symlink("/dev/zero", path).unwrap(),
            |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
            |path| fs::File::create(path).unwrap().set_len(5 << 30).unwrap(),
            |path| fs::create_dir(path).unwrap(),
        ];
        for (number, make) in make.into_iter().enumerate() {
            let (_scratch, directory) = project();
            let files = [directory.join("opencode.json"), directory.join(".opencode/opencode.jsonc")];
            files.iter().for_each(|file| make(file));
            let stamps = soon(move || project_stamps(&directory));
            // A directory is no file, whatever it is called.
            let wanted = if number == 3 { 0 } else { files.len() };
            assert_eq!(stamps.lines().count(), wanted, "{stamps}");
            for file in files {
                assert!(soon(move || (settings_of(&file), logins(&file))) == (None, String::new()), "{number}");
            }
        }
    }

    #[test]
    fn a_large_directory_is_not_walked_to_its_end() {
        let (_scratch, directory) = project();
        let look = |name: &str, depth| {
            let path = directory.join(name);
            soon(move || {
                let mut walk = Walk::default();
                walk.directory(&path, depth);
                (walk.entries, walk.stamps.len())
            })
        };
        for (name, files) in [("many", MOST_FILES + 10), ("hidden/wide", MOST_ENTRIES + 10)] {
            fs::create_dir_all(directory.join(name)).unwrap();
            let dot = if name == "many" { "" } else { "." };
            (0..files).for_each(|file| fs::write(directory.join(format!("{name}/{dot}{file}")), "").unwrap());
        }
        assert_eq!(look("many", 0), (MOST_FILES + 10, MOST_FILES));
        assert_eq!(look("hidden", 1), (MOST_ENTRIES, 0));
        // A way back to the start ends with the depth.
        symlink(".", directory.join(".opencode/again")).unwrap();
        fs::write(directory.join(".opencode/file"), "").unwrap();
        assert_eq!(look(".opencode", 2), (6, 3));
    }
}
