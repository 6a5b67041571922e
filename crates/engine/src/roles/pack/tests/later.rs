//! Whatever came after a backup, putting it back leaves the target as it was then, also what that change did not touch.

use super::*;
use crate::roles::pack::backups;

fn put_in(world: &World, bundle: &Bundle, parts: &[Part], server: Option<&str>) {
    let command = server.map(|name| vec![name.to_owned(), "mcp".to_owned()]);
    let order = Install { bundle, parts, mcp: command.as_deref(), run: Run::Real };
    install_on(&Disk::default(), &world.place, &order, &mut |_| Answer::Replace).unwrap();
}

/// Each change touches some of what is there, and leaves the rest. The states before each, the first first.
fn history(world: &World) -> Vec<Snapshot> {
    let changes: [&dyn Fn(); 6] = [
        &|| put_in(world, &first(), &Part::ALL, Some("one")),
        &|| put_in(world, &second(), &[Part::Agents], None),
        &|| put_in(world, &second(), &Part::ALL, Some("two")),
        &|| put_in(world, &bundle("3", &[("commands/c.md", "c3\n")]), &[Part::Commands], None),
        &|| put_in(world, &second(), &[Part::Agents], Some("three")),
        &|| drop(world.uninstall(&Disk::default()).unwrap()),
    ];
    let mut states = Vec::new();
    for change in changes {
        states.push(world.snapshot());
        change();
    }
    states
}

#[test]
fn every_moment_comes_back_as_it_was() {
    for make in [World::empty, World::lived_in] {
        for moment in 0..6 {
            let world = make();
            let states = history(&world);
            let names: Vec<String> = backups(&world.place).into_iter().rev().map(|backup| backup.name).collect();
            assert_eq!(names.len(), states.len(), "each of them was a change");
            world.restore(&Disk::default(), Some(&names[moment])).unwrap();
            let now = world.snapshot();
            let other: Vec<_> = now
                .keys()
                .chain(states[moment].keys())
                .filter(|path| now.get(*path) != states[moment].get(*path))
                .collect();
            assert!(other.is_empty(), "moment {moment}: {other:#?}");
        }
    }
}

#[test]
fn what_the_user_made_of_it_since_is_left_to_them() {
    let world = World::lived_in();
    put_in(&world, &first(), &Part::ALL, Some("one"));
    put_in(&world, &second(), &[Part::Agents], None);
    put_in(&world, &bundle("3", &[("commands/c.md", "c3\n")]), &[Part::Commands], None);
    world.write("commands/c.md", "mine\n");
    let second_change = backups(&world.place).into_iter().rev().nth(1).unwrap().name;
    world.restore(&Disk::default(), Some(&second_change)).unwrap();
    assert_eq!((world.read("commands/c.md").as_str(), world.read("agents/a.md").as_str()), ("mine\n", "a1\n"));
}
