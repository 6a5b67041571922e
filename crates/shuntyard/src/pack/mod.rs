//! The workflow pack that this binary carries: agents and commands for OpenCode.
//!
//! The files are the source; the form for the next version of OpenCode is made of them.

mod accepted;

pub use accepted::{accepted, as_first_form};

use shuntyard_core::roles::pack::v2::{V2Error, v2};
use shuntyard_engine::roles::pack::{Bundle, PackFile};

/// By their paths in a directory of OpenCode.
pub const AGENTS: [(&str, &str); 11] = [
    ("agents/orchestrator.md", include_str!("agents/orchestrator.md")),
    ("agents/executor.md", include_str!("agents/executor.md")),
    ("agents/task-planner.md", include_str!("agents/task-planner.md")),
    ("agents/implementer.md", include_str!("agents/implementer.md")),
    ("agents/validator.md", include_str!("agents/validator.md")),
    ("agents/test-writer.md", include_str!("agents/test-writer.md")),
    ("agents/documentation.md", include_str!("agents/documentation.md")),
    ("agents/research.md", include_str!("agents/research.md")),
    ("agents/shipper.md", include_str!("agents/shipper.md")),
    ("agents/init.md", include_str!("agents/init.md")),
    ("agents/model-config.md", include_str!("agents/model-config.md")),
];

const COMMANDS: [(&str, &str); 14] = [
    ("commands/planning.md", include_str!("commands/planning.md")),
    ("commands/execute.md", include_str!("commands/execute.md")),
    ("commands/code-review.md", include_str!("commands/code-review.md")),
    ("commands/code-loop.md", include_str!("commands/code-loop.md")),
    ("commands/final-review.md", include_str!("commands/final-review.md")),
    ("commands/system-review.md", include_str!("commands/system-review.md")),
    ("commands/commit.md", include_str!("commands/commit.md")),
    ("commands/route.md", include_str!("commands/route.md")),
    ("commands/compare-models.md", include_str!("commands/compare-models.md")),
    ("commands/patterns.md", include_str!("commands/patterns.md")),
    ("commands/orchestrator.models.md", include_str!("commands/orchestrator.models.md")),
    ("commands/orchestrator.worker-model.md", include_str!("commands/orchestrator.worker-model.md")),
    ("commands/orchestrator.workers.md", include_str!("commands/orchestrator.workers.md")),
    ("commands/orchestrator.status.md", include_str!("commands/orchestrator.status.md")),
];

/// The syntax in which agents declare what they may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The map `permission`, of OpenCode 1.
    V1,
    /// The list `permissions`, of OpenCode 2.
    V2,
}

impl Form {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
        }
    }

    /// The form of a name; an unknown name can only be guessed.
    pub fn named(name: &str) -> Self {
        if name == Self::V2.as_str() { Self::V2 } else { Self::V1 }
    }
}

pub fn bundle(form: Form) -> Result<Bundle, V2Error> {
    let agent = |(path, text): &(&str, &str)| {
        let text = match form {
            Form::V1 => (*text).to_owned(),
            Form::V2 => v2(text)?,
        };
        Ok(PackFile { path: (*path).to_owned(), text })
    };
    let agents = AGENTS.iter().map(agent).collect::<Result<Vec<_>, V2Error>>()?;
    let commands = COMMANDS.iter().map(|(path, text)| PackFile { path: (*path).to_owned(), text: (*text).to_owned() });
    Ok(Bundle {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        format: form.as_str().to_owned(),
        files: agents.into_iter().chain(commands).collect(),
    })
}

#[cfg(test)]
mod named_tests;
#[cfg(test)]
mod tests;
