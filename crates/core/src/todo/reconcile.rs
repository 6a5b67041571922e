//! Where the store and the file disagree. A difference is reported and fixed; none of them is a reason to
//! delete anything on either side.

use super::{Checkbox, Document, Field, TaskId, TaskLine};
use std::collections::HashSet;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTask {
    pub id: TaskId,
    pub phase: StoredPhase,
    pub assignee: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredPhase {
    /// Not yet over, whatever it waits for. A failed task is open until a person decides.
    Open,
    Done,
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    OnlyInStore {
        id: TaskId,
        phase: StoredPhase,
    },
    OnlyInFile {
        id: TaskId,
        line: usize,
        checkbox: Checkbox,
    },
    /// The id is on several lines, so nothing can be compared.
    Ambiguous {
        id: TaskId,
        lines: Vec<usize>,
    },
    /// The box is ticked or declined, and the store thinks that there is something to do.
    FileEnded {
        id: TaskId,
        line: usize,
        checkbox: Checkbox,
    },
    /// The store has it done or cancelled, and the box does not show it.
    StoreEnded {
        id: TaskId,
        line: usize,
        checkbox: Checkbox,
        phase: StoredPhase,
    },
    /// Done in the one and given up in the other.
    EndsDiffer {
        id: TaskId,
        line: usize,
        checkbox: Checkbox,
        phase: StoredPhase,
    },
    /// Of an unfinished task.
    AssigneeDiffers {
        id: TaskId,
        line: usize,
        file: Option<String>,
        store: Option<String>,
    },
}

/// What is stored comes first, in its order; then what only the file has, in the order of its lines.
#[must_use]
pub fn reconcile(document: &Document, stored: &[StoredTask]) -> Vec<Difference> {
    let mut differences = Vec::new();
    for task in stored {
        match document.task(&task.id) {
            Err(duplicate) => {
                differences.push(Difference::Ambiguous { id: duplicate.id, lines: duplicate.lines });
            }
            Ok(None) => differences.push(Difference::OnlyInStore { id: task.id.clone(), phase: task.phase }),
            Ok(Some(line)) => differences.extend([phase(line, task), assignee(line, task)].into_iter().flatten()),
        }
    }
    let mut seen: HashSet<&TaskId> = stored.iter().map(|task| &task.id).collect();
    for line in document.tasks().filter(|line| seen.insert(&line.id)) {
        differences.push(match document.task(&line.id) {
            Err(duplicate) => Difference::Ambiguous { id: duplicate.id, lines: duplicate.lines },
            Ok(_) => Difference::OnlyInFile { id: line.id.clone(), line: line.line, checkbox: line.checkbox },
        });
    }
    differences
}

fn phase(line: &TaskLine, stored: &StoredTask) -> Option<Difference> {
    let (id, number, checkbox, phase) = (line.id.clone(), line.line, line.checkbox, stored.phase);
    match (checkbox, phase) {
        (Checkbox::Open | Checkbox::Unknown(_), StoredPhase::Open)
        | (Checkbox::Done, StoredPhase::Done)
        | (Checkbox::Declined, StoredPhase::Cancelled) => None,
        (Checkbox::Done | Checkbox::Declined, StoredPhase::Open) => {
            Some(Difference::FileEnded { id, line: number, checkbox })
        }
        (Checkbox::Open | Checkbox::Unknown(_), StoredPhase::Done | StoredPhase::Cancelled) => {
            Some(Difference::StoreEnded { id, line: number, checkbox, phase })
        }
        (Checkbox::Done, StoredPhase::Cancelled) | (Checkbox::Declined, StoredPhase::Done) => {
            Some(Difference::EndsDiffer { id, line: number, checkbox, phase })
        }
    }
}

/// Once a task is over, its assignee is history, and the two sides may differ.
fn assignee(line: &TaskLine, stored: &StoredTask) -> Option<Difference> {
    let is_over = line.checkbox.releases() || stored.phase != StoredPhase::Open;
    let (file, store) = (line.value(Field::Assignee), stored.assignee.as_deref());
    if is_over || file == store {
        return None;
    }
    Some(Difference::AssigneeDiffers {
        id: line.id.clone(),
        line: line.line,
        file: file.map(str::to_owned),
        store: store.map(str::to_owned),
    })
}
