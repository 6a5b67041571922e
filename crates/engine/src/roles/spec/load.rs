//! Reads the files of one task or unit, each at most once and none without a bound.

use super::{
    HANDOFF_FILE, SPEC_FILE,
    place::{Place, PlaceError},
};
use shuntyard_core::roles::spec::{
    Artifacts, Child, Document, Fault, Handoff, Report, Rule, Spec, Standing, State, TestFiles, check_spec, inside,
    standing,
};
use shuntyard_host::text_file::read_text;
use std::path::{Path, PathBuf};

/// More than a person reads through before they begin.
pub const MOST_BYTES: u64 = 256 * 1024;

/// A file that is there: what it says, or why it cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    pub path: PathBuf,
    pub text: Result<String, String>,
}

impl Artifact {
    /// Nothing when there is no such file.
    #[must_use]
    pub fn read(place: &Place, path: &Path) -> Option<Self> {
        let text = match place.inside(path) {
            Ok(found) => read_text(&found, MOST_BYTES).map_err(|error| format!("the file cannot be read: {error}")),
            Err(PlaceError::Missing { .. }) => return None,
            Err(error) => Err(error.to_string()),
        };
        Some(Self { path: path.to_owned(), text })
    }

    /// The fault of a file that cannot be read.
    #[must_use]
    pub fn trouble(&self) -> Option<Fault> {
        let why = self.text.as_ref().err()?;
        Some(Fault::new(1, Rule::Unreadable, why.clone(), "make it a text file in UTF-8, in the repository"))
    }

    fn parsed<T>(artifact: Option<&Self>, parse: impl Fn(&str) -> T) -> Option<T> {
        artifact.and_then(|artifact| artifact.text.as_ref().ok()).map(|text| parse(text))
    }
}

/// The files of one task or unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    pub spec: Option<Artifact>,
    pub handoff: Option<Artifact>,
    pub reports: Vec<(Report, Artifact)>,
}

impl Loaded {
    #[must_use]
    pub fn read(place: &Place, directory: &Path) -> Self {
        let read = |file: &str| Artifact::read(place, &directory.join(file));
        let reports = Report::ALL.into_iter().filter_map(|report| Some((report, read(report.file())?)));
        Self { spec: read(SPEC_FILE), handoff: read(HANDOFF_FILE), reports: reports.collect() }
    }

    #[must_use]
    pub fn parsed_spec(&self) -> Option<Spec> {
        Artifact::parsed(self.spec.as_ref(), Spec::parse)
    }

    /// How far this is, by itself. What cannot be read counts as a report that says nothing.
    #[must_use]
    pub fn standing(&self, place: &Place, within: shuntyard_core::roles::spec::Place<'_>) -> Standing {
        if self.spec.as_ref().is_some_and(|spec| spec.text.is_err()) {
            return Standing { state: State::Draft, reason: Some("the spec cannot be read".to_owned()), next: None };
        }
        let spec = self.parsed_spec();
        let handoff = Artifact::parsed(self.handoff.as_ref(), Handoff::parse);
        let report = |wanted: Report| {
            let found = self.reports.iter().find(|(report, _)| *report == wanted);
            found.map(|(_, artifact)| Document::parse(artifact.text.as_deref().unwrap_or_default()))
        };
        let [implementation, documentation, validation] =
            [Report::Implementation, Report::Documentation, Report::Validation].map(report);
        standing(&Artifacts {
            faults: spec.as_ref().map_or(0, |spec| check_spec(spec, within).len()),
            tests: spec.as_ref().map_or(TestFiles::Missing, |spec| tests(place, spec)),
            spec: spec.as_ref(),
            handoff: handoff.as_ref(),
            implementation: implementation.as_ref(),
            documentation: documentation.as_ref(),
            validation: validation.as_ref(),
        })
    }
}

/// The names of the units beside a spec.
pub(super) fn children(units: &[super::UnitDirectory]) -> Vec<Child> {
    units.iter().map(|(_, child)| child.clone()).collect()
}

fn tests(place: &Place, spec: &Spec) -> TestFiles {
    let is_there = |path: &str| inside(path).is_ok_and(|path| place.inside(&place.root().join(path)).is_ok());
    let paths = spec.test_paths();
    if !paths.is_empty() && paths.iter().all(|path| is_there(&path.text)) {
        TestFiles::AllThere
    } else {
        TestFiles::Missing
    }
}
