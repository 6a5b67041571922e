//! Other copies of the repository: fetching a branch, pushing one.
//!
//! Invariant: whatever the network does is a value, not an error, and no message holds a password from an address.
//! The user's own credentials are used, and no prompt is shown.

use std::path::Path;

use super::checkout::failed_at;
use super::journal::Administration;
use super::reference_move::{ReferenceMove, clear_reference_locks};
use super::{Git, GitError, within};
use crate::bounded::Finished;
use crate::clock::now_micros;
use crate::process::ProcessIdentity;

/// Where a fetch puts what it brings, until it is known to be complete.
const FETCHED: &str = "refs/shuntyard/fetched";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// The commit that the branch is at over there, now also behind our remote-tracking branch.
    Done {
        commit: String,
    },
    /// The remote has no such branch.
    Absent,
    Offline(String),
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// The remote has it, perhaps since before.
    Done,
    /// The remote was reached and did not want it: mostly because its branch has commits that ours has not.
    Rejected(String),
    Offline(String),
    Failed(String),
}

/// The messages of git, curl and ssh for an unreachable remote, in small letters.
const UNREACHED: [&str; 18] = [
    "could not resolve host",
    "couldn't resolve host",
    "could not resolve proxy",
    "name or service not known",
    "nodename nor servname",
    "temporary failure in name resolution",
    "network is unreachable",
    "network is down",
    "no route to host",
    "host is down",
    "connection refused",
    "connection reset",
    "connection closed",
    "timed out",
    "failed to connect",
    "couldn't connect",
    "early eof",
    "the requested url returned error: 5",
];

impl Git {
    /// The addresses of the remotes that are configured.
    pub fn remote_urls(&self, repository: &Path) -> Result<Vec<String>, GitError> {
        let mut urls = Vec::new();
        for name in self.remotes(repository)? {
            let output = self.succeed(&within(repository, &["remote", "get-url", "--all", &name]))?;
            urls.extend(String::from_utf8_lossy(&output).lines().map(str::to_owned));
        }
        Ok(urls)
    }

    /// The names of the remotes that are configured.
    pub fn remotes(&self, repository: &Path) -> Result<Vec<String>, GitError> {
        let output = self.succeed(&within(repository, &["remote"]))?;
        Ok(String::from_utf8_lossy(&output).lines().map(str::to_owned).collect())
    }

    /// Brings `refs/remotes/REMOTE/BRANCH` up to date; `remote` is the name of a configured one. The network is waited
    /// for with a ref of our own: a git that is killed meanwhile leaves no lock that is in the way of the user's.
    pub fn fetch(&self, repository: &Path, remote: &str, branch: &str) -> Result<Fetched, GitError> {
        self.remove_fetched(repository)?;
        let own = format!("{FETCHED}/{}-{}", std::process::id(), now_micros());
        let refspec = format!("+refs/heads/{branch}:{own}");
        let how = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
        let quiet = ["--refmap=", "--no-auto-maintenance", "--"];
        let words: Vec<&str> = how.into_iter().chain(quiet).chain([remote, &refspec]).collect();
        let finished = match in_time(self.finish_remote(&within(repository, &words)))? {
            Ok(finished) => finished,
            Err(late) => return Ok(Fetched::Offline(late)),
        };
        if finished.status.success() {
            let Some(commit) = self.reference_commit(repository, &own)? else { return Ok(Fetched::Absent) };
            self.track(repository, &format!("refs/remotes/{remote}/{branch}"), &commit)?;
            self.delete_ref(repository, &own, None)?;
            return Ok(Fetched::Done { commit });
        }
        let message = message(&finished.stderr);
        if message.contains("couldn't find remote ref") {
            return Ok(Fetched::Absent);
        }
        Ok(if is_unreached(&message) { Fetched::Offline(message) } else { Fetched::Failed(message) })
    }

    /// Moves a remote-tracking branch, and leaves no lock behind.
    fn track(&self, repository: &Path, reference: &str, to: &str) -> Result<(), GitError> {
        let lock = self.lock(repository)?;
        let common = self.common_directory(repository)?;
        clear_reference_locks(&common).map_err(failed_at(&common))?;
        let from = self.reference_commit(repository, reference)?.unwrap_or_default();
        if from == to {
            return Ok(());
        }
        let place = Administration { directory: self.own_directory(repository)? };
        let step = ReferenceMove { top: repository, place: &place, common: &common, reference, from: &from, to };
        self.move_reference(&lock, &step)
    }

    /// Removes what fetches of ours left whose process has died.
    fn remove_fetched(&self, repository: &Path) -> Result<(), GitError> {
        let is_over = |name: &str| name.rsplit('/').next().is_some_and(is_of_ended_process);
        let directory = self.common_directory(repository)?.join(FETCHED);
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".lock") && is_over(&name) {
                drop(std::fs::remove_file(entry.path()));
            }
        }
        for (name, _) in self.references(repository, &[&format!("{FETCHED}/")])? {
            if is_over(&name) {
                self.delete_ref(repository, &name, None)?;
            }
        }
        Ok(())
    }

    /// Pushes one refspec, such as `main` or `refs/heads/work:refs/heads/main`. Only a refspec that begins with `+`
    /// overwrites what the remote has.
    pub fn push(&self, repository: &Path, remote: &str, refspec: &str) -> Result<Pushed, GitError> {
        self.push_with(repository, remote, &[], refspec)
    }

    /// Uploads the large files of a branch that LFS keeps beside git. LFS itself does that in a push hook, which does
    /// not run here, and without its objects the branch could not be checked out by others.
    pub(super) fn push_lfs_objects(&self, repository: &Path, remote: &str, branch: &str) -> Result<Pushed, GitError> {
        if !self.common_directory(repository)?.join("lfs/objects").is_dir() {
            return Ok(Pushed::Done);
        }
        let finished = match in_time(self.finish_remote(&within(repository, &["lfs", "push", remote, branch])))? {
            Ok(finished) if finished.status.success() => return Ok(Pushed::Done),
            Ok(finished) => finished,
            Err(late) => return Ok(Pushed::Offline(late)),
        };
        let message = format!("its LFS objects were not uploaded: {}", message(&finished.stderr));
        Ok(if is_unreached(&message) { Pushed::Offline(message) } else { Pushed::Failed(message) })
    }

    pub(super) fn push_with(
        &self,
        repository: &Path,
        remote: &str,
        options: &[&str],
        refspec: &str,
    ) -> Result<Pushed, GitError> {
        let plain = ["push", "--porcelain", "--no-follow-tags", "--no-signed"];
        let how: Vec<&str> = plain.iter().chain(options).copied().chain(["--", remote, refspec]).collect();
        Ok(match in_time(self.finish_remote(&within(repository, &how)))? {
            Ok(finished) => classify_push(&finished),
            Err(late) => Pushed::Offline(late),
        })
    }
}

/// Whether a name that begins with the number of a process is of none that lives.
pub(super) fn is_of_ended_process(name: &str) -> bool {
    let pid = name.split('-').next().and_then(|pid| pid.parse().ok());
    pid.is_some_and(|pid| ProcessIdentity::of(pid).is_none_or(|process| !process.is_alive()))
}

/// A remote that does not answer in time counts as one that is not there.
fn in_time(result: Result<Finished, GitError>) -> Result<Result<Finished, String>, GitError> {
    match result {
        Ok(finished) => Ok(Ok(finished)),
        Err(GitError::Deadline { deadline, .. }) => Ok(Err(format!("no progress for {} s", deadline.as_secs_f32()))),
        Err(error) => Err(error),
    }
}

fn classify_push(finished: &Finished) -> Pushed {
    if finished.status.success() {
        return Pushed::Done;
    }
    let output = String::from_utf8_lossy(&finished.stdout);
    if let Some(reason) = output.lines().find_map(rejection) {
        return Pushed::Rejected(without_credentials(reason));
    }
    let message = message(&finished.stderr);
    if is_unreached(&message) { Pushed::Offline(message) } else { Pushed::Failed(message) }
}

/// `!` TAB `from:to` TAB `[rejected] (fetch first)`
fn rejection(line: &str) -> Option<&str> {
    line.strip_prefix("!\t")?.split_once('\t').map(|(_, reason)| reason)
}

fn is_unreached(message: &str) -> bool {
    let message = message.to_lowercase();
    UNREACHED.iter().any(|words| message.contains(words))
}

fn message(stderr: &[u8]) -> String {
    without_credentials(String::from_utf8_lossy(stderr).trim())
}

/// `https://name:secret@host/` becomes `https://host/`.
fn without_credentials(text: &str) -> String {
    let mut parts = text.split("://");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| letter.is_whitespace() || "/'\"".contains(letter)).unwrap_or(part.len());
        let host = part[..end].rfind('@').map_or(0, |at| at + 1);
        shown.push_str("://");
        shown.push_str(&part[host..]);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn ended(code: i32, stdout: &str, stderr: &str) -> Finished {
        let status = std::process::ExitStatus::from_raw(code << 8);
        Finished { status, stdout: stdout.into(), stderr: stderr.into() }
    }

    #[test]
    fn a_push_is_judged_by_what_git_says_to_machines() {
        let refused = "To x\n!\trefs/heads/a:refs/heads/a\t[rejected] (fetch first)\nDone\n";
        let unresolved = "fatal: unable to access 'https://me:key@example.invalid/': Could not resolve host: example";
        let scrubbed = "fatal: unable to access 'https://example.invalid/': Could not resolve host: example";
        let denied = "git@example: Permission denied (publickey).\nfatal: Could not read from remote repository.";
        let table = [
            (ended(0, "To x\n=\ta:a\t[up to date]\nDone\n", ""), Pushed::Done),
            (ended(1, refused, "error: failed to push"), Pushed::Rejected("[rejected] (fetch first)".into())),
            (ended(128, "", unresolved), Pushed::Offline(scrubbed.into())),
            (ended(128, "", "ssh: connect to host x port 22: Connection refused"), {
                Pushed::Offline("ssh: connect to host x port 22: Connection refused".into())
            }),
            (ended(128, "", denied), Pushed::Failed(denied.into())),
            (ended(1, "", "error: src refspec x does not match any"), {
                Pushed::Failed("error: src refspec x does not match any".into())
            }),
        ];
        for (finished, wanted) in table {
            assert_eq!(classify_push(&finished), wanted, "{finished:?}");
        }
    }

    #[test]
    fn addresses_lose_their_passwords() {
        let table = [
            ("no address", "no address"),
            ("https://host/path@2", "https://host/path@2"),
            ("'https://user:p@ss@host'", "'https://host'"),
            ("ssh://git@host/x and https://t@h y", "ssh://host/x and https://h y"),
            ("://", "://"),
        ];
        for (text, wanted) in table {
            assert_eq!(without_credentials(text), wanted);
        }
    }
}
