//! What kind of task a text looks like.

/// The kind of task that a text was taken for, with the signs that said so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// `None`: no kind of task stood out, and the default tier is used.
    pub task_type: Option<String>,
    pub tier: String,
    pub why: String,
}
