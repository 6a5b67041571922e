//! Tasks that wait for each other and so for ever.
//!
//! A parent waits for its children too, since it cannot be completed before them.

use super::{Blocking, Document, TaskId};
use std::collections::HashMap;

/// Circles of unfinished tasks, each of which waits for the next, the first one in the file in front. Every task that
/// can never start for such a reason is in a circle that is named or waits for one; of circles that share tasks, not
/// each need be named.
#[must_use]
pub fn cycles(document: &Document) -> Vec<Vec<TaskId>> {
    let (ids, edges) = waiting(document);
    let mut search = Search { edges: &edges, visits: vec![Visit::New; ids.len()], path: Vec::new(), found: Vec::new() };
    for node in 0..ids.len() {
        search.walk(node);
    }
    search.found.sort();
    search.found.dedup();
    search.found.iter().map(|circle| circle.iter().map(|node| ids[*node].clone()).collect()).collect()
}

/// The unfinished tasks, and for each of them those that it waits for.
fn waiting(document: &Document) -> (Vec<&TaskId>, Vec<Vec<usize>>) {
    let mut ids: Vec<&TaskId> = Vec::new();
    let mut number: HashMap<&str, usize> = HashMap::new();
    for task in document.tasks().filter(|task| !task.checkbox.releases()) {
        number.entry(task.id.as_str()).or_insert_with(|| {
            ids.push(&task.id);
            ids.len() - 1
        });
    }
    let blocking = Blocking::of(document);
    let edges = ids.iter().map(|id| {
        let children = document.children(id).map(|child| child.id.as_str());
        blocking.named_by(id).chain(children).filter_map(|name| number.get(name).copied()).collect()
    });
    let edges = edges.collect();
    (ids, edges)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    OnPath,
    Finished,
}

struct Search<'e> {
    edges: &'e [Vec<usize>],
    visits: Vec<Visit>,
    /// The nodes that lead here, and how many edges of each were taken. It is no recursion, for a file may have a
    /// chain as long as it likes.
    path: Vec<(usize, usize)>,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn walk(&mut self, from: usize) {
        self.enter(from);
        while let Some((node, taken)) = self.path.last_mut() {
            let (node, edge) = (*node, *taken);
            *taken += 1;
            match self.edges[node].get(edge) {
                Some(next) => self.enter(*next),
                None => {
                    self.visits[node] = Visit::Finished;
                    self.path.pop();
                }
            }
        }
    }

    fn enter(&mut self, node: usize) {
        match self.visits[node] {
            Visit::New => {
                self.visits[node] = Visit::OnPath;
                self.path.push((node, 0));
            }
            Visit::OnPath => self.close(node),
            Visit::Finished => {}
        }
    }

    /// The path has come back to a node of its own.
    fn close(&mut self, node: usize) {
        let path = self.path.iter().map(|(node, _)| *node);
        let mut circle: Vec<usize> = path.skip_while(|passed| *passed != node).collect();
        let first = (0..circle.len()).min_by_key(|place| circle[*place]).unwrap_or(0);
        circle.rotate_left(first);
        self.found.push(circle);
    }
}
