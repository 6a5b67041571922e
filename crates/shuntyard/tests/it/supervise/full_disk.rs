//! A disk that is full at some write, in the supervisor and in everything that it starts: an error, and nothing is lost
//! or done twice. A limit of the size of files simulates the disk, because every user may set one.

use crate::supervise::Yard;
use shuntyard_testkit::{eventually, rounds};
use std::{
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// Units of half a kilobyte. The smallest hold no settings of git, the largest hold the store but not always its log.
const SIZES: [u64; 8] = [1, 4, 40, 200, 600, 1000, 1400, 2200];

fn limited_supervisor(yard: &Yard, blocks: u64) -> Child {
    let program = yard.env.command(&[]).get_program().to_owned();
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"trap "" XFSZ; ulimit -f "$0"; exec "$1" supervise"#, &blocks.to_string()]).arg(program);
    shell.env_clear().envs(yard.env.variables()).current_dir(yard.repository());
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a shell")
}

fn kill(pids: impl IntoIterator<Item = u32>) {
    for pid in pids {
        drop(Command::new("kill").args(["-9", &pid.to_string()]).output());
    }
}

#[test]
fn a_disk_that_is_full_at_some_write_loses_nothing_and_repeats_nothing() {
    let yard = Yard::with("full-disk", "concurrency = 2\nmost = 2\neffect_lease = \"3s\"\n");
    let first = std::process::id() as usize;
    for round in 0..rounds(2) {
        let blocks = if round == 0 { SIZES[0] } else { SIZES[(first + round * 3) % SIZES.len()] };
        let ids = [0, 1].map(|_| {
            let command = "echo $SHUNTYARD_TASK > done-$SHUNTYARD_TASK.txt";
            let verify = "test $(wc -l < done-$SHUNTYARD_TASK.txt) = 1";
            yard.add(&["work", "--command", command, "--verify", verify, "--deliver", "merge"])
        });
        let mut supervisor = limited_supervisor(&yard, blocks);
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline && ids.iter().any(|id| yard.phase(id) != "done") {
            std::thread::sleep(Duration::from_millis(200));
        }
        let done = ids.iter().filter(|id| yard.phase(id) == "done").count();
        assert!(blocks > SIZES[0] || done == 0, "nothing can be written, and {done} are done");
        drop(supervisor.kill());
        drop(supervisor.wait());
        kill(yard.leftovers());
        eventually("all processes to be gone", Duration::from_secs(20), || yard.leftovers().is_empty());
        yard.settle();
        let what = format!("round {round} with {blocks} blocks, {done} done at once");
        let parked: Vec<&String> = ids.iter().filter(|id| yard.phase(id) == "blocked").collect();
        for id in &parked {
            yard.env.run(&["task", "retry", id]).expect_code(0);
        }
        if !parked.is_empty() {
            yard.settle();
        }
        let commits = yard.git(&["log", "--format=%s", "main"]);
        for id in &ids {
            let task = yard.task(id);
            assert_eq!(task["phase"], "done", "{what}: {task:#}");
            assert_eq!(&yard.git(&["show", &format!("main:done-{id}.txt")]), id, "{what}");
            let delivered = commits.lines().filter(|subject| subject.starts_with(&format!("{id}:"))).count();
            assert_eq!(delivered, 1, "{what}: {commits}");
        }
    }
}
