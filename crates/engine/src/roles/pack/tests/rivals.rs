//! What has the name of a file of the pack in another place that OpenCode reads.

use super::*;
use crate::roles::pack::{Change, Outcome};

#[test]
fn an_agent_of_the_same_name_elsewhere_is_a_conflict() {
    let world = World::empty();
    for directory in ["agent", "command"] {
        fs::create_dir_all(world.file(directory)).unwrap();
    }
    world.write("agent/a.md", "mine\n");
    world.write("agent/mine.md", "mine\n");
    world.write("command/c.md", "mine\n");
    world.write(
        "opencode.json",
        r#"{"agent": {"b": {"model": "p/m", "permission": {"edit": "allow"}}, "old": {"model": "p/m", "variant": "low"}}}"#,
    );
    for _ in 0..2 {
        let report = world.install(&Disk::default(), &first(), false, Answer::Replace).unwrap();
        let kept: Vec<&str> = report
            .files
            .iter()
            .filter(|file| file.change == Change::KeptForeign)
            .map(|file| file.path.as_str())
            .collect();
        assert_eq!(kept, ["agent/a.md", "opencode.json: agent.b", "command/c.md"]);
        assert_eq!(report.outcome, Outcome::Partly);
        assert!(report.files.iter().all(|file| file.note.is_some() == file.change.is_kept()), "{report:?}");
        assert_eq!((world.read("agents/a.md"), world.read("agent/a.md")), ("a1\n".into(), "mine\n".into()));
    }
    world.uninstall(&Disk::default()).unwrap();
    assert_eq!(world.read("agent/a.md"), "mine\n");
}
