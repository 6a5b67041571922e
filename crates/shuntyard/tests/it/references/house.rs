//! The project's rules that a machine can check. Each failure names the file.

use super::{read, root};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

const LARGEST: usize = 400;

/// A file of a crate's own code, without those that hold nothing but tests.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The code before its inline tests.
    fn code(&self) -> &str {
        self.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
    }
}

fn sources(crates: &[&str]) -> Vec<Source> {
    let mut files = Vec::new();
    for name in crates {
        collect(&root().join("crates").join(name).join("src"), &mut files);
    }
    files.sort();
    let sources = files.into_iter().map(|file| {
        let path = file.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
        Source { text: read(&path), path }
    });
    let sources: Vec<Source> = sources.collect();
    assert!(sources.len() > crates.len(), "the sources of {crates:?} were not found");
    sources
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, files);
        } else if name.ends_with(".rs") && name != "tests.rs" && !name.ends_with("_tests.rs") {
            files.push(path);
        }
    }
}

/// What is part of the binary, or can be.
const PRODUCT: [&str; 7] = ["core", "store", "host", "agents", "engine", "scripted", "shuntyard"];

#[test]
fn a_file_is_a_room_and_says_what_it_is_for() {
    for source in sources(&[PRODUCT.as_slice(), &["testkit", "bench"]].concat()) {
        let lines = source.text.lines().count();
        assert!(lines <= LARGEST, "{} has {lines} lines; {LARGEST} is the most", source.path);
        assert!(source.text.starts_with("//!"), "{} does not open with what it is for", source.path);
    }
}

#[test]
fn only_the_user_interface_prints() {
    for source in sources(&PRODUCT).iter().filter(|source| source.path != "crates/shuntyard/src/ui.rs") {
        for word in ["print!(", "println!(", "dbg!("] {
            assert!(!source.code().contains(word), "{} prints with {word}…)", source.path);
        }
    }
}

#[test]
fn decisions_are_pure() {
    const IMPURE: [&str; 15] = [
        "tokio",
        "std::fs",
        "std::env",
        "std::net",
        "std::process",
        "std::thread",
        "fs::",
        "env::",
        "SystemTime",
        "Instant",
        "now_v7",
        "new_v4",
        // The clock and the time zones of jiff, of which core uses the calendar.
        "Timestamp",
        "TimeZone",
        "Zoned",
    ];
    for source in sources(&["core"]) {
        for word in IMPURE {
            assert!(!source.code().contains(word), "{} reaches out of core with {word}", source.path);
        }
    }
    let manifest = read("crates/core/Cargo.toml");
    for dependency in ["tokio", "reqwest", "sqlx", "rustix"] {
        assert!(!manifest.contains(dependency), "core depends on {dependency}");
    }
}

#[test]
fn some_things_are_done_in_one_place_only() {
    let table = [
        // One for OpenCode's servers, one for providers.
        (
            "reqwest::Client",
            vec![
                "crates/agents/src/openai/direct.rs",
                "crates/agents/src/opencode/http.rs",
                "crates/agents/src/webhook.rs",
            ],
        ),
        ("SqliteConnectOptions", vec!["crates/store/src/sqlite/open.rs"]),
        ("std::env::vars", vec!["crates/shuntyard/src/settings.rs"]),
    ];
    let sources = sources(&PRODUCT);
    for (word, places) in table {
        let found: Vec<&str> =
            sources.iter().filter(|source| source.code().contains(word)).map(|source| source.path.as_str()).collect();
        assert_eq!(found, places, "{word}");
    }
}

#[test]
fn crates_depend_on_each_other_as_the_architecture_says() {
    let allowed = [
        ("core", vec![]),
        ("store", vec!["core"]),
        ("host", vec![]),
        ("agents", vec!["core", "host"]),
        ("scripted", vec!["core"]),
        ("engine", vec!["agents", "core", "host", "scripted", "store"]),
        ("shuntyard", vec!["agents", "core", "engine", "host", "scripted", "store"]),
        ("testkit", vec!["core", "host", "scripted"]),
        ("bench", vec!["core", "host", "scripted", "store", "testkit"]),
    ];
    let allowed: BTreeMap<String, Vec<&str>> = allowed.map(|(name, needs)| (name.to_owned(), needs)).into();
    let crates = std::fs::read_dir(root().join("crates")).expect("the crates");
    let mut found = BTreeMap::new();
    let manifests: Vec<(String, String)> = crates
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .map(|name| (name.clone(), read(&format!("crates/{name}/Cargo.toml"))))
        .collect();
    for (name, manifest) in &manifests {
        let manifest: toml::Table = manifest.parse().expect("a manifest is TOML");
        let needs = manifest.get("dependencies").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        let needs = needs.keys().filter_map(|need| need.strip_prefix("shuntyard-").map(str::to_owned));
        let mut needs: Vec<String> = needs.collect();
        needs.sort();
        found.insert(name.clone(), needs);
    }
    for (name, needs) in &found {
        let allowed = allowed.get(name).unwrap_or_else(|| panic!("crate {name} has no place in the layers yet"));
        assert_eq!(needs, allowed, "crate {name}: then change ARCHITECTURE.md with it");
    }
    assert_eq!(found.len(), allowed.len());
}
