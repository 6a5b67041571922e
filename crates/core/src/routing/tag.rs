//! Tags: `auto` or `node`, alone or with `:name` of a tag in the configuration.

use super::{RouteError, error::suggest};
use crate::settings::Config;
use std::fmt;

/// The tag that `auto` and `node` alone stand for.
const PLAIN: &str = "any";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagRef {
    prefix: Prefix,
    /// The key in the table of tags.
    name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prefix {
    Auto,
    Node,
}

impl TagRef {
    /// `None` when the text is no tag at all: a model whose name merely begins like one.
    pub fn parse(text: &str, config: &Config) -> Result<Option<Self>, RouteError> {
        let (head, name) = text.split_once(':').map_or((text, None), |(head, name)| (head, Some(name)));
        let prefix = match head {
            "auto" => Prefix::Auto,
            "node" => Prefix::Node,
            _ => return Ok(None),
        };
        match name {
            None => Ok(Some(Self { prefix, name: PLAIN.to_owned() })),
            Some(name) if name != PLAIN && config.tags.contains_key(name) => {
                Ok(Some(Self { prefix, name: name.to_owned() }))
            }
            Some(name) => {
                let names = config.tags.keys().filter(|name| *name != PLAIN);
                let (suggestion, valid) = suggest(name, names.clone());
                let valid = format!("auto and node, alone or with {valid} after a colon");
                Err(RouteError::UnknownTag { name: text.to_owned(), suggestion, valid })
            }
        }
    }

    /// The same for a place where only a tag can be meant.
    pub fn require(text: &str, config: &Config) -> Result<Self, RouteError> {
        let text = text.trim();
        Self::parse(text, config)?.map_or_else(
            || {
                // The bare name is what people try first.
                let near = config.tags.contains_key(text).then(|| format!(", did you mean `auto:{text}`?"));
                let names: Vec<&str> = config.tags.keys().map(String::as_str).filter(|name| *name != PLAIN).collect();
                Err(RouteError::UnknownTag {
                    name: text.to_owned(),
                    suggestion: near.unwrap_or_default(),
                    valid: format!("auto and node, alone or with {} after a colon", names.join(", ")),
                })
            },
            Ok,
        )
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for TagRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.prefix {
            Prefix::Auto => "auto",
            Prefix::Node => "node",
        })?;
        if self.name == PLAIN { Ok(()) } else { write!(f, ":{}", self.name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Layered;

    #[test]
    fn the_grammar_is_exact() {
        let config = Layered::merge(&[]).unwrap().config;
        let table = [
            ("auto", Ok(Some("auto"))),
            ("node", Ok(Some("node"))),
            ("node:fast", Ok(Some("node:fast"))),
            ("auto:vision", Ok(Some("auto:vision"))),
            ("auto:docs", Ok(Some("auto:docs"))),
            ("node:code", Ok(Some("node:code"))),
            ("node:reasoning", Ok(Some("node:reasoning"))),
            ("autoglm-4", Ok(None)),
            ("node-1", Ok(None)),
            ("automatic:fast", Ok(None)),
            ("Auto", Ok(None)),
            ("auto:", Err(())),
            ("auto:any", Err(())),
            ("auto:fast:fast", Err(())),
            ("node:quick", Err(())),
            ("node: fast", Err(())),
        ];
        for (text, expected) in table {
            let found = TagRef::parse(text, &config).map(|tag| tag.map(|tag| tag.to_string())).map_err(|_| ());
            assert_eq!(found, expected.map(|tag: Option<&str>| tag.map(str::to_owned)), "{text}");
        }
        let wrong = TagRef::require("fast", &config).unwrap_err().to_string();
        assert!(wrong.contains("did you mean `auto:fast`?"), "{wrong}");
    }
}
