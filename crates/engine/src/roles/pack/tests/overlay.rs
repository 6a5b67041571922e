//! What the user has written is theirs.

use super::*;
use crate::roles::pack::{Change, Outcome, backups, installed};
use std::collections::BTreeMap;

fn changes(report: &Report) -> BTreeMap<&str, Change> {
    report.files.iter().map(|file| (file.path.as_str(), file.change)).collect()
}

fn disk() -> Disk {
    Disk::default()
}

#[test]
fn nothing_is_left_of_a_pack_that_was_taken_away() {
    for world in [World::empty(), World::lived_in()] {
        for (answer, mcp) in [(Answer::Keep, false), (Answer::Keep, true), (Answer::Replace, true)] {
            let before = world.snapshot();
            let report = world.install(&disk(), &first(), mcp, answer).unwrap();
            assert!(report.backup.is_some());
            assert_ne!(world.snapshot(), before);
            assert_eq!(world.uninstall(&disk()).unwrap().outcome, Outcome::Changed);
            assert_eq!(world.snapshot(), before, "{answer:?} {mcp}");
            assert_eq!(world.uninstall(&disk()).unwrap().outcome, Outcome::NotInstalled);
        }
    }
}

#[test]
fn a_file_that_was_there_before_is_kept_and_shown() {
    let world = World::lived_in();
    let report = world.install(&disk(), &first(), true, Answer::Keep).unwrap();
    assert_eq!(report.outcome, Outcome::Partly);
    let expected = [
        ("agents/a.md", Change::KeptForeign),
        ("agents/b.md", Change::KeptForeign),
        ("agents/old.md", Change::Write),
        ("commands/c.md", Change::Write),
        ("opencode.jsonc", Change::Replace),
    ];
    assert_eq!(changes(&report), expected.into());
    let diff = report.files[0].diff.as_deref().unwrap();
    assert_eq!(diff, "--- agents/a.md\n+++ agents/a.md\n@@ -1 +1 @@\n-my own\n+a1\n");
    assert_eq!(world.read("agents/a.md"), "my own\n");
    let manifest = installed(&world.place).unwrap().unwrap();
    assert!(!manifest.files.contains_key("agents/a.md"), "it is not ours");
    // Again, now by force: the link goes, and comes back with the uninstall.
    let report = world.install(&disk(), &first(), false, Answer::Replace).unwrap();
    assert_eq!(report.outcome, Outcome::Changed);
    assert_eq!(world.read("agents/b.md"), "b1\n");
    assert!(!world.file("agents/b.md").is_symlink());
    let mode = fs::metadata(world.file("agents/a.md")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "who may read it does not change");
}

#[test]
fn an_edited_file_is_kept_by_upgrade_and_uninstall() {
    let world = World::empty();
    world.install(&disk(), &first(), false, Answer::Keep).unwrap();
    world.write("agents/a.md", "a1 and mine\n");
    world.write("agents/old.md", "old and mine\n");
    let report = world.install(&disk(), &second(), false, Answer::Keep).unwrap();
    let expected = [
        ("agents/a.md", Change::KeptEdited),
        ("agents/b.md", Change::Unchanged),
        ("agents/new.md", Change::Write),
        ("agents/old.md", Change::KeptEdited),
        ("commands/c.md", Change::Unchanged),
    ];
    assert_eq!(changes(&report), expected.into());
    let report = world.uninstall(&disk()).unwrap();
    assert_eq!(report.outcome, Outcome::Partly);
    assert_eq!(
        (world.read("agents/a.md"), world.read("agents/old.md")),
        ("a1 and mine\n".into(), "old and mine\n".into())
    );
    assert!(!there(&world.file("agents/b.md")) && !there(&world.file("commands")) && !there(&world.place.manifest()));
}

#[test]
fn untouched_files_of_an_older_pack_go() {
    let world = World::empty();
    world.install(&disk(), &first(), false, Answer::Keep).unwrap();
    let report = world.install(&disk(), &second(), false, Answer::Keep).unwrap();
    assert_eq!(changes(&report)["agents/old.md"], Change::Remove);
    assert!(!there(&world.file("agents/old.md")));
    assert_eq!(world.read("agents/a.md"), "a2\n");
    let again = world.install(&disk(), &second(), false, Answer::Keep).unwrap();
    assert_eq!((again.outcome, again.backup), (Outcome::Unchanged, None), "nothing to do is nothing done");
}

#[test]
fn a_part_leaves_the_other_alone() {
    let world = World::empty();
    let before = world.snapshot();
    let order = |part: &'static [Part], run| (part, run);
    for (parts, run) in [order(&[Part::Commands], Run::Dry), order(&[Part::Commands], Run::Real)] {
        let order = Install { bundle: &first(), parts, mcp: None, run };
        let report = install_on(&disk(), &world.place, &order, &mut |_| Answer::Keep).unwrap();
        assert_eq!(changes(&report), [("commands/c.md", Change::Write)].into());
        if run == Run::Dry {
            assert_eq!(world.snapshot(), before, "a dry run changes nothing");
            assert!(!there(&world.directory.path().join("data")));
        }
    }
    assert!(!there(&world.file("agents")));
    world.install(&disk(), &first(), false, Answer::Keep).unwrap();
    world.uninstall(&disk()).unwrap();
    assert_eq!(world.snapshot(), before);
}

#[test]
fn a_backup_is_put_back_and_that_too_can_be_taken_back() {
    let world = World::lived_in();
    let before = world.snapshot();
    world.install(&disk(), &first(), true, Answer::Replace).unwrap();
    let after = world.snapshot();
    let name = backups(&world.place)[0].name.clone();
    world.restore(&disk(), Some(&name[..name.len() - 1])).unwrap();
    assert_eq!(world.snapshot(), before);
    world.restore(&disk(), None).unwrap();
    assert_eq!(world.snapshot(), after);
    assert!(matches!(world.restore(&disk(), Some("1999")), Err(PackError::NoBackup { .. })));
    world.uninstall(&disk()).unwrap();
    assert_eq!(world.snapshot(), before);
}

#[test]
fn the_entry_alone_goes_when_the_configuration_was_edited() {
    let world = World::lived_in();
    world.install(&disk(), &first(), true, Answer::Keep).unwrap();
    let edited = world.read("opencode.jsonc").replace("\"p/m\"", "\"q/n\"");
    assert!(edited.contains("\"shuntyard\": {"), "{edited}");
    world.write("opencode.jsonc", &edited);
    world.uninstall(&disk()).unwrap();
    assert_eq!(world.read("opencode.jsonc"), USER_CONFIG.replace("\"p/m\"", "\"q/n\""));
}

#[test]
fn another_entry_under_our_name_is_the_users() {
    let world = World::empty();
    fs::create_dir_all(world.place.root()).unwrap();
    let own = "{\"mcp\": {\"shuntyard\": {\"type\": \"remote\", \"url\": \"http://localhost\"}}}\n";
    world.write("opencode.json", own);
    let report = world.install(&disk(), &first(), true, Answer::Keep).unwrap();
    assert_eq!(changes(&report)["opencode.json"], Change::KeptForeign);
    assert_eq!(world.read("opencode.json"), own);
    world.install(&disk(), &first(), true, Answer::Replace).unwrap();
    assert!(world.read("opencode.json").contains("\"local\""));
    world.uninstall(&disk()).unwrap();
    assert_eq!(world.read("opencode.json"), own);
}

#[test]
fn a_configuration_behind_a_link_is_edited_where_it_is() {
    let world = World::empty();
    fs::create_dir_all(world.place.root()).unwrap();
    let kept = world.directory.path().join("home/dotfiles.json");
    fs::write(&kept, "{}\n").unwrap();
    symlink(&kept, world.file("opencode.json")).unwrap();
    let before = world.snapshot();
    world.install(&disk(), &first(), true, Answer::Keep).unwrap();
    assert!(fs::read_to_string(&kept).unwrap().contains("shuntyard"));
    assert!(world.file("opencode.json").is_symlink());
    world.uninstall(&disk()).unwrap();
    assert_eq!(world.snapshot(), before);
}

#[test]
fn what_cannot_be_edited_stops_everything() {
    for text in ["{", "[]", "{\"mcp\": 5}", "{\"mcp\": {}, \"mcp\": {}}"] {
        let world = World::empty();
        fs::create_dir_all(world.place.root()).unwrap();
        world.write("opencode.jsonc", text);
        let before = world.snapshot();
        let error = world.install(&disk(), &first(), true, Answer::Replace).unwrap_err();
        assert!(matches!(error, PackError::Config { .. }), "{text}: {error}");
        assert_eq!(world.snapshot(), before, "{text}");
    }
}

#[test]
fn a_backup_that_was_tampered_with_is_not_put_back_and_does_not_stop_the_rest() {
    let world = World::lived_in();
    world.install(&disk(), &first(), false, Answer::Replace).unwrap();
    let name = backups(&world.place)[0].name.clone();
    for entry in fs::read_dir(world.place.backups().join(name)).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("index.json") {
            fs::write(path, "other\n").unwrap();
        }
    }
    let report = world.uninstall(&disk()).unwrap();
    assert_eq!((report.outcome, changes(&report)["agents/a.md"]), (Outcome::Partly, Change::KeptLost));
    assert_eq!(world.read("agents/a.md"), "a1\n", "what is there stays");
    assert!(world.file("agents/b.md").is_symlink() && !there(&world.place.manifest()), "all else is as before");
}
