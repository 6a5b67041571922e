//! What is remembered of a task's text, and what is looked for in it.

use crate::values::redact::redact;
use std::collections::BTreeSet;

/// Words that carry no meaning for a task.
const EMPTY_WORDS: [&str; 44] = [
    "the", "and", "for", "with", "that", "this", "from", "into", "are", "was", "were", "has", "have", "had", "not",
    "but", "you", "your", "our", "its", "can", "could", "should", "would", "please", "will", "all", "any", "each",
    "what", "when", "where", "which", "who", "why", "how", "does", "did", "then", "than", "there", "here", "them",
    "they",
];
/// More words than these find nothing better, only slower.
const MOST_TERMS: usize = 12;
/// A word of this length with letters and digits mixed is more likely a key than a word.
const KEY_LENGTH: usize = 20;
const MASK: &str = "[secret]";

/// The beginning of a text as it may be stored: without what looks like a secret, on one line.
#[must_use]
pub fn remembered(text: &str, limit: usize) -> String {
    // What is cut off in the middle of a key would no longer look like one, so it is masked first.
    let looked_at: String = text.chars().take(limit.saturating_mul(2).saturating_add(4096)).collect();
    let masked = redact(&looked_at);
    let mut inside_key = false;
    let mut kept = String::new();
    for word in masked.split_whitespace() {
        // A key in armour is a block of lines between two marks.
        if word.contains("-----BEGIN") {
            inside_key = true;
        }
        let word_is_secret = inside_key || is_like_a_key(word) || is_like_base64(word);
        if word.contains("-----END") {
            inside_key = false;
        }
        let word = if word_is_secret { MASK } else { word };
        if word == MASK && kept.ends_with(MASK) {
            continue;
        }
        if !kept.is_empty() {
            kept.push(' ');
        }
        kept.push_str(word);
    }
    kept.chars().take(limit).collect()
}

fn is_like_a_key(word: &str) -> bool {
    word.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '_' | '-' | '=' | '~')))
        .any(|run| run.len() >= KEY_LENGTH && has_digit_and_letter(run))
}

/// Base64 has slashes, as paths have; but it mixes all kinds of letters as no path does.
fn is_like_base64(word: &str) -> bool {
    word.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='))).any(|run| {
        let count = |kind: fn(&u8) -> bool| run.bytes().filter(kind).count();
        run.len() >= 32
            && count(u8::is_ascii_digit) >= 3
            && count(u8::is_ascii_uppercase) >= 6
            && count(u8::is_ascii_lowercase) >= 6
    })
}

fn has_digit_and_letter(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    digits >= 3 && run.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// The words of a text that are worth looking for, each once, the longest first.
#[must_use]
pub fn search_terms(text: &str) -> Vec<String> {
    let lower = text.chars().take(4000).collect::<String>().to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 3);
    let words: BTreeSet<&str> = words.filter(|word| !EMPTY_WORDS.contains(word)).collect();
    let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    words.truncate(MOST_TERMS);
    words
}
