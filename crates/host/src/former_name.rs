//! Directories that the program made under its former name, Switchyard, and their move to the present name.
//!
//! Invariant: at each moment of a move, a name leads to the whole database or to nothing, so the next command finishes
//! a move that was cut off. The former name of the data directory stays as a link, because the store has absolute
//! paths.

use crate::paths::Paths;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

const FORMER: &str = "switchyard";
const PRESENT: &str = "shuntyard";
/// In the data directory until the repositories of its tasks were renamed as well.
const PENDING: &str = "former-name";

/// The present form of a variable's or a file's name that contains the former name.
#[must_use]
pub fn present_name(name: &str) -> Option<String> {
    let present = name.replace(FORMER, PRESENT).replace("SWITCHYARD", "SHUNTYARD");
    (present != name).then_some(present)
}

/// The former form of a name.
#[must_use]
pub fn former_name(name: &str) -> String {
    name.replace(PRESENT, FORMER)
}

/// Moves the configuration and the data of the former name. Returns messages for the user; none when there was nothing
/// to do, which costs two reads of the file system.
pub fn adopt_directories(paths: &Paths) -> io::Result<Vec<String>> {
    let mut messages = Vec::new();
    if let Some(former) = former_directory(&paths.config_dir) {
        messages.push(moved(&former, &paths.config_dir)?);
    }
    let former = former_directory(&paths.data_dir);
    if former.is_none() && !is_plain_file(&database(&paths.data_dir, FORMER)) {
        return Ok(messages);
    }
    let _lock = lock(former.as_deref().unwrap_or(&paths.data_dir))?;
    // Another process may have moved it meanwhile.
    if let Some(former) = former_directory(&paths.data_dir) {
        messages.push(moved(&former, &paths.data_dir)?);
    }
    if is_plain_file(&database(&paths.data_dir, FORMER)) {
        link_former_directory(&paths.data_dir)?;
        adopt_database(&paths.data_dir)?;
    }
    Ok(messages)
}

/// The file that marks that the repositories of a data directory's tasks still have the former name.
#[must_use]
pub fn pending_mark(data_dir: &Path) -> PathBuf {
    data_dir.join(PENDING)
}

/// The directory of the former name that belongs to this one, unless it is only a link or was given by the user.
fn former_directory(present: &Path) -> Option<PathBuf> {
    let former = present.file_name().filter(|name| *name == PRESENT).map(|_| present.with_file_name(FORMER))?;
    former.symlink_metadata().is_ok_and(|found| found.is_dir()).then_some(former)
}

fn moved(former: &Path, present: &Path) -> io::Result<String> {
    if present.symlink_metadata().is_ok() {
        let (former, present) = (former.display(), present.display());
        return Ok(format!(
            "{former} is not used: this program is named Shuntyard now, and {present} exists as well. Merge the two, \
             then remove {former}"
        ));
    }
    match fs::rename(former, present) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound && present.is_dir() => {}
        Err(error) => return Err(error),
    }
    Ok(format!("moved {} to {}: this program is named Shuntyard now", former.display(), present.display()))
}

fn link_former_directory(data_dir: &Path) -> io::Result<()> {
    if data_dir.file_name().is_some_and(|name| name == PRESENT) {
        let former = data_dir.with_file_name(FORMER);
        if former.symlink_metadata().is_err() {
            symlink(PRESENT, former)?;
        }
    }
    Ok(())
}

/// The database gets its present name beside the former one, then the former one becomes a link, for programs of the
/// former name that still run. Another database of the present name stays as it is.
fn adopt_database(data_dir: &Path) -> io::Result<()> {
    let (former, present) = (database(data_dir, FORMER), database(data_dir, PRESENT));
    match inode(&present) {
        None => {
            fs::write(pending_mark(data_dir), "")?;
            for ending in ["-wal", "-shm", ""] {
                link_file(&with_ending(&former, ending), &with_ending(&present, ending))?;
            }
        }
        // An earlier move was cut off here, and the present name may be in use since.
        Some(found) if Some(found) == inode(&former) => {}
        Some(_) => return Ok(()),
    }
    let draft = data_dir.join("former-name.link");
    drop(fs::remove_file(&draft));
    symlink(database(Path::new(""), PRESENT), &draft)?;
    fs::rename(&draft, &former)?;
    for ending in ["-wal", "-shm"] {
        drop(fs::remove_file(with_ending(&former, ending)));
    }
    Ok(())
}

/// Gives a file a second name. What has that name is of an earlier move that was cut off.
fn link_file(former: &Path, present: &Path) -> io::Result<()> {
    drop(fs::remove_file(present));
    match fs::hard_link(former, present) {
        // A database that was closed has no log.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        linked => linked,
    }
}

fn inode(path: &Path) -> Option<(u64, u64)> {
    path.symlink_metadata().ok().map(|found| (found.dev(), found.ino()))
}

fn lock(directory: &Path) -> io::Result<Option<File>> {
    match File::open(directory) {
        Ok(file) => file.lock().map(|()| Some(file)),
        // Moved since the check: the process that moved it has the lock under the other name.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let present = File::open(directory.with_file_name(PRESENT))?;
            present.lock().map(|()| Some(present))
        }
        Err(error) => Err(error),
    }
}

fn database(data_dir: &Path, name: &str) -> PathBuf {
    data_dir.join(format!("{name}.db"))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

fn is_plain_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuntyard_testkit::Scratch;

    fn paths(root: &Path) -> Paths {
        let place = |name: &str| root.join(name).join(PRESENT);
        Paths { config_dir: place("config"), data_dir: place("data"), cache_dir: place("cache") }
    }

    /// An installation of the former name; the write-ahead log has what the database does not have yet.
    fn former_installation(root: &Path) -> Paths {
        fs::create_dir_all(root.join("config/switchyard")).unwrap();
        fs::create_dir_all(root.join("data/switchyard/worktrees")).unwrap();
        fs::write(root.join("config/switchyard/config.toml"), "# mine\n").unwrap();
        for (ending, text) in [("", "pages"), ("-wal", "log")] {
            fs::write(root.join(format!("data/switchyard/switchyard.db{ending}")), text).unwrap();
        }
        paths(root)
    }

    fn assert_moved(root: &Path, paths: &Paths) {
        assert_eq!(fs::read_to_string(paths.config_dir.join("config.toml")).unwrap(), "# mine\n");
        for name in ["data/shuntyard/shuntyard.db", "data/switchyard/switchyard.db"] {
            assert_eq!(fs::read_to_string(root.join(name)).unwrap(), "pages", "{name}");
        }
        assert_eq!(fs::read_to_string(paths.data_dir.join("shuntyard.db-wal")).unwrap(), "log");
        assert!(!paths.data_dir.join("switchyard.db-wal").exists());
        assert!(root.join("data/switchyard/worktrees").is_dir());
        assert!(pending_mark(&paths.data_dir).is_file());
        assert_eq!(adopt_directories(paths).unwrap(), [""; 0], "the second time there is nothing to do");
    }

    #[test]
    fn configuration_and_data_are_moved_once_and_old_paths_still_lead_there() {
        let scratch = Scratch::of_test();
        let paths = former_installation(scratch.path());
        let messages = adopt_directories(&paths).unwrap();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(messages.iter().all(|message| message.ends_with("named Shuntyard now")), "{messages:?}");
        assert_moved(scratch.path(), &paths);
    }

    #[test]
    fn a_move_that_was_cut_off_is_finished() {
        let cuts: [fn(&Path); 5] = [
            |root| fs::rename(root.join("data/switchyard"), root.join("data/shuntyard")).unwrap(),
            |root| {
                fs::rename(root.join("data/switchyard"), root.join("data/shuntyard")).unwrap();
                symlink(PRESENT, root.join("data/switchyard")).unwrap();
                fs::write(root.join("data/shuntyard/former-name"), "").unwrap();
            },
            |root| {
                let data = root.join("data/shuntyard");
                fs::rename(root.join("data/switchyard"), &data).unwrap();
                fs::hard_link(data.join("switchyard.db-wal"), data.join("shuntyard.db-wal")).unwrap();
            },
            |root| {
                let data = root.join("data/shuntyard");
                fs::rename(root.join("data/switchyard"), &data).unwrap();
                symlink(PRESENT, root.join("data/switchyard")).unwrap();
                fs::write(data.join("former-name"), "").unwrap();
                for ending in ["-wal", ""] {
                    let name = |name: &str| data.join(format!("{name}.db{ending}"));
                    fs::hard_link(name(FORMER), name(PRESENT)).unwrap();
                }
            },
            |root| fs::rename(root.join("config/switchyard"), root.join("config/shuntyard")).unwrap(),
        ];
        for cut in cuts {
            let scratch = Scratch::of_test();
            let paths = former_installation(scratch.path());
            cut(scratch.path());
            adopt_directories(&paths).unwrap();
            assert_moved(scratch.path(), &paths);
        }
    }

    #[test]
    fn two_installations_are_not_mixed_and_a_named_data_directory_stays_where_it_is() {
        let scratch = Scratch::of_test();
        let paths = former_installation(scratch.path());
        fs::create_dir_all(&paths.data_dir).unwrap();
        let messages = adopt_directories(&paths).unwrap();
        assert!(messages[1].contains("is not used"), "{messages:?}");
        assert!(!paths.data_dir.join("shuntyard.db").exists());

        let named = Paths { data_dir: scratch.path().join("data/switchyard"), ..paths };
        assert_eq!(adopt_directories(&named).unwrap(), [""; 0]);
        assert_eq!(fs::read_to_string(named.data_dir.join("shuntyard.db")).unwrap(), "pages");
    }

    #[test]
    fn many_processes_move_once() {
        let scratch = Scratch::of_test();
        let paths = former_installation(scratch.path());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| adopt_directories(&paths).unwrap());
            }
        });
        assert_moved(scratch.path(), &paths);
    }

    #[test]
    fn names_are_turned_into_present_and_former_ones() {
        assert_eq!(present_name("SWITCHYARD_DATA_DIR").as_deref(), Some("SHUNTYARD_DATA_DIR"));
        assert_eq!(present_name("index.switchyard-old").as_deref(), Some("index.shuntyard-old"));
        assert_eq!(present_name("SHUNTYARD_STORE"), None);
        assert_eq!(former_name("# shuntyard begin"), "# switchyard begin");
    }
}
