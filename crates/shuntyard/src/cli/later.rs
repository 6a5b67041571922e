//! Arguments that are described only once their command was called. Every start would pay for the
//! description of all commands otherwise, and `task add` is started for every task of a script.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

/// What belongs to a command, in a variant of the enum of its siblings.
#[derive(Debug)]
pub struct Later<T>(pub T);

impl<T: Args> Args for Later<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| introduced(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| introduced(command, T::augment_args_for_update))
    }
}

impl<T: Subcommand> Subcommand for Later<T> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(|command| introduced(command, T::augment_subcommands))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(|command| introduced(command, T::augment_subcommands_for_update))
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

impl<T: FromArgMatches> FromArgMatches for Later<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// The list of commands shows the words of the variant, and so does the help of the command: the comment on the type is
/// for readers of the code.
fn introduced(command: Command, describe: fn(Command) -> Command) -> Command {
    let about = command.get_about().cloned();
    let command = describe(command);
    match about {
        Some(about) => command.about(about).long_about(None),
        None => command,
    }
}
