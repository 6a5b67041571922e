//! What a simple command can change, by the program that it runs.

use super::{
    resolve::{Scene, Target, WILD, is_at, leads_to},
    shell::Simple,
};

/// Programs that change none of the files they are given.
const READERS: [&str; 51] = [
    "cat",
    "less",
    "more",
    "head",
    "tail",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "ls",
    "diff",
    "cmp",
    "comm",
    "wc",
    "stat",
    "file",
    "du",
    "df",
    "tree",
    "nl",
    "od",
    "xxd",
    "hexdump",
    "strings",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "cksum",
    "realpath",
    "readlink",
    "basename",
    "dirname",
    "pwd",
    "echo",
    "printf",
    "test",
    "[",
    "[[",
    "true",
    "cd",
    "chdir",
    "pushd",
    "popd",
    "export",
    "jq",
    "which",
    "type",
    "for",
    "source",
    ".",
];
const INTERPRETERS: [&str; 13] =
    ["sh", "bash", "zsh", "dash", "ksh", "fish", "python", "python3", "perl", "ruby", "node", "deno", "php"];

/// What one command can change in the user's checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reach {
    /// This very path.
    Path(String),
    /// This path and everything below it, if the last name is one of these patterns. None allow every name.
    Tree { top: String, names: Vec<String> },
    /// A path below this directory whose remaining part is mentioned.
    Named { directory: String, mentioned: Vec<String> },
}

impl Reach {
    pub(super) fn covers(&self, path: &str) -> bool {
        match self {
            Self::Path(pattern) => is_at(pattern, path),
            Self::Tree { top, names } => {
                let last = path.rsplit('/').next().unwrap_or_default();
                leads_to(top, path) && (names.is_empty() || names.iter().any(|name| is_at(name, last)))
            }
            Self::Named { directory, mentioned } => {
                let rest = path.strip_prefix(directory.as_str()).and_then(|rest| rest.strip_prefix('/'));
                rest.is_some_and(|rest| mentioned.iter().any(|word| word.trim_start_matches("./") == rest))
            }
        }
    }
}

/// `mentioned` are the words of the whole text: a loop or a variable can bring each of them to any command.
pub(super) fn reaches(simple: &Simple, mentioned: &[String], scene: &Scene) -> Vec<Reach> {
    let to = Resolver { simple, mentioned, scene };
    let mut found: Vec<Reach> = simple.outputs.iter().filter_map(|word| to.path(word)).collect();
    found.extend(match simple.program.as_str() {
        reader if READERS.contains(&reader) => Vec::new(),
        "sed" if !edits_in_place(simple) => Vec::new(),
        "awk" | "gawk" | "mawk" if !simple.words.iter().any(|word| word == "inplace") => Vec::new(),
        "sort" | "uniq" if !simple.words.iter().any(|word| word.starts_with("-o")) => Vec::new(),
        "find" => to.find(),
        "cp" | "install" | "ln" | "rsync" | "scp" => to.copies(),
        "mv" => to.copies().into_iter().chain(to.operands().filter_map(|word| to.tree(word))).collect(),
        "rm" | "chmod" | "chown" | "chgrp" if is_recursive(simple) => {
            to.operands().filter_map(|word| to.tree(word)).collect()
        }
        "rm" | "rmdir" | "unlink" | "shred" | "truncate" | "touch" | "mkdir" | "chmod" | "chown" | "chgrp" | "tee" => {
            to.operands().filter_map(|word| to.path(word)).collect()
        }
        "tar" | "unzip" | "patch" | "bsdtar" | "cpio" => to.anything().chain(to.unpacked()).collect(),
        _ => to.anything().collect(),
    });
    found
}

struct Resolver<'a> {
    simple: &'a Simple,
    mentioned: &'a [String],
    scene: &'a Scene,
}

impl<'a> Resolver<'a> {
    fn operands(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.simple.words.iter().map(String::as_str).filter(|word| !word.starts_with('-'))
    }

    fn target(&self, word: &str) -> Option<Target> {
        self.scene.target(self.simple.directory.as_deref(), word)
    }

    fn path(&self, word: &str) -> Option<Reach> {
        Some(match self.target(word)? {
            Target::Path(path) => Reach::Path(path),
            Target::Below(directory) => self.named(directory),
        })
    }

    fn tree(&self, word: &str) -> Option<Reach> {
        Some(match self.target(word)? {
            Target::Path(top) => Reach::Tree { top, names: Vec::new() },
            Target::Below(directory) => self.named(directory),
        })
    }

    fn named(&self, directory: String) -> Reach {
        Reach::Named { directory, mentioned: self.mentioned.to_vec() }
    }

    /// A program that is not known can change each path that it is given, also within a word, and each that it is
    /// given in two parts.
    fn anything(&self) -> impl Iterator<Item = Reach> {
        let given = self.simple.words.iter().skip(self.script());
        let parts: Vec<&str> = given.flat_map(|word| parts(word)).collect();
        let own: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        let named = |target| match target {
            Target::Path(path) => {
                [Some(Reach::Path(path.clone())), Some(Reach::Named { directory: path, mentioned: own.clone() })]
            }
            Target::Below(directory) => [Some(self.named(directory)), None],
        };
        let found: Vec<Reach> = parts.iter().filter_map(|part| self.target(part)).flat_map(named).flatten().collect();
        found.into_iter()
    }

    /// How many words at the beginning only name the script that an interpreter runs.
    fn script(&self) -> usize {
        let runs_a_file = INTERPRETERS.contains(&self.simple.program.as_str())
            && self.simple.words.first().is_some_and(|word| !word.starts_with('-'));
        usize::from(runs_a_file)
    }

    /// The directory that is unpacked or patched.
    fn unpacked(&self) -> Option<Reach> {
        let words = &self.simple.words;
        let creates = self.simple.program != "patch" && words.first().is_some_and(|flags| flags.contains('c'));
        let flag = words.iter().position(|word| matches!(word.as_str(), "-C" | "-d" | "--directory"));
        let after = flag.and_then(|at| words.get(at + 1)).map(String::as_str);
        let joined = words.iter().find_map(|word| word.strip_prefix("--directory="));
        let here = self.simple.directory.as_deref();
        (!creates).then(|| self.tree(after.or(joined).or(here)?)).flatten()
    }

    fn find(&self) -> Vec<Reach> {
        let acts = |word: &String| {
            ["-delete", "-fprint"].iter().any(|flag| word.starts_with(flag))
                || word.starts_with("-exec")
                || word.starts_with("-ok")
        };
        if !self.simple.words.iter().any(acts) {
            return Vec::new();
        }
        let starts = self.simple.words.iter().take_while(|word| !word.starts_with(['-', '(', '!']));
        let names: Vec<String> = self
            .simple
            .words
            .windows(2)
            .filter(|pair| matches!(pair[0].as_str(), "-name" | "-iname"))
            .map(|pair| pair[1].replace(['*', '?'], &WILD.to_string()))
            .collect();
        let tree = |word: &String| match self.tree(word)? {
            Reach::Tree { top, .. } => Some(Reach::Tree { top, names: names.clone() }),
            other => Some(other),
        };
        starts.filter_map(tree).collect()
    }

    /// Only the destination is written: the last operand, or what `-t` names.
    fn copies(&self) -> Vec<Reach> {
        let words = &self.simple.words;
        let flag = words.iter().position(|word| matches!(word.as_str(), "-t" | "--target-directory"));
        let named = flag.and_then(|at| words.get(at + 1)).map(String::as_str);
        let joined = words.iter().find_map(|word| word.strip_prefix("--target-directory="));
        let mut sources: Vec<&str> = self.operands().collect();
        let Some(into) = named.or(joined).or_else(|| sources.pop()) else { return Vec::new() };
        let Some(Target::Path(into)) = self.target(into) else { return Vec::new() };
        let mut found: Vec<Reach> = sources
            .iter()
            .map(|source| match source.rsplit('/').next() {
                None | Some("" | "." | "..") => into.clone(),
                Some(name) => format!("{into}/{name}"),
            })
            .map(|top| Reach::Tree { top, names: Vec::new() })
            .collect();
        // A copy gets the name of the destination when there is no such directory yet.
        if into != self.scene.root && !self.scene.root.starts_with(&format!("{into}/")) {
            found.push(Reach::Tree { top: into, names: Vec::new() });
        }
        found
    }
}

fn is_recursive(simple: &Simple) -> bool {
    let short = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']);
    simple.words.iter().any(|word| short(word) || word == "--recursive")
}

fn edits_in_place(simple: &Simple) -> bool {
    let short = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('i');
    simple.words.iter().any(|word| short(word) || word.starts_with("--in-place"))
}

/// A word and the texts in it that can be paths, as in `of=notes.txt` and `open('notes.txt')`.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let inside = word.split(|letter: char| letter.is_whitespace() || "'\"`()[]{},;=:<>|&".contains(letter));
    std::iter::once(word).chain(inside.filter(move |part| !part.is_empty() && *part != word))
}
