//! Changed files are reported, and unchanged ones are not.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use shuntyard_host::watch::FileWatch;

const PATIENCE: Duration = Duration::from_secs(80);
/// Longer than a poll and its repetition.
const QUIET: Duration = Duration::from_millis(300);

async fn told(watch: &mut FileWatch, what: &str) {
    tokio::time::timeout(PATIENCE, watch.changed()).await.expect(what);
}

/// Receives pending changes until there are none.
async fn hush(watch: &mut FileWatch) {
    let mut count = 0;
    while tokio::time::timeout(QUIET, watch.changed()).await.is_ok() {
        count += 1;
        assert!(count < 100, "it never ends");
    }
}

fn append(path: &Path, text: &str) {
    fs::OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

async fn is_told_of_each_kind_of_change(directory: &Path, file: &Path) {
    let other = directory.join("unrelated");
    let mut watch = FileWatch::new(&[file.to_owned(), directory.join("second")]).unwrap();
    // Before the first wait.
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    append(file, "made");
    told(&mut watch, "a file that did not exist").await;
    hush(&mut watch).await;
    append(file, "more");
    told(&mut watch, "a write").await;
    hush(&mut watch).await;
    fs::OpenOptions::new().write(true).open(file).unwrap().write_all(b"MADE").unwrap();
    told(&mut watch, "a write that changes no size").await;
    hush(&mut watch).await;
    fs::remove_file(file).unwrap();
    told(&mut watch, "a deletion").await;
    hush(&mut watch).await;
    append(file, "anew");
    told(&mut watch, "a file that is made anew").await;
    hush(&mut watch).await;
    append(&other, "x");
    fs::rename(&other, file).unwrap();
    told(&mut watch, "a file that took its place").await;
    hush(&mut watch).await;
    append(&directory.join("second"), "x");
    told(&mut watch, "another file").await;
    hush(&mut watch).await;
}

#[tokio::test]
async fn each_kind_of_change_is_told() {
    let scratch = shuntyard_testkit::Scratch::of_test();
    is_told_of_each_kind_of_change(scratch.path(), &scratch.path().join("store.db-wal")).await;
}

/// The system cannot watch what is not there, so these files are looked at.
#[tokio::test]
async fn a_directory_that_is_not_there_yet_is_looked_for() {
    let scratch = shuntyard_testkit::Scratch::of_test();
    is_told_of_each_kind_of_change(scratch.path(), &scratch.path().join("later/store.db-wal")).await;
}

#[tokio::test]
async fn many_changes_are_few_wakings_and_other_files_are_none() {
    let scratch = shuntyard_testkit::Scratch::of_test();
    let file = scratch.path().join("file");
    append(&file, "x");
    let mut watch = FileWatch::new(std::slice::from_ref(&file)).unwrap();
    hush(&mut watch).await;
    (0..500).for_each(|_| append(&file, "x"));
    let mut wakings = 0;
    while tokio::time::timeout(QUIET, watch.changed()).await.is_ok() {
        wakings += 1;
    }
    assert!((1..=3).contains(&wakings), "{wakings}");
    (0..10_000).for_each(|_| append(&scratch.path().join("another"), "x"));
    assert!(tokio::time::timeout(QUIET, watch.changed()).await.is_err());
    append(&file, "x");
    told(&mut watch, "a write after a flood elsewhere").await;
}

#[tokio::test]
async fn a_wait_that_was_given_up_loses_nothing() {
    let scratch = shuntyard_testkit::Scratch::of_test();
    let file = scratch.path().join("file");
    let mut watch = FileWatch::new(std::slice::from_ref(&file)).unwrap();
    hush(&mut watch).await;
    for _ in 0..20 {
        assert!(tokio::time::timeout(Duration::from_millis(1), watch.changed()).await.is_err());
    }
    append(&file, "x");
    told(&mut watch, "a write after waits that were given up").await;
}

#[tokio::test]
async fn a_directory_that_is_exchanged_is_followed() {
    let scratch = shuntyard_testkit::Scratch::of_test();
    let directory = scratch.path().join("directory");
    fs::create_dir(&directory).unwrap();
    let file = directory.join("file");
    let mut watch = FileWatch::new(std::slice::from_ref(&file)).unwrap();
    hush(&mut watch).await;
    fs::rename(&directory, scratch.path().join("former")).unwrap();
    told(&mut watch, "a directory that went away").await;
    hush(&mut watch).await;
    fs::create_dir(&directory).unwrap();
    append(&file, "x");
    told(&mut watch, "a file in the new directory").await;
}

#[tokio::test]
async fn a_link_is_followed() {
    let (scratch, elsewhere) = (shuntyard_testkit::Scratch::of_test(), shuntyard_testkit::Scratch::of_test());
    let (link, file) = (scratch.path().join("link"), elsewhere.path().join("file"));
    append(&file, "x");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let mut watch = FileWatch::new(std::slice::from_ref(&link)).unwrap();
    hush(&mut watch).await;
    append(&file, "x");
    told(&mut watch, "a write to the file behind the link").await;
    hush(&mut watch).await;
    fs::remove_file(&link).unwrap();
    told(&mut watch, "the end of the link").await;
}

#[test]
fn without_a_runtime_there_is_no_watch() {
    assert!(FileWatch::new(&[PathBuf::from("x")]).is_err());
}
