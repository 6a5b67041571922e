//! Tables and properties: the reader of frontmatter, the change of one value, globs, rules and command lines.

mod edit;
mod frontmatter;
mod outside;
mod permission;
mod shell;
mod wildcard;
