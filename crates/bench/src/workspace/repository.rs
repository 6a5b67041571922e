//! The repository that is measured: many small files, and a history that is larger than they are.
//!
//! Invariant: no two blobs are alike and none can be compressed, so the pack has the size that was asked for.

use shuntyard_host::git::Git;
use std::{
    fs,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

const FILES: usize = 50_000;
const MEGABYTES: usize = 1000;
/// One block of the usual file systems.
const FILE_BYTES: usize = 4096;
const FILES_IN_DIRECTORY: usize = 100;
/// A commit after the first changes one file of this many.
const CHANGED: usize = 50;

/// A directory that goes with this value, also when the measurement stops half-way.
#[derive(Debug)]
pub struct Generated {
    pub git: Git,
    pub top: PathBuf,
    pub root: PathBuf,
    pub files: usize,
    pub commits: usize,
}

impl Generated {
    pub fn new(scratch: &str) -> Self {
        let root = Path::new(scratch).join("workspace");
        drop(fs::remove_dir_all(&root));
        fs::create_dir_all(root.join("places")).expect("a directory");
        let root = root.canonicalize().expect("its path");
        let fixed = [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")];
        let variables = fixed.map(|(name, value)| (name.into(), value.into())).to_vec();
        let git = Git { variables, ..Git::default() };
        let (top, files) = (root.join("repository"), size("SHUNTYARD_BENCH_FILES", FILES));
        let mut generated = Self { git, top, root, files, commits: 0 };
        generated.run(&["init", "--quiet", "--initial-branch=main", "repository"], &generated.root);
        generated.commits = generated.import(size("SHUNTYARD_BENCH_MB", MEGABYTES) * 1_000_000);
        generated
    }

    /// Where working trees are made.
    pub fn place(&self, name: &str) -> PathBuf {
        self.root.join("places").join(name)
    }

    /// A plain git command that must succeed.
    pub fn run(&self, args: &[&str], directory: &Path) -> Output {
        let output = self.command(args, directory).output().expect("git");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// With the same environment as ours.
    fn command(&self, args: &[&str], directory: &Path) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(directory).args(args);
        command.envs(self.git.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Commits until the history has that many bytes, each with a tag. The files are not checked out: neither side
    /// reads the checkout of the user.
    fn import(&self, bytes: usize) -> usize {
        // Without the search for deltas, which would find none.
        let mut command = self.command(&["fast-import", "--quiet", "--depth=0"], &self.top);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("git fast-import");
        let mut stream = BufWriter::new(child.stdin.take().expect("a pipe"));
        let mut noise = Noise(0x9E37_79B9_7F4A_7C15);
        let (mut commit, mut written, mut next) = (0, 0, 0);
        while commit == 0 || written < bytes {
            let changed = if commit == 0 { self.files } else { self.files.div_ceil(CHANGED) };
            commit += 1;
            write!(stream, "commit refs/heads/main\nmark :{commit}\n").expect("it is taken");
            writeln!(stream, "committer Ann <ann@example.org> {} +0000", 1_700_000_000 + commit).expect("it is taken");
            write!(stream, "data 6\nchange\n").expect("it is taken");
            for _ in 0..changed {
                let directory = next / FILES_IN_DIRECTORY;
                writeln!(stream, "M 100644 inline directory-{directory}/file-{next}").expect("it is taken");
                writeln!(stream, "data {FILE_BYTES}").expect("it is taken");
                stream.write_all(&noise.block()).expect("it is taken");
                stream.write_all(b"\n").expect("it is taken");
                next = (next + 1) % self.files;
            }
            written += changed * FILE_BYTES;
            write!(stream, "reset refs/tags/v{commit}\nfrom :{commit}\n\n").expect("it is taken");
        }
        stream.flush().expect("it is taken");
        drop(stream);
        assert!(child.wait().expect("git fast-import").success(), "git fast-import failed");
        commit
    }
}

impl Drop for Generated {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.root));
    }
}

/// A smaller repository is for a quick try; its ratios are not those of a large one.
fn size(variable: &str, usual: usize) -> usize {
    let given = std::env::var(variable).ok();
    given.map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

/// Bytes without a pattern (xorshift), the same in every run.
struct Noise(u64);

impl Noise {
    fn block(&mut self) -> [u8; FILE_BYTES] {
        let mut block = [0; FILE_BYTES];
        for word in block.chunks_exact_mut(8) {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            word.copy_from_slice(&self.0.to_le_bytes());
        }
        block
    }
}
