//! Reading a text file that another party chose: a repository can carry a link to a device, and a user a file of any
//! size.
//!
//! Invariant: reading returns soon and holds at most the given number of bytes, whatever the path leads to. Links are
//! followed, but only a regular file is read.

use rustix::fs::{Mode, OFlags};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// More than a person writes by hand as configuration.
pub const MOST_CONFIG_BYTES: u64 = 1024 * 1024;

/// Each reason completes "cannot be read: …", and none quotes the file.
#[derive(Debug, thiserror::Error)]
pub enum TextFileError {
    #[error("{}", .0.kind())]
    Refused(#[source] io::Error),
    #[error("not a regular file")]
    NotRegular,
    #[error("larger than {} KiB", most_bytes / 1024)]
    TooLarge { most_bytes: u64 },
    #[error("not UTF-8")]
    NotText,
}

impl TextFileError {
    /// Whether there is no such file at all, which is often no problem.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Refused(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
    }
}

/// The whole text of a regular file of at most `most_bytes`.
pub fn read_text(path: &Path, most_bytes: u64) -> Result<String, TextFileError> {
    // Merely opening some devices does something, so the path is looked at before; what it leads to can be exchanged
    // in between, so the opened file is looked at again.
    regular(&fs::metadata(path).map_err(TextFileError::Refused)?)?;
    let file = open(path).map_err(TextFileError::Refused)?;
    let metadata = file.metadata().map_err(TextFileError::Refused)?;
    regular(&metadata)?;
    if metadata.len() > most_bytes {
        return Err(TextFileError::TooLarge { most_bytes });
    }
    // A file can grow while it is read, and those of `/proc` claim to be empty.
    let mut bytes = Vec::new();
    file.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(TextFileError::Refused)?;
    if bytes.len() as u64 > most_bytes {
        return Err(TextFileError::TooLarge { most_bytes });
    }
    String::from_utf8(bytes).map_err(|_| TextFileError::NotText)
}

fn regular(metadata: &fs::Metadata) -> Result<(), TextFileError> {
    if metadata.is_file() { Ok(()) } else { Err(TextFileError::NotRegular) }
}

/// A pipe without a writer would keep an ordinary opening waiting, and a terminal would become ours.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let descriptor = rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?;
    Ok(File::from(descriptor))
}

#[cfg(test)]
mod tests {
    use super::{TextFileError, open, read_text};
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::process::Command;
    use std::sync::mpsc;
    use std::time::Duration;

    const MOST: u64 = 8;

    /// A reading that waits must fail the test instead of holding it.
    fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(work()));
        receiver.recv_timeout(Duration::from_secs(1)).expect("it takes too long")
    }

    fn mkfifo(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn only_a_small_regular_text_is_read() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let at = |name: &str| scratch.path().join(name);
        fs::write(at("text"), "12345678").unwrap();
        fs::write(at("long"), "123456789").unwrap();
        fs::write(at("bytes"), [0xff, 0xfe]).unwrap();
        fs::create_dir(at("directory")).unwrap();
        File::create(at("sparse")).unwrap().set_len(5 << 30).unwrap();
        mkfifo(&at("fifo"));
        let links = [
            ("to_text", "text"),
            ("to_zero", "/dev/zero"),
            ("to_null", "/dev/null"),
            ("to_fifo", "fifo"),
            ("to_sparse", "sparse"),
            ("to_nothing", "nothing"),
            ("loop", "loop"),
        ];
        for (link, target) in links {
            symlink(target, at(link)).unwrap();
        }
        let table = [
            ("text", Ok("12345678")),
            ("to_text", Ok("12345678")),
            ("long", Err("larger than 0 KiB")),
            ("bytes", Err("not UTF-8")),
            ("directory", Err("not a regular file")),
            ("to_zero", Err("not a regular file")),
            ("to_null", Err("not a regular file")),
            ("fifo", Err("not a regular file")),
            ("to_fifo", Err("not a regular file")),
            ("sparse", Err("larger than 0 KiB")),
            ("to_sparse", Err("larger than 0 KiB")),
            ("nothing", Err("entity not found")),
            ("to_nothing", Err("entity not found")),
            ("text/below", Err("not a directory")),
        ];
        for (name, wanted) in table {
            let path = at(name);
            let found = soon(move || read_text(&path, MOST));
            let absent = found.as_ref().is_err_and(TextFileError::is_absent);
            assert_eq!(absent, name.contains("nothing") || name.contains("below"), "{name}");
            assert_eq!(
                found.map_err(|error| error.to_string()),
                wanted.map(str::to_owned).map_err(str::to_owned),
                "{name}"
            );
        }
        let path = at("loop");
        assert!(matches!(soon(move || read_text(&path, MOST)), Err(TextFileError::Refused(_))));
    }

    #[test]
    fn a_pipe_that_takes_the_place_of_a_file_does_not_wait() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let path = scratch.path().join("fifo");
        mkfifo(&path);
        assert!(!soon(move || open(&path).unwrap().metadata().unwrap().is_file()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_hides_its_size_is_bounded() {
        let path = Path::new("/proc/self/maps");
        assert_eq!(fs::metadata(path).unwrap().len(), 0);
        assert!(matches!(read_text(path, MOST), Err(TextFileError::TooLarge { most_bytes: MOST })));
    }
}
