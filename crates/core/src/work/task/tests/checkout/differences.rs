//! Two snapshots, and what differs.

use super::difference;
use crate::work::task::checkout::{Checkout, Disk, FileState, Kind, Ours, Stamp, Tracking, differences};
use Tracking::{Added, Ignored, Tracked, Unlisted, Untracked};

fn disk(content: u64) -> Disk {
    Disk::File { stamp: Stamp { size: 1, modified_nanos: i128::from(content), inode: 7 }, content: Some(content) }
}

/// A file that was too large to be read.
fn large(inode: u64) -> Disk {
    Disk::File { stamp: Stamp { size: 1 << 30, modified_nanos: 5, inode }, content: None }
}

fn state(tracking: Tracking, disk: Disk) -> FileState {
    FileState { tracking, staged: None, disk }
}

fn staged(tracking: Tracking, object: &str, disk: Disk) -> FileState {
    FileState { tracking, staged: Some(object.into()), disk }
}

fn checkout(files: &[(&str, FileState)]) -> Checkout {
    Checkout {
        head: "refs/heads/main".into(),
        commit: Some("c0".into()),
        files: files.iter().map(|(path, state)| ((*path).to_owned(), state.clone())).collect(),
        references: [("refs/heads/main".to_owned(), "c0".to_owned())].into(),
        ..Checkout::default()
    }
}

#[test]
fn files_are_compared_by_content_or_else_by_stamp() {
    let touched = Disk::File { stamp: Stamp { size: 1, modified_nanos: 99, inode: 8 }, content: Some(1) };
    let table: Vec<(&str, Option<FileState>, FileState, &[Kind])> = vec![
        ("edited", Some(state(Tracked, disk(1))), state(Tracked, disk(2)), &[Kind::Modified]),
        ("written again with the same text", Some(state(Tracked, disk(1))), state(Tracked, touched), &[]),
        ("as it was", Some(state(Untracked, disk(1))), state(Untracked, disk(1)), &[]),
        ("large and replaced", Some(state(Ignored, large(1))), state(Ignored, large(2)), &[Kind::Modified]),
        ("large and as it was", Some(state(Ignored, large(1))), state(Ignored, large(1)), &[]),
        ("reverted", Some(state(Tracked, disk(1))), state(Unlisted, disk(2)), &[Kind::Reverted]),
        ("committed as it was", Some(state(Tracked, disk(1))), state(Unlisted, disk(1)), &[]),
        ("deletion undone", Some(state(Tracked, Disk::Absent)), state(Unlisted, disk(1)), &[Kind::Reverted]),
        ("still deleted", Some(state(Tracked, Disk::Absent)), state(Tracked, Disk::Absent), &[]),
        ("untracked and deleted", Some(state(Untracked, disk(1))), state(Unlisted, Disk::Absent), &[Kind::Deleted]),
        ("ignored and deleted", Some(state(Ignored, disk(1))), state(Unlisted, Disk::Absent), &[Kind::Deleted]),
        ("ignored directory", Some(state(Ignored, Disk::Directory)), state(Ignored, Disk::Directory), &[]),
        (
            "ignored directory deleted",
            Some(state(Ignored, Disk::Directory)),
            state(Unlisted, Disk::Absent),
            &[Kind::Deleted],
        ),
        ("clean, then edited", None, state(Tracked, disk(1)), &[Kind::Modified]),
        ("clean, then deleted", None, state(Tracked, Disk::Absent), &[Kind::Deleted]),
        ("planted", None, state(Untracked, disk(1)), &[Kind::Created]),
        ("planted where it is ignored", None, state(Ignored, disk(1)), &[Kind::Created]),
        ("planted and staged", None, staged(Added, "o1", disk(1)), &[Kind::Created, Kind::Staged]),
        ("clean, then forgotten by the index", None, staged(Untracked, "-", disk(1)), &[Kind::Staged]),
        ("staged", Some(state(Tracked, disk(1))), staged(Tracked, "o1", disk(1)), &[Kind::Staged]),
        ("staged anew", Some(staged(Tracked, "o1", disk(1))), staged(Tracked, "o2", disk(1)), &[Kind::Staged]),
        ("unstaged", Some(staged(Tracked, "o1", disk(1))), state(Tracked, disk(1)), &[Kind::Unstaged]),
        ("edited and staged", None, staged(Tracked, "o1", disk(1)), &[Kind::Modified, Kind::Staged]),
    ];
    for (what, before, after, kinds) in table {
        let before = checkout(&before.map(|state| ("f", state)).into_iter().collect::<Vec<_>>());
        let found = differences(&before, &checkout(&[("f", after)]), &Ours::default());
        assert_eq!(found, kinds.iter().map(|kind| difference(*kind, "f")).collect::<Vec<_>>(), "{what}");
    }
}

#[test]
fn a_commit_of_staged_files_unstages_nothing() {
    let before = checkout(&[("f", staged(Tracked, "o1", disk(1)))]);
    let mut after = checkout(&[("f", state(Unlisted, disk(1)))]);
    after.commit = Some("c1".into());
    assert_eq!(differences(&before, &after, &Ours::default()), []);
}

#[test]
fn other_rules_about_what_is_ignored_create_nothing() {
    let inside = state(Untracked, disk(1));
    let whole = state(Ignored, Disk::Directory);
    let one_by_one = checkout(&[("build/a", inside.clone())]);
    let both = checkout(&[("build", whole.clone()), ("build/a", state(Unlisted, disk(1)))]);
    assert_eq!(differences(&one_by_one, &both, &Ours::default()), []);
    let by_directory = checkout(&[("build", whole.clone())]);
    let listed = checkout(&[("build", state(Unlisted, Disk::Directory)), ("build/a", inside.clone())]);
    assert_eq!(differences(&by_directory, &listed, &Ours::default()), []);
    let elsewhere = checkout(&[("build", whole), ("builder", inside)]);
    assert_eq!(differences(&by_directory, &elsewhere, &Ours::default()), [difference(Kind::Created, "builder")]);
}

#[test]
fn entries_beyond_the_limit_do_not_look_new() {
    let before = Checkout { uncounted: 3, ..checkout(&[("a", state(Untracked, disk(1)))]) };
    let after = checkout(&[
        ("a", state(Unlisted, Disk::Absent)),
        ("b", state(Untracked, disk(1))),
        ("c", state(Tracked, disk(1))),
    ]);
    let found = differences(&before, &after, &Ours::default());
    assert_eq!(found, [difference(Kind::Deleted, "a"), difference(Kind::Modified, "c")]);
}

#[test]
fn the_repository_itself_is_compared() {
    let named = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let hashed = |pairs: &[(&str, u64)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), *b)).collect();
    let before = Checkout {
        references: named(&[("refs/heads/main", "c0"), ("refs/heads/old", "c1"), ("refs/tags/v1", "c2")]),
        stashes: vec!["s2".into(), "s1".into()],
        settings: hashed(&[("config", 1)]),
        hooks: hashed(&[("pre-commit", 1), ("pre-push", 2)]),
        ..checkout(&[])
    };
    let after = Checkout {
        head: "refs/heads/new".into(),
        references: named(&[("refs/heads/main", "c9"), ("refs/heads/new", "c1"), ("refs/tags/v1", "c2")]),
        stashes: vec!["s3".into(), "s1".into()],
        settings: hashed(&[("config", 2), ("config.worktree", 1)]),
        hooks: hashed(&[("pre-commit", 5), ("post-merge", 2)]),
        ..checkout(&[])
    };
    let expected = [
        (Kind::HeadMoved, "HEAD", "moved HEAD"),
        (Kind::RefMoved, "refs/heads/main", "moved refs/heads/main"),
        (Kind::RefCreated, "refs/heads/new", "created refs/heads/new"),
        (Kind::RefDeleted, "refs/heads/old", "deleted refs/heads/old"),
        (Kind::StashDropped, "s2", "dropped the stash s2"),
        (Kind::StashAdded, "s3", "added the stash s3"),
        (Kind::ConfigChanged, "config", "changed git's config"),
        (Kind::ConfigChanged, "config.worktree", "changed git's config.worktree"),
        (Kind::HookChanged, "post-merge", "changed the hook post-merge"),
        (Kind::HookChanged, "pre-commit", "changed the hook pre-commit"),
        (Kind::HookChanged, "pre-push", "changed the hook pre-push"),
    ];
    let found = differences(&before, &after, &Ours::default());
    let shown: Vec<String> = found.iter().map(|one| one.done()).collect();
    assert_eq!(found, expected.map(|(kind, name, _)| difference(kind, name)));
    assert_eq!(shown, expected.map(|(_, _, text)| text));
    assert_eq!(differences(&before, &before, &Ours::default()), []);
}

#[test]
fn a_delivery_of_ours_is_no_difference() {
    let before = checkout(&[("delivered", state(Tracked, disk(1))), ("other", state(Tracked, disk(1)))]);
    let mut after = checkout(&[("delivered", state(Unlisted, disk(2))), ("other", state(Unlisted, disk(2)))]);
    after.references = [("refs/heads/main".to_owned(), "c1".to_owned())].into();
    let ours = Ours { references: ["refs/heads/main".to_owned()].into(), files: ["delivered".to_owned()].into() };
    let found = differences(&before, &after, &ours);
    assert_eq!(found, [difference(Kind::Reverted, "other")], "only what the delivery explains is left out");
    // A file that is not as the delivered commit has it was changed by something else.
    after.files.insert("delivered".into(), state(Tracked, disk(3)));
    assert!(differences(&before, &after, &ours).contains(&difference(Kind::Modified, "delivered")));
}

#[test]
fn what_nothing_attributes_is_said_in_a_sentence() {
    let note = "while the task ran, notes.txt was deleted in the user's checkout; nothing shows that the task did it";
    assert_eq!(difference(Kind::Deleted, "notes.txt").note(), note);
}
