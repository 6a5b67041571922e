//! What is wanted at the cursor, from the description of the commands and the words before it. Pure.

use clap::{Arg, ArgAction, Command, builder::PossibleValue};
use shuntyard_core::work::task::{Phase, TaskId};
use std::{any::TypeId, path::PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub value: String,
    pub about: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    Files,
    Directories,
    Candidates(Vec<Candidate>),
    /// Names that only the store, the configuration or the list of models has. `head` precedes each of them.
    Dynamic {
        source: Source,
        head: String,
        typed: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Tasks,
    Batches,
    Models,
    Providers,
    Tiers,
    TaskTypes,
    Tags,
    Profiles,
    Settings,
}

/// `words` are those after the program's name; the last one is the one at the cursor and may be empty.
pub fn wanted(root: &Command, words: &[String]) -> Wanted {
    let (current, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let place = Place::after(root, before);
    if let Some(option) = place.pending {
        return value_of(option, current, "");
    }
    if place.only_positionals {
        return place.positional(current);
    }
    if let Some((name, typed)) = current.strip_prefix("--").and_then(|rest| rest.split_once('=')) {
        let option = place.command.get_arguments().find(|arg| arg.get_long() == Some(name));
        return option.map_or(Wanted::Candidates(Vec::new()), |arg| value_of(arg, typed, &format!("--{name}=")));
    }
    if current.starts_with('-') {
        return Wanted::Candidates(options(place.command, current));
    }
    place.subcommands_or_positional(current)
}

/// Where the words before the cursor lead.
struct Place<'a> {
    command: &'a Command,
    /// An option that still wants its value.
    pending: Option<&'a Arg>,
    /// Positional arguments that are there already.
    given: usize,
    only_positionals: bool,
}

impl<'a> Place<'a> {
    fn after(root: &'a Command, words: &[String]) -> Self {
        let mut place = Self { command: root, pending: None, given: 0, only_positionals: false };
        for word in words {
            place.step(word);
        }
        place
    }

    fn step(&mut self, word: &str) {
        if self.pending.take().is_some() {
            return;
        }
        if self.only_positionals {
            self.given += 1;
        } else if word == "--" {
            self.only_positionals = true;
        } else if let Some(long) = word.strip_prefix("--") {
            self.pending =
                self.command.get_arguments().find(|arg| arg.get_long() == Some(long) && waits_for_value(arg));
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            self.short(letters);
        } else if let Some(inner) = self.command.find_subcommand(word).filter(|_| self.given == 0) {
            self.command = inner;
        } else {
            self.given += 1;
        }
    }

    /// `-m`, `-mVALUE`: a value may follow its letter at once.
    fn short(&mut self, letters: &str) {
        let option = letters.char_indices().find_map(|(at, letter)| {
            let arg = self.command.get_arguments().find(|arg| arg.get_short() == Some(letter))?;
            waits_for_value(arg).then_some((at + letter.len_utf8(), arg))
        });
        if let Some((end, arg)) = option {
            self.pending = (end == letters.len()).then_some(arg);
        }
    }

    fn subcommands_or_positional(&self, current: &str) -> Wanted {
        let commands = self.command.get_subcommands().filter(|inner| self.given == 0 && !inner.is_hide_set());
        let mut candidates: Vec<Candidate> = commands
            .filter(|inner| inner.get_name().starts_with(current))
            .map(|inner| candidate(inner.get_name(), inner.get_about()))
            .collect();
        if candidates.is_empty() {
            return self.positional(current);
        }
        if let Wanted::Candidates(more) = self.positional(current) {
            candidates.extend(more);
        }
        Wanted::Candidates(candidates)
    }

    fn positional(&self, current: &str) -> Wanted {
        let mut positionals: Vec<&Arg> = self.command.get_positionals().collect();
        positionals.sort_by_key(|arg| arg.get_index());
        let repeats = |arg: &&&Arg| matches!(arg.get_action(), ArgAction::Append);
        let next = positionals.get(self.given).or_else(|| positionals.last().filter(repeats));
        next.map_or(Wanted::Candidates(Vec::new()), |arg| value_of(arg, current, ""))
    }
}

/// Whether the next word is its value; one that has to follow a `=` is in the same word.
fn waits_for_value(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
}

fn options(command: &Command, typed: &str) -> Vec<Candidate> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let named = shown.filter_map(|arg| Some((format!("--{}", arg.get_long()?), arg)));
    named.filter(|(name, _)| name.starts_with(typed)).map(|(name, arg)| candidate(&name, arg.get_help())).collect()
}

fn candidate(value: &str, about: Option<&clap::builder::StyledStr>) -> Candidate {
    let about = about.map(ToString::to_string).unwrap_or_default();
    Candidate { value: value.to_owned(), about: about.lines().next().unwrap_or_default().to_owned() }
}

fn value_of(arg: &Arg, typed: &str, before: &str) -> Wanted {
    // Of a list with commas, the last item is the one at the cursor.
    let (head, typed) = match arg.get_value_delimiter().and_then(|comma| typed.rsplit_once(comma)) {
        Some((items, last)) => (format!("{before}{items},"), last),
        None => (before.to_owned(), typed),
    };
    let possible: Vec<PossibleValue> = arg.get_possible_values();
    if !possible.is_empty() {
        let fitting = possible.iter().filter(|value| !value.is_hide_set() && value.get_name().starts_with(typed));
        let shown = fitting.map(|value| candidate(&format!("{head}{}", value.get_name()), value.get_help()));
        return Wanted::Candidates(shown.collect());
    }
    if is_of::<Phase>(arg) {
        let names = Phase::ALL.map(Phase::as_str).into_iter().filter(|name| name.starts_with(typed));
        return Wanted::Candidates(names.map(|name| candidate(&format!("{head}{name}"), None)).collect());
    }
    match source_of(arg) {
        Some(source) => Wanted::Dynamic { source, head, typed: typed.to_owned() },
        None if value_name(arg) == "DIR" => Wanted::Directories,
        None if is_of::<PathBuf>(arg) || matches!(value_name(arg), "FILE" | "PROMPT" | "TEXT") => Wanted::Files,
        None => Wanted::Candidates(Vec::new()),
    }
}

/// What an argument takes, by the type of its value or, where that is only text, by its name.
fn source_of(arg: &Arg) -> Option<Source> {
    // The id of a task that is about to be made is a new one.
    if is_of::<TaskId>(arg) && arg.get_long() != Some("id") {
        return Some(Source::Tasks);
    }
    match arg.get_id().as_str() {
        "model" | "models" | "judge" | "fixer" | "synthesis" | "med" | "low" => return Some(Source::Models),
        "batch" => return Some(Source::Batches),
        "task" | "tasks" => return Some(Source::Tasks),
        "profile" => return Some(Source::Profiles),
        "key" => return Some(Source::Settings),
        _ => {}
    }
    match value_name(arg) {
        "TIER" => Some(Source::Tiers),
        "TYPE" | "TASK_TYPE" => Some(Source::TaskTypes),
        "TAG" => Some(Source::Tags),
        "PROVIDER" => Some(Source::Providers),
        "BATCH" => Some(Source::Batches),
        _ => None,
    }
}

fn value_name(arg: &Arg) -> &str {
    arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str())
}

fn is_of<T: 'static>(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<T>()
}

#[cfg(test)]
mod tests;
