//! States that users and agents leave a repository in, as a table: the work is collected, delivered and gone on from,
//! every commit is kept, and the user's refs stay as they are.

use std::fs;
use std::path::Path;

use shuntyard_host::git::{Hooks, Objects, Order, Purpose, Restarted, Source};

use super::scene::{Scene, author};
use super::workspace_losses::{act, is_reachable};

const OWNER: &str = "t001-7";

struct State {
    /// What the user did before.
    user: &'static str,
    /// What the agent does; commits that must not be lost are written to `../commits`.
    agent: &'static str,
    /// What comes of it since the base.
    changed: &'static str,
}

fn agent(agent: &'static str, changed: &'static str) -> State {
    State { user: "", agent, changed }
}

fn user(user: &'static str) -> State {
    State {
        user,
        agent: "echo w > work; git add -A; git commit -qm work; git rev-parse HEAD >> ../commits",
        changed: "A\twork",
    }
}

fn check(state: &State) {
    let (scene, _) = Scene::new();
    let source = scene.top.clone();
    act(&scene, &source, state.user);
    let what = format!("{} {}", state.user, state.agent);
    let base = scene.run(&source, &["rev-parse", "HEAD"]);
    let users = scene.refs_beside(&source, "refs/shuntyard/");
    let destination = scene.beside.join("spaces/t001");
    fs::create_dir_all(destination.parent().unwrap()).unwrap();
    let order = Order {
        source: Source::Repository(&source),
        destination: &destination,
        owner: OWNER,
        branch: "shuntyard/t001",
        start: &base,
        hooks: Hooks::None,
        purpose: Purpose::Work,
        objects: Objects::Linked,
    };
    let mut workspace = scene.git.create_workspace(&order).expect(&what);
    act(&scene, &destination, state.agent);
    let collected = workspace.collect("work", &author()).expect(&what);
    let words = ["-c", "core.quotePath=false", "diff", "--name-status", "--no-renames", &base, &collected.head, "--"];
    assert_eq!(scene.run(&destination, &words), state.changed, "{what}");
    workspace.deliver_objects(&source, &collected.head, &collected.head).unwrap();
    let restarted = workspace.restart_from(&source, &base, &author());
    assert_eq!(restarted.expect(&what), Restarted::Ready, "{what}");
    assert_eq!(scene.run(&destination, &["status", "--porcelain"]), "", "{what}");
    assert_eq!(scene.run(&destination, &["rev-parse", "HEAD", "--"]).lines().next(), Some(&*collected.head), "{what}");
    assert_eq!(workspace.collect("again", &author()).unwrap().head, collected.head, "{what}");
    workspace.keep_everything(&source).unwrap();
    workspace.remove().unwrap();
    for commit in fs::read_to_string(scene.beside.join("spaces/commits")).unwrap_or_default().lines() {
        assert!(is_reachable(&scene, &source, commit), "{what}: {commit} is lost");
    }
    scene.git.forget_workspace(&source, OWNER).unwrap();
    assert!(!source.join(".git/shallow").exists(), "{what}");
    assert_eq!(scene.refs_beside(&source, "refs/shuntyard/"), users, "{what}");
}

#[test]
fn of_a_users_repository() {
    [
        user("git branch shuntyard"),
        user("git branch shuntyard/t001/deeper"),
        user("git branch shuntyard/t001"),
        user("git update-ref refs/heads/HEAD HEAD; git tag main; git tag HEAD"),
        user("git checkout -q --detach; git branch -q -D main"),
        user("git pack-refs --all; git gc -q --prune=now"),
        user("git notes add -m note; git tag -a -m t annotated; git tag tree HEAD^{tree}; git tag blob HEAD:file"),
        user("h=$(git rev-parse HEAD); for i in $(seq 300); do echo create refs/heads/b/$i $h; done | git update-ref --stdin"),
        user("git commit -q --allow-empty -m e; git replace HEAD HEAD~1"),
        user("git config protocol.file.allow never; git config core.safecrlf true; git config core.autocrlf true"),
        State {
            user: "for i in 1 2 3; do git commit -q --allow-empty -m $i; done",
            agent: "git fetch -q --depth=1 \"file://$PWD/../../main tree\" main; git tag shallow FETCH_HEAD; echo w > work",
            changed: "A\twork",
        },
        State {
            user: "echo build/ > .gitignore; mkdir build; echo 1 > build/tracked; git add -f .; git commit -qm ignored",
            agent: "echo 2 > build/tracked; echo 2 > build/new; touch work",
            changed: "M\tbuild/tracked\nA\twork",
        },
    ]
    .iter()
    .for_each(check);
}

#[test]
fn of_a_workspace_after_an_agent() {
    [
        agent("chmod +x file; rm other; ln -s file other", "M\tfile\nT\tother"),
        agent("rm file; mkdir file; echo x > file/x", "D\tfile\nA\tfile/x"),
        agent(
            "touch ./--all ./-rf HEAD @ 'refs' ':(top)x' Case case",
            "A\t--all\nA\t-rf\nA\t:(top)x\nA\t@\nA\tCase\nA\tHEAD\nA\tcase\nA\trefs",
        ),
        agent("git switch -q --orphan o; echo w > work", "D\tfile\nD\tother\nA\twork"),
        agent("echo w > work; git add -A; git commit -q --amend -m root; git rev-parse HEAD >> ../commits", "A\twork"),
        agent("git update-ref refs/heads/HEAD HEAD; git tag HEAD; echo w > work", "A\twork"),
        agent("echo w > work; git add -N work; git gc -q --prune=now; git pack-refs --all", "A\twork"),
        agent(
            "git checkout -q --detach; git branch -q -D shuntyard/t001; git branch shuntyard; echo w > work",
            "A\twork",
        ),
        agent(
            "git checkout -q --detach; git branch -q -D shuntyard/t001; git branch shuntyard/t001/x; echo w > work",
            "A\twork",
        ),
        agent(
            "echo w > work; git add -A; git commit -qm w; git rev-parse HEAD >> ../commits; echo garbage > .git/HEAD",
            "A\twork",
        ),
        agent(
            "echo w > work; git add -A; git commit -qm w; git rev-parse HEAD >> ../commits; echo ref: ../../x > .git/HEAD",
            "A\twork",
        ),
    ]
    .iter()
    .for_each(check);
}

#[test]
fn of_a_workspace_after_an_agent_that_knows_git_well() {
    [
        agent(
            "git worktree add -q --detach ../x; cd ../x; echo x > x; git add -A; git commit -qm x; \
             git rev-parse HEAD >> ../commits; echo w > ../t001/work",
            "A\twork",
        ),
        agent(
            "echo w > work; git add -A; git commit -qm w; git rev-parse HEAD >> ../commits; \
             FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --msg-filter 'echo new' HEAD >&2",
            "A\twork",
        ),
        agent("git rev-parse HEAD > .git/info/grafts; git config core.repositoryformatversion 99; echo w > work", "A\twork"),
        agent(
            "git init -q ../other; cd ../other; echo x > x; git add -A; git commit -qm x; git rev-parse HEAD >> ../commits; \
             echo $PWD/.git/objects > ../t001/.git/objects/info/alternates; cd ../t001; \
             git update-ref refs/heads/other $(git -C ../other rev-parse HEAD); echo w > work",
            "A\twork",
        ),
        agent(
            "git init -q ../other; cd ../other; echo x > x; git add -A; git commit -qm x; \
             echo $PWD/.git/objects > ../t001/.git/objects/info/alternates; cd ../t001; \
             git update-ref refs/heads/other $(git -C ../other rev-parse HEAD); echo w > work; rm -rf ../other",
            "A\twork",
        ),
        agent("echo w > work; git add -A; git commit -qm w; git init -q --separate-git-dir ../separate", "A\twork"),
        agent("git notes add -m note; git rev-parse refs/notes/commits >> ../commits; echo w > work", "A\twork"),
        agent(
            "git sparse-checkout set --no-cone '/file'; echo w > file; git stash -q; git rev-parse stash >> ../commits; \
             echo v > file",
            "M\tfile",
        ),
    ]
    .iter()
    .for_each(check);
}

#[test]
fn of_a_workspace_whose_history_an_agent_has_cut_off() {
    [
        agent(
            "echo w > work; git add -A; git commit -qm w; git rev-parse HEAD >> ../commits; git checkout -qb other; \
             echo u > unique; git add -A; git commit -qm u; git rev-parse HEAD >> ../commits; \
             git rev-parse HEAD > .git/shallow; git checkout -q shuntyard/t001",
            "A\twork",
        ),
        agent(
            "echo w > work; git add -A; git commit -qm w; git rev-parse HEAD >> ../commits; \
             git rev-parse HEAD > ../cut; ln -s ../../cut .git/shallow",
            "A\twork",
        ),
    ]
    .iter()
    .for_each(check);
}

#[test]
fn of_a_workspace_with_an_unfinished_bisect() {
    [
        agent(
            "for i in 1 2 3 4; do touch $i; git add -A; git commit -qm $i; done; git bisect start HEAD HEAD~4",
            "A\t1\nA\t2\nA\t3\nA\t4",
        ),
        agent(
            "git checkout -q --detach; for i in 1 2 3 4; do touch $i; git add -A; git commit -qm $i; done; \
             git rev-parse HEAD >> ../commits; git bisect start HEAD HEAD~4; rm 1; touch found",
            "A\t2\nA\t3\nA\t4\nA\tfound",
        ),
    ]
    .iter()
    .for_each(check);
}

/// The user's repository fetches the content of files only when it is needed.
#[test]
fn of_a_partial_clone() {
    let (scene, _) = Scene::new();
    scene.save(&scene.top, &[("file", "second\n")]);
    scene.run(&scene.top, &["config", "uploadpack.allowFilter", "true"]);
    scene.run(&scene.top, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let url = format!("file://{}", scene.top.display());
    scene.run(&scene.beside, &["clone", "--quiet", "--filter=blob:none", &url, "partial"]);
    let partial = scene.beside.join("partial");
    let missing = |at: &Path| scene.run(at, &["rev-list", "--objects", "--all", "--missing=print"]).contains("\n?");
    assert!(missing(&partial));
    let base = scene.run(&partial, &["rev-parse", "HEAD"]);
    let destination = scene.beside.join("spaces/t001");
    fs::create_dir_all(destination.parent().unwrap()).unwrap();
    let order = Order {
        source: Source::Repository(&partial),
        destination: &destination,
        owner: OWNER,
        branch: "shuntyard/t001",
        start: &base,
        hooks: Hooks::None,
        purpose: Purpose::Work,
        objects: Objects::Linked,
    };
    let mut workspace = scene.git.create_workspace(&order).unwrap();
    let commit = scene.save(&destination, &[("work", "w\n")]);
    assert_eq!(workspace.collect("work", &author()).unwrap().head, commit);
    workspace.deliver_objects(&partial, &commit, &commit).unwrap();
    act(&scene, &destination, "rm -rf .git");
    assert!(workspace.collect("work", &author()).unwrap().rebuilt);
    assert_eq!(workspace.restart_from(&partial, &base, &author()).unwrap(), Restarted::Ready);
    assert_eq!(scene.run(&destination, &["show", "HEAD~2:file"]), "a\nb\nc\nd\ne", "fetched when it is needed");
    assert!(missing(&partial), "and not by the user's repository");
}
