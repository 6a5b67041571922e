//! Killed at any step, everything can be finished, and everything can be undone.

use super::*;

/// What is there before the run that is killed, and which pack it puts in.
#[derive(Clone, Copy, Debug)]
enum Scene {
    Empty,
    LivedIn,
    Upgrade,
}

const SCENES: [Scene; 3] = [Scene::Empty, Scene::LivedIn, Scene::Upgrade];

/// A world as it is before, and the snapshot that an uninstall has to come back to.
fn before(scene: Scene) -> (World, Snapshot, Bundle) {
    match scene {
        Scene::Empty => {
            let world = World::empty();
            let snapshot = world.snapshot();
            (world, snapshot, first())
        }
        Scene::LivedIn => {
            let world = World::lived_in();
            let snapshot = world.snapshot();
            (world, snapshot, first())
        }
        Scene::Upgrade => {
            let world = World::lived_in();
            let snapshot = world.snapshot();
            world.install(&Disk::default(), &first(), true, Answer::Replace).unwrap();
            (world, snapshot, second())
        }
    }
}

fn installed(scene: Scene) -> (World, Snapshot, Bundle) {
    let (world, original, bundle) = before(scene);
    world.install(&Disk::default(), &bundle, true, Answer::Replace).unwrap();
    (world, original, bundle)
}

/// Runs `killed` with every number of steps until it gets through, and `then` after each time that it does not.
fn at_every_step(
    make: impl Fn() -> (World, Snapshot, Bundle),
    killed: impl Fn(&World, &Disk, &Bundle) -> Result<Report, PackError>,
    then: impl Fn(World, Snapshot, Bundle, u32),
) -> u32 {
    for steps in 0..500 {
        let (world, original, bundle) = make();
        match killed(&world, &stopping_after(steps), &bundle) {
            Ok(_) => return steps,
            Err(PackError::Stopped) => then(world, original, bundle, steps),
            Err(error) => panic!("after {steps} steps: {error}"),
        }
    }
    panic!("it never got through");
}

fn put_in(world: &World, disk: &Disk, bundle: &Bundle) -> Result<Report, PackError> {
    world.install(disk, bundle, true, Answer::Replace)
}

#[test]
fn an_install_can_be_finished() {
    for scene in SCENES {
        let relative = |world: &World| {
            let home = world.directory.path().to_path_buf();
            let all = world.pack().into_iter();
            all.map(|(path, content)| (path.strip_prefix(&home).unwrap().to_path_buf(), content)).collect::<Vec<_>>()
        };
        let whole = relative(&installed(scene).0);
        let steps = at_every_step(
            || before(scene),
            put_in,
            |world, original, bundle, steps| {
                put_in(&world, &Disk::default(), &bundle).unwrap();
                assert_eq!(relative(&world), whole, "{scene:?} finished after {steps}");
                world.uninstall(&Disk::default()).unwrap();
                assert_eq!(world.snapshot(), original, "{scene:?} undone after it was finished after {steps}");
            },
        );
        assert!(steps > 8, "{scene:?} has only {steps} steps");
    }
}

#[test]
fn an_install_can_be_undone() {
    for scene in SCENES {
        at_every_step(
            || before(scene),
            put_in,
            |world, original, _, steps| {
                world.uninstall(&Disk::default()).unwrap();
                assert_eq!(world.snapshot(), original, "{scene:?} undone after {steps}");
            },
        );
    }
}

#[test]
fn an_install_can_be_taken_back_by_its_backup() {
    for scene in SCENES {
        at_every_step(
            || {
                let (world, _, bundle) = before(scene);
                let there = world.snapshot();
                (world, there, bundle)
            },
            put_in,
            |world, there, _, steps| {
                world.restore(&Disk::default(), None).unwrap();
                assert_eq!(world.snapshot(), there, "{scene:?} taken back after {steps}");
            },
        );
    }
}

#[test]
fn an_uninstall_can_be_finished_or_taken_back() {
    for scene in SCENES {
        let take_away = |world: &World, disk: &Disk, _: &Bundle| world.uninstall(disk);
        at_every_step(
            || installed(scene),
            take_away,
            |world, original, bundle, steps| {
                if steps % 2 == 0 {
                    put_in(&world, &Disk::default(), &bundle).unwrap();
                    assert_eq!(world.read("agents/a.md"), bundle.files[0].text, "{scene:?} after {steps}");
                }
                world.uninstall(&Disk::default()).unwrap();
                assert_eq!(world.snapshot(), original, "{scene:?} after {steps}");
            },
        );
    }
}

#[test]
fn a_restore_is_finished_before_anything_else() {
    let restored = |world: &World, disk: &Disk, _: &Bundle| {
        let oldest = super::super::backups(&world.place).pop().unwrap().name;
        world.restore(disk, Some(&oldest))
    };
    for scene in SCENES {
        let steps = at_every_step(
            || installed(scene),
            restored,
            |world, original, bundle, steps| {
                if steps % 2 == 0 {
                    world.uninstall(&Disk::default()).unwrap();
                } else {
                    put_in(&world, &Disk::default(), &bundle).unwrap();
                    world.uninstall(&Disk::default()).unwrap();
                }
                assert_eq!(world.snapshot(), original, "{scene:?} after {steps}");
            },
        );
        assert!(steps > 5, "{scene:?} has only {steps} steps");
    }
}
