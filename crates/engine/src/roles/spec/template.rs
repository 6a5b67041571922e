//! What a new spec says: its sections, each with a comment on what belongs there, and nothing that a person has to
//! decide.

use shuntyard_core::{
    roles::spec::{SectionKind, Slug, UnitName},
    values::clean_line,
};

/// `add-export` is "Add export".
pub fn title_of(id: &Slug) -> String {
    capital(&id.as_str().replace('-', " "))
}

pub fn spec(title: &str) -> String {
    format!("{}{}", heading(title), sections(&SectionKind::ALL, None))
}

/// A unit rests on the task that it is a part of.
pub fn unit(task: &str, slug: &Slug) -> String {
    let above = format!("- `../task-spec.md`: {}, of which this is a unit", one_line(task));
    format!("{}{}", heading(&title_of(slug)), sections(&SectionKind::ALL, Some(&above)))
}

pub fn manifest(title: &str, units: &[UnitName]) -> String {
    let mut text = format!("{}{}", heading(title), sections(&SectionKind::OF_MANIFEST, None));
    text.push_str(
        "\n## Units\n\n<!-- Files: what the unit touches, parted by commas. Depends On: units that have to be done \
         before, or None. Parallel: yes when it may run beside others that say yes, and no when it runs alone. -->\n\n\
         | Unit | Files | Depends On | Parallel |\n| --- | --- | --- | --- |\n",
    );
    for unit in units {
        text.push_str(&format!("| {} |  | None | no |\n", unit.slug));
    }
    text
}

fn heading(title: &str) -> String {
    format!("# {}\n\n", one_line(title))
}

fn one_line(title: &str) -> String {
    clean_line(title, 120)
}

fn sections(kinds: &[SectionKind], source: Option<&str>) -> String {
    let sections = kinds.iter().map(|kind| {
        let filled = source.filter(|_| *kind == SectionKind::SourceArtifacts);
        let filled = filled.map_or_else(String::new, |filled| format!("{filled}\n\n"));
        format!("## {kind}\n\n{}{filled}", guidance(*kind))
    });
    let text: String = sections.collect();
    format!("{}\n", text.trim_end())
}

fn guidance(kind: SectionKind) -> String {
    let wanted = capital(kind.wanted());
    match kind {
        SectionKind::Execution => {
            format!(
                "<!-- {wanted}, in this order. Leave out who is not needed. The validator runs last by itself. -->\n\n"
            )
        }
        SectionKind::TestableCriteria => format!(
            "<!-- {wanted}. -->\n\n### Test File Paths\n\n<!-- List the files that test-writer is to write, from the \
             top of the repository. -->\n\n"
        ),
        SectionKind::SourceArtifacts
        | SectionKind::Scope
        | SectionKind::NonGoals
        | SectionKind::InspectableCriteria
        | SectionKind::RelevantFiles
        | SectionKind::ValidationPlan
        | SectionKind::OpenQuestions => format!("<!-- {wanted}. -->\n\n"),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
