//! What there is to run: the spec or its units as they are committed, in their order. What cannot be executed is
//! refused before anything is begun.

use super::{
    super::{
        SPEC_FILE,
        check::check,
        load::{Artifact, children},
        place::Place,
        read::{Listing, Target, TaskDirectory, find, units},
    },
    RunError,
    git::{brought_by, is_at, is_ignored, is_same, text_at},
};
use shuntyard_core::roles::spec::{
    self, Artifacts, Document, Report, Role, Spec, Standing, TaskName, TestFiles, UnitName, check_spec, inside,
    standing, waves,
};
use shuntyard_host::{
    git::{Base, Git},
    repository::repository_of,
};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct Plan {
    pub name: TaskName,
    pub title: String,
    /// The top of the main working tree, without links.
    pub repository: PathBuf,
    /// What the work begins from, and goes back to.
    pub base: Base,
    /// The commit that it is at.
    pub(super) at: String,
    /// The spec itself, or its units.
    pub parts: Vec<Part>,
    /// Which parts may run at the same time, by their places in `parts`.
    pub waves: Vec<Vec<usize>>,
    /// Where task artifacts are, from the top of the repository: roles write only their reports there.
    pub(super) artifacts: Vec<String>,
    /// What `.ai/context.md` says.
    pub(super) context: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Part {
    pub unit: Option<UnitName>,
    /// From the top of the repository.
    pub directory: String,
    pub title: String,
    pub text: String,
    pub pipeline: Vec<Role>,
    pub tests: Vec<String>,
    /// How far it is by the files of the base alone.
    pub standing: Standing,
}

impl Plan {
    #[must_use]
    pub fn has_units(&self) -> bool {
        self.parts.iter().any(|part| part.unit.is_some())
    }

    /// What is no implementer's, whichever part it works on: artifacts, and the tests of all parts.
    pub(super) fn closed(&self) -> Vec<String> {
        let tests = self.parts.iter().flat_map(|part| &part.tests);
        self.artifacts.iter().chain(tests).cloned().collect()
    }

    pub(super) fn repository_name(&self) -> String {
        self.repository.display().to_string()
    }
}

impl Part {
    #[must_use]
    pub fn report(&self, report: Report) -> String {
        format!("{}/{}", self.directory, report.file())
    }

    #[must_use]
    pub fn spec_file(&self) -> String {
        format!("{}/{SPEC_FILE}", self.directory)
    }
}

pub fn plan(place: &Place, here: &Path, argument: &str) -> Result<Plan, RunError> {
    let task = task_of(place, here, argument)?;
    let Some(name) = TaskName::parse(&task.name) else {
        return Err(refused(
            format!("{} is no name for the directory of a task", task.name),
            "call it <NNN>-<id>, as in 007-add-export",
        ));
    };
    let checked = check(place, here, &[place.root().join(&task.path).display().to_string()])?;
    if let Some(first) = checked.faults.first() {
        let message = format!("{}:{}: {}, so nothing runs", first.path, first.fault.line, plain(&first.fault.message));
        return Err(refused(message, &format!("see all with `shuntyard spec check {name}`")));
    }
    let (repository, base, at) = begins_at(place)?;
    let reader = Reader { place, at: &at, task: &name };
    let text = reader.text(&task.path.join(SPEC_FILE))?.unwrap_or_default();
    let manifest = Spec::parse(&text);
    let Listing { found: directories, .. } = units(place, &task.path).map_err(super::ReadError::from)?;
    let (parts, order) = match manifest.units().filter(|_| manifest.is_manifest()) {
        None => {
            let within = children(&directories);
            (vec![reader.part(None, &task.path, spec::Place::Task { children: &within })?], vec![vec![0]])
        }
        Some(table) => {
            let mut parts = Vec::new();
            for (directory, _) in &directories {
                let Some(unit) = UnitName::parse(&directory.name) else { continue };
                parts.push(reader.part(Some(unit), &directory.path, spec::Place::Unit)?);
            }
            let order = waves(&table.units).map_err(|error| refused(error.to_string(), "fix the table of units"))?;
            let place_of = |slug: &String| {
                parts.iter().position(|part| part.unit.as_ref().is_some_and(|unit| unit.slug.as_str() == slug))
            };
            let order = order.iter().map(|wave| wave.iter().filter_map(place_of).collect()).collect();
            (parts, order)
        }
    };
    reader.refuse_ignored(&parts)?;
    let tasks = place.tasks().map_err(super::ReadError::from)?;
    let own = tasks.parent().map(|own| place.shown(own));
    let mut artifacts = vec![".ai".to_owned()];
    artifacts.extend(own.filter(|own| own != ".ai"));
    let context = text_at(place.root(), &at, ".ai/context.md")?;
    let title = manifest.title().map_or_else(|| name.to_string(), str::to_owned);
    Ok(Plan { name, title, repository, base, at, parts, waves: order, artifacts, context })
}

fn refused(message: String, hint: &str) -> RunError {
    RunError::Refused { message, hint: hint.to_owned() }
}

/// A message that ends with what would follow from it says it once.
fn plain(message: &str) -> &str {
    message.trim_end_matches(", so nothing would run")
}

fn task_of(place: &Place, here: &Path, argument: &str) -> Result<TaskDirectory, RunError> {
    let usage = |message: String, hint: String| RunError::Usage { message, hint };
    match find(place, here, argument)? {
        Target::Task(task) => Ok(task),
        Target::Unit { task, .. } => Err(usage(
            format!("{argument} is a unit, and units run with their task"),
            format!("`shuntyard spec run {}` runs what is left of it", task.name),
        )),
        Target::File(path) if path.file_name().is_some_and(|name| name == SPEC_FILE) => {
            let above = path.parent().map_or_else(|| path.clone(), Path::to_path_buf);
            task_of(place, here, &above.display().to_string())
        }
        Target::All | Target::File(_) => Err(usage(
            format!("{argument} is no task"),
            "name one by its number or its name; `shuntyard spec status` lists them".to_owned(),
        )),
    }
}

/// The repository, what is checked out of it, and the commit of that.
fn begins_at(place: &Place) -> Result<(PathBuf, Base, String), RunError> {
    let git = Git::default();
    let top = git.toplevel(place.root())?;
    let (Some(top), Some(repository)) = (top, repository_of(place.root())) else {
        let message = format!("{} is in no git repository", place.root().display());
        return Err(refused(message, "work is done on branches: `git init`, and commit what there is"));
    };
    if std::fs::canonicalize(&top).ok().as_deref() != Some(place.root()) {
        let message = format!("{} has .ai, and is not the top of its repository", place.root().display());
        return Err(refused(message, "only tasks at the top of a repository can be run"));
    }
    if git.head(&top)?.is_none() {
        let message = format!("{} has no commit yet", top.display());
        return Err(refused(message, "commit what there is, with the spec"));
    }
    let base = git.default_base(&top)?;
    let at = git.commit_of(&top, base.name())?;
    Ok((std::fs::canonicalize(&repository).unwrap_or(repository), base, at))
}

/// Reads what is committed. What is on the disk has to be the same, or the work would begin from something else than
/// what its owner sees.
struct Reader<'a> {
    place: &'a Place,
    at: &'a str,
    task: &'a TaskName,
}

impl Reader<'_> {
    fn text(&self, path: &Path) -> Result<Option<String>, RunError> {
        let shown = self.place.shown(path);
        let on_disk = Artifact::read(self.place, path).and_then(|artifact| artifact.text.ok());
        let committed = text_at(self.place.root(), self.at, &shown)?;
        // A checkout may have the line ends of another system.
        let same = |left: &String, right: &String| left.replace("\r\n", "\n") == right.replace("\r\n", "\n");
        match (&on_disk, &committed) {
            (None, None) => Ok(None),
            (Some(left), Some(right)) if same(left, right) => Ok(committed),
            _ if is_ignored(self.place.root(), &shown)? => Err(self.ignored(&shown)),
            _ => {
                let directory = format!(".ai/tasks/{}", self.task);
                let message = format!("{shown} is not committed as it is, and work begins from commits");
                let commands = format!("git add {directory} && git commit -m \"Plan {}\" -- {directory}", self.task);
                Err(refused(message, &format!("run `{commands}`, then this again")))
            }
        }
    }

    fn ignored(&self, shown: &str) -> RunError {
        let hint = "take the line out that `git check-ignore -v` shows, commit the spec, then run this again";
        refused(format!("git ignores {shown}, so no report could be handed on"), &format!("{hint}: {shown}"))
    }

    fn refuse_ignored(&self, parts: &[Part]) -> Result<(), RunError> {
        for path in parts.iter().flat_map(|part| Report::ALL.map(|report| part.report(report))) {
            if is_ignored(self.place.root(), &path)? {
                return Err(self.ignored(&path));
            }
        }
        Ok(())
    }

    fn part(&self, unit: Option<UnitName>, directory: &Path, within: spec::Place<'_>) -> Result<Part, RunError> {
        let text = self.text(&directory.join(SPEC_FILE))?.unwrap_or_default();
        let spec = Spec::parse(&text);
        let report = |report: Report| {
            let text = self.text(&directory.join(report.file()))?;
            Ok::<_, RunError>(text.map(|text| Document::parse(&text)))
        };
        let (implementation, documentation, validation) =
            (report(Report::Implementation)?, report(Report::Documentation)?, report(Report::Validation)?);
        let tests: Vec<String> = spec.test_paths().iter().filter_map(|path| inside(&path.text).ok()).collect();
        let root = self.place.root();
        // Tests that were there when the spec came are not those that it asks for.
        let since = brought_by(root, self.at, &self.place.shown(&directory.join(SPEC_FILE)))?;
        let mut there = !tests.is_empty();
        for path in &tests {
            let is_older = |since: &String| is_same(root, since, self.at, path);
            there = there && is_at(root, self.at, path)? && !since.as_ref().map_or(Ok(false), is_older)?;
        }
        let standing = standing(&Artifacts {
            spec: Some(&spec),
            faults: check_spec(&spec, within).len(),
            handoff: None,
            implementation: implementation.as_ref(),
            documentation: documentation.as_ref(),
            validation: validation.as_ref(),
            tests: if there { TestFiles::AllThere } else { TestFiles::Missing },
        });
        let title = spec.title().map_or_else(|| self.place.shown(directory), str::to_owned);
        let directory = self.place.shown(directory);
        Ok(Part { unit, directory, title, pipeline: spec.pipeline(), tests, standing, text })
    }
}
