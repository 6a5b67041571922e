//! A target with the user's own files in it, and what becomes of them.

mod age;
mod config_text;
mod diff;
mod hostile;
mod interrupted;
mod later;
mod meanwhile;
mod overlay;
mod rivals;

use super::{
    Bundle, PackFile, Part,
    disk::Disk,
    error::PackError,
    install::{Install, install_on},
    place::Place,
    report::{Answer, Report, Run},
    restore::restore_on,
    uninstall::uninstall_on,
};
use shuntyard_testkit::Scratch;
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

/// A home with a target in it. What is kept about the target lies beside it.
struct World {
    directory: Scratch,
    place: Place,
}

/// Every file, link and directory of the target and of what is around it, with modes.
type Snapshot = BTreeMap<PathBuf, (u32, Vec<u8>)>;

const USER_CONFIG: &str = "{\n  // mine\n  \"model\": \"p/m\", /* keep */\n  \"mcp\": {\n    \"other\": { \"type\": \"local\", \"command\": [\"x\"], },\n  },\n}\n";

fn bundle(version: &str, files: &[(&str, &str)]) -> Bundle {
    let files = files.iter().map(|(path, text)| PackFile { path: (*path).into(), text: (*text).into() });
    Bundle { version: version.into(), format: "v1".into(), files: files.collect() }
}

fn first() -> Bundle {
    bundle(
        "1",
        &[("agents/a.md", "a1\n"), ("agents/b.md", "b1\n"), ("agents/old.md", "old\n"), ("commands/c.md", "c1\n")],
    )
}

/// The next version: one file is new, one has changed, one is gone.
fn second() -> Bundle {
    bundle(
        "2",
        &[("agents/a.md", "a2\n"), ("agents/b.md", "b1\n"), ("agents/new.md", "new\n"), ("commands/c.md", "c1\n")],
    )
}

fn command() -> Vec<String> {
    vec!["shuntyard".into(), "mcp".into()]
}

impl World {
    /// Nothing is there, not even the directory above the target.
    fn empty() -> Self {
        let directory = Scratch::of_test();
        let home = directory.path().join("home");
        fs::create_dir(&home).unwrap();
        let place = Place::user(&home.join(".config/opencode"), &directory.path().join("data"));
        Self { directory, place }
    }

    /// With files of the user's own, one of them under a name of ours and one as a link.
    fn lived_in() -> Self {
        let world = Self::empty();
        let root = world.place.root().to_path_buf();
        fs::create_dir_all(root.join("agents")).unwrap();
        fs::create_dir_all(root.join("skills")).unwrap();
        for (name, text, mode) in [
            ("agents/a.md", "my own\n", 0o600),
            ("agents/mine.md", "mine\n", 0o644),
            ("AGENTS.md", "rules\n", 0o640),
            ("skills/s.md", "skill\n", 0o644),
            ("opencode.jsonc", USER_CONFIG, 0o600),
        ] {
            fs::write(root.join(name), text).unwrap();
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        symlink("mine.md", root.join("agents/b.md")).unwrap();
        world
    }

    fn file(&self, path: &str) -> PathBuf {
        self.place.file(path)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.file(path)).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.file(path), text).unwrap();
    }

    fn snapshot(&self) -> Snapshot {
        let home = self.directory.path().join("home");
        let mut found = Snapshot::new();
        let mut open = vec![home];
        while let Some(next) = open.pop() {
            for entry in fs::read_dir(&next).unwrap() {
                let path = entry.unwrap().path();
                let metadata = path.symlink_metadata().unwrap();
                let content = if metadata.is_symlink() {
                    fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                } else if metadata.is_dir() {
                    open.push(path.clone());
                    Vec::new()
                } else {
                    fs::read(&path).unwrap()
                };
                found.insert(path, (metadata.permissions().mode(), content));
            }
        }
        found
    }

    /// The same without the manifest, in which names of backups differ from run to run.
    fn pack(&self) -> Snapshot {
        let mut found = self.snapshot();
        found.remove(&self.place.manifest());
        found
    }

    fn install(&self, disk: &Disk, bundle: &Bundle, mcp: bool, answer: Answer) -> Result<Report, PackError> {
        let command = command();
        let order = Install { bundle, parts: &Part::ALL, mcp: mcp.then_some(command.as_slice()), run: Run::Real };
        install_on(disk, &self.place, &order, &mut |_| answer)
    }

    fn uninstall(&self, disk: &Disk) -> Result<Report, PackError> {
        uninstall_on(disk, &self.place, Run::Real, &mut |_| Answer::Keep)
    }

    fn restore(&self, disk: &Disk, name: Option<&str>) -> Result<Report, PackError> {
        restore_on(disk, &self.place, name, Run::Real, &mut |_| Answer::Keep)
    }
}

fn stopping_after(steps: u32) -> Disk {
    let disk = Disk::default();
    disk.stop_after.set(Some(steps));
    disk
}

fn there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
