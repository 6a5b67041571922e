//! Failed checks and review comments that no attempt has answered yet, and the text that the next one gets.

use super::{LineComment, Opinion, PullRequest, PullRequestRecord, Review, StatusCheck, Verdict};
use std::fmt::Write as _;

/// The longest text that an attempt gets of one check or comment, in characters.
const LONGEST: usize = 4000;
/// Comments on lines that an attempt gets, at most.
const COMMENTS: usize = 50;

/// What an attempt has to answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Objections<'a> {
    pub checks: Vec<&'a StatusCheck>,
    pub reviews: Vec<&'a Review>,
    /// The names under which they are remembered as answered.
    pub answers: Vec<String>,
}

/// The failed checks of this head and the reviews that ask for changes, without those that were answered. Checks are
/// answered once all of them have ended.
#[must_use]
pub fn objections<'a>(found: &'a PullRequest, record: &PullRequestRecord) -> Option<Objections<'a>> {
    // Commits of others are for their authors to fix.
    if found.state != "OPEN" || found.is_draft || found.head != record.head {
        return None;
    }
    let is_new = |key: &String| !record.answered.contains(key);
    let mut objections = Objections::default();
    let ended = found.checks.iter().all(|check| check.verdict() != Verdict::Pending);
    let (failed, key) = (found.failed_checks(), format!("checks {}", found.head));
    if ended && !failed.is_empty() && is_new(&key) {
        objections.checks = failed;
        objections.answers.push(key);
    }
    for (review, opinion) in found.opinions() {
        let key = format!("review {}", review.id);
        if opinion == Opinion::RequestsChanges && is_new(&key) {
            objections.reviews.push(review);
            objections.answers.push(key);
        }
    }
    (!objections.answers.is_empty()).then_some(objections)
}

impl Objections<'_> {
    /// The same failure twice has the same signature, whatever its log contains.
    #[must_use]
    pub fn signature(&self) -> String {
        let mut names: Vec<&str> = self.checks.iter().map(|check| check.name()).collect();
        names.sort_unstable();
        format!("checks {}", names.join(", "))
    }

    /// Adds the comments on lines that were not answered, and returns the text for the next attempt. `logs` are the
    /// ends of the logs of failed checks, by name.
    pub fn text(
        &mut self,
        url: &str,
        logs: &[(String, String)],
        comments: &[LineComment],
        record: &PullRequestRecord,
    ) -> String {
        let mut text = format!("The pull request {url} cannot be merged yet.");
        for check in &self.checks {
            let _ = write!(text, "\nIts check `{}` failed ({}).", check.name(), check.url());
            if let Some((_, log)) = logs.iter().find(|(name, _)| name == check.name()) {
                let _ = write!(text, " The end of its log:\n{}", end_of(log));
            }
        }
        for review in &self.reviews {
            let _ = write!(text, "\n{} asks for changes", review.author.login);
            let _ = match review.body.trim() {
                "" => write!(text, "."),
                body => write!(text, ":\n{}", beginning_of(body)),
            };
        }
        if self.reviews.is_empty() {
            return text;
        }
        let key = |comment: &LineComment| format!("comment {}", comment.id);
        let new = comments.iter().filter(|comment| comment.is_trusted() && !record.answered.contains(&key(comment)));
        for comment in new.take(COMMENTS) {
            let line = comment.line.map(|line| format!(":{line}")).unwrap_or_default();
            let body = beginning_of(comment.body.trim());
            let _ = write!(text, "\n{} on {}{line}: {body}", comment.user.login, comment.path);
            self.answers.push(key(comment));
        }
        text
    }
}

fn beginning_of(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

fn end_of(text: &str) -> String {
    let surplus = text.chars().count().saturating_sub(LONGEST);
    text.chars().skip(surplus).collect()
}
