//! The paths of a simple command that OpenCode checks before it runs.

/// Commands that only change the directory are not asked for at all.
pub(super) const MOVES: [&str; 6] = ["cd", "chdir", "popd", "pushd", "push-location", "set-location"];
/// Commands whose paths are looked at, besides [`MOVES`].
const FILES: [&str; 8] = ["rm", "cp", "mv", "mkdir", "touch", "chmod", "chown", "cat"];

/// The paths in `words`, which are as written, with their quotes.
pub(super) fn of(words: &[String]) -> Vec<String> {
    let Some((name, rest)) = words.split_first() else { return Vec::new() };
    if !MOVES.contains(&name.as_str()) && !FILES.contains(&name.as_str()) {
        return Vec::new();
    }
    let is_flag = |word: &String| word.starts_with('-') || (name == "chmod" && word.starts_with('+'));
    rest.iter().filter(|word| !is_flag(word)).filter_map(|word| known(word)).collect()
}

/// The part of a path before its first wildcard, if nothing in it changes when the command runs.
fn known(word: &str) -> Option<String> {
    let bare = ['"', '\''].into_iter().find_map(|quote| word.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(word);
    let known = &bare[..bare.find(['?', '*', '[']).unwrap_or(bare.len())];
    let changes = known.starts_with('(') || known.contains(['$', '`']);
    (!known.is_empty() && !changes).then(|| known.to_owned())
}
