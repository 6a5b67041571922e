//! Everything that the texts instruct an agent to run or to call exists: every command with its flags, every tool,
//! argument and view.

use super::*;
use crate::{cli::Cli, mcp::Toolset};
use clap::CommandFactory;

/// Head and body of each file.
fn files() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    AGENTS.iter().chain(&COMMANDS).map(|(path, text)| {
        let (head, body) = text.trim_start_matches("---\n").split_once("\n---\n").unwrap();
        (*path, head, body)
    })
}

/// A body in one line, because names may be broken at its margin.
fn line_of(body: &str) -> String {
    body.replace("```", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts between back-ticks.
fn quoted(line: &str) -> Vec<String> {
    line.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The text directly behind a phrase, up to its closing character.
fn behind(line: &str, phrase: &str, close: char) -> Vec<String> {
    line.split(phrase).skip(1).filter_map(|rest| rest.split(close).next()).map(str::to_owned).collect()
}

fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut inside = false;
    for letter in line.chars() {
        match letter {
            '"' => inside = !inside,
            ' ' if !inside => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    words
}

/// Why a line cannot be a command of this program. Values are not checked, and may be left out with what needs them.
fn wrong(line: &str) -> Option<String> {
    let mut whole = Cli::command();
    whole.build();
    let mut command = &whole;
    let mut values = 0;
    let mut words = words(line).into_iter().skip(1).filter(|word| word != "*").peekable();
    while let Some(word) = words.next() {
        let known = |argument: &&clap::Arg| match word.strip_prefix("--") {
            Some(long) => argument.get_long() == Some(long),
            None => word
                .strip_prefix('-')
                .is_some_and(|short| argument.get_short().map(String::from).as_deref() == Some(short)),
        };
        if word.starts_with('-') {
            match command.get_arguments().find(known) {
                None => return Some(format!("{} has no {word}", command.get_name())),
                Some(argument) if argument.get_action().takes_values() => drop(words.next()),
                Some(_) => {}
            }
        } else if let Some(inner) = command.find_subcommand(&word).filter(|_| values == 0) {
            command = inner;
        } else {
            values += 1;
        }
    }
    let room: usize = command
        .get_positionals()
        .map(|argument| argument.get_num_args().map_or(1, |count| count.max_values()))
        .fold(0, usize::saturating_add);
    if values > room {
        return Some(format!("{} takes {room} values, not {values}", command.get_name()));
    }
    command.is_subcommand_required_set().then(|| format!("{} alone does nothing", command.get_name()))
}

#[test]
fn what_is_no_command_is_noticed() {
    for line in [
        "shuntyard spec run",
        "shuntyard spec new <id> --title \"<some title>\" --unit <slug>",
        "shuntyard models --json",
    ] {
        assert_eq!(wrong(line), None, "{line}");
    }
    for line in [
        "shuntyard spec",
        "shuntyard spec walk",
        "shuntyard spec run --fast",
        "shuntyard worker list coder",
        "shuntyard -x",
    ] {
        assert!(wrong(line).is_some(), "{line}");
    }
}

#[test]
fn every_command_that_is_named_is_there() {
    let mut count = 0;
    for (path, head, body) in files() {
        let ruled = head.lines().filter_map(|line| line.trim().strip_prefix('"')?.split('"').next()).map(str::to_owned);
        let all = quoted(&line_of(body)).into_iter().chain(ruled);
        for line in all.filter(|line| line.starts_with("shuntyard ")) {
            assert_eq!(wrong(&line), None, "{path}: {line}");
            count += 1;
        }
        // What is run while a command is read must be whole.
        for line in behind(body, "!`shuntyard", '`') {
            let line = words(&format!("shuntyard{line}"));
            assert!(Cli::command().try_get_matches_from(&line).is_ok(), "{path}: {line:?}");
        }
    }
    assert!(count > 20, "only {count} were found");
}

#[test]
fn every_flag_that_is_named_alone_belongs_to_a_command_of_that_text() {
    for (path, _, body) in files() {
        let quoted = quoted(&line_of(body));
        let commands: Vec<&String> = quoted.iter().filter(|line| line.starts_with("shuntyard ")).collect();
        for flag in quoted.iter().filter(|line| line.starts_with("--")) {
            let fits = commands.iter().any(|command| wrong(&format!("{command} {flag}")).is_none());
            assert!(fits, "{path}: {flag} fits none of {commands:?}");
        }
    }
}

#[test]
fn every_tool_is_there_with_what_it_is_given() {
    let tools = Toolset::All.tools();
    let choices = |tool: &str, field: &str| {
        let tool = tools.iter().find(|known| known.name() == tool).unwrap();
        format!("{:?}", tool.fields().iter().find(|known| known.name == field).unwrap().kind)
    };
    let views = choices("task_list", "view");
    let (kinds, operations) = (choices("task_start", "kind"), choices("task_start", "op"));
    let settings: toml::Table = shuntyard_core::settings::DEFAULTS.parse().unwrap();
    let mut count = 0;
    for (path, head, body) in files() {
        let line = line_of(body);
        for named in format!("{head}\n{line}").split("shuntyard_").skip(1) {
            let name: String =
                named.chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '_').collect();
            // The prefix alone means all of them.
            assert!(name.is_empty() || tools.iter().any(|tool| tool.name() == name), "{path}: shuntyard_{name}");
            count += usize::from(!name.is_empty());
        }
        for view in behind(&line, "view `", '`').into_iter().chain(listed(&line)) {
            assert!(views.contains(&format!("{view:?}")), "{path}: view {view}");
        }
        for kind in behind(&line, "`kind` \"", '"') {
            assert!(kinds.contains(&format!("{kind:?}")), "{path}: kind {kind}");
        }
        for operation in behind(&line, "\"worker.", '"') {
            assert!(operations.contains(&format!("\"worker.{operation}\"")), "{path}: worker.{operation}");
        }
        for task_type in behind(&line, "`taskType` \"", '"') {
            assert!(settings["task_types"].get(&task_type).is_some(), "{path}: {task_type}");
        }
        let compound = |word: &&String| {
            word.chars().all(char::is_alphabetic)
                && word.starts_with(char::is_lowercase)
                && word.contains(char::is_uppercase)
        };
        for argument in quoted(&line).iter().filter(compound) {
            let known = tools.iter().any(|tool| tool.fields().iter().any(|field| field.name == argument));
            assert!(known, "{path}: {argument}");
        }
    }
    assert!(count > 30, "only {count} were found");
}

/// Those behind "views", each with what it is for in brackets or without.
fn listed(line: &str) -> Vec<String> {
    let sentences = line.split("views `").skip(1).filter_map(|rest| rest.split(". ").next());
    sentences.flat_map(|sentence| quoted(&format!("`{sentence}"))).collect()
}
