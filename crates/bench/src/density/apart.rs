//! The same work by ten processes of `opencode run`, each in a working tree of its own.

use super::{AGENTS, Taken, at_once, git, script, watch::Watch};
use crate::process::{Running, processor_time_of_ended};
use shuntyard_testkit::TestEnv;
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(240);
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

pub fn run(env: &TestEnv) -> Taken {
    let keys: Vec<String> = (0..AGENTS).map(|number| script(env, number)).collect();
    let places: Vec<PathBuf> = (0..AGENTS).map(|number| env.root.join(format!("apart-{number}"))).collect();
    for place in &places {
        git(&env.project(), &["worktree", "add", "-q", "--detach", &place.to_string_lossy()]);
    }
    let mut watch = Watch::new(env);
    let (before, began) = (processor_time_of_ended(), Instant::now());
    let mut running: Vec<Running> =
        keys.iter().zip(&places).map(|(key, place)| Running::start(&mut command(env, key, place))).collect();
    while running.iter_mut().any(|process| process.ended().is_none()) {
        assert!(began.elapsed() < PATIENCE, "`opencode run` took too long");
        watch.look();
        std::thread::sleep(BETWEEN_LOOKS);
    }
    assert!(running.iter_mut().all(|process| process.ended() == Some(true)), "`opencode run` failed");
    for (number, place) in places.iter().enumerate() {
        assert!(place.join(format!("file-{number}.txt")).exists(), "{} was not worked in", place.display());
    }
    Taken {
        resident: watch.resident,
        proportional: watch.proportional,
        processes: watch.processes,
        processor: (processor_time_of_ended() - before).as_secs_f64() / AGENTS as f64,
        at_once: at_once(env, &keys),
    }
}

fn command(env: &TestEnv, key: &str, place: &Path) -> Command {
    let binary = env.variables().find(|(name, _)| *name == "SHUNTYARD_OPENCODE_BIN").expect("OpenCode").1;
    let mut command = Command::new(binary);
    // A title of its own, so that no model is asked for one. The variable `PWD` sets its project, and runs that share a
    // database can lock each other out.
    command
        .args(["run", "--model", "scripted/alpha", "--title", "density", key])
        .env_clear()
        .envs(env.variables())
        .env("PWD", place)
        .env("OPENCODE_DB", place.with_extension("db"))
        .current_dir(place);
    command
}
