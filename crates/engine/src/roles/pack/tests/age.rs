//! What was installed by another version of the program is distinguished from what this one has.

use super::*;
use crate::roles::pack::{Age, installed};

fn age_after(installed_first: &Bundle, own: &Bundle) -> Age {
    let world = World::empty();
    world.install(&Disk::default(), installed_first, false, Answer::Keep).unwrap();
    installed(&world.place).unwrap().unwrap().age(own)
}

#[test]
fn an_age_is_that_of_the_files_and_then_of_the_number() {
    let renamed = |version: &str, bundle: Bundle| Bundle { version: version.into(), ..bundle };
    let fewer = |version: &str| bundle(version, &[("agents/a.md", "a1\n")]);
    let table = [
        (first(), first(), Age::Current),
        (first(), second(), Age::Older),
        (second(), first(), Age::Newer),
        (renamed("0.9.1", first()), renamed("0.10.0-rc.1", second()), Age::Older),
        (renamed("2", first()), second(), Age::Other),
        // Another number alone is no reason to install again.
        (first(), renamed("7", first()), Age::Current),
        // A file that is new in a part that is installed is one; one of another part was not wanted.
        (fewer("1"), renamed("2", first()), Age::Older),
        (fewer("1"), bundle("2", &[("agents/a.md", "a1\n"), ("commands/c.md", "c1\n")]), Age::Current),
        (fewer("1"), first(), Age::Current),
    ];
    for (there, own, expected) in table {
        assert_eq!(age_after(&there, &own), expected, "{there:?} beside {own:?}");
    }
}

#[test]
fn what_the_user_changed_makes_nothing_older() {
    let world = World::empty();
    world.install(&Disk::default(), &first(), false, Answer::Keep).unwrap();
    world.write("agents/a.md", "mine\n");
    fs::remove_file(world.file("agents/b.md")).unwrap();
    let manifest = installed(&world.place).unwrap().unwrap();
    assert_eq!((manifest.age(&first()), manifest.is_unfinished()), (Age::Current, false));
}

#[test]
fn a_change_that_was_killed_is_unfinished() {
    let world = World::empty();
    assert!(world.install(&stopping_after(9), &first(), false, Answer::Keep).is_err());
    assert!(installed(&world.place).unwrap().unwrap().is_unfinished());
}
