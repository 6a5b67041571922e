//! A task-spec.md as a value: its sections, who works on it, the tests that it names and the units that it has.

use super::{
    document::{Document, Said, Section, plain_title},
    execution::{self, Agent, Item, Role, bullet},
    section::{Says, SectionKind, is_none},
    units::UnitTable,
};

/// The subsection that names test files.
pub(super) const TEST_PATHS: &str = "Test File Paths";
pub(super) const UNITS: &str = "Units";

/// A text from a file, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated {
    pub line: usize,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundSection {
    pub kind: SectionKind,
    pub line: usize,
    pub says: Says,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    pub(super) document: Document,
    pub(super) sections: Vec<FoundSection>,
    pub(super) execution: Vec<Item>,
    pub(super) test_paths: Vec<Stated>,
    pub(super) tables: Vec<UnitTable>,
}

impl Spec {
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let document = Document::parse(text);
        let mut spec =
            Self { sections: Vec::new(), execution: Vec::new(), test_paths: Vec::new(), tables: Vec::new(), document };
        for section in spec.document.sections(2) {
            let title = &section.heading.title;
            if plain_title(title) == plain_title(UNITS) {
                spec.tables.push(UnitTable::read(section));
            }
            let Some(kind) = SectionKind::of(title) else { continue };
            let says = match kind {
                SectionKind::Execution => {
                    let items = execution::items(section);
                    let empty = items.is_empty();
                    spec.execution.extend(items);
                    if empty { Says::Nothing } else { Says::of(section.said()) }
                }
                SectionKind::TestableCriteria => {
                    spec.test_paths.extend(test_paths(section));
                    criteria(section)
                }
                SectionKind::SourceArtifacts
                | SectionKind::Scope
                | SectionKind::NonGoals
                | SectionKind::InspectableCriteria
                | SectionKind::RelevantFiles
                | SectionKind::ValidationPlan
                | SectionKind::OpenQuestions => Says::of(section.said()),
            };
            spec.sections.push(FoundSection { kind, line: section.heading.line, says });
        }
        spec
    }

    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The heading of the file.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.document.headings().iter().find(|heading| heading.level == 1).map(|heading| heading.title.as_str())
    }

    /// Whether this is a manifest: it has units, and they do the work.
    #[must_use]
    pub fn is_manifest(&self) -> bool {
        !self.tables.is_empty()
    }

    #[must_use]
    pub fn units(&self) -> Option<&UnitTable> {
        self.tables.first()
    }

    /// The agents that work on this, the validator last. Empty when the execution is missing, there twice or not as it
    /// should be, and empty for a manifest, whose units have lists of their own.
    #[must_use]
    pub fn pipeline(&self) -> Vec<Role> {
        let agents = self.agents();
        let validator = if agents.is_empty() { None } else { Some(Role::Validator) };
        agents.into_iter().map(Role::Agent).chain(validator).collect()
    }

    /// The same without the validator.
    #[must_use]
    pub fn agents(&self) -> Vec<Agent> {
        let once = self.sections.iter().filter(|section| section.kind == SectionKind::Execution).count() == 1;
        if once && !self.is_manifest() { execution::agents(&self.execution) } else { Vec::new() }
    }

    /// The test files, as written.
    #[must_use]
    pub fn test_paths(&self) -> &[Stated] {
        &self.test_paths
    }

    /// The files of the section Relevant Files, as written.
    #[must_use]
    pub fn relevant_files(&self) -> Vec<Stated> {
        let named = self.document.sections(2);
        let named = named.filter(|section| SectionKind::of(&section.heading.title) == Some(SectionKind::RelevantFiles));
        named.flat_map(|section| paths(section.said())).collect()
    }

    /// The content of a section; of one that is there twice, the first.
    #[must_use]
    pub fn says(&self, kind: SectionKind) -> Says {
        let found = self.sections.iter().find(|section| section.kind == kind);
        found.map_or(Says::Nothing, |section| section.says)
    }
}

fn is_test_paths(part: &Section<'_>) -> bool {
    plain_title(&part.heading.title) == plain_title(TEST_PATHS)
}

/// List items and lines of code; a sentence beside them names no file.
fn test_paths(section: Section<'_>) -> Vec<Stated> {
    paths(section.parts().filter(is_test_paths).flat_map(Section::said)).collect()
}

fn paths<'d>(said: impl Iterator<Item = Said<'d>>) -> impl Iterator<Item = Stated> {
    said.filter_map(|said| {
        let item = if said.is_code { Some(said.text) } else { bullet(said.text) };
        let item = item.filter(|item| !is_none(item) && !item.starts_with("```") && !item.starts_with("~~~"))?;
        Some(Stated { line: said.line, text: first_path(item) })
    })
}

/// A path in back-ticks, or else the first word.
fn first_path(item: &str) -> String {
    let quoted = item.strip_prefix('`').and_then(|rest| rest.split_once('`')).map(|(path, _)| path);
    let word = || item.split_whitespace().next().unwrap_or_default().trim_end_matches([',', ':', ';']);
    quoted.unwrap_or_else(word).trim().to_owned()
}

/// The content of the section beside the paths of tests.
fn criteria(section: Section<'_>) -> Says {
    let paths: Vec<Section<'_>> = section.parts().filter(is_test_paths).collect();
    let elsewhere = |line: usize| !paths.iter().any(|part| (part.heading.line..=part.end).contains(&line));
    Says::of(section.said().filter(|said| elsewhere(said.line)))
}
