//! Agent files of OpenCode: their content, what their permission rules come to, and what is wrong with them.
//!
//! Everything here is a function of text. The evaluator gives the answers of OpenCode 1.18, including the
//! surprising ones; a test against the real program holds it to that.

pub mod agent_file;
mod cut;
pub mod edit;
pub mod frontmatter;
pub mod jsonc;
pub mod lint;
pub mod outside;
pub mod permission;
pub mod shell;
pub mod v2;
pub mod wildcard;
pub mod yaml;

#[cfg(test)]
mod tests;

pub use edit::{EditError, set_value};
pub use frontmatter::Frontmatter;
pub use lint::{Finding, Severity, lint};
pub use permission::{Action, Decision, Rule, ShellDecision, evaluate, evaluate_shell};
