//! Permission rules: an ordered list in which the last match wins.
//!
//! Invariant: for the same list, [`evaluate`] answers as OpenCode 1.18 does. A list that an agent works under
//! begins with [`opencode_defaults`], then come the rules of the user's configuration, then the agent's own.

mod flatten;

use super::{
    shell::{Unclear, split},
    wildcard::matches,
};
pub use flatten::{Flattened, Wrong, flatten};

word_enum! {
    #[derive(Hash)]
    pub enum Action {
        Allow = "allow",
        Ask = "ask",
        Deny = "deny",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// A glob over the names of permissions.
    pub permission: String,
    /// A glob over what is asked for: a path, a command, an address, the name of an agent.
    pub pattern: String,
    pub action: Action,
    /// Where the rule is written, from 1; none for a rule of OpenCode's own.
    pub line: Option<usize>,
}

impl Rule {
    #[must_use]
    pub fn own(permission: &str, pattern: &str, action: Action) -> Self {
        Self { permission: permission.into(), pattern: pattern.into(), action, line: None }
    }
}

/// What is decided and by which rule; none when no rule matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision<'a> {
    pub action: Action,
    pub rule: Option<&'a Rule>,
}

/// The last rule that matches decides; without one it is asked.
#[must_use]
pub fn evaluate<'a>(rules: &'a [Rule], permission: &str, argument: &str) -> Decision<'a> {
    let fits = |rule: &&Rule| matches(permission, &rule.permission) && matches(argument, &rule.pattern);
    let rule = rules.iter().rev().find(fits);
    Decision { action: rule.map_or(Action::Ask, |rule| rule.action), rule }
}

/// What becomes of a whole command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellDecision<'a> {
    pub action: Action,
    pub rule: Option<&'a Rule>,
    /// The part of the line that decided. None when OpenCode asks nothing at all, and runs it.
    pub command: Option<String>,
    /// Redirections and arguments that are run and that no rule sees.
    pub unseen: Vec<String>,
}

/// Every simple command of the line is asked for; one denial denies all, one question asks for all.
///
/// Whether the paths in it are outside of the project is another question, see [`super::outside`].
pub fn evaluate_shell<'a>(rules: &'a [Rule], line: &str) -> Result<ShellDecision<'a>, Unclear> {
    let parts = split(line)?;
    let decided: Vec<(Decision<'a>, String)> =
        parts.asked.into_iter().map(|command| (evaluate(rules, "bash", &command), command)).collect();
    let first = |action| decided.iter().position(|(decision, _)| decision.action == action);
    let strictest = first(Action::Deny).or_else(|| first(Action::Ask)).or_else(|| first(Action::Allow));
    let unseen = parts.unseen;
    Ok(match strictest.and_then(|at| decided.into_iter().nth(at)) {
        Some((Decision { action, rule }, command)) => ShellDecision { action, rule, command: Some(command), unseen },
        None => ShellDecision { action: Action::Allow, rule: None, command: None, unseen },
    })
}

/// What every agent begins with. The directories that OpenCode lets every agent into, its own for long outputs
/// and temporary files, depend on the machine and are not among them.
#[must_use]
pub fn opencode_defaults() -> Vec<Rule> {
    [
        ("*", "*", Action::Allow),
        ("doom_loop", "*", Action::Ask),
        ("external_directory", "*", Action::Ask),
        ("question", "*", Action::Deny),
        ("plan_enter", "*", Action::Deny),
        ("plan_exit", "*", Action::Deny),
        ("read", "*", Action::Allow),
        ("read", "*.env", Action::Ask),
        ("read", "*.env.*", Action::Ask),
        ("read", "*.env.example", Action::Allow),
    ]
    .map(|(permission, pattern, action)| Rule::own(permission, pattern, action))
    .into()
}

/// What OpenCode adds when another agent calls this one: no further agents and no list of things to do, unless
/// the agent's rules name them.
#[must_use]
pub fn subagent_denials(rules: &[Rule]) -> Vec<Rule> {
    ["todowrite", "task"]
        .into_iter()
        .filter(|name| !rules.iter().any(|rule| rule.permission == *name))
        .map(|name| Rule::own(name, "*", Action::Deny))
        .collect()
}

/// The permission that a tool asks for.
#[must_use]
pub fn permission_of(tool: &str) -> &str {
    match tool {
        "write" | "edit" | "apply_patch" => "edit",
        "list_mcp_resources" | "list_mcp_resource_templates" | "read_mcp_resource" => "read",
        other => other,
    }
}

/// Whether a tool is hidden from the model: the last rule for its permission denies everything.
#[must_use]
pub fn hides(rules: &[Rule], tool: &str) -> bool {
    let last = rules.iter().rev().find(|rule| matches(permission_of(tool), &rule.permission));
    last.is_some_and(|rule| rule.pattern == "*" && rule.action == Action::Deny)
}

/// Puts the home directory where a pattern begins with `~/` or `$HOME`, in commands too, as OpenCode does.
#[must_use]
pub fn with_home(rules: &[Rule], home: &str) -> Vec<Rule> {
    let expand = |pattern: &str| match pattern.strip_prefix('~').or_else(|| pattern.strip_prefix("$HOME")) {
        Some(rest) if pattern.starts_with('$') || rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        Some(_) | None => pattern.to_owned(),
    };
    rules.iter().map(|rule| Rule { pattern: expand(&rule.pattern), ..rule.clone() }).collect()
}
