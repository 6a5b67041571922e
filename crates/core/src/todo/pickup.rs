//! Which tasks may be dispatched without being asked for, and why the others of them may not.
//!
//! What holds a parent holds its children. All tasks are looked at, however many there are.

use super::{Blocker, Blocking, Checkbox, Document, Field, TaskId, TaskLine};

const AUTO_DISPATCH: &str = "auto-dispatch";
const QUEUE: &str = "Dispatch Queue";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pickup {
    /// In the order of the file.
    pub picks: Vec<Pick>,
    pub skipped: Vec<Skipped>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pick {
    pub id: TaskId,
    pub line: usize,
    pub why: PickReason,
}

/// What makes a task one to be dispatched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickReason {
    Tag,
    Queue,
    /// A task above it has the tag.
    Parent(TaskId),
}

/// A task that would be picked, were it not for an obstacle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub id: TaskId,
    pub line: usize,
    pub why: PickReason,
    pub obstacle: Obstacle,
    /// Whose obstacle it is: the task's own, or that of a task above it.
    pub of: TaskId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    Ambiguous {
        lines: Vec<usize>,
    },
    NotOpen(Checkbox),
    Claimed {
        by: String,
    },
    /// A tag like `discussion-needed`.
    Needs {
        tag: String,
    },
    Blocked(Vec<Blocker>),
    /// Its parts are dispatched one by one; done as a whole as well, the work would be done twice.
    OpenChildren(Vec<TaskId>),
}

#[must_use]
pub fn pickable(document: &Document) -> Pickup {
    let blocking = Blocking::of(document);
    let mut pickup = Pickup::default();
    for task in document.tasks() {
        let above = document.ancestors(task);
        let Some(why) = reason(task, &above) else { continue };
        let (id, line) = (task.id.clone(), task.line);
        let own = obstacle(document, &blocking, task).map(|obstacle| (obstacle, task));
        let inherited = || above.iter().find_map(|above| Some((inherited(document, &blocking, above)?, *above)));
        match own.or_else(inherited) {
            None => pickup.picks.push(Pick { id, line, why }),
            Some((obstacle, of)) => pickup.skipped.push(Skipped { id, line, why, obstacle, of: of.id.clone() }),
        }
    }
    pickup
}

fn reason(task: &TaskLine, above: &[&TaskLine]) -> Option<PickReason> {
    if task.is_tagged(AUTO_DISPATCH) {
        return Some(PickReason::Tag);
    }
    if task.sections.iter().any(|section| section.eq_ignore_ascii_case(QUEUE)) {
        return Some(PickReason::Queue);
    }
    let tagged = above.iter().find(|above| above.is_tagged(AUTO_DISPATCH))?;
    Some(PickReason::Parent(tagged.id.clone()))
}

fn obstacle(document: &Document, blocking: &Blocking<'_>, task: &TaskLine) -> Option<Obstacle> {
    if let Err(duplicate) = document.task(&task.id) {
        return Some(Obstacle::Ambiguous { lines: duplicate.lines });
    }
    if task.checkbox != Checkbox::Open {
        return Some(Obstacle::NotOpen(task.checkbox));
    }
    let blockers = blocking.blockers(&task.id);
    held(task).or_else(|| blocked(blockers)).or_else(|| {
        let below = document.descendants(&task.id).into_iter();
        let open: Vec<TaskId> = below.filter(|task| !task.checkbox.releases()).map(|task| task.id.clone()).collect();
        (!open.is_empty()).then_some(Obstacle::OpenChildren(open))
    })
}

/// What a task above hands down.
fn inherited(document: &Document, blocking: &Blocking<'_>, above: &TaskLine) -> Option<Obstacle> {
    if above.checkbox.releases() {
        return Some(Obstacle::NotOpen(above.checkbox));
    }
    held(above).or_else(|| {
        // A parent that waits for its own parts does not keep these from starting.
        let parts = document.descendants(&above.id);
        let mut blockers = blocking.blockers(&above.id);
        blockers.retain(|blocker| parts.iter().all(|part| part.id.as_str() != blocker.id));
        blocked(blockers)
    })
}

fn held(task: &TaskLine) -> Option<Obstacle> {
    if let Some(by) = task.value(Field::Assignee) {
        return Some(Obstacle::Claimed { by: by.to_owned() });
    }
    needed(task).map(|tag| Obstacle::Needs { tag: tag.to_owned() })
}

fn blocked(blockers: Vec<Blocker>) -> Option<Obstacle> {
    (!blockers.is_empty()).then_some(Obstacle::Blocked(blockers))
}

/// A tag that asks for a person. One with a comma behind it is no tag, but it would be wrong to overlook it.
fn needed(task: &TaskLine) -> Option<&str> {
    let loose = task.description.split_whitespace().filter_map(|word| word.strip_prefix('#'));
    let named = loose.map(|tag| tag.trim_end_matches(|c: char| c.is_ascii_punctuation()));
    task.tags.iter().map(String::as_str).chain(named).find(|tag| tag.to_ascii_lowercase().ends_with("-needed"))
}
