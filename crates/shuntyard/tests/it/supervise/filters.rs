//! Repositories whose files git does not keep as they are: large ones beside it (git-lfs), secret ones encrypted
//! (git-crypt). With the real programs, and without any network.

use crate::supervise::{Yard, yard::git_in};
use std::process::Command;

/// A yard in which the shell commands, which need `program`, were run and committed.
fn prepared(name: &str, program: &str, commands: &str) -> Yard {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(found, "this test needs {program}: install the package of that name, or let scripts/test do it");
    let yard = Yard::new(name);
    let shell = Command::new("sh").args(["-ec", commands]).current_dir(yard.repository()).output().expect("a shell");
    assert!(shell.status.success(), "{commands}: {}", String::from_utf8_lossy(&shell.stderr));
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "filtered"]);
    yard
}

/// The bytes that git has stored.
fn stored(yard: &Yard, file: &str) -> Vec<u8> {
    let object = format!("main:{file}");
    let git = Command::new("git").arg("-C").arg(yard.repository()).args(["cat-file", "blob", &object]).output();
    git.expect("git runs").stdout
}

fn in_checkout(yard: &Yard, file: &str) -> String {
    std::fs::read_to_string(yard.repository().join(file)).expect("a file of the checkout")
}

#[test]
fn large_files_are_there_for_the_work_and_go_along_with_it() {
    let yard = prepared(
        "lfs",
        "git-lfs",
        "git lfs install --local --skip-repo; git lfs track '*.bin'; echo large > old.bin; echo small > small.txt",
    );
    assert!(stored(&yard, "old.bin").starts_with(b"version https://git-lfs"), "the repository uses it");
    let id = yard.add(&[
        "add a large file",
        "--command",
        "grep -q large old.bin && echo another > new.bin && echo changed > old.bin",
        "--verify",
        "grep -q another new.bin && grep -q changed old.bin",
        "--deliver",
        "merge",
    ]);
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert!(stored(&yard, "new.bin").starts_with(b"version https://git-lfs"), "git has only a pointer");
    assert_eq!([in_checkout(&yard, "new.bin"), in_checkout(&yard, "old.bin")], ["another\n", "changed\n"]);
    // Nothing but the user's repository is needed for the content; its workspace is gone.
    let fresh = yard.env.root.join("fresh");
    let filter = ["-c", "filter.lfs.process=git-lfs filter-process", "-c", "filter.lfs.required=true"];
    let places = [yard.repository().display().to_string(), fresh.display().to_string()];
    yard.git(&[&["clone", "-q"][..], &filter, &places.each_ref().map(String::as_str)].concat());
    assert_eq!(std::fs::read_to_string(fresh.join("new.bin")).expect("checked out"), "another\n");
    git_in(&fresh, &["lfs", "fsck"]);
}

#[test]
fn large_files_that_the_base_has_gained_are_there_for_the_delivery() {
    let yard = prepared("lfs-newer", "git-lfs", "git lfs install --local --skip-repo; git lfs track '*.bin'");
    let ids = ["one", "two"].map(|name| {
        let command = format!("echo {name} > {name}.bin");
        yard.add(&[
            "work",
            "--command",
            &command,
            "--verify",
            &format!("grep -q {name} {name}.bin"),
            "--deliver",
            "merge",
        ])
    });
    yard.settle();
    for id in ids {
        assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    }
    assert_eq!([in_checkout(&yard, "one.bin"), in_checkout(&yard, "two.bin")], ["one\n", "two\n"]);
}

#[test]
fn encrypted_files_are_plain_for_the_work_and_never_in_a_commit() {
    let yard = prepared(
        "crypt",
        "git-crypt",
        "git-crypt init; echo 'secret* filter=git-crypt diff=git-crypt' > .gitattributes; echo first > secret.txt",
    );
    let id = yard.add(&[
        "add a secret",
        "--command",
        "grep -q first secret.txt && echo second > secret-2.txt && git add -A && git commit -qm two && \
         echo third >> secret.txt",
        "--verify",
        "grep -q second secret-2.txt && grep -q third secret.txt",
        "--deliver",
        "merge",
    ]);
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    for file in ["secret.txt", "secret-2.txt"] {
        assert!(stored(&yard, file).starts_with(b"\0GITCRYPT"), "{file}: {:?}", stored(&yard, file));
    }
    assert_eq!([in_checkout(&yard, "secret.txt"), in_checkout(&yard, "secret-2.txt")], ["first\nthird\n", "second\n"]);
}
