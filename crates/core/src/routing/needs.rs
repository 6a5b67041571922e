//! What an answer needs of its model. Checked after every choice, whatever made it.

use super::Model;
use crate::values::Capability;
use std::fmt;

/// What the model has to be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    pub images: usize,
    pub tools: bool,
    /// An answer that fits a schema.
    pub structured: bool,
    pub reasoning: bool,
    /// Tokens that it must hold; 0 when unknown.
    pub context: u64,
}

/// Something that a model cannot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lack {
    Text,
    Images,
    Tools,
    Structured,
    Reasoning,
    Context(u64),
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("answer with text"),
            Self::Images => f.write_str("take images"),
            Self::Tools => f.write_str("call tools"),
            Self::Structured => f.write_str("answer by a schema"),
            Self::Reasoning => f.write_str("reason"),
            Self::Context(needed) => write!(f, "hold about {needed} tokens"),
        }
    }
}

impl Needs {
    /// The same with one more.
    #[must_use]
    pub fn and(mut self, capability: Capability) -> Self {
        match capability {
            Capability::Vision => self.images = self.images.max(1),
            Capability::Tools => self.tools = true,
            Capability::Structured => self.structured = true,
            Capability::Reasoning => self.reasoning = true,
        }
        self
    }

    /// The first thing that the model lacks.
    #[must_use]
    pub fn lacking(&self, model: &Model) -> Option<Lack> {
        if !model.text_output {
            Some(Lack::Text)
        } else if self.images > 0 && !model.image_input {
            Some(Lack::Images)
        } else if self.tools && !model.tool_calls {
            Some(Lack::Tools)
        } else if self.structured && !(model.tool_calls || model.structured_output) {
            Some(Lack::Structured)
        } else if self.reasoning && !model.reasoning {
            Some(Lack::Reasoning)
        } else if model.context > 0 && model.context < self.context {
            Some(Lack::Context(self.context))
        } else {
            None
        }
    }
}

pub(super) fn has(model: &Model, capability: Capability) -> bool {
    Needs::default().and(capability).lacking(model).is_none()
}

/// About how many tokens a text is, and rather too few than too many: a prompt that might fit is not refused.
#[must_use]
pub fn estimate_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let others = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    ascii / 4 + others / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_need_is_seen() {
        let able = Model {
            image_input: true,
            tool_calls: true,
            reasoning: true,
            text_output: true,
            context: 1000,
            ..Model::default()
        };
        let all = Needs { images: 1, tools: true, structured: true, reasoning: true, context: 1000 };
        let table = [
            (able.clone(), None),
            (Model { text_output: false, ..able.clone() }, Some(Lack::Text)),
            (Model { image_input: false, ..able.clone() }, Some(Lack::Images)),
            (Model { tool_calls: false, ..able.clone() }, Some(Lack::Tools)),
            (Model { reasoning: false, ..able.clone() }, Some(Lack::Reasoning)),
            (Model { context: 999, ..able.clone() }, Some(Lack::Context(1000))),
            (Model { context: 0, ..able.clone() }, None),
        ];
        for (model, expected) in table {
            assert_eq!(all.lacking(&model), expected);
        }
        let by_schema = Needs { structured: true, ..Needs::default() };
        let bare = Model { tool_calls: false, ..able };
        assert_eq!(by_schema.lacking(&bare), Some(Lack::Structured));
        assert_eq!(by_schema.lacking(&Model { structured_output: true, ..bare }), None);
        assert_eq!(estimate_tokens("twelve chars"), 3);
        assert_eq!(estimate_tokens("漢字漢字"), 2);
    }
}
