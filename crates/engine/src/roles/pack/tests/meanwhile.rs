//! What the user writes between a plan and its change, or after one, is asked for or stays. What is lost stops nothing.

use super::*;
use crate::roles::pack::{Change, Outcome, backups, installed};
use std::cell::RefCell;

fn change(report: &Report, path: &str) -> Change {
    report.files.iter().find(|file| file.path == path).unwrap().change
}

fn disk() -> Disk {
    Disk::default()
}

#[test]
fn a_file_that_changes_while_a_question_stands_stays() {
    let world = World::lived_in();
    world.install(&disk(), &first(), false, Answer::Keep).unwrap();
    world.write("commands/c.md", "edited\n");
    let order = Install { bundle: &second(), parts: &Part::ALL, mcp: None, run: Run::Real };
    // One that was asked for already, the one that is asked for, one that is ours, and one that is new.
    let written = ["agents/a.md", "commands/c.md", "agents/old.md", "agents/new.md"];
    let report = install_on(&disk(), &world.place, &order, &mut |conflict| {
        if conflict.path == "commands/c.md" {
            written.iter().for_each(|path| world.write(path, "written meanwhile\n"));
        }
        Answer::Replace
    });
    let report = report.unwrap();
    assert_eq!(report.outcome, Outcome::Partly);
    for path in written {
        assert!(change(&report, path).is_kept(), "{path}: {report:?}");
        assert_eq!(world.read(path), "written meanwhile\n", "{path}");
    }
    assert_eq!((change(&report, "agents/b.md"), world.read("agents/b.md")), (Change::Replace, "b1\n".into()));
    let manifest = installed(&world.place).unwrap().unwrap();
    assert_eq!(manifest.files.keys().collect::<Vec<_>>(), ["agents/b.md", "commands/c.md"]);
    world.uninstall(&disk()).unwrap();
    for path in written {
        assert_eq!(world.read(path), "written meanwhile\n", "{path}");
    }
    assert!(world.file("agents/b.md").is_symlink());
}

#[test]
fn a_configuration_that_changes_while_it_is_asked_for_stays() {
    let world = World::empty();
    fs::create_dir_all(world.place.root()).unwrap();
    let own = |name: &str| format!("{{\"mcp\": {{\"shuntyard\": {{\"command\": [{name:?}]}}}}}}\n");
    world.write("opencode.json", &own("one"));
    let command = command();
    let order = Install { bundle: &first(), parts: &Part::ALL, mcp: Some(&command), run: Run::Real };
    let report = install_on(&disk(), &world.place, &order, &mut |conflict| {
        world.write(conflict.path, &own("two"));
        Answer::Replace
    });
    assert_eq!(change(&report.unwrap(), "opencode.json"), Change::KeptForeign);
    assert_eq!(world.read("opencode.json"), own("two"));
    assert_eq!(installed(&world.place).unwrap().unwrap().config, None);
}

#[test]
fn an_uninstall_looks_again_as_well() {
    let world = World::lived_in();
    world.install(&disk(), &first(), true, Answer::Replace).unwrap();
    world.write("agents/old.md", "edited\n");
    let report = uninstall_on(&disk(), &world.place, Run::Real, &mut |_| {
        world.write("agents/old.md", "edited again\n");
        world.write("agents/a.md", "edited too\n");
        Answer::Replace
    });
    let report = report.unwrap();
    assert_eq!((change(&report, "agents/old.md"), report.outcome), (Change::KeptEdited, Outcome::Partly));
    assert_eq!(world.read("agents/old.md"), "edited again\n");
    assert_eq!(world.read("agents/a.md"), "edited too\n");
    assert!(!there(&world.place.manifest()) && world.file("agents/b.md").is_symlink());
}

/// Removes all contents of all backups.
fn lose(world: &World) {
    for backup in backups(&world.place) {
        for entry in fs::read_dir(world.place.backups().join(backup.name)).unwrap() {
            let path = entry.unwrap().path();
            if !path.ends_with("index.json") {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

#[test]
fn without_its_backup_a_file_stays_and_force_goes_without() {
    for answer in [Answer::Keep, Answer::Replace] {
        let world = World::lived_in();
        world.install(&disk(), &first(), true, Answer::Replace).unwrap();
        lose(&world);
        let asked = RefCell::new(Vec::new());
        let report = uninstall_on(&disk(), &world.place, Run::Real, &mut |conflict| {
            asked.borrow_mut().push((conflict.path.to_owned(), conflict.change));
            answer
        });
        let report = report.unwrap();
        assert_eq!(*asked.borrow(), [("agents/a.md".to_owned(), Change::KeptLost)]);
        let (expected, outcome) = match answer {
            Answer::Keep => (Change::KeptLost, Outcome::Partly),
            Answer::Replace => (Change::Remove, Outcome::Changed),
        };
        assert_eq!((change(&report, "agents/a.md"), report.outcome), (expected, outcome));
        assert_eq!(there(&world.file("agents/a.md")), answer == Answer::Keep);
        assert!(!there(&world.file("agents/old.md")) && !there(&world.place.manifest()));
        assert_eq!(world.read("opencode.jsonc"), USER_CONFIG, "by its text");
        assert_eq!(world.uninstall(&disk()).unwrap().outcome, Outcome::NotInstalled);
    }
}

#[test]
fn an_install_goes_on_without_the_backup_of_a_configuration() {
    let world = World::lived_in();
    world.install(&disk(), &first(), true, Answer::Replace).unwrap();
    lose(&world);
    let other = vec!["elsewhere".to_owned(), "mcp".to_owned()];
    let order = Install { bundle: &second(), parts: &Part::ALL, mcp: Some(&other), run: Run::Real };
    install_on(&disk(), &world.place, &order, &mut |_| Answer::Keep).unwrap();
    assert!(world.read("opencode.jsonc").contains("elsewhere"));
    world.uninstall(&disk()).unwrap();
    assert_eq!(world.read("opencode.jsonc"), USER_CONFIG);
}

#[test]
fn a_restore_asks_before_it_takes_an_edit_away() {
    for answer in [Answer::Keep, Answer::Replace] {
        let world = World::lived_in();
        world.install(&disk(), &first(), true, Answer::Replace).unwrap();
        world.write("agents/a.md", "a1 and mine\n");
        let edited = world.read("opencode.jsonc").replace("p/m", "q/n");
        world.write("opencode.jsonc", &edited);
        let mut asked = Vec::new();
        let mut decide = |conflict: &crate::roles::pack::Conflict<'_>| {
            asked.push(conflict.path.to_owned());
            answer
        };
        let report = restore_on(&disk(), &world.place, None, Run::Real, &mut decide).unwrap();
        assert_eq!(asked, ["agents/a.md"]);
        let expected = match answer {
            Answer::Keep => ("a1 and mine\n", Outcome::Partly),
            Answer::Replace => ("my own\n", Outcome::Changed),
        };
        assert_eq!((world.read("agents/a.md").as_str(), report.outcome), expected);
        assert_eq!(world.read("opencode.jsonc"), USER_CONFIG.replace("p/m", "q/n"), "only our entry goes");
        assert!(!there(&world.file("agents/old.md")) && world.file("agents/b.md").is_symlink());
        // What stayed is still theirs the next time, and what we left in the configuration is known as ours.
        let again = restore_on(&disk(), &world.place, None, Run::Real, &mut |_| Answer::Keep).unwrap();
        assert_eq!(again.outcome, Outcome::Changed, "{again:?}");
        assert_eq!(world.read("agents/a.md"), "a1 and mine\n");
        assert_eq!(world.read("opencode.jsonc"), edited);
    }
}

#[test]
fn an_entry_of_another_time_comes_back_alone_in_an_edited_configuration() {
    let world = World::lived_in();
    world.install(&disk(), &first(), true, Answer::Replace).unwrap();
    let then = world.read("opencode.jsonc");
    let other = vec!["elsewhere".to_owned(), "mcp".to_owned()];
    let order = Install { bundle: &second(), parts: &Part::ALL, mcp: Some(&other), run: Run::Real };
    install_on(&disk(), &world.place, &order, &mut |_| Answer::Keep).unwrap();
    world.write("opencode.jsonc", &world.read("opencode.jsonc").replace("p/m", "q/n"));
    world.restore(&disk(), None).unwrap();
    assert_eq!(world.read("opencode.jsonc"), then.replace("p/m", "q/n"));
}

#[test]
fn a_restore_that_goes_on_later_keeps_what_was_written_since() {
    let world = World::lived_in();
    world.install(&disk(), &first(), false, Answer::Replace).unwrap();
    let killed = world.restore(&stopping_after(0), None);
    assert!(matches!(killed, Err(PackError::Stopped)), "{killed:?}");
    world.write("agents/a.md", "written since\n");
    world.uninstall(&disk()).unwrap();
    assert_eq!(world.read("agents/a.md"), "written since\n");
    assert!(!there(&world.file("agents/old.md")) && !there(&world.place.restoring()));
}

#[test]
fn a_restore_without_its_backup_stops_nothing() {
    let world = World::lived_in();
    world.install(&disk(), &first(), false, Answer::Replace).unwrap();
    lose(&world);
    let report = world.restore(&disk(), None).unwrap();
    assert_eq!(change(&report, "agents/a.md"), Change::KeptLost);
    assert!(!there(&world.file("agents/old.md")) && !there(&world.place.restoring()));
}

#[test]
fn a_directory_of_the_users_own_stays_when_ours_is_long_gone() {
    let world = World::empty();
    world.install(&disk(), &first(), false, Answer::Keep).unwrap();
    fs::remove_dir_all(world.place.root()).unwrap();
    fs::create_dir_all(world.file("agents")).unwrap();
    assert_eq!(world.uninstall(&disk()).unwrap().outcome, Outcome::NotInstalled);
    assert!(world.file("agents").is_dir());
    world.install(&disk(), &first(), false, Answer::Keep).unwrap();
    world.uninstall(&disk()).unwrap();
    assert!(world.file("agents").is_dir() && !there(&world.file("commands")));
}

#[test]
fn who_waits_is_told_for_whom() {
    use std::sync::Mutex;
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let world = World::empty();
    let held = world.place.lock().unwrap();
    let place = world.place.clone().telling(|holder| TOLD.lock().unwrap().push(holder.to_owned()));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| place.lock().map(drop));
        while TOLD.lock().unwrap().is_empty() {
            assert!(!waiting.is_finished(), "it did not wait");
            std::thread::yield_now();
        }
        drop(held);
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(*TOLD.lock().unwrap(), [format!("process {}", std::process::id())]);
}
