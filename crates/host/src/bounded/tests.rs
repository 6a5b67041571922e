//! Real programs that print, work, wait and hang.

use super::output::TAIL;
use super::*;

fn shell(script: &str, patience: impl Into<Patience>) -> Result<Finished, RunError> {
    run(Command::new("sh").args(["-c", script]), patience)
}

fn progress(idle: Duration) -> Patience {
    Patience::Progress { idle, most: Duration::from_secs(300) }
}

#[test]
fn large_output_on_both_sides_is_read() {
    let script = "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; echo end >&2; exit 5";
    let done = shell(script, Duration::from_secs(60)).unwrap();
    assert_eq!((done.stdout.len(), done.status.code()), (300_000, Some(5)));
    assert_eq!(done.stderr.len(), TAIL, "only the end of standard error is kept");
    assert!(done.stderr.ends_with(b"\0end\n"));
}

#[test]
fn output_without_an_end_is_an_error_and_not_cut() {
    let endless = shell("exec cat /dev/zero", Duration::from_secs(300));
    assert!(matches!(endless, Err(RunError::TooLarge { limit: MOST_OUTPUT })), "{endless:?}");
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_program() {
    let mut seen = 0;
    let mut enough = |chunk: &[u8]| {
        seen += chunk.len();
        if seen < 1_000_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let streamed =
        stream(Command::new("cat").arg("/dev/zero"), Stdio::null(), Duration::from_secs(300), &mut enough).unwrap();
    assert!(matches!(streamed, Streamed::Stopped), "{streamed:?}");
    assert!(seen < 2_000_000, "{seen}");
}

#[test]
fn a_background_process_with_the_output_open_does_not_hold_it_up() {
    // Waiting for the end of the output would last until the deadline, which is an error.
    let done = shell("sleep 300 & echo $!", Duration::from_secs(120)).unwrap();
    let sleeper: u32 = String::from_utf8(done.stdout).unwrap().trim().parse().unwrap();
    kill_tree(&ProcessIdentity::of(sleeper).unwrap(), Duration::ZERO);
}

#[test]
fn the_deadline_keeps_what_was_said() {
    let result = shell("echo stuck >&2; exec sleep 300", Duration::from_millis(1500));
    assert!(matches!(result, Err(RunError::Deadline { stderr, .. }) if stderr == b"stuck\n"));
}

#[test]
fn a_program_that_only_waits_is_ended_with_all_below_it() {
    let result = shell("sleep 300 & echo $! >&2; wait", progress(Duration::from_secs(2)));
    let Err(RunError::Idle { stderr, .. }) = result else { panic!("{result:?}") };
    let below: u32 = String::from_utf8(stderr).unwrap().trim().parse().unwrap();
    assert!(!ProcessIdentity::of(below).is_some_and(|process| process.is_alive()));
}

/// Each of them takes longer than it may be idle.
#[test]
fn a_slow_program_may_go_on_while_it_gets_on() {
    let idle = Duration::from_secs(3);
    let table = [
        ("prints", "for i in 1 2 3 4 5; do echo $i; read -t 1 x <&3; done 3<>\"$PIPE\"; true"),
        ("prints errors", "for i in 1 2 3 4 5; do echo $i >&2; read -t 1 x <&3; done 3<>\"$PIPE\"; true"),
        ("computes", "end=$((SECONDS + 6)); while [ $SECONDS -lt $end ]; do :; done"),
        ("computes below", "(end=$((SECONDS + 6)); while [ $SECONDS -lt $end ]; do :; done); true"),
        ("starts others", "for i in 1 2 3 4 5; do sleep 1; done"),
        ("writes", "for i in 1 2 3 4 5; do echo $i > /dev/null; read -t 1 x <&3; done 3<>\"$PIPE\"; true"),
    ];
    std::thread::scope(|scope| {
        for (number, (name, script)) in table.into_iter().enumerate() {
            scope.spawn(move || {
                let scratch = shuntyard_testkit::Scratch::new(&format!("slow-program-{number}"));
                let pipe = scratch.path().join("pipe");
                assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
                let mut command = Command::new("bash");
                command.args(["-c", script]).env("PIPE", &pipe);
                let done = run(&mut command, progress(idle));
                assert!(matches!(&done, Ok(done) if done.status.success()), "{name}: {done:?}");
            });
        }
    });
}

#[test]
fn a_program_that_works_for_ever_has_a_limit_too() {
    let (idle, most) = (Duration::from_secs(60), Duration::from_millis(2500));
    let result = shell("while :; do :; done", Patience::Progress { idle, most });
    assert!(matches!(result, Err(RunError::Deadline { deadline, .. }) if deadline == most), "{result:?}");
}

#[test]
fn waking_up_now_and_then_is_no_progress() {
    // As a program does that waits for an answer from the network: it looks many times a second.
    let script = "while :; do read -t 0.2 x <&3; done 3<>\"$PIPE\"";
    let scratch = shuntyard_testkit::Scratch::of_test();
    let pipe = scratch.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = Command::new("bash");
    let result = run(command.args(["-c", script]).env("PIPE", &pipe), progress(Duration::from_secs(3)));
    assert!(matches!(result, Err(RunError::Idle { .. })), "{result:?}");
}
