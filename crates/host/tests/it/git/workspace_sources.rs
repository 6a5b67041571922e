//! Workspaces of unusual repositories.

use std::fs;
use std::path::Path;

use shuntyard_host::git::{Hooks, Objects, Order, Purpose, Restarted, Source, Workspace};

use super::scene::{Scene, author, read, write};

fn workspace(scene: &Scene, source: &Path) -> Workspace {
    let start = scene.run(source, &["rev-parse", "HEAD"]);
    let destination = scene.beside.join("workspaces/t001");
    fs::create_dir_all(destination.parent().unwrap()).unwrap();
    let order = Order {
        source: Source::Repository(source),
        destination: &destination,
        owner: "t001-7",
        branch: "shuntyard/t001",
        start: &start,
        hooks: Hooks::None,
        purpose: Purpose::Work,
        objects: Objects::Linked,
    };
    scene.git.create_workspace(&order).unwrap()
}

/// Work is collected and comes into the user's repository.
fn round_trip(scene: &Scene, source: &Path) -> Workspace {
    let workspace = workspace(scene, source);
    assert_eq!(scene.run(&workspace.directory, &["status", "--porcelain"]), "");
    write(&workspace.directory, "work", "w\n");
    let head = workspace.collect("work", &author()).unwrap().head;
    workspace.deliver_objects(source, &head, &head).unwrap();
    assert_eq!(scene.run(source, &["show", &format!("{head}:work")]), "w");
    assert_eq!(scene.run(source, &["diff", "--name-only", &format!("{head}^"), &head]), "work");
    workspace
}

#[test]
fn formats_of_a_repository() {
    for (name, format) in [("sha256", "--object-format=sha256"), ("reftable", "--ref-format=reftable")] {
        let (scene, _) = Scene::new();
        let top = scene.beside.join(name);
        scene.run(&scene.beside, &["init", "--quiet", format, name]);
        scene.save(&top, &[("file", "1\n")]);
        round_trip(&scene, &top);
    }
}

#[test]
fn a_linked_worktree_and_a_bare_repository() {
    let (scene, first) = Scene::new();
    let linked = scene.tree("linked", &first);
    scene.save(&linked, &[("only here", "x\n")]);
    assert_eq!(read(&round_trip(&scene, &linked).directory, "only here"), "x\n");
    let (scene, _) = Scene::new();
    scene.run(&scene.beside, &["clone", "--quiet", "--bare", scene.top.to_str().unwrap(), "bare.git"]);
    let bare = scene.beside.join("bare.git");
    scene.run(&bare, &["worktree", "add", "--quiet", "../checkout", "main"]);
    round_trip(&scene, &scene.beside.join("checkout"));
}

#[test]
fn a_shallow_history_and_borrowed_objects() {
    let (scene, _) = Scene::new();
    scene.save(&scene.top, &[("file", "second\n")]);
    let url = format!("file://{}", scene.top.display());
    scene.run(&scene.beside, &["clone", "--quiet", "--depth=1", &url, "shallow"]);
    let shallow = scene.beside.join("shallow");
    let mut workspace = round_trip(&scene, &shallow);
    // The user cuts the history off at a newer commit.
    scene.save(&scene.top, &[("newer", "n\n")]);
    scene.run(&shallow, &["fetch", "--quiet", "--depth=1", "origin", "main"]);
    scene.run(&shallow, &["reset", "--quiet", "--hard", "FETCH_HEAD"]);
    let newer = scene.run(&shallow, &["rev-parse", "HEAD"]);
    assert_eq!(workspace.restart_from(&shallow, &newer, &author()).unwrap(), Restarted::Ready);
    let head = workspace.collect("work", &author()).unwrap().head;
    assert_eq!(scene.run(&workspace.directory, &["rev-parse", &format!("{head}^")]), newer);
    workspace.deliver_objects(&shallow, &head, &head).unwrap();
    let (scene, _) = Scene::new();
    scene.run(&scene.beside, &["clone", "--quiet", "--shared", scene.top.to_str().unwrap(), "borrowing"]);
    round_trip(&scene, &scene.beside.join("borrowing"));
}

#[test]
fn a_sparse_checkout_stays_sparse_and_nothing_outside_of_it_is_deleted() {
    for cone in ["--cone", "--no-cone"] {
        let (scene, _) = Scene::new();
        scene.save(&scene.top, &[("in/a", "a\n"), ("out/b", "b\n")]);
        scene.run(&scene.top, &["sparse-checkout", "set", cone, "in"]);
        let workspace = round_trip(&scene, &scene.top);
        assert!(workspace.directory.join("in/a").exists() && !workspace.directory.join("out/b").exists());
        fs::remove_file(workspace.directory.join(".git/index")).unwrap();
        let head = workspace.collect("without an index", &author()).unwrap().head;
        assert_eq!(scene.run(&workspace.directory, &["ls-tree", "-r", "--name-only", &head, "out"]), "out/b");
    }
}

#[test]
fn submodules_come_from_the_users_copies() {
    let (scene, _) = Scene::new();
    let (library, nested) = (scene.beside.join("library"), scene.beside.join("nested"));
    let allow = ["-c", "protocol.file.allow=always"];
    for top in [&nested, &library] {
        fs::create_dir(top).unwrap();
        scene.git.init(top).unwrap();
        scene.save(top, &[("code", "c\n")]);
    }
    let add = |top: &Path, what: &Path, name: &str| {
        let words = [&allow[..], &["submodule", "--quiet", "add", "--", what.to_str().unwrap(), name]].concat();
        scene.run(top, &words);
        scene.save(top, &[]);
    };
    add(&library, &nested, "deep er");
    add(&scene.top, &library, "lib");
    add(&scene.top, &nested, "not initialised");
    scene.run(&scene.top, &["submodule", "--quiet", "deinit", "--force", "not initialised"]);
    scene.run(&scene.top, &[&allow[..], &["submodule", "--quiet", "update", "--init", "--recursive", "lib"]].concat());
    scene.run(&scene.top, &["config", "submodule.recurse", "true"]);
    // The user's copies are all there is.
    for top in [&nested, &library] {
        fs::rename(top, top.with_extension("gone")).unwrap();
    }
    let workspace = round_trip(&scene, &scene.top);
    let top = &workspace.directory;
    assert_eq!((read(top, "lib/code"), read(top, "lib/deep er/code")), ("c\n".to_owned(), "c\n".to_owned()));
    assert!(fs::read_dir(top.join("not initialised")).unwrap().next().is_none());
    assert_eq!(scene.run(&top.join("lib"), &["config", "remote.origin.url"]), library.to_str().unwrap());
    let lib = scene.top.join("lib");
    let before = scene.run(&lib, &["for-each-ref"]);
    assert_eq!(workspace.unsaved_submodules().unwrap(), [""; 0]);
    // An uncommitted file, a changed one, a commit that nothing uses, and one in a nested submodule.
    for (path, commit, named) in [
        ("lib/new", false, "lib"),
        ("lib/code", false, "lib"),
        ("lib/code", true, "lib"),
        ("lib/deep er/code", true, "lib/deep er"),
    ] {
        let inside = top.join(path).parent().unwrap().to_owned();
        let at = scene.run(&inside, &["rev-parse", "HEAD"]);
        write(top, path, "changed\n");
        if commit {
            scene.save(&inside, &[]);
            scene.run(&inside, &["checkout", "--quiet", &at]);
        }
        workspace.collect("work", &author()).unwrap();
        assert_eq!(workspace.unsaved_submodules().unwrap(), [named], "{path}");
        scene.run(&inside, &["clean", "-fdq"]);
        scene.run(&inside, &["checkout", "--quiet", "--force", &at]);
        scene.run(&inside, &["reflog", "expire", "--expire=now", "--all"]);
        assert_eq!(workspace.unsaved_submodules().unwrap(), [""; 0], "{path}");
    }
    assert_eq!((scene.run(&lib, &["for-each-ref"]), read(&lib, "code")), (before, "c\n".to_owned()));
    // The next attempt finds its changes again.
    write(top, "lib/code", "changed\n");
    let head = workspace.collect("work", &author()).unwrap().head;
    let base = workspace.record.base.clone();
    let mut workspace = workspace;
    assert_eq!(workspace.restart(&base, &author()).unwrap(), Restarted::Ready);
    assert_eq!(read(&workspace.directory, "lib/code"), "changed\n");
    // What setup leaves in one is no change.
    write(&workspace.directory, "lib/built/x", "x\n");
    write(&workspace.directory, "lib/code", "rewritten by setup\n");
    workspace.ignore_leftovers(&head).unwrap();
    assert_eq!(workspace.unsaved_submodules().unwrap(), [""; 0]);
    // With its repository gone, this cannot be determined.
    fs::remove_dir_all(workspace.git_dir()).unwrap();
    assert!(workspace.collect("work", &author()).unwrap().rebuilt);
    assert_eq!(workspace.unsaved_submodules().unwrap(), ["lib"]);
    workspace.remove().unwrap();
}

#[test]
fn a_filter_is_applied_both_ways() {
    let (scene, _) = Scene::new();
    scene.run(&scene.top, &["config", "filter.rot.clean", "tr a-z b-za"]);
    scene.run(&scene.top, &["config", "filter.rot.smudge", "tr b-za a-z"]);
    scene.run(&scene.top, &["config", "filter.rot.required", "true"]);
    scene.save(&scene.top, &[(".gitattributes", "*.secret filter=rot\n"), ("a.secret", "plain\n")]);
    let workspace = round_trip(&scene, &scene.top);
    assert_eq!(read(&workspace.directory, "a.secret"), "plain\n");
    write(&workspace.directory, "b.secret", "word\n");
    let head = workspace.collect("secret", &author()).unwrap().head;
    assert_eq!(scene.run(&workspace.directory, &["cat-file", "blob", &format!("{head}:b.secret")]), "xpse");
}

#[test]
fn identity_exclude_file_and_names_of_all_kinds() {
    let (scene, _) = Scene::new();
    scene.run(&scene.top, &["config", "user.email", "me@example.invalid"]);
    write(&scene.top, ".git/info/exclude", "private\n");
    let odd = ["with space", "quo\"te", "new\nline", "tab\there", "-dash", "ünï", "a\\b"];
    let files: Vec<(&str, &str)> = odd.iter().map(|name| (*name, "x\n")).collect();
    scene.save(&scene.top, &files);
    let workspace = round_trip(&scene, &scene.top);
    assert_eq!(scene.run(&workspace.directory, &["config", "user.email"]), "me@example.invalid");
    write(&workspace.directory, "private", "p\n");
    for name in odd {
        write(&workspace.directory, name, "changed\n");
    }
    let head = workspace.collect("odd", &author()).unwrap().head;
    let changed = scene.run(&workspace.directory, &["diff", "--name-only", "-z", &format!("{head}^"), &head]);
    assert!(odd.iter().all(|name| changed.split('\0').any(|found| found == *name)), "{changed:?}");
    assert!(!changed.contains("private"), "{changed:?}");
}

#[test]
fn hooks_that_fail_and_signing_are_not_in_the_way() {
    let (scene, _) = Scene::new();
    for hook in ["pre-commit", "post-checkout", "reference-transaction", "post-index-change", "pre-push"] {
        write(&scene.top, &format!(".git/hooks/{hook}"), "#!/bin/sh\nexit 1\n");
        let path = scene.top.join(format!(".git/hooks/{hook}"));
        assert!(std::process::Command::new("chmod").arg("+x").arg(path).status().unwrap().success());
    }
    scene.run(&scene.top, &["config", "commit.gpgSign", "true"]);
    scene.run(&scene.top, &["config", "gpg.program", "/no/such/program"]);
    let workspace = round_trip(&scene, &scene.top);
    write(&workspace.directory, "by hand", "x\n");
    scene.run(&workspace.directory, &["add", "--all"]);
    scene.run(&workspace.directory, &["commit", "--quiet", "-m", "an agent commits"]);
}
