//! Git may take its time: whatever else the one thread of the runtime serves goes on meanwhile.

use super::*;
use crate::queue::supervise::{Defaults, NewTaskOrder, add};
use std::{future::Future, sync::mpsc::channel, time::Duration};

/// Git finds its settings in a pipe, into which they are written only after something else was served beside the
/// work. Without that, they are written late, so that the test ends.
async fn while_others_are_served<T>(clone: &Path, work: impl Future<Output = T>) -> T {
    let pipe = clone.join(".git/config");
    let settings = fs::read_to_string(&pipe).unwrap();
    fs::remove_file(&pipe).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (sender, receiver) = channel();
    let writing = std::thread::spawn(move || {
        let on_time = receiver.recv_timeout(Duration::from_secs(60)).is_ok();
        // A git that has read enough closes the pipe, which must not end the writer.
        let script = "trap '' PIPE; while :; do printf '%s' \"$SETTINGS\" > \"$PIPE\"; done 2> /dev/null";
        let writer = Command::new("sh").args(["-c", script]).env("SETTINGS", settings).env("PIPE", pipe).spawn();
        (writer.unwrap(), on_time)
    });
    let (done, ()) = tokio::join!(work, async { sender.send(()).unwrap_or_default() });
    let (mut writer, on_time) = writing.join().unwrap();
    writer.kill().unwrap();
    writer.wait().unwrap();
    assert!(on_time, "nothing else was served while git was waited for");
    done
}

#[tokio::test]
async fn adding_a_task_does_not_stop_the_runtime() {
    let scene = Scene::new(ODD);
    let yard = scene.yard("one").await;
    let spec = TaskSpec { base: String::new(), todo: None, ..yard.task("t001").spec };
    let order = NewTaskOrder {
        id: None,
        batch: None,
        parent: None,
        priority: 0,
        depends_on: Vec::new(),
        spec,
        defaults: Defaults::None,
    };
    let added = while_others_are_served(&yard.clone, add(&yard.context, vec![order])).await.unwrap();
    let stored = yard.context.store.task(&added[0]).await.unwrap();
    assert_eq!(stored.task.spec.base, "main");
}

#[tokio::test]
async fn finding_the_branch_of_a_line_does_not_stop_the_runtime() {
    let scene = Scene::new(ODD);
    let yard = scene.yard("one").await;
    let id = "t001".parse().unwrap();
    let found = while_others_are_served(&yard.clone, Line::within(&yard.clone, None, &id)).await.unwrap();
    assert_eq!(found, yard.line("t001"));
}
