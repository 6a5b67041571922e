//! Killing git, and the process that works on a workspace, at any moment of a step: the step is repeated and succeeds,
//! no commit is lost, and the user's repository is as it was.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use shuntyard_host::git::{Git, GitError, Hooks, Objects, Order, Purpose, Pushed, Restarted, Source, Workspace};

use super::deaths::{Random, Victim, killing_git, wait_for};
use super::mover::{ended, faulty_git, kill_alone, start};
use super::scene::{Scene, author, read, write};

const OWNER: &str = "t001-7";
const BRANCH: &str = "shuntyard/t001";
const FILES: usize = 80;
pub const STEPS: [&str; 7] = ["create", "gc", "collect", "restart", "deliver", "push", "remove"];

fn destination(beside: &Path) -> PathBuf {
    beside.join("spaces/t001")
}

fn open(git: &Git, beside: &Path) -> Result<Option<Workspace>, GitError> {
    git.open_workspace(&destination(beside), OWNER)
}

/// One step, as the supervisor takes it: done before or cut off anywhere, it may be repeated.
pub fn perform(git: &Git, step: &str, beside: &Path) -> Result<(), GitError> {
    let top = beside.join("main tree");
    let Some(mut workspace) = open(git, beside)? else {
        if step == "remove" {
            return git.discard_workspace(&destination(beside));
        }
        assert_eq!(step, "create", "there is no workspace");
        return create(git, beside, &top);
    };
    match step {
        "create" => {}
        "collect" => drop(workspace.collect("collected", &author())?),
        // An agent's own, which may fail at a lock that an earlier one left.
        "gc" => {
            drop(git.output(&workspace.directory, &["gc", "--quiet", "--prune=now"]));
            workspace.collect("collected", &author())?;
        }
        "restart" => {
            workspace.collect("collected", &author())?;
            let newer = git.branch_commit(&top, "main")?.unwrap();
            assert_eq!(workspace.restart_from(&top, &newer, &author())?, Restarted::Ready);
        }
        "deliver" | "push" => {
            let head = workspace.collected()?.unwrap();
            workspace.deliver_objects(&top, &head, &head)?;
            git.publish_branch(&top, OWNER, BRANCH, &head)?;
            if step == "push" {
                let mut pushed = git.push_owned(&top, "up", OWNER, BRANCH)?;
                // The remote is another machine: locks of a git that was killed there are removed by its owner.
                if matches!(&pushed, Pushed::Rejected(reason) if reason.contains("failed to update ref")) {
                    remove_locks_below(&beside.join("remote"));
                    pushed = git.push_owned(&top, "up", OWNER, BRANCH)?;
                }
                assert_eq!(pushed, Pushed::Done);
            }
        }
        _ => {
            workspace.keep_everything(&top)?;
            workspace.remove()?;
        }
    }
    Ok(())
}

fn remove_locks_below(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            remove_locks_below(&path);
        } else if path.extension().is_some_and(|ending| ending == "lock") {
            fs::remove_file(path).unwrap();
        }
    }
}

fn create(git: &Git, beside: &Path, top: &Path) -> Result<(), GitError> {
    let order = Order {
        source: Source::Repository(top),
        destination: &destination(beside),
        owner: OWNER,
        branch: BRANCH,
        start: "main~1",
        hooks: Hooks::None,
        purpose: Purpose::Work,
        objects: Objects::Linked,
    };
    git.create_workspace(&order).map(drop)
}

/// A user's repository with changes of its own, and a workspace as it is before each step.
pub struct Site {
    pub scene: Scene,
    newer: String,
    /// Every commit that an agent made.
    commits: Vec<String>,
    before: [String; 4],
    index: Vec<u8>,
}

impl Site {
    pub fn new(step: &str) -> Self {
        let scene = Scene::empty();
        let top = scene.top.clone();
        for number in 0..FILES {
            write(&top, &format!("many/{number}"), &format!("{number}\n").repeat(200));
        }
        scene.save(&top, &[("file", "a\n")]);
        for number in 0..FILES {
            write(&top, &format!("newer/{}", number % 40), &format!("newer {number}\n").repeat(200));
            write(&top, &format!("many/{}", number % 20), &format!("changed {number}\n").repeat(200));
        }
        let newer = scene.save(&top, &[("newer file", "n\n")]);
        write(&top, "file", "stashed\n");
        scene.run(&top, &["stash", "push", "--quiet"]);
        write(&top, "file", "changed\n");
        write(&top, "staged", "staged\n");
        scene.run(&top, &["add", "staged"]);
        write(&top, "untracked", "untracked\n");
        scene.run(&top, &["repack", "-adq"]);
        fs::create_dir(scene.beside.join("spaces")).unwrap();
        let mut site = Self { scene, newer, commits: Vec::new(), before: Default::default(), index: Vec::new() };
        if step != "create" {
            perform(&site.scene.git, "create", &site.scene.beside).unwrap();
            site.work();
        }
        if step == "push" {
            site.scene.run(&top, &["init", "--quiet", "--bare", "../remote"]);
            site.scene.run(&top, &["remote", "add", "up", "../remote"]);
        }
        if !["create", "collect", "gc"].contains(&step) {
            perform(&site.scene.git, "collect", &site.scene.beside).unwrap();
            let work = open(&site.scene.git, &site.scene.beside).unwrap().unwrap().collected().unwrap();
            site.commits.extend(work);
        }
        site.copy("spaces", "prepared");
        site.before = site.footprint();
        site.index = fs::read(top.join(".git/index")).unwrap();
        site
    }

    /// What an agent leaves: commits on the branch and beside it, a stash, a dropped commit and changed files.
    fn work(&mut self) {
        let (scene, tree) = (&self.scene, destination(&self.scene.beside));
        let mut commits = vec![scene.save(&tree, &[("one", "1\n")])];
        scene.run(&tree, &["checkout", "--quiet", "--detach"]);
        commits.push(scene.save(&tree, &[("two", "2\n")]));
        write(&tree, "file", "in the stash\n");
        scene.run(&tree, &["stash", "push", "--quiet"]);
        commits.push(scene.run(&tree, &["rev-parse", "stash"]));
        commits.push(scene.save(&tree, &[("dropped", "x\n")]));
        scene.run(&tree, &["reset", "--quiet", "--hard", "HEAD~1"]);
        write(&tree, "three", "3\n");
        fs::remove_file(tree.join("many/79")).unwrap();
        self.commits = commits;
    }

    fn copy(&self, from: &str, to: &str) {
        let to = self.scene.beside.join(to);
        let _ = fs::remove_dir_all(&to);
        let copied = Command::new("cp").arg("-a").arg(self.scene.beside.join(from)).arg(to).status().unwrap();
        assert!(copied.success());
    }

    /// As before the step.
    pub fn rewind(&self) {
        self.copy("prepared", "spaces");
        for name in ["refs/shuntyard", "refs/heads/shuntyard", "refs/remotes", "../../remote/refs/heads/shuntyard"] {
            let _ = fs::remove_dir_all(self.scene.top.join(".git").join(name));
        }
    }

    /// All of the user's repository that a step must not change.
    fn footprint(&self) -> [String; 4] {
        let (scene, top) = (&self.scene, &self.scene.top);
        let refs = scene.run(top, &["for-each-ref", "--format=%(refname) %(objectname)"]);
        let ours = |name: &str| name.starts_with("refs/shuntyard/") || name.contains("/shuntyard/");
        [
            scene.run(top, &["--no-optional-locks", "status", "--porcelain", "--untracked-files=all"]),
            refs.lines().filter(|line| !ours(line)).collect::<Vec<_>>().join("\n"),
            scene.run(top, &["stash", "list"]),
            read(top, ".git/config"),
        ]
    }

    fn child(&self, program: &Path, step: &str) -> std::process::Child {
        start(&self.scene, program, &[step, self.scene.beside.to_str().unwrap()])
    }

    /// What holds at once after a death, and after the step was repeated.
    pub fn recover(&self, step: &str, what: &str) {
        let Scene { git, beside, top, .. } = &self.scene;
        if step == "create" && open(git, beside).unwrap().is_some() {
            self.verify_new(what);
        }
        self.verify_user(what);
        // A git that outlived its parent is waited for by the step itself.
        perform(git, step, beside).expect(what);
        self.verify_user(what);
        let tree = destination(beside);
        if step != "remove" {
            self.scene.run(&tree, &["fsck", "--strict", "--no-dangling"]);
        }
        let places = if step == "remove" { vec![top] } else { vec![&tree] };
        for commit in &self.commits {
            let found = places.iter().any(|place| self.is_reachable(place, commit));
            assert!(found, "{what}: {commit} is lost");
        }
        match step {
            "create" => self.verify_new(what),
            "collect" | "gc" => self.verify_work(&tree, "refs/shuntyard/work", what),
            "restart" => self.verify_restarted(&tree, what),
            "deliver" => self.verify_delivered(what),
            "push" => {
                self.verify_delivered(what);
                self.verify_work(&beside.join("remote"), BRANCH, what);
            }
            _ => assert_eq!(fs::read_dir(beside.join("spaces")).unwrap().count(), 0, "{what}"),
        }
    }

    fn is_reachable(&self, place: &Path, commit: &str) -> bool {
        let known = self.scene.git.output(place, &["cat-file", "-e", commit]).is_ok();
        known && !self.scene.run(place, &["for-each-ref", "--contains", commit]).is_empty()
    }

    fn verify_user(&self, what: &str) {
        assert!(fs::read(self.scene.top.join(".git/index")).unwrap() == self.index, "{what}: the user's index");
        assert_eq!(self.footprint(), self.before, "{what}");
    }

    fn verify_new(&self, what: &str) {
        let tree = destination(&self.scene.beside);
        self.scene.run(&tree, &["fsck", "--strict", "--no-dangling"]);
        assert_eq!(self.scene.run(&tree, &["status", "--porcelain", "--ignored"]), "", "{what}");
        assert_eq!(fs::read_dir(tree.join("many")).unwrap().count(), FILES, "{what}");
        assert!(open(&self.scene.git, &self.scene.beside).unwrap().unwrap().git().is_ok(), "{what}");
    }

    /// The work has everything that was checked out and changed, and nothing else.
    fn verify_work(&self, place: &Path, at: &str, what: &str) {
        let base = if self.is_newer(place, at) { "main" } else { "main~1" };
        let base = self.scene.run(&self.scene.top, &["rev-parse", base]);
        let changed = self.scene.run(place, &["diff", "--name-status", "--no-renames", &base, at]);
        assert_eq!(changed, "D\tmany/79\nA\tone\nA\tthree\nA\ttwo", "{what}");
        assert_eq!(self.scene.run(place, &["rev-list", "--count", &format!("{base}..{at}")]), "3", "{what}");
    }

    fn is_newer(&self, place: &Path, at: &str) -> bool {
        self.scene.git.output(place, &["merge-base", "--is-ancestor", &self.newer, at]).is_ok()
    }

    fn verify_restarted(&self, tree: &Path, what: &str) {
        assert!(self.is_newer(tree, "HEAD"), "{what}");
        self.verify_work(tree, "HEAD", what);
        assert_eq!(self.scene.run(tree, &["status", "--porcelain"]), "", "{what}");
        assert_eq!(self.scene.run(tree, &["symbolic-ref", "--short", "HEAD"]), BRANCH, "{what}");
        let record = open(&self.scene.git, &self.scene.beside).unwrap().unwrap().record;
        assert_eq!(record.base, self.newer, "{what}");
    }

    fn verify_delivered(&self, what: &str) {
        let branches =
            self.scene.run(&self.scene.top, &["for-each-ref", "--format=%(refname)", "refs/heads/shuntyard"]);
        assert_eq!(branches, format!("refs/heads/{BRANCH}"), "{what}");
        self.verify_work(&self.scene.top, BRANCH, what);
    }
}

/// Each call of git in turn; the suite takes some of them, `scripts/chaos` all.
fn dies_at_each_call(step: &str) {
    let site = Site::new(step);
    let stride = if shuntyard_testkit::rounds(1) > 1 { 1 } else { 30 };
    for then in ["kill -9 0", "git \"$@\"; kill -9 0", "kill -9 $$"] {
        for at in (1 + Random::new().below(stride)..).step_by(stride) {
            let what = format!("{step}: {then} at call {at}");
            let status = ended(site.child(&killing_git(&site.scene, "*", at, then), step));
            let over = !site.scene.beside.join("count").exists() || calls(&site.scene) < at;
            site.recover(step, &what);
            site.rewind();
            if over {
                assert!(status.success(), "{what}");
                break;
            }
        }
    }
}

fn calls(scene: &Scene) -> usize {
    read(&scene.beside, "count").lines().count()
}

fn dies_at_random_moments(step: &str) {
    let site = Site::new(step);
    let started = Instant::now();
    assert!(ended(site.child(Path::new("git"), step)).success());
    let usual = started.elapsed();
    site.recover(step, "undisturbed");
    let mut random = Random::new();
    for round in 0..shuntyard_testkit::rounds(2) {
        site.rewind();
        let (moment, victim) = (usual.mul_f64(random.next()), Victim::any(&mut random));
        let what = format!("{step}, round {round}: {moment:?}, {victim:?}, seed {}", random.seed);
        let child = site.child(Path::new("git"), step);
        wait_for(moment, || false);
        victim.kill(&child);
        ended(child);
        site.recover(step, &what);
    }
}

#[test]
fn a_creation_that_dies_is_repeated() {
    dies_at_each_call("create");
}

#[test]
fn a_collection_that_dies_is_repeated() {
    dies_at_each_call("collect");
}

#[test]
fn a_restart_that_dies_is_repeated() {
    dies_at_each_call("restart");
}

#[test]
fn a_delivery_that_dies_is_repeated() {
    dies_at_each_call("deliver");
}

#[test]
fn a_push_that_dies_is_repeated() {
    dies_at_each_call("push");
}

#[test]
fn a_removal_that_dies_is_repeated() {
    dies_at_each_call("remove");
}

#[test]
fn a_death_at_a_random_moment_of_any_step_is_recovered() {
    STEPS.iter().for_each(|step| dies_at_random_moments(step));
}

/// The first of several commits is on the new base, and the others are not.
#[test]
fn a_death_in_the_middle_of_a_rebase_loses_no_work() {
    let site = Site::new("restart");
    let program = faulty_git(&site.scene, "*\" --onto \"*", "git \"$@\" --exec 'kill -9 0'");
    assert!(!ended(site.child(&program, "restart")).success());
    assert!(destination(&site.scene.beside).join(".git/rebase-merge").is_dir());
    site.recover("restart", "in the middle of a rebase");
}

/// The process dies, and its git goes on: the repeated step waits for it.
#[test]
fn a_git_that_outlives_its_process_is_waited_for() {
    for (step, words) in [("collect", "write-tree"), ("restart", "reset"), ("deliver", "fetch")] {
        let site = Site::new(step);
        let beside = site.scene.beside.display();
        let slow = format!(
            ": > '{beside}/begun'; until [ -e '{beside}/go' ]; do sleep 0.01; done; git \"$@\"; : > '{beside}/over'; exit"
        );
        let program = faulty_git(&site.scene, &format!("*\" {words} \"*"), &slow);
        let child = site.child(&program, step);
        let exists = |name: &str| site.scene.beside.join(name).exists();
        shuntyard_testkit::eventually(step, std::time::Duration::from_secs(60), || exists("begun"));
        kill_alone(&child);
        ended(child);
        let hurried = Git { idle_deadline: std::time::Duration::from_millis(1500), ..site.scene.git.clone() };
        let repeated = perform(&hurried, step, &site.scene.beside);
        assert!(matches!(repeated, Err(GitError::Lock { .. })), "{step}: {repeated:?}");
        fs::write(site.scene.beside.join("go"), "").unwrap();
        perform(&site.scene.git, step, &site.scene.beside).unwrap();
        assert!(exists("over"), "{step}: it did not wait");
        site.recover(step, step);
    }
}

/// Git holds the lock of what it moves when everything dies.
#[test]
fn a_delivery_that_dies_with_a_lock_in_its_hands_is_repeated() {
    let site = Site::new("deliver");
    let work = open(&site.scene.git, &site.scene.beside).unwrap().unwrap().collected().unwrap().unwrap();
    for (command, reference) in [
        ("fetch", format!("refs/shuntyard/tasks/{OWNER}/delivered/{work}")),
        ("update-ref", format!("refs/heads/{BRANCH}")),
        ("update-ref", format!("refs/shuntyard/tasks/{OWNER}/branch/{BRANCH}")),
    ] {
        let lock = site.scene.top.join(".git").join(format!("{reference}.lock"));
        let (place, directory) = (lock.display(), lock.parent().unwrap().display());
        let dies = format!("mkdir -p '{directory}'; : > '{place}'; kill -9 0");
        let program = faulty_git(&site.scene, &format!("*\" {command} \"*\"{reference} \"*"), &dies);
        assert!(!ended(site.child(&program, "deliver")).success(), "{reference}");
        assert!(lock.exists(), "{reference}");
        site.recover("deliver", &reference);
        assert!(!lock.exists(), "{reference}");
        site.rewind();
    }
}

#[test]
fn a_lock_of_any_kind_that_a_killed_git_left_is_removed() {
    let site = Site::new("restart");
    let git_dir = destination(&site.scene.beside).join(".git");
    let branch = format!("refs/heads/{BRANCH}.lock");
    let places = ["index.lock", "HEAD.lock", "ORIG_HEAD.lock", "CHERRY_PICK_HEAD.lock", "packed-refs.lock", &branch];
    for name in places {
        write(&git_dir, name, "");
    }
    perform(&site.scene.git, "restart", &site.scene.beside).unwrap();
    for name in places {
        assert!(!git_dir.join(name).exists(), "{name}");
    }
}

/// What is recorded as delivered is not delivered again, so what belongs to it has to be there before.
#[test]
fn a_delivery_that_dies_after_its_fetch_has_the_large_files_too() {
    let site = Site::new("deliver");
    let object = Path::new(".git/lfs/objects/ab/cd/abcd");
    let theirs = site.scene.top.join(object);
    write(&destination(&site.scene.beside), object.to_str().unwrap(), "large\n");
    let program = faulty_git(&site.scene, "*\" fetch \"*", "git \"$@\"; kill -9 0");
    assert!(!ended(site.child(&program, "deliver")).success());
    let head = open(&site.scene.git, &site.scene.beside).unwrap().unwrap().collected().unwrap().unwrap();
    assert_eq!(site.scene.git.delivered_objects(&site.scene.top, OWNER, &head).unwrap(), Some(head));
    assert_eq!(fs::read_to_string(theirs).unwrap(), "large\n");
}

/// Every write of git beyond so many blocks fails, as on a full disk.
#[test]
fn a_full_disk_is_an_error_and_nothing_half_made_is_used() {
    for step in ["create", "collect"] {
        let site = Site::new(step);
        let Scene { git, beside, .. } = &site.scene;
        for blocks in [0, 1, 8] {
            let what = format!("{step} with {blocks} blocks");
            let program = faulty_git(&site.scene, "*", &format!("trap '' XFSZ; ulimit -f {blocks}"));
            let full = Git { program, ..git.clone() };
            assert!(perform(&full, step, beside).is_err(), "{what}");
            if step == "create" {
                assert!(open(git, beside).unwrap().is_none(), "{what}");
                assert_eq!(fs::read_dir(beside.join("spaces")).unwrap().count(), 0, "{what}");
            }
            site.recover(step, &what);
            site.rewind();
        }
    }
}
