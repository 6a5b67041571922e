//! A git that is bound to one repository, below another repository and with everything that could lead it there.

use std::fs;
use std::path::PathBuf;

use shuntyard_host::git::{Git, GitError};

use super::scene::{Scene, author, read, write};

/// A repository within the scene's own, and a git that is bound to it.
struct Inner {
    scene: Scene,
    outer: String,
    top: PathBuf,
    git_dir: PathBuf,
    bound: Git,
    head: String,
}

fn inner() -> Inner {
    let (scene, outer) = Scene::new();
    let top = scene.top.join("inner");
    fs::create_dir(&top).unwrap();
    scene.git.init(&top).unwrap();
    let head = scene.save(&top, &[("file", "inner\n")]);
    let git_dir = top.join(".git");
    let bound = scene.git.bound_to(&git_dir, Some(&top)).unwrap();
    Inner { scene, outer, top, git_dir, bound, head }
}

impl Inner {
    /// Nothing that is asked or done reaches the repository around it.
    fn is_refused(&self, what: &str) {
        write(&self.top, "file", "changed\n");
        let head = self.bound.head(&self.top);
        assert!(matches!(head, Err(GitError::NotThatRepository { .. })), "{what}: {head:?}");
        let committed = self.bound.commit_all(&self.top, "never", &author());
        assert!(matches!(committed, Err(GitError::NotThatRepository { .. })), "{what}: {committed:?}");
        let again = self.scene.git.bound_to(&self.git_dir, Some(&self.top));
        assert!(matches!(again, Err(GitError::NotThatRepository { .. })), "{what}: {again:?}");
        assert_eq!(self.scene.git.head(&self.scene.top).unwrap().as_ref(), Some(&self.outer), "{what}");
    }
}

#[test]
fn it_acts_on_its_repository_from_any_directory() {
    let inner = inner();
    let below = inner.top.join("a/b");
    fs::create_dir_all(&below).unwrap();
    for directory in [&inner.top, &below, &inner.scene.top] {
        assert_eq!(inner.bound.head(directory).unwrap().as_ref(), Some(&inner.head), "{}", directory.display());
    }
    write(&below, "deep", "deep\n");
    let commit = inner.bound.commit_all(&below, "deep", &author()).unwrap().unwrap();
    assert_eq!(inner.scene.git.head(&inner.top).unwrap(), Some(commit.clone()));
    let changed = inner.bound.changed_between(&inner.top, &inner.head, &commit).unwrap();
    assert_eq!(changed, [PathBuf::from("a/b/deep")]);
}

#[test]
fn without_a_working_tree_no_directory_is_taken_for_one() {
    let inner = inner();
    let bare = inner.scene.git.bound_to(&inner.git_dir, None).unwrap();
    assert_eq!(bare.head(&inner.scene.top).unwrap().as_ref(), Some(&inner.head));
    assert!(bare.commit_all(&inner.scene.top, "never", &author()).is_err());
    assert_eq!(read(&inner.scene.top, "file"), "a\nb\nc\nd\ne\n");
    assert_eq!(inner.scene.git.head(&inner.top).unwrap().as_ref(), Some(&inner.head));
}

#[test]
fn a_removed_repository_is_not_replaced_by_the_one_around_it() {
    let inner = inner();
    fs::remove_dir_all(&inner.git_dir).unwrap();
    let found = inner.scene.git.head(&inner.top).unwrap();
    assert_eq!(found.as_ref(), Some(&inner.outer), "a git that is not bound finds it");
    inner.is_refused("removed");
}

#[test]
fn what_leads_to_another_repository_is_refused() {
    type Replace = fn(&Inner);
    let table: [(&str, Replace); 6] = [
        ("a file", |inner| {
            fs::rename(&inner.git_dir, inner.top.join("kept")).unwrap();
            write(&inner.top, ".git", &format!("gitdir: {}\n", inner.scene.top.join(".git").display()));
        }),
        ("a link", |inner| {
            fs::rename(&inner.git_dir, inner.top.join("kept")).unwrap();
            std::os::unix::fs::symlink(inner.scene.top.join(".git"), &inner.git_dir).unwrap();
        }),
        ("other references", |inner| {
            write(&inner.git_dir, "commondir", &inner.scene.top.join(".git").display().to_string());
        }),
        ("linked references", |inner| {
            fs::rename(inner.git_dir.join("refs"), inner.git_dir.join("kept")).unwrap();
            std::os::unix::fs::symlink(inner.scene.top.join(".git/refs"), inner.git_dir.join("refs")).unwrap();
        }),
        ("no HEAD", |inner| fs::remove_file(inner.git_dir.join("HEAD")).unwrap()),
        ("no objects", |inner| fs::remove_dir_all(inner.git_dir.join("objects")).unwrap()),
    ];
    for (what, replace) in table {
        let inner = inner();
        replace(&inner);
        inner.is_refused(what);
    }
}

#[test]
fn a_working_tree_that_became_a_link_is_refused() {
    let (scene, head) = Scene::new();
    let (top, moved) = (scene.beside.join("tree"), scene.beside.join("moved"));
    fs::create_dir(&top).unwrap();
    let bound = scene.git.bound_to(&scene.top.join(".git"), Some(&top)).unwrap();
    assert_eq!(bound.head(&top).unwrap(), Some(head));
    fs::rename(&top, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &top).unwrap();
    assert!(matches!(bound.head(&top), Err(GitError::NotThatRepository { path, .. }) if path == top));
}

/// What git starts may search for a repository again.
#[test]
fn a_search_below_it_ends_at_its_own_directory_and_at_the_users_ceilings() {
    let inner = inner();
    let told = inner.top.join("told");
    let alias = format!("!printf %s \"$GIT_CEILING_DIRECTORIES\" > '{}'", told.display());
    let asked = inner.bound.clone().with_setting("alias.ceilings", &alias);
    asked.output(&inner.top, &["ceilings"]).unwrap();
    let users = inner.scene.beside.parent().unwrap().display().to_string();
    assert_eq!(read(&inner.top, "told"), format!("{}:{users}", inner.scene.top.display()));
}
