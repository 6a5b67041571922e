//! Killing git, and the process that moves the branch, at any moment of a step: afterwards the checkout is wholly at
//! the old commit or wholly at the new one, and the user's own changes are untouched.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use shuntyard_host::Signal;
use shuntyard_host::git::{FastForward, Git};
use shuntyard_host::tree::descendants;

use super::mover::{ended, faulty_git, kill_alone, kill_group, start};
use super::scene::Scene;
use super::stage::{FILES, Stage};

/// What dies: both, the process that moves the branch, or the git that it has started.
#[derive(Debug, Clone, Copy)]
pub enum Victim {
    Group,
    Mover,
    Git,
}

impl Victim {
    pub fn any(random: &mut Random) -> Self {
        [Self::Group, Self::Group, Self::Mover, Self::Git][random.below(4)]
    }

    pub fn kill(self, mover: &Child) {
        match self {
            Self::Group => kill_group(mover),
            Self::Mover => kill_alone(mover),
            Self::Git => {
                for process in descendants(mover.id()) {
                    process.signal(Signal::KILL);
                }
            }
        }
    }
}

/// A git that does this at its call number `at` among those with one of these words.
pub fn killing_git(scene: &Scene, calls: &str, at: usize, then: &str) -> PathBuf {
    let count = scene.beside.join("count");
    let _ = fs::remove_file(&count);
    let count = count.display();
    faulty_git(scene, calls, &format!("echo x >> '{count}'; if [ $(wc -l < '{count}') -eq {at} ]; then {then}; fi"))
}

#[test]
fn a_death_between_any_two_calls_of_git_is_recovered() {
    let stage = Stage::new();
    let mut outcomes = [0, 0];
    let writing = "*\" update-index \"*|*\" read-tree \"*|*\" update-ref \"*";
    let deaths = [
        ("*", "kill -9 0", 12),
        (writing, "git \"$@\"; kill -9 0", 3),
        // Git lives on without the process that started it.
        (writing, "kill -9 $PPID", 3),
    ];
    // Every call in the long form, otherwise some of them, from another one on each time.
    let stride = if shuntyard_testkit::rounds(1) > 1 { 1 } else { 3 };
    for (calls, then, fewest) in deaths {
        let stride = stride.min(fewest);
        for at in (1 + Random::new().below(stride)..).step_by(stride) {
            let what = format!("{then} at call {at} of {calls}");
            let program = killing_git(&stage.scene, calls, at, then);
            let status = ended(stage.mover(&program));
            let moved = stage.recover(&what);
            outcomes[usize::from(moved)] += 1;
            if moved {
                stage.rewind()
            } else {
                stage.finish(&what)
            }
            if status.success() {
                assert!(moved && at > fewest, "{what}");
                break;
            }
            assert_eq!(status.signal(), Some(9), "{what}");
        }
    }
    assert!(outcomes.iter().all(|count| *count > 1), "{outcomes:?}");
}

/// The recovery is as mortal as what it recovers.
#[test]
fn a_recovery_that_dies_is_repeated() {
    let stage = Stage::new();
    let top = stage.scene.top.to_str().unwrap();
    for at in 1.. {
        let what = format!("recovery dies at call {at}");
        let update = faulty_git(&stage.scene, "*\" update-ref \"*", "kill -9 0");
        assert!(!ended(stage.mover(&update)).success(), "{what}");
        let dying = killing_git(&stage.scene, "*", at, "kill -9 0");
        let status = ended(start(&stage.scene, &dying, &[top]));
        assert!(!stage.recover(&what), "{what}");
        if status.success() {
            assert!(at > 7, "{what}");
            break;
        }
    }
    stage.finish("after all deaths");
}

/// The process that started it lives, and undoes or finishes the step at once.
#[test]
fn a_git_that_is_killed_alone_leaves_nothing() {
    let stage = Stage::new();
    let top = &stage.scene.top;
    for (call, then, done) in [
        ("read-tree", "kill -9 $$", false),
        ("read-tree", "git \"$@\"; kill -9 $$", false),
        ("update-ref", "kill -9 $$", false),
        ("update-ref", "git \"$@\"; kill -9 $$", true),
    ] {
        let what = format!("{call}: {then}");
        let program = faulty_git(&stage.scene, &format!("*\" {call} \"*"), then);
        let git = Git { program, ..stage.scene.git.clone() };
        let outcome = git.fast_forward(top, "main", &stage.from, &stage.to);
        assert_eq!(outcome.is_ok_and(|outcome| outcome == FastForward::Done), done, "{what}");
        stage.verify(&what);
        assert_eq!(stage.scene.git.recover_checkouts(top).unwrap().checkouts, [], "{what}");
        if done { stage.rewind() } else { stage.finish(&what) }
    }
}

#[test]
fn a_death_at_a_random_moment_is_recovered() {
    let stage = Stage::new();
    let started = Instant::now();
    assert!(ended(stage.mover(Path::new("git"))).success());
    let usual = started.elapsed();
    assert!(stage.recover("undisturbed"));
    stage.rewind();
    let mut random = Random::new();
    for round in 0..shuntyard_testkit::rounds(12) {
        let moment = usual.mul_f64(random.next());
        let victim = Victim::any(&mut random);
        let what = format!("round {round}: {moment:?}, {victim:?}, seed {}", random.seed);
        let mover = stage.mover(Path::new("git"));
        wait_for(moment, || false);
        victim.kill(&mover);
        ended(mover);
        if stage.recover(&what) { stage.rewind() } else { stage.finish(&what) }
    }
}

/// The files appear one after the other while git writes them; each is a moment to die at.
#[test]
fn a_death_while_files_are_written_is_recovered() {
    let stage = Stage::new();
    let mut random = Random::new();
    let mut half_done = 0;
    for round in 0..shuntyard_testkit::rounds(10) {
        let file = stage.scene.top.join(format!("added/{}", random.below(FILES)));
        let victim = Victim::any(&mut random);
        let mut mover = stage.mover(Path::new("git"));
        let mut over = false;
        wait_for(Duration::from_secs(60), || {
            over = mover.try_wait().unwrap().is_some();
            over || file.symlink_metadata().is_ok()
        });
        victim.kill(&mover);
        ended(mover);
        half_done += usize::from(!over && stage.scene.at("main").as_ref() == Some(&stage.from));
        let what = format!("round {round}: {}, {victim:?}", file.display());
        if stage.recover(&what) { stage.rewind() } else { stage.finish(&what) }
    }
    assert!(half_done > 0);
}

/// Looks all the time: the moments that matter are shorter than any pause.
pub fn wait_for(patience: Duration, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + patience;
    while Instant::now() < until && !condition() {
        std::hint::spin_loop();
    }
}

/// Numbers that differ in each run; a failure names the seed.
pub struct Random {
    pub seed: u64,
    state: u64,
}

impl Random {
    pub fn new() -> Self {
        use std::hash::{BuildHasher, RandomState};
        let seed = RandomState::new().hash_one(std::process::id()) | 1;
        Self { seed, state: seed }
    }

    fn bits(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    /// From 0 up to 1.
    pub fn next(&mut self) -> f64 {
        f64::from(u32::try_from(self.bits() >> 32).unwrap()) / f64::from(u32::MAX)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.bits() % u64::try_from(limit).unwrap()).unwrap()
    }
}
