//! One agent file, read: its name, its mode, its rules and what is wrong with its head.

use super::{
    frontmatter::{Frontmatter, FrontmatterError},
    permission::{Rule, Wrong, flatten, opencode_defaults, subagent_denials},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Primary,
    Subagent,
    All,
}

impl Mode {
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "primary" => Some(Self::Primary),
            "subagent" => Some(Self::Subagent),
            "all" => Some(Self::All),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    pub path: String,
    pub name: String,
    /// As OpenCode takes it: a file without a mode is for all.
    pub mode: Mode,
    pub frontmatter: Frontmatter,
    /// The rules in the file.
    pub own: Vec<Rule>,
    /// What the agent works under: OpenCode's rules, its own, and those of a called agent if it is one.
    pub rules: Vec<Rule>,
    pub wrong: Vec<Wrong>,
}

impl AgentFile {
    pub fn parse(path: &str, text: &str) -> Result<Self, FrontmatterError> {
        let frontmatter = Frontmatter::parse(text)?;
        let flat = flatten(&frontmatter);
        let mode = frontmatter.text("mode").and_then(Mode::parse).unwrap_or(Mode::All);
        let called = match mode {
            Mode::Subagent => subagent_denials(&flat.rules),
            Mode::Primary | Mode::All => Vec::new(),
        };
        let name = frontmatter.text("name").map_or_else(|| name_of(path), str::to_owned);
        let rules = [opencode_defaults(), flat.rules.clone(), called].concat();
        Ok(Self { path: path.into(), name, mode, frontmatter, own: flat.rules, rules, wrong: flat.wrong })
    }

    #[must_use]
    pub fn disabled(&self) -> bool {
        self.frontmatter.get("disable").and_then(|entry| entry.value.truth()) == Some(true)
    }

    /// The line of a key, or the first line of the file.
    #[must_use]
    pub fn line_of(&self, key: &str) -> usize {
        self.frontmatter.get(key).map_or(1, |entry| entry.line)
    }
}

/// The path below the folder of agents, without its ending.
#[must_use]
pub fn name_of(path: &str) -> String {
    let path = path.replace('\\', "/");
    let folder = |name: &str| path.rfind(&format!("/{name}/")).map(|at| at + name.len() + 2);
    let prefix = |name: &str| path.starts_with(&format!("{name}/")).then_some(name.len() + 1);
    let below = folder("agents").max(folder("agent")).or_else(|| prefix("agents")).or_else(|| prefix("agent"));
    let start = below.unwrap_or_else(|| path.rfind('/').map_or(0, |at| at + 1));
    path[start..].strip_suffix(".md").unwrap_or(&path[start..]).to_owned()
}
