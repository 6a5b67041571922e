//! A handoff.md: what a planner has to know before it may write a spec.
//!
//! Invariant: a handoff that leaves too much to be invented blocks the planning, and the fault names what is missing.

use super::{
    document::{Document, plain_title},
    section::Says,
};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    UserIntent,
    ConversationContext,
    SourceArtifacts,
    TaskShape,
    OutputPaths,
    Scope,
    Constraints,
    AcceptanceSignals,
    AuthorityBoundary,
    OpenQuestions,
}

impl Field {
    pub const ALL: [Self; 10] = [
        Self::UserIntent,
        Self::ConversationContext,
        Self::SourceArtifacts,
        Self::TaskShape,
        Self::OutputPaths,
        Self::Scope,
        Self::Constraints,
        Self::AcceptanceSignals,
        Self::AuthorityBoundary,
        Self::OpenQuestions,
    ];

    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::UserIntent => "User Intent",
            Self::ConversationContext => "Conversation-Derived Context",
            Self::SourceArtifacts => "Source Artifacts",
            Self::TaskShape => "Proposed Task Shape",
            Self::OutputPaths => "Assigned Output Paths",
            Self::Scope => "Scope and Non-Goals",
            Self::Constraints => "Constraints",
            Self::AcceptanceSignals => "Acceptance Signals",
            Self::AuthorityBoundary => "Authority Boundary",
            Self::OpenQuestions => "Open Questions / Stop Conditions",
        }
    }

    #[must_use]
    pub fn of(title: &str) -> Option<Self> {
        let plain = plain_title(title);
        match plain.as_str() {
            "source artifacts / source context" => Some(Self::SourceArtifacts),
            "assigned output path" | "assigned output path(s)" => Some(Self::OutputPaths),
            "open questions" | "stop conditions" => Some(Self::OpenQuestions),
            _ => Self::ALL.into_iter().find(|field| plain_title(field.title()) == plain),
        }
    }

    /// What belongs there.
    #[must_use]
    pub fn wanted(self) -> &'static str {
        match self {
            Self::UserIntent => "say what the user wants, in their words",
            Self::ConversationContext => "say what was preferred, corrected and turned down, and why",
            Self::SourceArtifacts => "name the documents and decisions to go by",
            Self::TaskShape => "say whether it is one unit or several, and which",
            Self::OutputPaths => "name the directory below .ai/tasks to write to",
            Self::Scope => "say what belongs to it and what does not",
            Self::Constraints => "name what has to be kept to",
            Self::AcceptanceSignals => "say how one will see that it is done",
            Self::AuthorityBoundary => "say what the planner may decide alone",
            Self::OpenQuestions => "list what is undecided and when to stop",
        }
    }

    /// Without these there is nothing to plan.
    fn is_needed(self) -> bool {
        matches!(self, Self::UserIntent | Self::Scope)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handoff {
    document: Document,
    fields: Vec<(Field, Vec<usize>, Says)>,
}

impl Handoff {
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let document = Document::parse(text);
        let fields = Field::ALL.map(|field| {
            let found: Vec<_> =
                document.sections(2).filter(|section| Field::of(&section.heading.title) == Some(field)).collect();
            let says = found.first().map_or(Says::Nothing, |section| Says::of(section.said()));
            (field, found.iter().map(|section| section.heading.line).collect(), says)
        });
        Self { fields: fields.into(), document }
    }

    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The lines of a field; usually one.
    #[must_use]
    pub fn lines(&self, field: Field) -> &[usize] {
        self.fields.iter().find(|(found, ..)| *found == field).map_or(&[], |(_, lines, _)| lines)
    }

    #[must_use]
    pub fn says(&self, field: Field) -> Says {
        self.fields.iter().find(|(found, ..)| *found == field).map_or(Says::Nothing, |(.., says)| *says)
    }

    /// Why no spec can be written from this: the user's intent or the scope is missing, or more than half of all.
    #[must_use]
    pub fn blocked(&self) -> Option<Blocked> {
        let missing: Vec<Field> = Field::ALL.into_iter().filter(|field| self.says(*field) != Says::Something).collect();
        let thin = missing.len() > Field::ALL.len() / 2 || missing.iter().any(|field| field.is_needed());
        thin.then_some(Blocked { missing })
    }
}

/// Planning cannot go on: each of these fields is missing, empty or None.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    pub missing: Vec<Field>,
}

impl Blocked {
    #[must_use]
    pub fn hint(&self) -> String {
        let first = self.missing.iter().find(|field| field.is_needed()).or(self.missing.first());
        let first = first.map_or_else(String::new, |field| format!("begin with {field}: {}", field.wanted()));
        format!("{first}; a spec written from this would be invented")
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.missing.iter().map(|field| field.title()).collect();
        write!(f, "planning is blocked: nothing is known of {}", names.join(", "))
    }
}
