//! Workspaces: private clones of every kind of repository, complete or absent, that never touch the user's.

use std::fs;
use std::path::{Path, PathBuf};

use shuntyard_host::git::{Collected, GitError, Hooks, Objects, Order, Purpose, Restarted, Source, Workspace};

use super::scene::{Scene, author, read, write};

const OWNER: &str = "t001-7";

fn workspace(scene: &Scene, start: &str) -> Workspace {
    made(scene, &scene.top, start).unwrap()
}

fn made(scene: &Scene, source: &Path, start: &str) -> Result<Workspace, GitError> {
    let destination = scene.beside.join("work spaces/t001");
    fs::create_dir_all(destination.parent().unwrap()).unwrap();
    let order = Order {
        source: Source::Repository(source),
        destination: &destination,
        owner: OWNER,
        branch: "shuntyard/t001",
        start,
        hooks: Hooks::None,
        purpose: Purpose::Work,
        objects: Objects::Linked,
    };
    scene.git.create_workspace(&order)
}

/// Everything of the user's repository that work elsewhere must not change.
fn footprint(scene: &Scene) -> (String, String, String, String) {
    (
        scene.run(&scene.top, &["status", "--porcelain", "--ignored", "--untracked-files=all"]),
        scene.refs_beside(&scene.top, "refs/shuntyard/tasks/"),
        scene.run(&scene.top, &["stash", "list"]),
        fs::read_to_string(scene.top.join(".git/config")).unwrap(),
    )
}

fn reachable(scene: &Scene, workspace: &Workspace, commit: &str) -> bool {
    let refs = scene.run(&workspace.directory, &["for-each-ref", "--contains", commit, "--format=%(refname)"]);
    refs.lines().any(|name| name.starts_with("refs/shuntyard/kept/") || name == "refs/shuntyard/work")
}

#[test]
fn a_workspace_has_the_files_and_shares_nothing() {
    let (scene, first) = Scene::new();
    write(&scene.top, "mine", "uncommitted\n");
    scene.run(&scene.top, &["tag", "v1"]);
    scene.run(&scene.top, &["branch", "feature"]);
    write(&scene.top, "file", "stashed\n");
    scene.run(&scene.top, &["stash", "push", "--quiet"]);
    let before = footprint(&scene);
    let workspace = workspace(&scene, &first);
    assert_eq!(read(&workspace.directory, "file"), "a\nb\nc\nd\ne\n");
    assert_eq!(read(&workspace.directory, "mine"), "<entity not found>");
    assert_eq!(scene.run(&workspace.directory, &["symbolic-ref", "HEAD"]), "refs/heads/shuntyard/t001");
    assert_eq!(scene.run(&workspace.directory, &["describe", "--tags"]), "v1");
    assert_eq!(scene.run(&workspace.directory, &["stash", "list"]), "", "the user's stash stays the user's");
    assert_eq!(scene.run(&workspace.directory, &["rev-parse", "feature"]), first);
    scene.run(&workspace.directory, &["branch", "-D", "feature"]);
    scene.run(&workspace.directory, &["config", "user.name", "Somebody"]);
    scene.save(&workspace.directory, &[("file", "changed\n")]);
    assert_eq!(footprint(&scene), before);
    let push = scene.git.push(&workspace.directory, "origin", "HEAD").unwrap();
    assert!(matches!(push, shuntyard_host::git::Pushed::Failed(_)), "{push:?}");
}

#[test]
fn what_is_there_is_an_error_and_what_is_half_made_is_not() {
    let (scene, first) = Scene::new();
    let half = scene.beside.join("work spaces/.t001.new");
    write(&half, ".git/HEAD", "ref: refs/heads/x\n");
    let workspace = workspace(&scene, &first);
    assert!(!half.exists());
    assert!(made(&scene, &scene.top, &first).is_err());
    let opened = scene.git.open_workspace(&workspace.directory, OWNER).unwrap().unwrap();
    assert_eq!(opened.record, workspace.record);
    assert!(scene.git.open_workspace(&workspace.directory, "t001-8").unwrap().is_none(), "another store's");
    let directory = workspace.directory.clone();
    workspace.remove().unwrap();
    assert!(!directory.exists() && scene.git.open_workspace(&directory, OWNER).unwrap().is_none());
    assert_eq!(fs::read_dir(directory.parent().unwrap()).unwrap().count(), 0);
    assert!(made(&scene, &scene.top, "no-such-commit").is_err());
    assert_eq!(fs::read_dir(directory.parent().unwrap()).unwrap().count(), 0, "nothing is left of one that failed");
}

#[test]
fn every_tip_is_kept_and_one_commit_is_settled_on() {
    let (scene, first) = Scene::new();
    let workspace = workspace(&scene, &first);
    let top = &workspace.directory;
    let on_branch = scene.save(top, &[("one", "1\n")]);
    scene.run(top, &["checkout", "--quiet", "--detach"]);
    let detached = scene.save(top, &[("two", "2\n")]);
    write(top, "file", "in the stash\n");
    scene.run(top, &["stash", "push", "--quiet"]);
    let stashed = scene.run(top, &["rev-parse", "stash"]);
    let dropped = scene.save(top, &[("dropped", "x\n")]);
    scene.run(top, &["reset", "--quiet", "--hard", "HEAD~1"]);
    scene.run(top, &["branch", "own", &on_branch]);
    write(top, "three", "3\n");
    let collected = workspace.collect("what was left", &author()).unwrap();
    assert_eq!(collected.foreign, Vec::<String>::new());
    assert_eq!(scene.run(top, &["show", &format!("{}:three", collected.head)]), "3");
    assert_eq!(scene.run(top, &["rev-parse", &format!("{}^", collected.head)]), detached);
    for commit in [&on_branch, &detached, &stashed, &dropped] {
        assert!(reachable(&scene, &workspace, commit), "{commit}");
    }
    let again = Collected { before: Some(collected.head.clone()), ..collected };
    assert_eq!(workspace.collect("again", &author()).unwrap(), again, "done twice, it finds itself done");
}

#[test]
fn unfinished_operations_are_collected_and_not_aborted() {
    let (scene, first) = Scene::new();
    let mut workspace = workspace(&scene, &first);
    let top = workspace.directory.clone();
    let mine = scene.save(&top, &[("file", "mine\n")]);
    scene.run(&top, &["checkout", "--quiet", "-b", "other", &first]);
    let theirs = scene.save(&top, &[("file", "theirs\n")]);
    scene.run(&top, &["checkout", "--quiet", "shuntyard/t001"]);
    let rebase = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.arg("-C").arg(&top).args(args).envs(scene.git.variables.iter().map(|(name, value)| (name, value)));
        assert!(!command.output().unwrap().status.success(), "{args:?} stops in the middle");
    };
    rebase(&["rebase", "other"]);
    assert!(top.join(".git/rebase-merge").exists());
    let collected = workspace.collect("in the middle", &author()).unwrap();
    assert!(top.join(".git/rebase-merge").exists(), "nothing is aborted");
    for commit in [&mine, &theirs] {
        assert!(reachable(&scene, &workspace, commit), "{commit}");
    }
    assert!(scene.run(&top, &["show", &format!("{}:file", collected.head)]).contains("<<<<<<<"));
    assert_eq!(workspace.restart(&first, &author()).unwrap(), Restarted::Ready);
    assert!(!top.join(".git/rebase-merge").exists());
    assert_eq!(scene.run(&top, &["symbolic-ref", "--short", "HEAD"]), "shuntyard/t001");
    assert_eq!(scene.run(&top, &["rev-parse", "HEAD"]), collected.head);
    assert_eq!(scene.run(&top, &["status", "--porcelain"]), "");
}

#[test]
fn hidden_changes_and_a_lost_index_are_found() {
    let (scene, first) = Scene::new();
    let workspace = workspace(&scene, &first);
    let top = &workspace.directory;
    scene.run(top, &["update-index", "--skip-worktree", "file"]);
    scene.run(top, &["update-index", "--assume-unchanged", "other"]);
    write(top, "file", "changed\n");
    write(top, "other", "changed\n");
    let head = workspace.collect("hidden", &author()).unwrap().head;
    assert_eq!(scene.run(top, &["diff", "--name-only", &first, &head]), "file\nother");
    fs::remove_file(top.join(".git/index")).unwrap();
    fs::write(top.join(".git/index.lock"), "").unwrap();
    fs::write(top.join(".git/refs/heads/shuntyard/t001.lock"), "").unwrap();
    write(top, "new", "n\n");
    let head = workspace.collect("without an index", &author()).unwrap().head;
    assert_eq!(scene.run(top, &["diff", "--name-only", &first, &head]), "file\nnew\nother");
    fs::write(top.join(".git/index"), "nonsense").unwrap();
    fs::remove_file(top.join("new")).unwrap();
    let head = workspace.collect("with a broken index", &author()).unwrap().head;
    assert_eq!(scene.run(top, &["diff", "--name-only", &first, &head]), "file\nother");
}

#[test]
fn a_rewritten_history_becomes_one_commit_and_foreign_commits_are_named() {
    let (scene, first) = Scene::new();
    scene.run(&scene.top, &["checkout", "--quiet", "-b", "feature"]);
    let foreign = scene.save(&scene.top, &[("feature", "f\n")]);
    scene.run(&scene.top, &["checkout", "--quiet", "main"]);
    let workspace = workspace(&scene, &first);
    let top = &workspace.directory;
    scene.run(top, &["checkout", "--quiet", "--orphan", "root"]);
    let root = scene.save(top, &[("file", "alone\n")]);
    let collected = workspace.collect("root", &author()).unwrap();
    assert_eq!(scene.run(top, &["rev-parse", &format!("{}^", collected.head)]), first);
    assert!(reachable(&scene, &workspace, &root) && collected.foreign.is_empty());
    scene.run(top, &["checkout", "--quiet", "feature"]);
    scene.save(top, &[("more", "m\n")]);
    assert_eq!(workspace.collect("merged", &author()).unwrap().foreign, [foreign]);
}

#[test]
fn git_never_acts_on_another_repository() {
    let users = |scene: &Scene| scene.top.join(".git").display().to_string();
    type Replace = fn(&Path, &str);
    let replacements: [(&str, Replace); 5] = [
        ("removed", |_, _| {}),
        ("a link to the user's repository", |place, users| fs::write(place, format!("gitdir: {users}\n")).unwrap()),
        ("a symbolic link", |place, users| std::os::unix::fs::symlink(users, place).unwrap()),
        ("shared refs", |place, users| {
            fs::rename(place.with_file_name("../moved"), place).unwrap();
            fs::write(place.join("commondir"), users).unwrap();
        }),
        ("an empty directory", |place, _| fs::create_dir(place).unwrap()),
    ];
    for (what, replace) in replacements {
        let (scene, first) = Scene::new();
        let workspace = workspace(&scene, &first);
        let top = &workspace.directory;
        // A repository above, such as one for dotfiles.
        scene.git.init(&scene.beside).unwrap();
        write(top, "new", "n\n");
        let before = footprint(&scene);
        fs::rename(top.join(".git"), top.join("../moved")).unwrap();
        replace(&top.join(".git"), &users(&scene));
        assert!(workspace.git().is_err(), "{what}");
        let collected = workspace.collect("work", &author()).unwrap();
        assert!(collected.rebuilt, "{what}");
        assert_eq!(scene.run(top, &["diff", "--name-only", &first, &collected.head]), "new", "{what}");
        assert_eq!(footprint(&scene), before, "{what}");
        assert_eq!(scene.run(&scene.beside, &["rev-list", "--all", "--count"]), "0", "{what}");
    }
}

#[test]
fn configuration_that_an_agent_wrote_is_not_used() {
    let (scene, first) = Scene::new();
    scene.run(&scene.top, &["config", "core.autocrlf", "input"]);
    let workspace = workspace(&scene, &first);
    let top = &workspace.directory;
    let ran = scene.beside.join("ran");
    let evil = format!("touch '{}'; cat", ran.display());
    for (key, value) in [("filter.evil.clean", &evil), ("core.fsmonitor", &evil), ("alias.add", &format!("!{evil}"))] {
        scene.run(top, &["config", key, value]);
    }
    scene.run(top, &["config", "core.worktree", scene.top.to_str().unwrap()]);
    scene.run(top, &["config", "core.hooksPath", scene.beside.to_str().unwrap()]);
    write(top, ".git/info/attributes", "* filter=evil\n");
    write(top, ".git/info/exclude", "*\n");
    write(top, "new", "n\r\n");
    let head = workspace.collect("work", &author()).unwrap().head;
    assert!(!ran.exists(), "a program of the agent's was run");
    assert_eq!(scene.run(top, &["show", "--name-only", "--format=", &head]), "new");
    assert_eq!(scene.run(top, &["cat-file", "-s", &format!("{head}:new")]), "2", "line endings as the user has them");
}

#[test]
fn leftovers_of_setup_are_never_committed_and_what_an_agent_adds_to_them_is() {
    let (scene, first) = Scene::new();
    let mut workspace = workspace(&scene, &first);
    let top = workspace.directory.clone();
    let left = ["venv/bin [x]/python", "# notes", "two\nlines", "venv/new\nline", "settings", "-dash"];
    for name in left {
        write(&top, name, "left\n");
    }
    write(&top, "file", "rewritten by setup\n");
    workspace.ignore_leftovers(&first).unwrap();
    workspace.ignore_leftovers(&first).unwrap();
    assert_eq!(read(&top, "file"), "a\nb\nc\nd\ne\n");
    assert!(top.join("venv/bin [x]/python").exists() && workspace.record.set_up);
    assert_eq!(scene.run(&top, &["status", "--porcelain"]), "", "an agent does not see them");
    assert_eq!(workspace.collect("nothing", &author()).unwrap().head, first);
    write(&top, "real", "work\n");
    write(&top, "venv/own", "an agent's\n");
    write(&top, "two lines", "an agent's\n");
    write(&top, "settings", "changed by the agent\n");
    let head = workspace.collect("work", &author()).unwrap().head;
    let changed = scene.run(&top, &["diff", "--name-only", &first, &head]);
    assert_eq!(changed, "real\nsettings\ntwo lines\nvenv/own");
    assert_eq!(workspace.collect("again", &author()).unwrap().head, head);
    assert_eq!(workspace.restart(&first, &author()).unwrap(), Restarted::Ready);
    assert_eq!(
        (scene.run(&top, &["status", "--porcelain"]), read(&top, "two\nlines")),
        (String::new(), "left\n".to_owned())
    );
    write(&top, "venv/own", "changed\n");
    let head = workspace.collect("changed", &author()).unwrap().head;
    assert_eq!(scene.run(&top, &["show", &format!("{head}:venv/own")]), "changed");
}

#[test]
fn work_follows_the_base_and_what_the_user_removed_stays_removed() {
    let (scene, first) = Scene::new();
    let removed = scene.save(&scene.top, &[("removed", "r\n")]);
    let mut workspace = workspace(&scene, &removed);
    let top = workspace.directory.clone();
    scene.save(&top, &[("work", "w\n")]);
    workspace.collect("work", &author()).unwrap();
    scene.run(&scene.top, &["reset", "--quiet", "--hard", &first]);
    let new = scene.save(&scene.top, &[("newer", "n\n")]);
    workspace.bring_base(&scene.top, &new).unwrap();
    assert_eq!(workspace.restart(&new, &author()).unwrap(), Restarted::Ready);
    assert_eq!(workspace.record.base, new);
    let head = workspace.collect("work", &author()).unwrap().head;
    assert_eq!(scene.run(&top, &["ls-tree", "--name-only", &head]), "file\nnewer\nother\nwork");
    let clash = scene.save(&scene.top, &[("work", "another\n")]);
    workspace.bring_base(&scene.top, &clash).unwrap();
    assert_eq!(
        workspace.restart(&clash, &author()).unwrap(),
        Restarted::Conflict { paths: vec![PathBuf::from("work")] }
    );
    assert_eq!((read(&top, "work"), workspace.record.base.clone()), ("w\n".to_owned(), new));
}

#[test]
fn delivered_objects_and_branches_belong_to_the_task() {
    let (scene, first) = Scene::new();
    let workspace = workspace(&scene, &first);
    scene.save(&workspace.directory, &[("work", "w\n")]);
    let head = workspace.collect("work", &author()).unwrap().head;
    workspace.deliver_objects(&scene.top, &head, &head).unwrap();
    assert_eq!(scene.git.delivered_objects(&scene.top, OWNER, &head).unwrap(), Some(head.clone()));
    // A branch of that name that this task did not make.
    scene.run(&scene.top, &["branch", "shuntyard/t001", &first]);
    let publish = |commit: &str| scene.git.publish_branch(&scene.top, OWNER, "shuntyard/t001", commit).unwrap();
    let published = publish(&head);
    assert_eq!((published.branch.as_str(), published.instead_of.is_some()), ("shuntyard/t001-2", true));
    assert_eq!(scene.at("shuntyard/t001"), Some(first.clone()));
    assert_eq!(publish(&head).branch, "shuntyard/t001-2", "done twice, it finds itself done");
    assert_eq!(publish(&first).branch, "shuntyard/t001-2", "its own branch may move");
    publish(&head);
    let added = scene.run(&scene.top, &["commit-tree", "-p", &head, "-m", "mine", &format!("{head}^{{tree}}")]);
    scene.run(&scene.top, &["update-ref", "refs/heads/shuntyard/t001-2", &added]);
    assert_eq!(publish(&head).branch, "shuntyard/t001-3", "the user went on from it");
    scene.run(&scene.top, &["merge", "--quiet", "--ff-only", &head]);
    scene.git.withdraw_branches(&scene.top, OWNER, "main").unwrap();
    assert_eq!((scene.at("shuntyard/t001-3"), scene.at("shuntyard/t001-2")), (None, Some(added)));
    workspace.keep_everything(&scene.top).unwrap();
    scene.git.forget_workspace(&scene.top, OWNER).unwrap();
    assert_eq!(scene.git.delivered_objects(&scene.top, OWNER, &head).unwrap(), None);
}

/// Another prefix is taken at once, and nothing is written for the names that cannot be.
#[test]
fn what_a_deleted_branch_had_is_kept_when_the_task_is_done_again() {
    let (scene, first) = Scene::new();
    let publish = |commit: &str| scene.git.publish_branch(&scene.top, OWNER, "shuntyard/t001", commit).unwrap();
    let commit = |parent: &str, text: &str| {
        scene.run(&scene.top, &["commit-tree", "-p", parent, "-m", text, &format!("{first}^{{tree}}")])
    };
    let kept = || scene.git.kept_commits(&scene.top, OWNER).unwrap().into_iter().map(|(_, commit)| commit);
    let (one, again, moved) = (commit(&first, "one"), commit(&first, "again"), commit(&first, "moved"));
    publish(&one);
    publish(&commit(&one, "two"));
    assert_eq!(kept().count(), 0, "the branch went on");
    publish(&one);
    scene.run(&scene.top, &["branch", "--quiet", "-D", "shuntyard/t001"]);
    publish(&again);
    assert!(kept().any(|commit| commit == one), "it was deleted");
    publish(&moved);
    assert!(kept().any(|commit| commit == again), "it was moved");
    scene.run(&scene.top, &["branch", "--quiet", "-D", "shuntyard/t001"]);
    scene.git.withdraw_branches(&scene.top, OWNER, "main").unwrap();
    assert!(kept().any(|commit| commit == moved), "it was withdrawn");
}

#[test]
fn a_branch_in_the_way_of_the_name_is_left_alone() {
    for other in ["shuntyard/t001/deeper", "shuntyard"] {
        let (scene, first) = Scene::new();
        scene.run(&scene.top, &["branch", other]);
        assert_eq!(read(&workspace(&scene, &first).directory, "other"), "o\n");
        let publish = || scene.git.publish_branch(&scene.top, OWNER, "shuntyard/t001", &first).unwrap();
        let published = publish();
        let why = format!("shuntyard/t001 is not used: the branch {other} is in the way of its name");
        assert_eq!((published.branch.as_str(), published.instead_of), ("shuntyard-t001", Some(why)));
        assert_eq!(publish().branch, "shuntyard-t001", "done twice, it finds itself done");
        let records = format!("refs/shuntyard/tasks/{OWNER}/branch/");
        let found = scene.run(&scene.top, &["for-each-ref", "--format=%(refname)", &records]);
        assert_eq!(found, format!("{records}shuntyard-t001"));
        // A user's own branch has that name, too.
        let later = scene.save(&scene.top, &[("more", "m\n")]);
        scene.run(&scene.top, &["update-ref", "refs/heads/shuntyard-t001", &later]);
        assert_eq!(publish().branch, "shuntyard-t001-2");
    }
}

/// Whatever an attempt fetches was not made for the task.
#[test]
fn commits_that_an_attempt_fetched_are_foreign() {
    for how in ["pull", "fetch-head", "later"] {
        let (scene, first) = Scene::new();
        let upstream = scene.beside.join("upstream");
        scene.run(&scene.beside, &["clone", "--quiet", scene.top.to_str().unwrap(), upstream.to_str().unwrap()]);
        scene.run(&scene.top, &["remote", "add", "origin", upstream.to_str().unwrap()]);
        let theirs = scene.save(&upstream, &[("theirs", "t\n")]);
        let mut workspace = workspace(&scene, &first);
        let top = workspace.directory.clone();
        let from = upstream.to_str().unwrap();
        let commands: &[&[&str]] = match how {
            "pull" => &[&["pull", "--quiet", "--no-rebase", "origin", "main"]],
            "fetch-head" => &[&["fetch", "--quiet", from, "main"], &["merge", "--quiet", "FETCH_HEAD"]],
            _ => &[&["fetch", "--quiet", from, "main"]],
        };
        for command in commands {
            scene.run(&top, command);
        }
        if how == "later" {
            workspace.collect("left", &author()).unwrap();
            workspace.restart_from(&scene.top, &first, &author()).unwrap();
            fs::remove_file(top.join(".git/FETCH_HEAD")).unwrap();
            scene.run(&top, &["merge", "--quiet", &theirs]);
        }
        let own = scene.save(&top, &[("own", "o\n")]);
        let collected = workspace.collect("left", &author()).unwrap();
        assert_eq!((collected.foreign, collected.head), (vec![theirs], own), "{how}");
    }
}

#[test]
fn refs_of_a_clean_checkout_that_was_cut_off_are_forgotten_with_the_workspace() {
    let (scene, first) = Scene::new();
    let below = format!("refs/shuntyard/tasks/{OWNER}/");
    let [dead, alive] = [i32::MAX.to_string(), std::process::id().to_string()];
    for process in [&dead, &alive] {
        scene.run(&scene.top, &["update-ref", &format!("{below}check-{process}-1"), &first]);
    }
    scene.git.forget_workspace(&scene.top, OWNER).unwrap();
    let left = scene.run(&scene.top, &["for-each-ref", "--format=%(refname)", &below]);
    assert_eq!(left, format!("{below}check-{alive}-1"));
}
