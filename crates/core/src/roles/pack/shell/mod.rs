//! Splits a command line into what OpenCode asks for: one text for each simple command in it, also for those in
//! substitutions, subshells and loops.
//!
//! It follows the grammar that OpenCode parses with, mistakes included: a redirection behind the second or a later
//! command of a list or a pipe belongs to no command there, so no rule ever sees it, nor the arguments behind it.
//! The same holds for what stands alone (`> file`), behind brackets, behind `cd` and behind `export`. What cannot
//! be followed with certainty is [`Unclear`].
//!
//! A reader of our own and not tree-sitter-bash, whose grammar OpenCode uses: the two agree on each line of the table
//! in `tests/shell.rs`, the grammar would add 5 CPU-seconds to a clean build and more than a megabyte to the program,
//! and what OpenCode does not see would still have to be found here. What tree-sitter reads with an error is refused.

mod paths;
mod reader;
mod simple;
mod words;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// The texts that rules for `bash` are matched with, in the order of the line.
    pub asked: Vec<String>,
    /// Paths in commands whose paths OpenCode looks at, as far as they can be known before the command runs.
    pub paths: Vec<String>,
    /// Parts that run and that no rule sees.
    pub unseen: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    #[error("{0} is not closed")]
    Unclosed(&'static str),
    #[error("{0} cannot be followed")]
    Construct(&'static str),
}

pub fn split(line: &str) -> Result<Split, Unclear> {
    // Two pairs of backticks on a line are one to OpenCode's grammar.
    if line.matches('`').count() > 2 {
        return Err(Unclear::Construct("more than one pair of backticks"));
    }
    let mut reader = reader::Reader::new(line);
    reader.statements(reader::End::OfText)?;
    Ok(reader.finish())
}
