//! An agent file in the form of the next OpenCode: the list `permissions` in place of the map `permission`.
//!
//! Invariant: the rules are the same, in the order in which they count, and every other line keeps its bytes.
//! OpenCode 1 does not read this form and would allow such an agent nearly everything.

use super::{
    frontmatter::{Frontmatter, FrontmatterError, yaml_range},
    permission::{Rule, flatten},
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum V2Error {
    #[error(transparent)]
    Unreadable(#[from] FrontmatterError),
    #[error("there is no permission to convert")]
    NoPermission,
    #[error("{0:?} cannot be converted; say it under permission")]
    Key(&'static str),
    #[error("line {line}: {what}")]
    Wrong { line: usize, what: String },
}

/// The same agent with its rules as a list.
pub fn v2(text: &str) -> Result<String, V2Error> {
    let front = Frontmatter::parse(text)?;
    for key in ["tools", "permissions"] {
        if front.get(key).is_some() {
            return Err(V2Error::Key(key));
        }
    }
    let flat = flatten(&front);
    if let Some(wrong) = flat.wrong.into_iter().next() {
        return Err(V2Error::Wrong { line: wrong.line, what: wrong.what });
    }
    let line = front.get("permission").ok_or(V2Error::NoPermission)?.line;
    let range = yaml_range(text)?;
    let newline = if text[..range.start].ends_with("\r\n") { "\r\n" } else { "\n" };
    let mut converted = text[..range.start].to_owned();
    // The head begins on line 2; a value goes on for as long as lines are indented.
    let mut inside = false;
    for (number, content) in text[range.clone()].split_inclusive('\n').enumerate().map(|(at, line)| (at + 2, line)) {
        inside = number == line || (inside && content.starts_with([' ', '\t']));
        if number == line {
            converted.push_str(&listed(&flat.rules, newline));
        } else if !inside {
            converted.push_str(content);
        }
    }
    converted.push_str(&text[range.end..]);
    Ok(converted)
}

fn listed(rules: &[Rule], newline: &str) -> String {
    let rule = |rule: &Rule| {
        let (action, resource) = (quoted(&rule.permission), quoted(&rule.pattern));
        format!("  - {{ action: {action}, resource: {resource}, effect: {} }}{newline}", rule.action.as_str())
    };
    std::iter::once(format!("permissions:{newline}")).chain(rules.iter().map(rule)).collect()
}

fn quoted(text: &str) -> String {
    let escape = |letter: char| match letter {
        '"' | '\\' => format!("\\{letter}"),
        '\t' => "\\t".to_owned(),
        letter => letter.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: &str = "---\ndescription: looks\npermission:\n  \"*\": deny\n  bash:\n    \"git commit -m \\\"*\\\"\": allow\n  # why\n  read: allow\nmode: subagent\n---\n\nBody with permission: and\n  more.\n";

    fn rules(text: &str) -> Vec<(String, String, &'static str)> {
        let flat = flatten(&Frontmatter::parse(text).expect("readable"));
        assert_eq!(flat.wrong, []);
        flat.rules.into_iter().map(|rule| (rule.permission, rule.pattern, rule.action.as_str())).collect()
    }

    #[test]
    fn the_rules_stay_the_same() {
        let converted = v2(AGENT).expect("converted");
        assert_eq!(rules(&converted), rules(AGENT));
        let expected = "---\ndescription: looks\npermissions:\n  - { action: \"*\", resource: \"*\", effect: deny }\n  - { action: \"bash\", resource: \"git commit -m \\\"*\\\"\", effect: allow }\n  - { action: \"read\", resource: \"*\", effect: allow }\nmode: subagent\n---\n\nBody with permission: and\n  more.\n";
        assert_eq!(converted, expected);
        let one = "---\r\nmode: all\r\npermission: deny\r\n---\r\nBody\r\n";
        assert_eq!(rules(&v2(one).expect("converted")), rules(one));
        assert!(v2(one).expect("converted").ends_with("effect: deny }\r\n---\r\nBody\r\n"));
    }

    #[test]
    fn what_cannot_be_converted_is_refused() {
        let table = [
            ("no head", V2Error::Unreadable(FrontmatterError::Missing)),
            ("---\nmode: all\n---\n", V2Error::NoPermission),
            ("---\ntools:\n  bash: true\npermission: deny\n---\n", V2Error::Key("tools")),
        ];
        for (text, error) in table {
            assert_eq!(v2(text), Err(error), "{text}");
        }
        assert!(matches!(v2("---\npermission:\n  bash: perhaps\n---\n"), Err(V2Error::Wrong { line: 3, .. })));
    }
}
