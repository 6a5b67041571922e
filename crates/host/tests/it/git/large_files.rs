//! Deliveries of files that are larger than what may be held of git's output.

use std::fs;

use shuntyard_host::git::Recovery;

use super::mover::{ended, faulty_git, leftovers, start};
use super::scene::Scene;

/// More than the limit on what git prints.
const SIZE: usize = 80 << 20;
const WRITTEN: usize = 70 << 20;

#[test]
fn a_large_file_that_is_half_written_is_undone() {
    for (name, attributes) in [("plain", "none\n"), ("filtered", "big filter=turn\n")] {
        let (scene, _) = Scene::new();
        let top = &scene.top;
        scene.run(top, &["config", "filter.turn.smudge", "tr a-y b-z"]);
        scene.run(top, &["config", "filter.turn.clean", "tr b-z a-y"]);
        let from = scene.save(top, &[(".gitattributes", attributes)]);
        let tree = scene.tree("work", &from);
        fs::write(tree.join("big"), b"sixteen letters\n".repeat(SIZE / 16)).unwrap();
        let to = scene.save(&tree, &[("small", "s\n")]);
        let cut = format!("git \"$@\"; truncate -s {WRITTEN} '{}'; kill -9 0", top.join("big").display());
        let program = faulty_git(&scene, "*\" read-tree \"*", &cut);
        assert!(!ended(start(&scene, &program, &[top.to_str().unwrap(), &from, &to])).success());
        assert_eq!(fs::metadata(top.join("big")).unwrap().len(), u64::try_from(WRITTEN).unwrap(), "{name}");
        let recovered = scene.git.recover_checkouts(top).unwrap();
        assert_eq!(recovered.checkouts, [(top.clone(), Recovery::Undone)], "{name}");
        assert_eq!(scene.run(top, &["status", "--porcelain"]), "", "{name}");
        assert_eq!(leftovers(&top.join(".git")), Vec::<std::path::PathBuf>::new(), "{name}");
    }
}
