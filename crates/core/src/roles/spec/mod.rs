//! Task artifacts of the workflow pack: `.ai/tasks/<NNN>-<id>/` with a spec, reports and a handoff, read and checked.
//!
//! The files belong to people and agents. They are read as they are; what is wrong with them is a list of faults
//! with lines, never a guess; and a spec whose execution is missing or unclear runs nothing.

mod check;
mod check_units;
mod context;
mod document;
mod edit;
mod execution;
mod fault;
mod handoff;
mod hidden;
mod name;
mod parse;
mod path;
mod pipeline;
mod report;
mod section;
mod standing;
mod units;
mod waves;

pub use check::{check_handoff, check_report, check_spec};
pub use check_units::{Child, Place};
pub use context::{agy_is_enabled, switches_agy_on, test_commands};
pub use document::{Document, Heading, Said, Section, plain_title};
pub use edit::{EditError, section_text, set_section};
pub use execution::{Agent, Role};
pub use fault::{Fault, Rule};
pub use handoff::{Blocked, Field, Handoff};
pub use hidden::Unclosed;
pub use name::{BadSlug, Slug, TaskName, UnitName, next_number, number_of, suggested};
pub use parse::{Spec, Stated};
pub use path::{PathFault, inside};
pub use pipeline::{Done, MOST_CYCLES, Next, RoleOutcome, next, steps};
pub use report::{Outcome, Report, Verdict, outcome, verdict};
pub use section::{Says, SectionKind};
pub use standing::{Artifacts, Standing, State, TestFiles, standing, standing_of_units};
pub use units::{MOST_UNITS, Parallel, Unit, UnitTable};
pub use waves::{NoOrder, waves};

#[cfg(test)]
mod tests;
