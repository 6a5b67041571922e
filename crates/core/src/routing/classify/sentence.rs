//! Why a text was taken for what it was, as one sentence for people.

use super::{Standing, hint::Hints};
use std::cmp::Reverse;

/// As many pieces of evidence as a reader takes in; the strongest are named.
const NAMED: usize = 4;

/// The text named its kind itself.
pub(super) fn said(hints: &Hints<'_>) -> String {
    format!("the text says {}", hints.said.join(" and "))
}

/// The text was classified, though it may have named its tier.
pub(super) fn looks(
    hints: &Hints<'_>,
    winner: Option<&Standing<'_>>,
    standings: &[Standing<'_>],
    threshold: i64,
) -> String {
    let looks = match (winner, standings) {
        (Some(winner), _) => {
            format!(
                "looks like {}: {}; {}",
                winner.task_type,
                evidence(winner),
                margin(winner, standings.get(1).filter(|second| second.points > 0))
            )
        }
        (None, []) => "no kind of task stands out".to_owned(),
        (None, [best, ..]) => {
            format!("no kind of task stands out: {} has {} of {threshold} points", best.task_type, best.points)
        }
    };
    if hints.said.is_empty() { looks } else { format!("{}; {looks}", said(hints)) }
}

fn evidence(standing: &Standing<'_>) -> String {
    let mut found: Vec<_> = standing.evidence.iter().filter(|found| found.points != 0).collect();
    found.sort_by_key(|found| Reverse(found.points.saturating_abs()));
    let mut named: Vec<String> =
        found.iter().take(NAMED).map(|found| format!("{} ({})", found.what, found.points)).collect();
    if found.len() > NAMED {
        named.push(format!("{} more", found.len() - NAMED));
    }
    named.join(", ")
}

fn margin(winner: &Standing<'_>, second: Option<&Standing<'_>>) -> String {
    let points = if winner.points == 1 { "1 point".to_owned() } else { format!("{} points", winner.points) };
    match second {
        None => points,
        Some(second) if second.points == winner.points && second.tier != winner.tier => {
            format!("{points}, as many as {}, which is dearer", second.task_type)
        }
        Some(second) => format!("{points} against {} for {}", second.points, second.task_type),
    }
}
