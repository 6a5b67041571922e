//! What a dispatch is asked to do, checked before anything leaves the machine.

pub use crate::routing::Selector;
use crate::values::Mode;

use crate::{
    routing::{Needs, estimate_tokens},
    values::{Access, Capability, schema::AnswerSchema},
};
use std::path::PathBuf;

/// OpenCode's own prompt and tools, at the least.
const WORKING_TOKENS: u64 = 4000;
/// A small image, at the least.
const IMAGE_TOKENS: u64 = 100;

/// An image that goes with the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub name: String,
    pub mime: &'static str,
    pub bytes: Vec<u8>,
}

impl Image {
    /// Recognises the kinds that models take, by their first bytes: a name can lie.
    #[must_use]
    pub fn sniff(bytes: &[u8]) -> Option<&'static str> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
            [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
            [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
            _ => None,
        }
    }
}

/// One prompt for one model.
#[derive(Debug, Clone)]
pub struct Request {
    pub prompt: String,
    pub selector: Selector,
    pub mode: Mode,
    pub directory: PathBuf,
    pub system: Option<String>,
    pub schema: Option<AnswerSchema>,
    pub images: Vec<Image>,
    /// An OpenCode session to go on with.
    pub session: Option<String>,
    /// Keeps a session that would otherwise be deleted.
    pub keep: bool,
    /// An OpenCode agent by name; `None` is the mode's own.
    pub agent: Option<String>,
    /// What the model has to be able to do besides what follows from the rest.
    pub capabilities: Vec<Capability>,
    /// What an agent may do where it works. A session that is there already keeps what it was made with.
    pub access: Access,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    #[error("the prompt is empty")]
    EmptyPrompt,
    #[error("a schema needs mode text or agent: OpenCode's commands have no structured answer")]
    SchemaInCommand,
    #[error("a system prompt needs mode text or agent: a command brings its own")]
    SystemInCommand,
    #[error("in command mode the prompt is the command's name and its arguments, as in `/review src`")]
    NoCommand,
}

impl Request {
    /// A prompt with nothing besides.
    #[must_use]
    pub fn plain(prompt: impl Into<String>, selector: Selector, mode: Mode, directory: impl Into<PathBuf>) -> Self {
        Self {
            prompt: prompt.into(),
            selector,
            mode,
            directory: directory.into(),
            system: None,
            schema: None,
            images: Vec::new(),
            session: None,
            keep: false,
            agent: None,
            capabilities: Vec::new(),
            access: Access::Write,
        }
    }

    pub fn check(&self) -> Result<(), BadRequest> {
        if self.prompt.trim().is_empty() {
            return Err(BadRequest::EmptyPrompt);
        }
        if self.mode == Mode::Command {
            if self.schema.is_some() {
                return Err(BadRequest::SchemaInCommand);
            }
            if self.system.is_some() {
                return Err(BadRequest::SystemInCommand);
            }
            if self.command().0.is_empty() {
                return Err(BadRequest::NoCommand);
            }
        }
        Ok(())
    }

    /// What the model has to be able to do. Tools and a long system prompt come with the modes that work.
    #[must_use]
    pub fn needs(&self) -> Needs {
        let words = estimate_tokens(&self.prompt) + self.system.as_deref().map_or(0, estimate_tokens);
        let overhead = if self.mode == Mode::Text { 0 } else { WORKING_TOKENS };
        let needs = Needs {
            images: self.images.len(),
            tools: self.mode == Mode::Agent,
            structured: self.schema.is_some(),
            reasoning: false,
            context: words + overhead + self.images.len() as u64 * IMAGE_TOKENS,
        };
        self.capabilities.iter().fold(needs, |needs, capability| needs.and(*capability))
    }

    /// The command's name and its arguments, for mode command.
    #[must_use]
    pub fn command(&self) -> (&str, &str) {
        let text = self.prompt.trim().trim_start_matches('/');
        text.split_once(char::is_whitespace).map_or((text, ""), |(name, rest)| (name, rest.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(mode: Mode, prompt: &str) -> Request {
        Request::plain(prompt, Selector::Default, mode, "/")
    }

    #[test]
    fn prompts_and_commands_are_checked() {
        assert_eq!(request(Mode::Text, " \n\t").check(), Err(BadRequest::EmptyPrompt));
        assert_eq!(request(Mode::Command, "/").check(), Err(BadRequest::NoCommand));
        assert_eq!(request(Mode::Command, "/review  src lib ").command(), ("review", "src lib"));
        assert_eq!(request(Mode::Command, "review").command(), ("review", ""));
        let with_system = Request { system: Some("x".into()), ..request(Mode::Command, "review") };
        assert_eq!(with_system.check(), Err(BadRequest::SystemInCommand));
    }

    #[test]
    fn images_are_recognised_by_content() {
        assert_eq!(Image::sniff(b"\x89PNG\r\n\x1a\n"), Some("image/png"));
        assert_eq!(Image::sniff(b"RIFF\0\0\0\0WEBPVP8"), Some("image/webp"));
        assert_eq!(Image::sniff(b"<svg/>"), None);
    }
}
