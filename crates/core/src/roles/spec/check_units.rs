//! What is wrong with the units of a manifest: in its table, and beside it.

use super::{
    fault::{Fault, Rule},
    name::{BadSlug, UnitName},
    path::inside,
    units::{MOST_UNITS, Parallel, Unit, UnitTable},
    waves::{Graph, circle, shared_file},
};
use crate::values::clean_line;
use std::collections::HashMap;

/// A directory below that of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    pub name: String,
    pub has_spec: bool,
}

/// The place of a spec, which decides what may be in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'c> {
    Task {
        children: &'c [Child],
    },
    /// A unit of a task has no units of its own.
    Unit,
    /// A file by itself, whose directory is unknown.
    Alone,
}

pub(super) fn check_units(tables: &[UnitTable], place: Place<'_>) -> Vec<Fault> {
    let Some((table, more)) = tables.split_first() else { return Vec::new() };
    let again = more.iter().map(|again| {
        let message = format!("Units is there again; it began on line {}", table.line);
        Fault::new(again.line, Rule::SectionTwice, message, "make one table of the two")
    });
    let mut faults: Vec<Fault> = again.collect();
    if place == Place::Unit {
        let hint = "give the task above more units instead";
        faults.push(Fault::new(table.line, Rule::UnitsNested, "a unit has no units of its own", hint));
    }
    let columns = "the columns are `| Unit | Files | Depends On | Parallel |`";
    if !table.missing.is_empty() {
        let message = match table.missing.len() {
            4 => "Units has no table".to_owned(),
            _ => format!("the table has no column {}", table.missing.join(", ")),
        };
        faults.push(Fault::new(table.line, Rule::UnitTable, message, columns));
        return faults;
    }
    let units = &table.units;
    if units.is_empty() {
        faults.push(Fault::new(
            table.line,
            Rule::UnitTable,
            "the table has no units, so nothing would run",
            "add a row for each",
        ));
    } else if units.len() > MOST_UNITS {
        let message = format!("the table has {} units; {MOST_UNITS} is the most", units.len());
        faults.push(Fault::new(table.line, Rule::UnitTable, message, "make several tasks of it"));
        return faults;
    }
    faults.extend(units.iter().flat_map(check_row));
    faults.extend(repeated(units));
    faults.extend(dependencies(units));
    faults.extend(shared_files(units));
    if let Place::Task { children } = place {
        faults.extend(check_children(units, children));
    }
    faults
}

fn check_row(unit: &Unit) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |rule, message: String, hint: &str| faults.push(Fault::new(unit.line, rule, message, hint));
    if unit.slug().is_none() {
        let bad = BadSlug(unit.name.clone());
        let message = if unit.name.is_empty() { "a unit has no name".to_owned() } else { bad.to_string() };
        fault(Rule::UnitName, message, &bad.hint());
    }
    if let Parallel::Unclear(word) = &unit.parallel {
        let message = format!("Parallel is yes or no, and not `{}`", clean_line(word, 20));
        fault(Rule::UnitParallel, message, "write no when in doubt");
    }
    if unit.files.is_empty() {
        fault(Rule::UnitFile, format!("{} names no files", shown(unit)), "list what the unit will touch");
    }
    for file in &unit.files {
        let named = clean_line(file, 80);
        let hint = "write files and directories from the top of the repository, parted by commas";
        if file.contains('*') {
            fault(
                Rule::UnitFile,
                format!("`{named}` is a pattern, of which nobody can tell what else it touches"),
                hint,
            );
        } else if let Err(why) = inside(file) {
            fault(Rule::UnitFile, format!("the file `{named}` {why}"), hint);
        }
    }
    faults
}

fn repeated(units: &[Unit]) -> Vec<Fault> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let twice = units.iter().filter_map(|unit| {
        let line = *first.entry(unit.name.as_str()).or_insert(unit.line);
        let message = format!("the unit {} is already on line {line}", shown(unit));
        (line != unit.line).then(|| Fault::new(unit.line, Rule::UnitTwice, message, "give it another name"))
    });
    twice.collect()
}

fn dependencies(units: &[Unit]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for unit in units {
        for name in unit.depends_on.iter().filter(|name| !units.iter().any(|other| other.name == **name)) {
            let known = units.iter().map(|other| other.name.as_str());
            let hint = match crate::values::nearest::nearest(name, known, 1).first() {
                Some(close) => format!("did you mean {}?", clean_line(close, 60)),
                None => "name a unit of the table, or None".to_owned(),
            };
            let message = format!("{} depends on `{}`, which is no unit", shown(unit), clean_line(name, 60));
            faults.push(Fault::new(unit.line, Rule::UnitDependency, message, hint));
        }
    }
    faults.extend(Graph::known(units).cycles().iter().map(|cycle| {
        let names: Vec<String> = cycle.iter().map(|unit| shown(&units[*unit])).collect();
        let line = cycle.first().map_or(1, |unit| units[*unit].line);
        let message = match names.as_slice() {
            [one] => format!("{one} waits for itself"),
            several => format!("units wait for each other: {}", circle(several)),
        };
        Fault::new(line, Rule::UnitCycle, message, "take one of these dependencies out")
    }));
    faults
}

fn shared_files(units: &[Unit]) -> Vec<Fault> {
    let graph = Graph::known(units);
    let mut faults = Vec::new();
    for (later, unit) in units.iter().enumerate() {
        for (earlier, other) in units[..later].iter().enumerate() {
            let both = unit.parallel == Parallel::Yes && other.parallel == Parallel::Yes;
            if !both || graph.waits(later, earlier) || graph.waits(earlier, later) {
                continue;
            }
            if let Some(file) = shared_file(unit, other) {
                let (one, two) = (shown(other), shown(unit));
                let message =
                    format!("{one} and {two} may run at the same time and both touch `{}`", clean_line(&file, 80));
                let hint = format!("write no under Parallel for one of them, or let {two} depend on {one}");
                faults.push(Fault::new(unit.line, Rule::UnitFilesShared, message, hint));
            }
        }
    }
    faults
}

/// The directories of units, against the table.
pub(super) fn check_children(units: &[Unit], children: &[Child]) -> Vec<Fault> {
    let found: Vec<(UnitName, &Child)> =
        children.iter().filter_map(|child| Some((UnitName::parse(&child.name)?, child))).collect();
    let mut faults = Vec::new();
    for unit in units {
        let Some(slug) = unit.slug() else { continue };
        let mut fitting = found
            .iter()
            .filter(|(name, _)| name.slug == slug && unit.number.is_none_or(|number| number == name.number));
        let Some((_, first)) = fitting.next() else {
            let name = unit
                .number
                .map_or_else(|| format!("<NN>-{slug}"), |number| UnitName { number, slug: slug.clone() }.to_string());
            let hint = format!("write {name}/task-spec.md");
            faults.push(Fault::new(unit.line, Rule::UnitDirectoryMissing, format!("{slug} has no directory"), hint));
            continue;
        };
        if !first.has_spec {
            let message = format!("{} has no task-spec.md", first.name);
            faults.push(Fault::new(unit.line, Rule::UnitDirectoryMissing, message, "write it"));
        }
        faults.extend(fitting.map(|(_, second)| {
            let message = format!("{slug} has two directories: {} and {}", first.name, second.name);
            Fault::new(unit.line, Rule::UnitDirectoryTwice, message, "leave one of them")
        }));
    }
    for child in children {
        let listed = UnitName::parse(&child.name).is_some_and(|name| {
            units.iter().any(|unit| {
                unit.slug().as_ref() == Some(&name.slug) && unit.number.is_none_or(|number| number == name.number)
            })
        });
        // Directories without a spec may hold anything, unless they are named like a unit.
        if !listed && (child.has_spec || UnitName::parse(&child.name).is_some()) {
            let message = format!(
                "the directory {} is not in the table of units, so it would never run",
                clean_line(&child.name, 60)
            );
            let hint = "add a row for it below `## Units`, or remove it";
            faults.push(Fault::new(1, Rule::UnitDirectoryUnlisted, message, hint));
        }
    }
    faults
}

fn shown(unit: &Unit) -> String {
    clean_line(&unit.name, 60)
}
