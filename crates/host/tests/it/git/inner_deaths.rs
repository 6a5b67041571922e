//! Killing git, and the process that started it, at the n-th operation on files, wherever that is: in the middle of a
//! clone, a commit, a rebase, a fetch, a push, a collection of garbage or a checkout, and between our own writes.
//!
//! A library that the linker loads first counts the operations of all processes and ends them at the wanted one. A
//! write that is cut off has written half of its bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use super::deaths::Random;
use super::mover::{ended, start_with};
use super::scene::Scene;
use super::stage::Stage;
use super::workspace_deaths::{STEPS, Site};

const LIBRARY: &str = include_str!("inner_deaths.c");

struct Fault {
    library: PathBuf,
    count: PathBuf,
}

/// What dies at the operation: all processes, or the git that performs it.
const VICTIMS: [&str; 2] = ["all", "git"];

impl Fault {
    fn new(scene: &Scene) -> Self {
        let [source, library, count] = ["fault.c", "fault.so", "operations"].map(|name| scene.beside.join(name));
        fs::write(&source, LIBRARY).unwrap();
        let built =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Self { library, count }
    }

    /// Number 0 is none.
    fn start(&self, scene: &Scene, words: &[&str], victim: &str, at: usize) -> Child {
        let _ = fs::remove_file(&self.count);
        let at = at.to_string();
        let variables = [
            ("LD_PRELOAD", self.library.to_str().unwrap()),
            ("FAULT_COUNT", self.count.to_str().unwrap()),
            ("FAULT_AT", &at),
            ("FAULT_VICTIM", victim),
        ];
        start_with(scene, Path::new("git"), words, &variables)
    }

    fn operations(&self) -> usize {
        usize::try_from(fs::metadata(&self.count).map_or(0, |found| found.len())).unwrap()
    }
}

/// `round` is one life: it is started with a victim and the number of an operation, and has to recover.
fn dies_at_random_operations(fault: &Fault, rounds: usize, mut round: impl FnMut(&str, usize, &str)) {
    let mut random = Random::new();
    for victim in VICTIMS {
        round(victim, 0, "undisturbed");
        let operations = fault.operations();
        assert!(operations > 10, "{victim}: {operations} operations were counted");
        for number in 0..rounds {
            let at = 1 + random.below(operations);
            let what = format!("round {number}: {victim} at operation {at} of {operations}, seed {}", random.seed);
            round(victim, at, &what);
        }
    }
}

#[test]
fn a_death_at_any_file_operation_of_any_step_is_recovered() {
    for step in STEPS {
        let site = Site::new(step);
        let fault = Fault::new(&site.scene);
        let beside = site.scene.beside.to_str().unwrap();
        dies_at_random_operations(&fault, shuntyard_testkit::rounds(1), |victim, at, what| {
            let status = ended(fault.start(&site.scene, &[step, beside], victim, at));
            assert!(at > 0 || status.success(), "{step}: {what}");
            site.recover(step, &format!("{step}, {what}"));
            site.rewind();
        });
    }
}

#[test]
fn a_death_at_any_file_operation_of_a_merge_is_recovered() {
    let stage = Stage::new();
    let fault = Fault::new(&stage.scene);
    let top = stage.scene.top.to_str().unwrap();
    dies_at_random_operations(&fault, shuntyard_testkit::rounds(4), |victim, at, what| {
        ended(fault.start(&stage.scene, &[top, &stage.from, &stage.to], victim, at));
        if stage.recover(what) { stage.rewind() } else { stage.finish(what) }
    });
}
