//! A manifest that an attacker has written, or that came with a copy, reaches nothing outside of its own place.

use super::*;
use crate::roles::pack::{Change, Outcome, found::hash, installed};
use serde_json::{Value, json};

fn edit(world: &World, change: impl Fn(&mut Value)) {
    let path = world.place.manifest();
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    fs::write(&path, manifest.to_string()).unwrap();
}

/// A world with the pack, and a file of the user's beside it that a manifest has no business with.
fn with_victim() -> (World, PathBuf) {
    let world = World::empty();
    let victim = world.directory.path().join("home/victim.md");
    fs::write(&victim, "precious\n").unwrap();
    world.install(&Disk::default(), &first(), true, Answer::Keep).unwrap();
    (world, victim)
}

fn everything_refuses(world: &World, what: &str) {
    let before = world.snapshot();
    let disk = Disk::default();
    let refused = [
        world.uninstall(&disk).map(drop),
        world.install(&disk, &second(), true, Answer::Replace).map(drop),
        world.restore(&disk, None).map(drop),
        installed(&world.place).map(drop),
    ];
    for result in refused {
        assert!(matches!(result, Err(PackError::Foreign { .. })), "{what}: {result:?}");
    }
    assert_eq!(world.snapshot(), before, "{what}");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let names = [
        "agents/../../../victim.md",
        "agents/sub/x.md",
        "agents/.md",
        "agents/..md",
        "agents/x.txt",
        "skills/x.md",
        "../../victim.md",
        "x.md",
        "agents/\u{1b}[2J.md",
        "(absolute)",
    ];
    for name in names {
        let (world, victim) = with_victim();
        let name = if name == "(absolute)" { victim.display().to_string() } else { name.to_owned() };
        edit(&world, |manifest| {
            manifest["files"][&name] = json!({"sha256": hash(b"precious\n"), "before": {"was": "absent"}});
        });
        everything_refuses(&world, &name);
    }
}

#[test]
fn a_backup_outside_of_the_backups_is_refused() {
    let (world, victim) = with_victim();
    let evil = world.directory.path().join("home/evil");
    fs::write(&evil, "evil\n").unwrap();
    let roundabout = world.place.backups().join("..").join("evil");
    for root in [json!(null), json!(world.place.root())] {
        for backup in [&evil, &victim, &roundabout] {
            for at in ["file", "config"] {
                edit(&world, |manifest| {
                    let before = json!({"was": "file", "sha256": hash(b"evil\n"), "mode": 0o644, "backup": backup});
                    manifest["root"] = root.clone();
                    let entry =
                        if at == "file" { &mut manifest["files"]["agents/a.md"] } else { &mut manifest["config"] };
                    entry["before"] = before;
                });
                everything_refuses(&world, &format!("{at} {}", backup.display()));
            }
        }
    }
}

#[test]
fn a_foreign_configuration_and_foreign_directories_are_left_alone() {
    let (world, victim) = with_victim();
    let empty = world.directory.path().join("home/empty");
    fs::create_dir(&empty).unwrap();
    edit(&world, |manifest| {
        manifest["config"]["path"] = json!(victim);
        manifest["config"]["sha256"] = json!(hash(b"precious\n"));
        manifest["directories"].as_array_mut().unwrap().push(json!(empty));
    });
    world.uninstall(&Disk::default()).unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious\n");
    assert!(empty.is_dir() && !there(&world.file("agents")));
    assert!(!world.read("opencode.jsonc").contains("shuntyard"), "what is read here is still put right");
}

#[test]
fn what_a_link_leads_to_is_never_removed() {
    let (world, victim) = with_victim();
    fs::remove_file(world.file("opencode.jsonc")).unwrap();
    symlink(&victim, world.file("opencode.jsonc")).unwrap();
    edit(&world, |manifest| {
        manifest["config"]["path"] = json!(victim.canonicalize().unwrap());
        manifest["config"]["sha256"] = json!(hash(b"precious\n"));
    });
    world.uninstall(&Disk::default()).unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious\n");
}

/// Copies a directory with its files and directories.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn a_copied_project_changes_nothing_in_the_original() {
    let directory = Scratch::of_test();
    let (home, data) = (directory.path().join("home"), directory.path().join("data"));
    let (original, copied) = (home.join("one"), home.join("two"));
    fs::create_dir_all(original.join(".opencode/agents")).unwrap();
    fs::write(original.join(".opencode/agents/a.md"), "my own\n").unwrap();
    fs::write(original.join("opencode.jsonc"), USER_CONFIG).unwrap();
    let one = World { place: Place::project(&original, &data), directory };
    let disk = Disk::default();
    one.install(&disk, &first(), true, Answer::Replace).unwrap();
    copy(&original, &copied);
    let before: Snapshot = one.snapshot().into_iter().filter(|(path, _)| path.starts_with(&original)).collect();
    let two = Place::project(&copied, &data);
    let report = uninstall_on(&disk, &two, Run::Real, &mut |_| Answer::Keep).unwrap();
    let lost: Vec<&str> =
        report.files.iter().filter(|file| file.change == Change::KeptLost).map(|file| file.path.as_str()).collect();
    assert_eq!((report.outcome, lost), (Outcome::Partly, vec!["agents/a.md"]), "its backup is of the original");
    let after: Snapshot = one.snapshot().into_iter().filter(|(path, _)| path.starts_with(&original)).collect();
    assert_eq!(after, before);
    assert_eq!(fs::read_to_string(copied.join("opencode.jsonc")).unwrap(), USER_CONFIG, "by its text alone");
    assert!(!there(&copied.join(".opencode/agents/old.md")) && !there(&two.manifest()));
    assert!(!there(&copied.join(".opencode/commands")), "it was made for the pack");
    one.uninstall(&disk).unwrap();
    assert_eq!(fs::read_to_string(original.join(".opencode/agents/a.md")).unwrap(), "my own\n");
}
