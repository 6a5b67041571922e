//! A short name for a text: part of a file name, not a protection.

use sha2::{Digest, Sha256};

pub(crate) fn short_hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}
