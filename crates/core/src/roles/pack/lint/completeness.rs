//! The head of the file: what must be there, what OpenCode does not know, what it refuses.

use super::{Finding, LintRule};
use crate::{
    roles::pack::{
        agent_file::{AgentFile, Mode},
        frontmatter::{FrontmatterError, KNOWN_KEYS},
    },
    values::nearest::nearest,
};

pub(super) fn unreadable(path: &str, error: &FrontmatterError) -> Finding {
    let message = format!("{error}; OpenCode then takes the whole file for a prompt and allows nearly everything");
    let hint = match error {
        FrontmatterError::Yaml(_) => "quote the text, and every pattern with a star",
        FrontmatterError::Missing | FrontmatterError::Unclosed => "put the keys between two lines of three dashes",
        FrontmatterError::Language(_) | FrontmatterError::NotKeys => "write the keys as YAML",
    };
    Finding::new(path, error.line(), LintRule::Unreadable, message, hint)
}

pub(super) fn check(agent: &AgentFile, findings: &mut Vec<Finding>) {
    let front = &agent.frontmatter;
    let mut add = |line, rule, message: String, hint: String| {
        findings.push(Finding::new(&agent.path, line, rule, message, hint));
    };
    for (key, without) in [
        ("description", "other agents cannot know when to call it"),
        ("mode", "it can be both talked to and called"),
        ("permission", "nearly everything is allowed to it"),
    ] {
        // A file for the next version alone has its rules in an array.
        let elsewhere = key == "permission" && front.get("permissions").is_some();
        if front.get(key).is_none() && !elsewhere {
            let message = format!("{key:?} is missing: {without}");
            add(1, LintRule::MissingKey, message, format!("add {key}: to the frontmatter"));
        }
    }
    for key in ["description", "mode", "model"] {
        if let Some(entry) = front.get(key).filter(|entry| entry.value.text().is_none_or(str::is_empty)) {
            let message = format!("{key:?} is not a text, so that OpenCode refuses the configuration");
            add(
                entry.line,
                LintRule::InvalidValue,
                message,
                "write a text, in quotes if it looks like a number".into(),
            );
        }
    }
    if let Some(mode) = front.text("mode").filter(|mode| Mode::parse(mode).is_none()) {
        let message = format!("mode {mode:?} does not exist, so that OpenCode refuses the configuration");
        add(agent.line_of("mode"), LintRule::InvalidValue, message, "use primary, subagent or all".into());
    }
    for wrong in &agent.wrong {
        let message = format!("{}; OpenCode refuses the configuration", wrong.what);
        add(wrong.line, LintRule::InvalidValue, message, "use allow, ask or deny".into());
    }
    for entry in front.entries() {
        match entry.key.as_str() {
            "tools" => {
                add(entry.line, LintRule::DeprecatedKey, "\"tools\" is deprecated".into(), "use permission".into())
            }
            "maxSteps" => {
                add(entry.line, LintRule::DeprecatedKey, "\"maxSteps\" is deprecated".into(), "use steps".into());
            }
            "permissions" => {
                let message = "OpenCode 1.18 does not read \"permissions\" and sends it to the model's provider";
                add(entry.line, LintRule::UnknownKey, message.into(), "write the rules under permission too".into());
            }
            key if !KNOWN_KEYS.contains(&key) => {
                let message = format!("OpenCode does not know {key:?} and sends it to the model's provider");
                let hint = match nearest(key, KNOWN_KEYS, 1).first() {
                    Some(close) => format!("did you mean {close}?"),
                    None => "put it under options if the provider is meant, else remove it".into(),
                };
                add(entry.line, LintRule::UnknownKey, message, hint);
            }
            _ => {}
        }
    }
}
