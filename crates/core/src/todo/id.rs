//! Which words of a line are ids: `t001`, and `t001.2.1` for a part of a part. They are compared as they are written,
//! so `t1` is not `t001`, and `t20` is not `t20.1`.

use super::TaskId;

/// Stricter than the ids of the store: in a line, any plain word could otherwise be one.
pub(super) fn read_id(word: &str) -> Option<TaskId> {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    word.strip_prefix('t').filter(|numbers| numbers.split('.').all(number))?;
    word.parse().ok()
}
