//! A repository carries links, and a user's directories anything at all: what is not a small regular file is named and
//! not opened.

use super::{FromFiles, SECRET, Scratch, from_files};
use serde_json::json;
use std::{fs, path::Path, process::Command, sync::mpsc, time::Duration};

/// A reading that waits must fail the test instead of holding it.
fn read_within(seconds: u64, scratch: &Scratch) -> FromFiles {
    let places = scratch.places();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(Box::new(from_files(&places))));
    *receiver.recv_timeout(Duration::from_secs(seconds)).expect("it takes too long")
}

fn link_to_zero(path: &Path) {
    std::os::unix::fs::symlink("/dev/zero", path).unwrap();
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn directory(path: &Path) {
    fs::create_dir(path).unwrap();
}

fn sparse(path: &Path) {
    fs::File::create(path).unwrap().set_len(5 << 30).unwrap();
}

type Kind = (fn(&Path), &'static str);

const KINDS: [Kind; 4] = [
    (link_to_zero, "not a regular file"),
    (fifo, "not a regular file"),
    (directory, "not a regular file"),
    (sparse, "larger than"),
];

#[test]
fn what_is_no_small_regular_file_is_named_and_skipped() {
    let files = [
        "project/opencode.json",
        "project/inner/.opencode/opencode.jsonc",
        "home/.config/opencode/opencode.json",
        "home/.local/share/opencode/auth.json",
        "home/.cache/opencode/models.json",
    ];
    for file in files {
        for (make, reason) in KINDS {
            let scratch = Scratch::new().file("home/.opencode/opencode.json", json!({"model": "l/kept"}).to_string());
            let path = scratch.root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            make(&path);
            let found = read_within(1, &scratch);
            let start = format!("{}: cannot be read: {reason}", path.display());
            assert!(found.problems.len() == 1 && found.problems[0].starts_with(&start), "{:?}", found.problems);
            assert_eq!(found.catalogue.default_model, Some("l/kept".parse().unwrap()), "{file}");
        }
    }
}

#[test]
fn a_reference_to_such_a_file_is_a_file_that_cannot_be_read() {
    let config = |path: &str| json!({"provider": {"p": {"options": {"apiKey": format!("{{file:{path}}}")}, "models": {"m": {}}}}});
    let check = |scratch: Scratch, path: &str| {
        let found = read_within(1, &scratch.file("project/opencode.json", config(path).to_string()));
        assert_eq!(found.problems.len(), 1, "{path}");
        assert!(found.problems[0].ends_with("names a file that cannot be read"), "{:?}", found.problems);
        assert!(!found.catalogue.has_key("p") && found.catalogue.providers.contains_key("p"));
    };
    for (make, _) in KINDS {
        let scratch = Scratch::new();
        make(&scratch.root.path().join("project/key"));
        check(scratch, "key");
    }
    check(Scratch::new(), "/dev/zero");
    check(Scratch::new(), "/dev/tty");
}

#[test]
fn many_references_cost_little() {
    // One long line of references to one file, and then to many. To look at the line or the file anew for each of them
    // would take minutes.
    let mut config = format!("{}{{\"model\": \"l/m\", \"x\": \"", " ".repeat(300_000));
    config.push_str(&"{env:LONG_VALUE}{file:blank}".repeat(10_000));
    (0..20_000).for_each(|number| config.push_str(&format!("{{file:{number}}}")));
    config.push_str("\"}");
    assert!(config.len() < 1024 * 1024);
    let scratch = Scratch::new()
        .file("project/opencode.json", config)
        .file("project/blank", " ".repeat(1024 * 1024))
        .set("LONG_VALUE", SECRET.repeat(5000));
    let found = read_within(5, &scratch);
    assert_eq!(found.catalogue.default_model, Some("l/m".parse().unwrap()));
    assert_eq!(found.problems.len(), 1);
}
