//! Kinds of repositories, checkouts and files: each step is done, is undone after a death, and is done again.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use shuntyard_host::git::{FastForward, Git, Recovery};

use super::mover::{die_before_the_branch_moves, die_with_the_branch_locked, leftovers};
use super::scene::{Scene, author, read, write};

/// A step of `main` in this checkout, from its commit to one that `change` makes in another working tree.
struct Kind {
    scene: Scene,
    top: PathBuf,
    from: String,
    to: String,
}

impl Kind {
    fn of(scene: Scene, top: PathBuf, change: impl FnOnce(&Path)) -> Self {
        let from = scene.git.head(&top).unwrap().unwrap();
        let other = scene.beside.join("other tree");
        scene.run(&top, &["worktree", "add", "--quiet", "-b", "other", other.to_str().unwrap(), &from]);
        change(&other);
        let to = scene.git.commit_all(&other, "work", &author()).unwrap().unwrap();
        Self { scene, top, from, to }
    }

    /// The state of the checkout according to git and the disk.
    fn state(&self) -> (String, Vec<(PathBuf, Vec<u8>, u32)>) {
        let status = self.scene.run(&self.top, &["status", "--porcelain", "--untracked-files=all"]);
        let mut files = Vec::new();
        let mut directories = vec![self.top.clone()];
        while let Some(directory) = directories.pop() {
            for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
                let found = path.symlink_metadata().unwrap();
                if found.is_dir() && !path.ends_with(".git") {
                    directories.push(path);
                } else if found.is_symlink() {
                    files.push((path.clone(), fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec(), 0));
                } else if found.is_file() && !path.ends_with(".git") {
                    files.push((path.clone(), fs::read(path).unwrap(), found.permissions().mode()));
                }
            }
        }
        files.sort();
        (status, files)
    }

    fn forward(&self) -> FastForward {
        self.scene.git.fast_forward(&self.top, "main", &self.from, &self.to).unwrap()
    }

    /// Returns the state after the step.
    fn check(&self) -> (String, Vec<(PathBuf, Vec<u8>, u32)>) {
        let Scene { git, .. } = &self.scene;
        let before = self.state();
        die_before_the_branch_moves(&self.scene, &self.top, &self.from, &self.to);
        let recovered = git.recover_checkouts(&self.top).unwrap().checkouts;
        assert_eq!(recovered, [(self.top.clone(), Recovery::Undone)]);
        assert_eq!(self.state(), before);
        assert_eq!(self.forward(), FastForward::Done);
        let after = self.state();
        assert_eq!((after.0.as_str(), git.head(&self.top).unwrap().as_ref()), (before.0.as_str(), Some(&self.to)));
        let common = self.scene.run(&self.top, &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        assert_eq!(leftovers(Path::new(&common)), Vec::<PathBuf>::new());
        self.scene.run(&self.top, &["fsck", "--strict"]);
        after
    }
}

/// Changes of every sort, which each kind of repository has to manage.
fn change(tree: &Path) {
    write(tree, "file", "changed\n");
    write(tree, "dir/new", "new\n");
    fs::remove_file(tree.join("other")).unwrap();
}

fn plain() -> (Scene, PathBuf) {
    let (scene, _) = Scene::new();
    let top = scene.top.clone();
    (scene, top)
}

/// A repository that was made with these options.
fn made_with(options: &[&str]) -> (Scene, PathBuf) {
    let scene = Scene::empty();
    fs::remove_dir_all(&scene.top).unwrap();
    fs::create_dir(&scene.top).unwrap();
    let words = [&["init", "--quiet", "-b", "main"], options].concat();
    scene.run(&scene.top, &words);
    scene.save(&scene.top, &[("file", "old\n"), ("other", "o\n")]);
    let top = scene.top.clone();
    (scene, top)
}

#[test]
fn every_kind_of_repository() {
    let (scene, top) = made_with(&["--object-format=sha256"]);
    assert_eq!(Kind::of(scene, top, change).check().0, "");
    let (scene, top) = made_with(&["--ref-format=reftable"]);
    assert_eq!(Kind::of(scene, top, change).check().0, "");
    let (scene, top) = plain();
    scene.run(&top, &["config", "core.splitIndex", "true"]);
    scene.run(&top, &["update-index", "--split-index"]);
    assert_eq!(Kind::of(scene, top, change).check().0, "");
    let apart = Scene::empty();
    let git_directory = apart.beside.join("apart");
    drop(apart);
    let (scene, top) = made_with(&["--separate-git-dir", git_directory.to_str().unwrap()]);
    let kind = Kind::of(scene, top, change);
    assert_eq!((kind.forward(), kind.state().0.as_str()), (FastForward::Done, ""));
    fs::remove_dir_all(git_directory).unwrap();
}

#[test]
fn a_bare_repository_and_its_working_trees() {
    let (scene, _) = Scene::new();
    let bare = scene.beside.join("bare");
    scene.run(&scene.beside, &["clone", "--quiet", "--bare", "main tree", "bare"]);
    let linked = scene.beside.join("linked");
    scene.run(&bare, &["worktree", "add", "--quiet", linked.to_str().unwrap(), "main"]);
    let kind = Kind::of(scene, linked, change);
    assert_eq!(kind.check().0, "");
    // Nothing is on the branch any more, except for the HEAD of the bare repository itself.
    let git: &Git = &kind.scene.git;
    kind.scene.run(&kind.top, &["checkout", "--quiet", "--detach"]);
    let third = kind.scene.save(&kind.scene.beside.join("other tree"), &[("file", "third\n")]);
    assert_eq!(git.fast_forward(&bare, "main", &kind.to, &third).unwrap(), FastForward::Done);
    assert_eq!((read(&kind.top, "file").as_str(), kind.state().0.as_str()), ("changed\n", ""));
}

/// A killed git leaves the locks of what it was about to move.
#[test]
fn locks_of_references_are_removed() {
    let (files, top) = plain();
    let files = Kind::of(files, top, change);
    let (reftable, top) = made_with(&["--ref-format=reftable"]);
    let reftable = Kind::of(reftable, top, change);
    let (alone, top) = plain();
    let alone = Kind::of(alone, top, change);
    alone.scene.run(&alone.top, &["checkout", "--quiet", "--detach"]);
    for (kind, lock) in
        [(files, "refs/heads/main.lock"), (reftable, "reftable/tables.list.lock"), (alone, "refs/heads/main.lock")]
    {
        let before = kind.state();
        die_with_the_branch_locked(&kind.scene, &kind.top, &kind.from, &kind.to);
        assert!(kind.top.join(".git").join(lock).exists(), "{lock}");
        kind.scene.git.recover_checkouts(&kind.top).unwrap();
        assert_eq!(leftovers(&kind.top.join(".git")), Vec::<PathBuf>::new(), "{lock}");
        assert_eq!((kind.state(), kind.forward()), (before, FastForward::Done));
        assert_eq!(kind.state().0, "");
    }
}

#[test]
fn a_branch_with_another_name_and_a_tag_of_the_same() {
    let (scene, top) = plain();
    scene.run(&top, &["tag", "main"]);
    scene.run(&top, &["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    let kind = Kind::of(scene, top, change);
    let outcome = kind.scene.git.fast_forward(&kind.top, "alias", &kind.from, &kind.to).unwrap();
    assert_eq!((outcome, kind.scene.at("main")), (FastForward::Done, Some(kind.to.clone())));
    assert_eq!((kind.state().0.as_str(), read(&kind.top, "file").as_str()), ("", "changed\n"));
    let names = kind.scene.run(&kind.top, &["for-each-ref", "--format=%(refname) %(objectname) %(symref)"]);
    assert!(names.contains(&format!("refs/tags/main {}", kind.from)) && names.contains("refs/heads/main\n"), "{names}");
    let log = kind.scene.run(&kind.top, &["reflog", "-1", "refs/heads/main"]);
    assert!(log.ends_with("shuntyard: fast-forward"), "{log}");
}

#[test]
fn line_endings_modes_links_and_types() {
    let (scene, top) = plain();
    scene.run(&top, &["config", "core.autocrlf", "true"]);
    std::os::unix::fs::symlink("file", top.join("link")).unwrap();
    scene
        .save(&top, &[("text", "one\r\ntwo\r\n"), ("script", "#!\r\n"), ("was file", "f\r\n"), ("was dir/f", "f\r\n")]);
    let kind = Kind::of(scene, top, |tree| {
        fs::remove_file(tree.join("link")).unwrap();
        std::os::unix::fs::symlink("text", tree.join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", tree.join("new link")).unwrap();
        fs::set_permissions(tree.join("script"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::remove_file(tree.join("was file")).unwrap();
        fs::remove_dir_all(tree.join("was dir")).unwrap();
        write(tree, "was file/inside", "inside\n");
        write(tree, "was dir", "file\n");
        write(tree, "text", "one\r\nthree\r\n");
        write(tree, "attributes/.gitattributes", "* eol=lf\n");
        write(tree, "attributes/text", "lf\n");
    });
    assert_eq!(kind.check().0, "");
    let text = ["text", "attributes/text"].map(|name| read(&kind.top, name));
    assert_eq!(text, ["one\r\nthree\r\n", "lf\n"]);
    assert_eq!(kind.top.join("script").metadata().unwrap().permissions().mode() & 0o111, 0o111);
}

#[test]
fn names_of_every_sort() {
    let names: [&[u8]; 6] =
        [b" spaces ", b"\"quotes\"", b"line\nbreak", b"not utf-8 \xff\xfe", b"-dash", b":(glob)*/back\\slash"];
    let (scene, top) = plain();
    for name in names {
        fs::create_dir_all(top.join("old")).unwrap();
        fs::write(top.join("old").join(OsStr::from_bytes(&name.replace_slash())), name).unwrap();
    }
    scene.save(&top, &[("more", "m\n")]);
    let kind = Kind::of(scene, top, |tree| {
        for name in names {
            fs::write(tree.join("old").join(OsStr::from_bytes(&name.replace_slash())), b"changed").unwrap();
            let path = tree.join(OsStr::from_bytes(name));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"new").unwrap();
        }
    });
    let (status, files) = kind.check();
    assert_eq!(status, "");
    assert_eq!(files.iter().filter(|(_, content, _)| content == b"new").count(), names.len());
}

trait Flat {
    fn replace_slash(&self) -> Vec<u8>;
}

impl Flat for [u8] {
    fn replace_slash(&self) -> Vec<u8> {
        self.iter().map(|byte| if *byte == b'/' { b'_' } else { *byte }).collect()
    }
}

#[test]
fn a_sparse_checkout_stays_sparse() {
    for how in [&["sparse-checkout", "set", "--cone", "in"][..], &["sparse-checkout", "set", "--sparse-index", "in"]] {
        let (scene, top) = plain();
        scene.save(&top, &[("in/file", "i\n"), ("out/file", "o\n"), ("out/gone", "g\n")]);
        scene.run(&top, how);
        let kind = Kind::of(scene, top, |tree| {
            // The other tree inherits nothing of the setting.
            let _ = std::process::Command::new("git").arg("-C").arg(tree).args(["sparse-checkout", "disable"]).output();
            write(tree, "in/file", "changed\n");
            write(tree, "in/new", "new\n");
            write(tree, "out/file", "changed\n");
            write(tree, "out/new", "new\n");
            let _ = fs::remove_file(tree.join("out/gone"));
        });
        let (status, _) = kind.check();
        assert_eq!((status.as_str(), kind.top.join("out").exists()), ("", false));
        assert_eq!(read(&kind.top, "in/new"), "new\n");
    }
}

/// A filter that fails stops git in the middle of its work.
#[test]
fn a_filter_that_fails_leaves_all_as_before() {
    let (scene, top) = plain();
    let kind = Kind::of(scene, top, |tree| {
        write(tree, ".gitattributes", "*.big filter=broken\n");
        write(tree, "a.big", "pointer\n");
        change(tree);
    });
    let before = kind.state();
    for (key, value) in [("clean", "cat"), ("smudge", "false"), ("required", "true")] {
        kind.scene.run(&kind.top, &["config", &format!("filter.broken.{key}"), value]);
    }
    let result = kind.scene.git.fast_forward(&kind.top, "main", &kind.from, &kind.to);
    assert!(result.is_err(), "{result:?}");
    assert_eq!((kind.state(), kind.scene.at("main")), (before, Some(kind.from.clone())));
    assert_eq!(leftovers(&kind.top.join(".git")), Vec::<PathBuf>::new());
    kind.scene.run(&kind.top, &["config", "filter.broken.smudge", "sed s/pointer/content/"]);
    kind.scene.run(&kind.top, &["config", "filter.broken.clean", "sed s/content/pointer/"]);
    assert_eq!((kind.check().0.as_str(), read(&kind.top, "a.big").as_str()), ("", "content\n"));
}
