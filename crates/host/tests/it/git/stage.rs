//! A step that adds, changes, deletes and retypes many files beside a user's own changes, and what must hold after it
//! was cut off anywhere and recovered.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Child;

use shuntyard_host::git::{FastForward, Recovery};

use super::mover::{leftovers, start};
use super::scene::{Scene, read, write};

pub const FILES: usize = 24;

/// Many of the files are large enough to be caught half written.
pub struct Stage {
    pub scene: Scene,
    pub from: String,
    pub to: String,
}

impl Stage {
    pub fn new() -> Self {
        let scene = Scene::empty();
        let top = scene.top.clone();
        for number in 0..FILES {
            write(&top, &format!("many/{number}"), &content("old", number));
        }
        write(&top, "becomes a directory", "file\n");
        write(&top, "becomes a file/inside", "inside\n");
        write(&top, "gone/deep/file", "gone\n");
        write(&top, "script", "#!/bin/sh\n");
        write(&top, "unrelated", "as committed\n");
        std::os::unix::fs::symlink("unrelated", top.join("link")).unwrap();
        let from = scene.save(&top, &[(".gitattributes", "many/1* text eol=crlf\n"), (".gitignore", "*.log\n")]);
        let tree = scene.tree("work", &from);
        for number in 0..FILES {
            write(&tree, &format!("many/{number}"), &content("new", number));
            write(&tree, &format!("added/{number}"), &content("added", number));
        }
        fs::remove_file(tree.join("becomes a directory")).unwrap();
        fs::remove_dir_all(tree.join("becomes a file")).unwrap();
        fs::remove_dir_all(tree.join("gone")).unwrap();
        fs::remove_file(tree.join("link")).unwrap();
        std::os::unix::fs::symlink("script", tree.join("link")).unwrap();
        fs::set_permissions(tree.join("script"), fs::Permissions::from_mode(0o755)).unwrap();
        let to = scene.save(&tree, &[("becomes a directory/inside", "inside\n"), ("becomes a file", "file\n")]);
        write(&top, "unrelated", "as the user has it\n");
        write(&top, "staged", "staged\n");
        scene.run(&top, &["add", "staged"]);
        write(&top, "untracked", "untracked\n");
        write(&top, "ignored.log", "ignored\n");
        write(&top, "many/untracked", "beside the others\n");
        Self { scene, from, to }
    }

    pub fn mover(&self, program: &Path) -> Child {
        start(&self.scene, program, &[self.scene.top.to_str().unwrap(), &self.from, &self.to])
    }

    fn status(&self) -> String {
        self.scene.run(&self.scene.top, &["status", "--porcelain", "--untracked-files=all"])
    }

    /// Recovers, and checks all that must hold then; returns whether the branch has moved.
    pub fn recover(&self, what: &str) -> bool {
        let Scene { git, top, .. } = &self.scene;
        let recovered = git.recover_checkouts(top).unwrap();
        let clean =
            |recovery: &Recovery| matches!(recovery, Recovery::Finished | Recovery::Undone | Recovery::Unlocked);
        assert!(recovered.checkouts.iter().all(|(_, recovery)| clean(recovery)), "{what}: {recovered:?}");
        self.verify(what);
        self.scene.run(top, &["fsck", "--strict"]);
        assert_eq!(git.recover_checkouts(top).unwrap().checkouts, [], "{what}");
        self.scene.at("main").as_ref() == Some(&self.to)
    }

    pub fn verify(&self, what: &str) {
        let Scene { top, .. } = &self.scene;
        let at = self.scene.at("main").unwrap();
        assert!([&self.from, &self.to].contains(&&at), "{what}: {at}");
        assert_eq!(self.status(), "A  staged\n M unrelated\n?? many/untracked\n?? untracked", "{what} at {at}");
        // The status trusts what git noted of a file; the content itself is compared as well.
        for number in 0..FILES {
            let (kind, added) = if at == self.to { ("new", content("added", number)) } else { ("old", gone()) };
            let found = read(top, &format!("many/{number}")).replace("\r\n", "\n");
            assert!(found == content(kind, number), "{what} at {at}: many/{number}");
            assert!(read(top, &format!("added/{number}")) == added, "{what} at {at}: added/{number}");
        }
        let own = ["unrelated", "untracked", "ignored.log", "many/untracked"].map(|name| read(top, name));
        assert_eq!(own, ["as the user has it\n", "untracked\n", "ignored\n", "beside the others\n"], "{what}");
        assert_eq!(leftovers(&top.join(".git")), Vec::<PathBuf>::new(), "{what}");
    }

    /// Back to the beginning, with the user's changes.
    pub fn rewind(&self) {
        let (top, scene) = (&self.scene.top, &self.scene);
        scene.run(top, &["read-tree", "-m", "-u", &self.to, &self.from]);
        scene.run(top, &["update-ref", "refs/heads/main", &self.from, &self.to]);
    }

    pub fn finish(&self, what: &str) {
        let Scene { git, top, .. } = &self.scene;
        assert_eq!(git.fast_forward(top, "main", &self.from, &self.to).unwrap(), FastForward::Done, "{what}");
        self.verify(what);
        self.rewind();
    }
}

fn gone() -> String {
    "<entity not found>".to_owned()
}

fn content(kind: &str, number: usize) -> String {
    (0..2000).map(|line| format!("{kind} {number} {line}\n")).collect()
}
