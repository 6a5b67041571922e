//! What a git command can change in the user's repository, by its subcommand.

use super::{
    differences::Kind,
    programs::Reach,
    resolve::{Scene, Target, leads_to},
    shell::Simple,
};

/// What the differences of a repository are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Files,
    Index,
    Refs,
    Head,
    Stash,
    Config,
    Hooks,
}

use Class::{Config, Files, Head, Hooks, Index, Refs, Stash};

impl Class {
    pub(super) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Modified | Kind::Reverted | Kind::Deleted | Kind::Created => Files,
            Kind::Staged | Kind::Unstaged => Index,
            Kind::RefMoved | Kind::RefCreated | Kind::RefDeleted => Refs,
            Kind::StashAdded | Kind::StashDropped => Stash,
            Kind::ConfigChanged => Config,
            Kind::HookChanged => Hooks,
            Kind::HeadMoved => Head,
        }
    }
}

/// Subcommands that change nothing.
const READERS: [&str; 31] = [
    "status",
    "log",
    "diff",
    "show",
    "rev-parse",
    "rev-list",
    "ls-files",
    "ls-tree",
    "ls-remote",
    "cat-file",
    "blame",
    "annotate",
    "grep",
    "for-each-ref",
    "describe",
    "shortlog",
    "show-ref",
    "name-rev",
    "merge-base",
    "diff-tree",
    "diff-index",
    "diff-files",
    "check-ignore",
    "check-attr",
    "count-objects",
    "fsck",
    "var",
    "version",
    "help",
    "whatchanged",
    "cherry",
];

/// A git command that acts on the user's repository. What it is limited to is None when it concerns all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitReach {
    classes: &'static [Class],
    /// Absolute paths.
    files: Option<Vec<String>>,
    /// Full or short names.
    references: Option<Vec<String>>,
}

impl GitReach {
    /// `name` is an absolute path for a file, and the full name of a reference.
    pub(super) fn covers(&self, class: Class, name: &str) -> bool {
        let limited = match class {
            Files | Index => self.files.as_ref().is_none_or(|files| files.iter().any(|file| leads_to(file, name))),
            Refs => self.references.as_ref().is_none_or(|names| names.iter().any(|one| is_short_for(one, name))),
            Head | Stash | Config | Hooks => true,
        };
        limited && self.classes.contains(&class)
    }
}

/// Such as `main` for `refs/heads/main`. Through HEAD, any branch can move.
fn is_short_for(short: &str, name: &str) -> bool {
    let full = name.strip_suffix(short);
    short == "HEAD" || full.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GitEffect {
    Repository(GitReach),
    Paths(Vec<Reach>),
}

pub(super) fn effect(simple: &Simple, scene: &Scene) -> GitEffect {
    let invoked = Invoked::read(simple, scene);
    if invoked.is_users {
        return GitEffect::Repository(invoked.reach(scene));
    }
    let targets = invoked.operands().filter_map(|word| scene.target(invoked.directory.as_deref(), word));
    let paths: Vec<String> = targets
        .filter_map(|target| match target {
            Target::Path(path) => Some(path),
            Target::Below(_) => None,
        })
        .collect();
    match invoked.subcommand {
        Some("config") if !invoked.only_reads("config") => GitEffect::Paths(invoked.configuration_files(scene)),
        // A push into the user's repository by its path.
        Some("push") if paths.iter().any(|path| scene.is_users(path)) => {
            GitEffect::Repository(GitReach { classes: &[Refs], files: None, references: invoked.references("push") })
        }
        Some("clone" | "init" | "worktree" | "archive" | "format-patch" | "bundle") => {
            GitEffect::Paths(paths.into_iter().map(|top| Reach::Tree { top, names: Vec::new() }).collect())
        }
        Some(_) | None => GitEffect::Paths(Vec::new()),
    }
}

struct Invoked<'a> {
    subcommand: Option<&'a str>,
    words: Vec<&'a str>,
    directory: Option<String>,
    is_users: bool,
}

impl<'a> Invoked<'a> {
    fn read(simple: &'a Simple, scene: &Scene) -> Self {
        let mut directory = simple.directory.clone();
        let mut places: Vec<&str> = Vec::new();
        let variables = ["GIT_DIR", "GIT_WORK_TREE"].iter().filter_map(|name| simple.variables.get(*name));
        places.extend(variables.map(String::as_str));
        let mut words = simple.words.iter().map(String::as_str);
        let mut subcommand = None;
        while let Some(word) = words.next() {
            match word {
                "-C" => directory = words.next().and_then(|to| scene.directory(directory.as_deref(), to)),
                "--git-dir" | "--work-tree" => places.extend(words.next()),
                "-c" | "--namespace" | "--exec-path" => drop(words.next()),
                _ if word.starts_with('-') => {
                    let joined = word.strip_prefix("--git-dir=").or_else(|| word.strip_prefix("--work-tree="));
                    places.extend(joined);
                }
                _ => {
                    subcommand = Some(word);
                    break;
                }
            }
        }
        let named = places.iter().filter_map(|place| scene.directory(directory.as_deref(), place));
        let is_users = named.chain(directory.clone()).any(|place| scene.is_users(&place));
        Self { subcommand, words: words.collect(), directory, is_users }
    }

    fn operands(&self) -> impl Iterator<Item = &'a str> {
        self.words.iter().copied().filter(|word| !word.starts_with('-'))
    }

    fn has(&self, flags: &[&str]) -> bool {
        self.words.iter().any(|word| flags.contains(word))
    }

    /// The files that `git config` writes to.
    fn configuration_files(&self, scene: &Scene) -> Vec<Reach> {
        let after = |word: &&&str| matches!(**word, "-f" | "--file");
        let at = self.words.iter().position(|word| after(&word)).and_then(|at| self.words.get(at + 1).copied());
        let joined = self.words.iter().find_map(|word| word.strip_prefix("--file="));
        let named = at.or(joined).and_then(|word| scene.target(self.directory.as_deref(), word));
        let named = named.map(|target| match target {
            Target::Path(path) | Target::Below(path) => path,
        });
        let global = if self.has(&["--global"]) { scene.global_settings().to_vec() } else { Vec::new() };
        named.into_iter().chain(global).map(Reach::Path).collect()
    }

    fn reach(&self, scene: &Scene) -> GitReach {
        let subcommand = self.subcommand.unwrap_or("help");
        let files = self.pathspecs(subcommand).map(|words| {
            let target = |word: &&str| match scene.target(self.directory.as_deref(), word)? {
                Target::Path(path) | Target::Below(path) => Some(path),
            };
            words.iter().filter_map(target).collect()
        });
        let classes = if self.only_reads(subcommand) { &[] } else { self.classes(subcommand) };
        GitReach { classes, files, references: self.references(subcommand) }
    }

    /// The references that a subcommand is limited to, when it is.
    fn references(&self, subcommand: &str) -> Option<Vec<String>> {
        let skipped = match subcommand {
            "branch" | "tag" | "update-ref" | "checkout" | "switch" => 0,
            // The first is where it goes.
            "push" => 1,
            _ => return None,
        };
        let target = |word: &str| word.rsplit(':').next().unwrap_or_default().trim_start_matches('+').to_owned();
        let names: Vec<String> = self.operands().skip(skipped).map(target).collect();
        (!names.is_empty()).then_some(names)
    }

    /// The files that a subcommand is limited to, when it is.
    fn pathspecs(&self, subcommand: &str) -> Option<Vec<&'a str>> {
        let behind = self.words.iter().position(|word| *word == "--").map(|at| self.words[at + 1..].to_vec());
        let operands = || self.operands().collect::<Vec<_>>();
        let found = match subcommand {
            "add" | "stage" | "rm" | "mv" | "restore" | "clean" | "update-index" => behind.or_else(|| Some(operands())),
            "checkout" | "reset" | "stash" | "commit" => behind,
            _ => None,
        };
        found.filter(|words| !words.is_empty())
    }

    /// The forms of a subcommand that only show something.
    fn only_reads(&self, subcommand: &str) -> bool {
        let first = self.operands().next();
        let operands = self.operands().count();
        match subcommand {
            "stash" => matches!(first, Some("list" | "show")),
            "branch" | "tag" => {
                operands == 0 || self.has(&["-l", "--list", "--show-current", "--contains", "--merged"])
            }
            "config" => {
                let asks = ["--get", "--get-all", "--get-regexp", "-l", "--list"];
                let changes = ["--unset", "--unset-all", "--remove-section", "--rename-section", "--edit", "-e"];
                self.has(&asks) || matches!(first, Some("get" | "list")) || (operands == 1 && !self.has(&changes))
            }
            "remote" => matches!(first, None | Some("show" | "get-url")),
            "worktree" => first == Some("list"),
            "submodule" => matches!(first, None | Some("status" | "summary")),
            "symbolic-ref" => operands < 2 && !self.has(&["-d", "--delete"]),
            "reflog" => !matches!(first, Some("expire" | "delete")),
            "notes" => matches!(first, None | Some("list" | "show")),
            "bisect" => matches!(first, Some("log" | "view" | "visualize")),
            "apply" => self.has(&["--check", "--stat"]),
            _ => READERS.contains(&subcommand),
        }
    }

    fn classes(&self, subcommand: &str) -> &'static [Class] {
        let with_files = self.pathspecs(subcommand).is_some();
        match subcommand {
            "add" | "stage" | "read-tree" => &[Index],
            // A file that git is set to overlook is listed like a changed one.
            "update-index" => &[Files, Index],
            "rm" | "mv" | "restore" | "apply" | "checkout-index" => &[Files, Index],
            "clean" => &[Files],
            "checkout" if with_files => &[Files, Index],
            "checkout" | "switch" if self.has(&["-b", "-B", "-c", "-C", "--orphan"]) => &[Files, Index, Refs, Head],
            "checkout" | "switch" => &[Files, Index, Head],
            "reset" if with_files => &[Index],
            "reset" if self.has(&["--hard", "--merge", "--keep"]) => &[Files, Index, Refs, Head],
            "reset" | "commit" => &[Index, Refs, Head],
            "merge" | "rebase" | "cherry-pick" | "revert" | "pull" | "am" => &[Files, Index, Refs, Head],
            "stash" if matches!(self.operands().next(), Some("drop" | "clear" | "store")) => &[Stash],
            "stash" => &[Files, Index, Stash],
            "reflog" => &[Stash],
            "branch" => &[Refs, Head, Config],
            "update-ref" => &[Refs, Head, Stash],
            "symbolic-ref" => &[Head],
            "push" => &[Refs, Config],
            "tag" | "fetch" | "replace" | "notes" | "fast-import" | "pack-refs" => &[Refs],
            "config" | "maintenance" | "sparse-checkout" => &[Config],
            "remote" => &[Config, Refs],
            "worktree" => &[Refs, Files, Config],
            "submodule" => &[Config, Files, Index],
            "init" => &[Config, Hooks],
            "gc" | "prune" | "repack" => &[],
            // An alias or a program of its own can do anything.
            _ => &[Files, Index, Refs, Head, Stash, Config, Hooks],
        }
    }
}
