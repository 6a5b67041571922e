//! Reads a shell text into its simple commands, each with the directory that it runs in.
//!
//! It is tolerant: a text that no shell would accept still gives words. Variables that the text itself sets and the
//! directories that it changes to are followed; what only the shell knows stays unknown.

mod lexer;

use super::resolve::{Scene, UNKNOWN};
use lexer::{Lexer, Token};
use std::collections::{BTreeMap, BTreeSet};

/// Texts within texts that are followed, such as `sh -c` in `$(…)`.
const DEPTH: u8 = 6;
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "fish"];
/// Words before a command that do not change what it does.
const KEYWORDS: [&str; 13] =
    ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "time"];
const WRAPPERS: [&str; 12] =
    ["sudo", "doas", "env", "nohup", "nice", "ionice", "timeout", "command", "exec", "xargs", "stdbuf", "setsid"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// The name without its directory.
    pub program: String,
    pub words: Vec<String>,
    /// Files that its output goes to.
    pub outputs: Vec<String>,
    /// Set for this command, as `GIT_DIR=… git`, or exported before it.
    pub variables: BTreeMap<String, String>,
    /// None when it is unknown.
    pub directory: Option<String>,
}

pub(super) fn commands(text: &str, directory: &str, scene: &Scene) -> Vec<Simple> {
    let mut reader = Reader::new(directory, scene);
    reader.read(text, DEPTH);
    reader.found
}

struct Reader<'a> {
    scene: &'a Scene,
    directory: Option<String>,
    previous: Option<String>,
    outer: Vec<Option<String>>,
    variables: BTreeMap<String, String>,
    /// The names of those that programs see.
    exported: BTreeSet<String>,
    found: Vec<Simple>,
}

#[derive(Default)]
struct Pending {
    words: Vec<String>,
    outputs: Vec<String>,
    /// Texts that are fed to it.
    inputs: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(directory: &str, scene: &'a Scene) -> Self {
        let (directory, variables) = (Some(directory.to_owned()), BTreeMap::new());
        let (outer, exported, found) = (Vec::new(), BTreeSet::new(), Vec::new());
        Self { scene, directory, previous: None, outer, variables, exported, found }
    }

    fn read(&mut self, text: &str, depth: u8) {
        let mut lexer = Lexer::new(text);
        let mut pending = Pending::default();
        loop {
            let variables = &self.variables;
            let value = |name: &str| match name {
                "HOME" => Some(self.scene.home.clone()),
                "PWD" => self.directory.clone(),
                "OLDPWD" => self.previous.clone(),
                _ => variables.get(name).cloned(),
            };
            match lexer.next(&value) {
                Token::Word(word) => pending.words.push(word),
                Token::Output(word) => pending.outputs.push(word),
                Token::Input(text) => pending.inputs.push(text),
                Token::Nested(text) => self.aside(&text, depth),
                Token::Open => {
                    self.finish(std::mem::take(&mut pending), depth);
                    self.outer.push(self.directory.clone());
                }
                Token::Close => {
                    self.finish(std::mem::take(&mut pending), depth);
                    if let Some(directory) = self.outer.pop() {
                        self.directory = directory;
                    }
                }
                Token::Break => self.finish(std::mem::take(&mut pending), depth),
                Token::End => return self.finish(pending, depth),
            }
        }
    }

    /// A text that another shell runs: what it sets and where it goes ends with it.
    fn aside(&mut self, text: &str, depth: u8) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let kept = (self.directory.clone(), self.previous.clone(), self.variables.clone(), self.outer.clone());
        self.read(text, depth);
        (self.directory, self.previous, self.variables, self.outer) = kept;
    }

    fn finish(&mut self, pending: Pending, depth: u8) {
        let mut words = pending.words.into_iter().skip_while(|word| KEYWORDS.contains(&word.as_str())).peekable();
        let mut own = BTreeMap::new();
        while let Some((name, value)) = words.peek().and_then(|word| assignment(word)) {
            own.insert(name, value);
            words.next();
        }
        let words: Vec<String> = words.collect();
        let (program, mut words) = unwrapped(words, &mut own);
        let operands: Vec<String> = words.iter().filter(|word| !word.starts_with('-')).cloned().collect();
        match program.as_str() {
            "" => self.variables.append(&mut own),
            "export" | "declare" | "local" | "readonly" | "typeset" => {
                self.variables.extend(words.iter().filter_map(|word| assignment(word)));
                let names = operands.iter().map(|word| word.split('=').next().unwrap_or(word).to_owned());
                self.exported.extend(names);
            }
            // A loop gives its variable one value after the other.
            "for" | "select" => {
                let value = if let [_, _, only] = words.as_slice() { only.clone() } else { UNKNOWN.to_string() };
                self.variables.extend(words.first().map(|name| (name.clone(), value)));
                // The names are kept, because the body can use each of them.
                self.found.push(Simple { program, words, directory: self.directory.clone(), ..Simple::default() });
                return;
            }
            "read" => {
                self.variables.extend(operands.into_iter().map(|name| (name, UNKNOWN.to_string())));
            }
            "cd" | "chdir" | "pushd" => {
                let next = match operands.first() {
                    _ if words.iter().any(|word| word == "-") => self.previous.clone(),
                    Some(to) => self.scene.directory(self.directory.as_deref(), to),
                    None => Some(self.scene.home.clone()),
                };
                self.previous = std::mem::replace(&mut self.directory, next);
            }
            "popd" => std::mem::swap(&mut self.directory, &mut self.previous),
            "eval" => {
                let text = std::mem::take(&mut words).join(" ");
                if let Some(depth) = depth.checked_sub(1) {
                    self.read(&text, depth);
                }
            }
            shell if SHELLS.contains(&shell) => self.shell(&mut words, &pending.inputs, depth),
            _ => {}
        }
        if program.is_empty() && pending.outputs.is_empty() {
            return;
        }
        let fed = if takes_programs(&program) { pending.inputs } else { Vec::new() };
        let words = words.into_iter().chain(fed).collect();
        let directory = self.directory.clone();
        let exported = self.exported.iter().filter_map(|name| Some((name.clone(), self.variables.get(name)?.clone())));
        let variables = exported.chain(own).collect();
        self.found.push(Simple { program, words, outputs: pending.outputs, variables, directory });
    }

    /// A script in the words is read for itself, and is none of the shell's own words.
    fn shell(&mut self, words: &mut Vec<String>, inputs: &[String], depth: u8) {
        let is_flag = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
        if let Some(flag) = words.iter().position(is_flag)
            && flag + 1 < words.len()
        {
            let script = words.remove(flag + 1);
            self.aside(&script, depth);
        }
        for text in inputs {
            self.aside(text, depth);
        }
    }
}

/// Programs that run what they read. What another one reads is only a text.
fn takes_programs(program: &str) -> bool {
    ["python", "perl", "ruby", "node", "deno", "bun", "php"].iter().any(|name| program.starts_with(name))
}

fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_name = name.chars().all(letter) && name.starts_with(|first: char| !first.is_ascii_digit());
    is_name.then(|| (name.to_owned(), value.to_owned()))
}

/// The program that runs in the end, and its words.
fn unwrapped(words: Vec<String>, own: &mut BTreeMap<String, String>) -> (String, Vec<String>) {
    let mut words = words.into_iter().peekable();
    let mut wrapped = false;
    while let Some(word) = words.next() {
        let name = word.rsplit('/').next().unwrap_or_default().to_owned();
        if WRAPPERS.contains(&name.as_str()) {
            wrapped = true;
        } else if let Some((name, value)) = assignment(&word).filter(|_| wrapped) {
            own.insert(name, value);
        } else if !(wrapped && is_setting(&word)) {
            return (name, words.collect());
        }
    }
    (String::new(), Vec::new())
}

/// A flag of a wrapper, its number, or the place that it fills in.
fn is_setting(word: &str) -> bool {
    word.starts_with(|first: char| first == '-' || first == UNKNOWN || first.is_ascii_digit())
}
