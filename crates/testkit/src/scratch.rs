//! Directories for the files of one test: removed when the test has passed, kept and named when it has failed.
//!
//! All directories of a test process are below one of its own, `<executable>-<pid>` in `SHUNTYARD_TEST_DIR` or else in
//! `<build directory>/tmp`. A directory that a static holds is never dropped, so a process first removes what dead
//! processes have left: everything of its own executable, and of other executables what no failure has marked.

use shuntyard_host::process::ProcessIdentity;
use std::{
    path::{Path, PathBuf},
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

/// Marks the directory of a process in which a test has failed.
const FAILED: &str = "FAILED";

/// The directory of this test process.
static PROCESS: LazyLock<PathBuf> = LazyLock::new(|| {
    let own = std::env::current_exe().expect("the test executable has a path");
    let name = own.file_stem().and_then(|name| name.to_str()).expect("a name");
    // Cargo adds a hash to the name of a test, and puts it into `<build directory>/<profile>/deps`.
    let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
    // Several packages have a test executable of the same name; cargo names the package that runs.
    let name = std::env::var("CARGO_PKG_NAME").map_or_else(|_| name.to_owned(), |package| format!("{package}-{name}"));
    let depth = if own.parent().is_some_and(|parent| parent.ends_with("deps")) { 3 } else { 2 };
    let base = std::env::var_os("SHUNTYARD_TEST_DIR")
        .map_or_else(|| own.ancestors().nth(depth).expect("a build directory").join("tmp"), PathBuf::from);
    sweep(&base, &name);
    let directory = base.join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    report_failures(directory.clone());
    directory.canonicalize().expect("the directory was just made")
});

#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// An empty directory. The name is that of its test; two of the same name are two directories.
    pub fn new(name: &str) -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let mut path = PROCESS.join(name);
        while std::fs::create_dir(&path).is_err() {
            assert!(path.exists(), "{} cannot be made", path.display());
            path = PROCESS.join(format!("{name}-{}", COUNTER.fetch_add(1, Ordering::Relaxed)));
        }
        Self { path }
    }

    /// The same with the name of the running test, which is that of its thread.
    pub fn of_test() -> Self {
        let thread = std::thread::current();
        let name = thread.name().and_then(|name| name.rsplit("::").next()).unwrap_or("test");
        // Some tests put deep trees into it, and the length of a path has limits.
        Self::new(&name[..name.floor_char_boundary(40)])
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if std::thread::panicking() {
            report(&self.path);
        } else {
            drop(std::fs::remove_dir_all(&self.path));
        }
    }
}

#[expect(clippy::print_stderr, reason = "it belongs to the output of the failed test")]
fn report(path: &Path) {
    eprintln!("the files of this test are kept in {}", path.display());
}

/// Prints after each panic where the files of this process are, and marks them as worth keeping. What a static holds is
/// found by that, too.
fn report_failures(directory: PathBuf) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        before(info);
        drop(std::fs::write(directory.join(FAILED), ""));
        report(&directory);
    }));
}

/// Removes the directories of test processes that are gone.
fn sweep(base: &Path, own: &str) {
    let Ok(entries) = std::fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((executable, pid)) = name.to_str().and_then(|name| name.rsplit_once('-')) else { continue };
        let Ok(pid) = pid.parse::<u32>() else { continue };
        let wanted = executable != own && entry.path().join(FAILED).exists();
        if !wanted && ProcessIdentity::of(pid).is_none() {
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_passes_leaves_nothing_and_one_that_fails_its_files() {
        let passed = Scratch::of_test().path().to_owned();
        assert!(!passed.exists());
        let fails = || {
            let scratch = Scratch::new("fails");
            std::fs::write(scratch.join("log"), "why").unwrap();
            std::panic::panic_any(scratch.path().to_owned());
        };
        let kept = std::thread::spawn(fails).join().unwrap_err().downcast::<PathBuf>().unwrap();
        assert_eq!(std::fs::read_to_string(kept.join("log")).unwrap(), "why");
        assert!(kept.with_file_name(FAILED).exists());
        std::fs::remove_dir_all(*kept).unwrap();
    }

    #[test]
    fn what_is_swept_belongs_to_the_dead_and_is_not_wanted() {
        let base = Scratch::of_test();
        let mut dead = std::process::Command::new("true").spawn().unwrap();
        dead.wait().unwrap();
        let (dead, living) = (dead.id(), std::process::id());
        let names =
            ["own", "other", "failed"].map(|name| [format!("{name}-{dead}"), format!("{name}-{living}")]).concat();
        for name in names.iter().chain([&"opencode".to_owned()]) {
            std::fs::create_dir(base.join(name)).unwrap();
        }
        for name in ["own", "failed"] {
            std::fs::write(base.join(format!("{name}-{dead}")).join(FAILED), "").unwrap();
        }
        sweep(base.path(), "own");
        let left = |name: &String| base.join(name).exists();
        assert_eq!(names.iter().map(left).collect::<Vec<_>>(), [false, true, false, true, true, true]);
        assert!(base.join("opencode").exists());
    }
}
