//! Making a workspace: clone, configure, check out, check, record, rename.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::{Git, GitError, alone, records, within};
use super::archive::make_archive;
use super::collect::AT_ONCE;
use super::configuration::{self, Hooks};
use super::copies::{Files, copy_file, copy_tree};
use super::owned::{CHECK, FETCH, FROM_HERE};
use super::{IDENTITY, Record, SAVED, SOURCE, Workspace, admin_of, beside, file_error, owned_namespace, remove_any};
use super::{submodules::save_modules, write_record};
use crate::clock::now_micros;
use crate::paths::private_dir;

/// What a clone is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// An agent works in it.
    Work,
    /// A commit is checked in it, and it is thrown away.
    Check,
}

/// What is cloned.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// A checkout of the user's repository.
    Repository(&'a Path),
    Workspace(&'a Workspace),
    /// A workspace after a rebase onto a commit of the user's repository, which has the submodules of that commit.
    Rebased {
        workspace: &'a Workspace,
        onto: &'a str,
        repository: &'a Path,
    },
}

/// Where the objects of a clone are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objects {
    /// In the clone, as links to those of the source. On another file system they are borrowed.
    Linked,
    /// In the source only.
    Borrowed,
}

#[derive(Debug)]
pub struct Order<'a> {
    pub source: Source<'a>,
    pub destination: &'a Path,
    pub owner: &'a str,
    pub branch: &'a str,
    /// A commit of the source.
    pub start: &'a str,
    pub hooks: Hooks,
    pub purpose: Purpose,
    pub objects: Objects,
}

/// The same, with what is needed to read it.
struct Origin {
    git: Git,
    top: PathBuf,
    common: PathBuf,
    /// The working tree that the submodules are copied from.
    modules: PathBuf,
}

impl Origin {
    fn of(git: &Git, source: Source<'_>) -> Result<Self, GitError> {
        Ok(match source {
            Source::Repository(top) => {
                let common = git.common_directory(top)?;
                Self { common, top: top.to_owned(), git: git.clone(), modules: top.to_owned() }
            }
            Source::Workspace(workspace) => Self::of_workspace(workspace, &workspace.directory)?,
            Source::Rebased { workspace, repository, .. } => Self::of_workspace(workspace, repository)?,
        })
    }

    fn of_workspace(workspace: &Workspace, modules: &Path) -> Result<Self, GitError> {
        let (top, common) = (workspace.directory.clone(), workspace.git_dir());
        Ok(Self { git: workspace.git()?, top, common, modules: modules.to_owned() })
    }
}

impl Git {
    /// Makes a workspace. Whatever an earlier call left half made is removed first; a finished workspace or anything
    /// else in the place is an error.
    pub fn create_workspace(&self, order: &Order<'_>) -> Result<Workspace, GitError> {
        if order.destination.symlink_metadata().is_ok() {
            let source = io::Error::new(io::ErrorKind::AlreadyExists, "something is there already");
            return Err(file_error("make", order.destination, source));
        }
        let source = Origin::of(self, order.source)?;
        let record = Record {
            owner: order.owner.to_owned(),
            branch: order.branch.to_owned(),
            base: source.git.full_name(&source.top, order.start)?,
            identity: format!("{}-{}-{}\n", order.owner, std::process::id(), now_micros()),
            set_up: false,
            restarting: false,
            setting_up: false,
        };
        remove_half_made(order.destination);
        // A git that outlived its parent may still write to the place of an earlier call.
        let staging = beside(order.destination, &format!("new-{}-{}", std::process::id(), now_micros()));
        private_dir(&staging).map_err(|source| file_error("make", &staging, source))?;
        let made = self.make(order, &source, &record, &staging);
        if made.is_err() {
            drop(remove_any(&staging));
        }
        made?;
        fs::rename(&staging, order.destination).map_err(|source| file_error("rename", &staging, source))?;
        Ok(Workspace::at(order.destination, record, self))
    }

    /// A workspace at this place that is not used any more, whatever it is.
    pub fn discard_workspace(&self, directory: &Path) -> Result<(), GitError> {
        self.remove_workspace(directory)
    }

    fn make(&self, order: &Order<'_>, source: &Origin, record: &Record, staging: &Path) -> Result<(), GitError> {
        let git_dir = staging.join(".git");
        self.clone_bare(order, source, record, &git_dir)?;
        let hooks = match order.purpose {
            Purpose::Work => order.hooks,
            Purpose::Check => Hooks::None,
        };
        self.configure(source, &git_dir, hooks)?;
        let git = self.bound_to(&git_dir, Some(staging))?;
        let branch = format!("refs/heads/{}", record.branch);
        git.succeed(&["update-ref", &branch, &record.base])?;
        git.succeed(&["symbolic-ref", "HEAD", &branch])?;
        git.succeed(&within(staging, &["reset", "--hard", "--quiet"]))?;
        if order.purpose == Purpose::Check {
            let before = match order.source {
                Source::Workspace(workspace) => workspace.record.base.clone(),
                Source::Rebased { onto, .. } => onto.to_owned(),
                Source::Repository(_) => format!("{}^", record.base),
            };
            git.check_out_changes(staging, &before, &record.base)?;
        }
        git.copy_submodules(self, &source.modules, staging)?;
        git.check_complete(staging, &record.base)?;
        fs::write(git_dir.join(IDENTITY), &record.identity).map_err(|source| file_error("write", &git_dir, source))?;
        save(&git_dir, &admin_of(order.destination), record, order.purpose)
    }

    /// In a sparse checkout: what the commit changes is checked out as well, so that it can be verified.
    fn check_out_changes(&self, top: &Path, before: &str, commit: &str) -> Result<(), GitError> {
        if !top.join(".git/info/sparse-checkout").is_file() {
            return Ok(());
        }
        let before = match self.full_name(top, before) {
            // The first commit of a repository has none before it.
            Err(GitError::Failed { .. }) => return Ok(()),
            before => before?,
        };
        let changed = self.diff_stat_between(top, &before, commit)?;
        let paths = changed.into_iter().filter(|file| !file.is_gone && file.link.is_none()).map(|file| file.path);
        for part in paths.collect::<Vec<_>>().chunks(AT_ONCE) {
            for words in [["update-index", "--no-skip-worktree", "--"], ["checkout-index", "--force", "--"]] {
                let mut args = within(top, &words);
                args.extend(part.iter().map(|path| path.as_os_str()));
                self.succeed(&args)?;
            }
        }
        Ok(())
    }

    /// The objects by hard links; by reference where links are not possible, with everything pinned in the source.
    fn clone_bare(&self, order: &Order<'_>, source: &Origin, record: &Record, git_dir: &Path) -> Result<(), GitError> {
        let common = &source.common;
        let is_work = order.purpose == Purpose::Work && matches!(order.source, Source::Repository(_));
        let device = |path: &Path| path.metadata().map(|found| found.dev()).ok();
        let linked =
            order.objects == Objects::Linked && git_dir.parent().and_then(device) == device(&common.join("objects"));
        // Links bring every object along, whether or not a ref leads to it. A source whose history is cut off is not
        // linked by git.
        if order.purpose == Purpose::Check && linked && !common.join("shallow").exists() {
            if self.clone_as("--local", common, git_dir, &[same("remotes"), same("notes")]).is_ok() {
                return self.bound_to(git_dir, None)?.remove_own_names(&record.branch);
            }
            remove_any(git_dir)?;
        }
        // By name: a clone without links has only what refs lead to.
        let start = if is_work {
            source.git.pin(&source.top, order.owner, &record.base)?
        } else {
            let name = format!("{}/{CHECK}{}-{}", owned_namespace(order.owner), std::process::id(), now_micros());
            source.git.succeed(&alone(&source.top, &["update-ref", "--end-of-options", &name, &record.base]))?;
            name
        };
        let mut refspecs = vec![same("remotes"), same("notes"), format!("+{start}:{SOURCE}/start")];
        if order.purpose == Purpose::Work {
            refspecs.extend(SOURCES.map(source_of));
        }
        let pinned = if is_work && !linked { source.git.pin_borrowed(&source.top, order.owner) } else { Ok(()) };
        let how = if linked { "--local" } else { "--shared" };
        // Git refuses to link where the objects themselves contain links, and to borrow from a path with a line break.
        let cloned = pinned.and_then(|()| self.clone_as(how, common, git_dir, &refspecs)).or_else(|_| {
            remove_any(git_dir)?;
            self.clone_as("--no-local", common, git_dir, &refspecs)
        });
        if !is_work {
            source.git.delete_ref(&source.top, &start, None)?;
        }
        cloned?;
        self.bound_to(git_dir, None)?.remove_own_names(&record.branch)
    }

    /// In a new clone: `git clone` cannot leave branches out.
    fn remove_own_names(&self, branch: &str) -> Result<(), GitError> {
        let first = branch.split('/').next().unwrap_or(branch);
        let (ours, theirs) = ("refs/heads/", format!("{SOURCE}/heads/"));
        let found = self.references(Path::new("."), &[&format!("{ours}{first}"), &format!("{theirs}{first}")])?;
        let is_part = |of: &str, name: &str| of.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
        for (full, _) in found {
            let name = full.strip_prefix(ours).or_else(|| full.strip_prefix(&theirs)).unwrap_or_default();
            let is_numbered = full.starts_with(&theirs) && name.starts_with(&format!("{branch}-"));
            if name == branch || is_part(branch, name) || is_part(name, branch) || is_numbered {
                self.succeed(&["update-ref", "--no-deref", "-d", &full])?;
            }
        }
        Ok(())
    }

    /// One call, with all refs: git writes those of a new clone into one file, however many there are.
    fn clone_as(&self, how: &str, common: &Path, git_dir: &Path, refspecs: &[String]) -> Result<(), GitError> {
        let settings: Vec<String> = refspecs.iter().map(|refspec| format!("remote.origin.fetch={refspec}")).collect();
        let words =
            ["-c", "core.hooksPath=/dev/null", "-c", FROM_HERE, "clone", "--quiet", "--bare", "--template=", how];
        let mut args: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        args.extend(settings.iter().flat_map(|setting| [OsStr::new("-c"), OsStr::new(setting)]));
        args.extend([OsStr::new("--"), common.as_os_str(), git_dir.as_os_str()]);
        self.allowing_local().succeed(&args).map(drop)
    }

    /// Fetches refs of another repository on this machine, and nothing else.
    pub(super) fn fetch_refs(&self, from: &Path, refspecs: &[String]) -> Result<(), GitError> {
        // A source whose history was cut off elsewhere since is taken as it is.
        let mut args: Vec<&OsStr> = FETCH.iter().chain(&["--update-shallow", "--"]).map(OsStr::new).collect();
        args.push(from.as_os_str());
        args.extend(refspecs.iter().map(OsStr::new));
        self.allowing_local().succeed(&args).map(drop)
    }

    /// Keeps a commit in the user's repository for as long as a workspace needs it. Returns the ref.
    pub(super) fn pin(&self, source: &Path, owner: &str, commit: &str) -> Result<String, GitError> {
        let name = format!("{}/base", owned_namespace(owner));
        let git = self.locked(source)?;
        git.remove_owned_locks(source, owner)?;
        git.succeed(&alone(source, &["update-ref", "--end-of-options", &name, commit]))?;
        Ok(name)
    }

    fn configure(&self, source: &Origin, git_dir: &Path, hooks: Hooks) -> Result<(), GitError> {
        let common = &source.common;
        let bound = self.bound_to(git_dir, None)?;
        let list = ["config", "--list", "-z", "--show-scope", "--includes"];
        let cloned: Vec<_> = configuration::parse(&bound.succeed(&list)?)
            .into_iter()
            .filter(|setting| setting.scope == "local")
            .collect();
        let settings = configuration::parse(&source.git.succeed(&within(&source.top, &list))?);
        let text = configuration::text(&cloned, &settings, &source.top, hooks);
        let copy = || {
            fs::write(git_dir.join("config"), text)?;
            let info = git_dir.join("info");
            fs::create_dir_all(&info)?;
            for name in ["exclude", "attributes", "grafts"] {
                copy_file(&common.join("info").join(name), &info.join(name))?;
            }
            // Keys of git-crypt and the objects of LFS, without which files could not be checked out.
            copy_tree(&common.join("git-crypt"), &git_dir.join("git-crypt"), Files::Copied)?;
            copy_tree(&common.join("lfs/objects"), &git_dir.join("lfs/objects"), Files::Linked)?;
            if hooks == Hooks::Copied {
                copy_tree(&common.join("hooks"), &git_dir.join("hooks"), Files::Copied)?;
            }
            Ok(())
        };
        copy().map_err(|error| file_error("configure", git_dir, error))?;
        let patterns = source.git.own_path(&source.top, "info/sparse-checkout")?;
        copy_file(&patterns, &git_dir.join("info/sparse-checkout"))
            .map_err(|error| file_error("configure", git_dir, error))
    }

    /// Everything that the commit has is there, or the workspace is not used.
    fn check_complete(&self, top: &Path, base: &str) -> Result<(), GitError> {
        let head = self.commit_of(top, "HEAD")?;
        let missing = self.succeed(&within(top, &["ls-files", "--deleted", "-z"]))?;
        let missing = records(&missing).count();
        let differs = !self.answer(&within(top, &["diff-index", "--cached", "--quiet", "HEAD", "--"]))?;
        if head != base || differs || missing > 0 {
            let wanted = format!("every file of {base} is checked out ({missing} are missing)");
            return Err(GitError::Unproven { command: "git reset --hard", wanted });
        }
        Ok(())
    }
}

/// Removes what earlier calls left. What a git is still writing to stays until the next call.
pub(super) fn remove_half_made(destination: &Path) {
    let prefix = beside(destination, "new");
    let (Some(parent), Some(prefix)) = (prefix.parent(), prefix.file_name()) else { return };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(prefix.as_encoded_bytes()) {
            drop(remove_any(&entry.path()));
        }
    }
}

/// The same names here as there.
pub(super) fn same(kind: &str) -> String {
    format!("+refs/{kind}/*:refs/{kind}/*")
}

const SOURCES: [&str; 3] = ["heads", "tags", "remotes"];

fn source_of(kind: &str) -> String {
    format!("+refs/{kind}/*:{SOURCE}/{kind}/*")
}

/// Refs of commits that were not made in the workspace. A branch that has the task's own work is none of them.
pub(super) fn sources(branch: &str) -> Vec<String> {
    let flat = branch.replace('/', "-");
    let others = [format!("{branch}-*"), flat.clone(), format!("{flat}-*")].map(|name| format!("^refs/heads/{name}"));
    SOURCES.map(source_of).into_iter().chain(own_names(branch)).chain(others).collect()
}

/// Branches that are not brought into a workspace: its own, and those that would be in the way of its name.
pub(super) fn own_names(branch: &str) -> Vec<String> {
    let above = branch.match_indices('/').map(|(end, _)| format!("^refs/heads/{}", &branch[..end]));
    above.chain([format!("^refs/heads/{branch}"), format!("^refs/heads/{branch}/*")]).collect()
}

fn save(git_dir: &Path, admin: &Path, record: &Record, purpose: Purpose) -> Result<(), GitError> {
    remove_any(admin)?;
    private_dir(admin).map_err(|source| file_error("make", admin, source))?;
    for (name, place) in SAVED {
        copy_file(&git_dir.join(place), &admin.join(name)).map_err(|source| file_error("save", admin, source))?;
    }
    copy_file(&git_dir.join("shallow"), &admin.join("shallow")).map_err(|source| file_error("save", admin, source))?;
    if purpose == Purpose::Work {
        save_modules(git_dir, admin).map_err(|source| file_error("save", admin, source))?;
        make_archive(git_dir, admin)?;
    }
    write_record(admin, record)
}
