//! Commands in place: the processes that they start end with them, and only their own output is theirs.

use crate::queue::{Place, place::text};
use std::path::Path;

#[test]
fn what_a_command_leaves_running_is_ended_with_it() {
    let place = Place::new("place-left");
    let _supervisor = place.supervise();
    let left = place.file("left");
    // In a session of its own, so that only its ancestry shows which command started it.
    let up = format!("while [ ! -s {} ]; do :; done", left.display());
    let id = place.add(&format!("setsid sh -c 'echo $$ > {}; exec sleep 300' & {up}", left.display()), &[]);
    place.wait_for_phase(&id, "done");
    let pid = &place.lines("left")[0];
    assert!(!Path::new("/proc").join(pid).exists(), "{pid} is still there");
}

#[test]
fn what_a_command_prints_is_in_the_log_of_its_own_task() {
    let mut place = Place::new("place-logs");
    // The processes then log much about each task as well.
    place.env.set("SHUNTYARD_LOG", "trace");
    let _supervisor = place.supervise();
    let ids: Vec<String> = ["north", "south", "east", "west"]
        .iter()
        .map(|word| place.add(&format!("echo from the {word}; echo $SHUNTYARD_TASK; sleep 0.1"), &["--id", word]))
        .collect();
    place.wait_for_done(4);
    for id in &ids {
        let log = place.env.run(&["task", "log", id, "--json"]).expect_code(0).json();
        let files = log["logs"].as_array().expect("its logs").iter().map(text);
        let texts: Vec<String> = files.map(|file| std::fs::read_to_string(file).expect("a log")).collect();
        assert!(texts.contains(&format!("from the {id}\n{id}\n")), "{id}: {texts:?}");
        for other in ids.iter().filter(|other| *other != id) {
            assert!(!texts.iter().any(|text| text.contains(other.as_str())), "{other} in the logs of {id}: {texts:?}");
        }
    }
}
