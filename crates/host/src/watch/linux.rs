//! Change events of the kernel for directories.
//!
//! Directories are watched and not files: a file may not exist yet, and one that is made anew is another file.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;

/// So many events at one go; a flood in the same directory must not keep the thread.
const MOST_AT_ONCE: usize = 4096;

#[derive(Debug)]
pub(super) struct Told {
    inotify: AsyncFd<OwnedFd>,
    /// The names of interest in each watched directory.
    names: HashMap<i32, HashSet<OsString>>,
}

enum Found {
    Nothing,
    Change,
    /// The directory is gone or elsewhere, or the kernel does not answer.
    End,
}

struct Drained {
    found: Found,
    empty: bool,
}

impl Told {
    pub(super) fn new(files: &[PathBuf]) -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let mut names: HashMap<i32, HashSet<OsString>> = HashMap::new();
        // The content of a link is written where it leads to.
        let targets = files.iter().filter_map(|file| file.canonicalize().ok());
        for file in files.iter().cloned().chain(targets) {
            let name = file.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
            let above = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let watch = inotify::add_watch(&inotify, above, interest())?;
            names.entry(watch).or_default().insert(name.to_owned());
        }
        Ok(Self { inotify: registered(inotify)?, names })
    }

    /// Fails when it can no longer report changes.
    pub(super) async fn changed(&mut self) -> io::Result<()> {
        loop {
            let mut ready = self.inotify.readable().await?;
            let drained = drain(self.inotify.get_ref(), &self.names);
            if drained.empty {
                ready.clear_ready();
            }
            match drained.found {
                Found::Nothing => {}
                Found::Change => return Ok(()),
                Found::End => return Err(io::ErrorKind::NotFound.into()),
            }
        }
    }
}

#[expect(deprecated, reason = "it is unsound only for descriptors that somebody else can close; this one is owned")]
fn registered(inotify: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::new(inotify)
}

fn interest() -> WatchFlags {
    WatchFlags::MODIFY
        | WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::MOVED_TO
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR
}

fn drain(inotify: &OwnedFd, names: &HashMap<i32, HashSet<OsString>>) -> Drained {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = Reader::new(inotify, &mut buffer);
    let mut found = Found::Nothing;
    let mut count = 0;
    // Events that were read into the buffer have to be handled: the kernel does not report them again.
    while count < MOST_AT_ONCE || !reader.is_buffer_empty() {
        count += 1;
        match reader.next() {
            Ok(event) => match what(&event, names) {
                Found::Nothing => {}
                Found::Change => found = Found::Change,
                Found::End => return Drained { found: Found::End, empty: false },
            },
            Err(Errno::AGAIN) => return Drained { found, empty: true },
            Err(Errno::INTR) => {}
            Err(_) => return Drained { found: Found::End, empty: false },
        }
    }
    Drained { found, empty: false }
}

fn what(event: &inotify::Event<'_>, names: &HashMap<i32, HashSet<OsString>>) -> Found {
    let lost = ReadFlags::IGNORED | ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::UNMOUNT;
    if event.events().intersects(lost) {
        return Found::End;
    }
    // After an overflow anything may have happened.
    if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
        return Found::Change;
    }
    let name = event.file_name().map(|name| OsString::from_vec(name.to_bytes().to_vec()));
    let wanted = name.is_some_and(|name| names.get(&event.wd()).is_some_and(|names| names.contains(&name)));
    if wanted { Found::Change } else { Found::Nothing }
}
