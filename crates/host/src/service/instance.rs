//! Which of several Shuntyards on one account is meant. Each has a data directory of its own, so that names it.

use std::path::{Path, PathBuf};

/// Empty for the usual data directory; otherwise a suffix for names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instance(Option<String>);

impl Instance {
    #[must_use]
    pub fn of(data_dir: &Path, home: &Path) -> Self {
        if data_dir == home.join(".local/share/shuntyard") {
            return Self(None);
        }
        // The same directory can be written in several ways.
        let data_dir: PathBuf = data_dir.components().collect();
        let names = data_dir.iter().rev().filter_map(|part| part.to_str());
        let name = names.map(plain).find(|name| !name.is_empty() && name != "shuntyard").unwrap_or_default();
        let separator = if name.is_empty() { "" } else { "-" };
        Self(Some(format!("{name}{separator}{:08x}", hash(data_dir.as_os_str().as_encoded_bytes()))))
    }

    #[must_use]
    pub fn suffix(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// `base`, or `base`, the separator and the suffix.
    #[must_use]
    pub fn name(&self, base: &str, separator: char) -> String {
        match &self.0 {
            None => base.to_owned(),
            Some(suffix) => format!("{base}{separator}{suffix}"),
        }
    }
}

/// What every system takes in a name.
fn plain(name: &str) -> String {
    let letters =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' });
    let plain: String = letters.take(24).collect();
    plain.trim_matches('-').to_owned()
}

/// FNV-1a: the name has to be the same in every version of this program, which the standard hasher does not promise.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suffix(data_dir: &str) -> Option<String> {
        Instance::of(Path::new(data_dir), Path::new("/home/ann")).0
    }

    #[test]
    fn only_an_unusual_data_directory_has_a_suffix() {
        let table = [
            ("/home/ann/.local/share/shuntyard", None),
            ("/home/ann/.local/share/shuntyard/", None),
            ("/srv/Two Yards", Some("two-yards-f44afe8f")),
            ("/srv//Two Yards/", Some("two-yards-f44afe8f")),
            ("/srv/xdg/shuntyard", Some("xdg-1874563e")),
            ("/数/据", Some("30be6b93")),
        ];
        for (data_dir, expected) in table {
            assert_eq!(suffix(data_dir).as_deref(), expected, "{data_dir}");
        }
        assert_ne!(suffix("/a/work"), suffix("/b/work"));
    }

    #[test]
    fn the_suffix_stands_in_names() {
        assert_eq!(Instance(None).name("shuntyard", '-'), "shuntyard");
        assert_eq!(Instance(Some("two-1".into())).name("shuntyard", '.'), "shuntyard.two-1");
    }
}
