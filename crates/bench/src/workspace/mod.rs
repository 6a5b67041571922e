//! Workspaces of a large repository beside `git worktree`: creation, removal, disk use, and what it costs to verify a
//! commit in a clean checkout instead of the workspace.

mod disk;
mod repository;

use crate::figures::{Limits, show};
use disk::own_megabytes;
use repository::Generated;
use shuntyard_host::git::{Hooks, Objects, Order, Purpose, Source, Workspace};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Of each kind, alternating. The fastest of them counts: other load on the disk makes any of them ten times slower,
/// and none faster.
const RUNS: usize = 4;
/// How much longer than `git worktree add` a workspace may take, which has refs and a configuration of its own.
const CREATION_LIMIT: f64 = 1.5;
/// It reads every file and prints nothing where all are as committed.
const VERIFY: [&str; 2] = ["status", "--porcelain"];

/// Times of one way to have a working tree, and what one takes on the disk.
#[derive(Debug, Default)]
struct Taken {
    creation: Vec<Duration>,
    removal: Vec<Duration>,
    megabytes: f64,
}

pub fn measure(scratch: &str, limits: &mut Limits) {
    let generated = Generated::new(scratch);
    let pack = own_megabytes(&generated.top.join(".git/objects"));
    println!(
        "workspaces of {} files, {pack:.0} MB of history in {} commits, the fastest of {RUNS} runs each, alternating",
        generated.files, generated.commits
    );
    let (worktree, workspace) = alternate(&generated);
    show("git worktree add", fastest(&worktree.creation), "s");
    show("creation of a workspace", fastest(&workspace.creation), "s");
    limits.hold("creation, ratio", fastest(&workspace.creation) / fastest(&worktree.creation), CREATION_LIMIT, "x");
    show("git worktree remove --force", fastest(&worktree.removal), "s");
    show("removal of a workspace", fastest(&workspace.removal), "s");
    show("removal, ratio", fastest(&workspace.removal) / fastest(&worktree.removal), "x");
    show("disk use of a worktree", worktree.megabytes, "MB");
    show("disk use of a workspace", workspace.megabytes, "MB");
    show("extra disk use of a workspace", workspace.megabytes - worktree.megabytes, "MB");
    let (inside, clean) = verification(&generated);
    show("`git status` in the workspace", fastest(&inside), "s");
    show("the same in a clean checkout, with its removal", fastest(&clean), "s");
    show("clean verification, ratio", fastest(&clean) / fastest(&inside), "x");
    show("clean verification, extra", fastest(&clean) - fastest(&inside), "s");
}

/// Each side goes first in every other round: what was removed just before may slow the next creation down.
fn alternate(generated: &Generated) -> (Taken, Taken) {
    let (mut worktree, mut workspace) = (Taken::default(), Taken::default());
    for round in 0..RUNS {
        if round % 2 == 0 {
            worktree_once(generated, &mut worktree);
            workspace_once(generated, &mut workspace);
        } else {
            workspace_once(generated, &mut workspace);
            worktree_once(generated, &mut worktree);
        }
    }
    (worktree, workspace)
}

fn worktree_once(generated: &Generated, taken: &mut Taken) {
    let place = generated.place("worktree");
    let path = place.to_str().expect("a path in UTF-8");
    let add = ["worktree", "add", "--quiet", "-b", "worktree", path, "main"];
    taken.creation.push(time(|| generated.run(&add, &generated.top)).0);
    taken.megabytes = own_megabytes(&place) + own_megabytes(&generated.top.join(".git/worktrees/worktree"));
    taken.removal.push(time(|| generated.run(&["worktree", "remove", "--force", path], &generated.top)).0);
    generated.run(&["branch", "--quiet", "-D", "worktree"], &generated.top);
}

fn workspace_once(generated: &Generated, taken: &mut Taken) {
    let (took, made) = time(|| work(generated));
    taken.creation.push(took);
    taken.megabytes = own_megabytes(&made.directory);
    taken.removal.push(time(|| made.remove().expect("it is removed")).0);
}

/// Times in the workspace itself, and in a clean checkout of it.
fn verification(generated: &Generated) -> (Vec<Duration>, Vec<Duration>) {
    let (mut inside, mut clean) = (Vec::new(), Vec::new());
    let workspace = work(generated);
    // The first `status` updates the index, which has entries as new as itself.
    verify(generated, &workspace.directory);
    for _ in 0..RUNS {
        inside.push(time(|| verify(generated, &workspace.directory)).0);
        let checked = || {
            let source = Source::Workspace(&workspace);
            let checkout = make(generated, source, &generated.place("check"), "shuntyard/check", Purpose::Check);
            verify(generated, &checkout.directory);
            checkout.remove().expect("it is removed");
        };
        clean.push(time(checked).0);
    }
    (inside, clean)
}

fn verify(generated: &Generated, directory: &Path) {
    let printed = generated.run(&VERIFY, directory).stdout;
    assert!(printed.is_empty(), "{}", String::from_utf8_lossy(&printed));
}

fn work(generated: &Generated) -> Workspace {
    let destination: PathBuf = generated.place("workspace");
    make(generated, Source::Repository(&generated.top), &destination, "shuntyard/work", Purpose::Work)
}

fn make(generated: &Generated, source: Source<'_>, to: &Path, branch: &str, purpose: Purpose) -> Workspace {
    let (hooks, objects) = (Hooks::None, Objects::Linked);
    let order = Order { source, destination: to, owner: "bench-1", branch, start: "main", hooks, purpose, objects };
    generated.git.create_workspace(&order).expect("a workspace")
}

fn time<T>(action: impl FnOnce() -> T) -> (Duration, T) {
    let began = Instant::now();
    let result = action();
    (began.elapsed(), result)
}

fn fastest(times: &[Duration]) -> f64 {
    times.iter().min().map_or(0.0, Duration::as_secs_f64)
}
