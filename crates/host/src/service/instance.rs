//! Which of several Shuntyards on one account is meant. Each has a data directory of its own, so that names it.

use crate::former_name::former_name;
use std::path::{Path, PathBuf};

/// A directory of this name does not identify whose data it has.
const NAMES: [&str; 2] = ["shuntyard", "switchyard"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instance {
    /// None for the usual data directory.
    suffix: Option<String>,
    product: Product,
}

/// Under which name of the program something was installed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Product {
    #[default]
    Present,
    Former,
}

impl Instance {
    #[must_use]
    pub fn of(data_dir: &Path, home: &Path) -> Self {
        let product = Product::Present;
        if data_dir == home.join(".local/share/shuntyard") {
            return Self { suffix: None, product };
        }
        // The same directory can be written in several ways.
        let data_dir: PathBuf = data_dir.components().collect();
        let names = data_dir.iter().rev().filter_map(|part| part.to_str());
        let name =
            names.map(plain).find(|name| !name.is_empty() && !NAMES.contains(&name.as_str())).unwrap_or_default();
        let separator = if name.is_empty() { "" } else { "-" };
        let suffix = format!("{name}{separator}{:08x}", hash(data_dir.as_os_str().as_encoded_bytes()));
        Self { suffix: Some(suffix), product }
    }

    /// The same as it was called when the program had its former name.
    #[must_use]
    pub fn former(data_dir: &Path, home: &Path) -> Self {
        let usual = data_dir.file_name().is_some_and(|name| name == "shuntyard");
        let former = if usual { data_dir.with_file_name("switchyard") } else { data_dir.to_path_buf() };
        let suffix = if former == home.join(".local/share/switchyard") { None } else { Self::of(&former, home).suffix };
        Self { suffix, product: Product::Former }
    }

    #[must_use]
    pub fn suffix(&self) -> Option<&str> {
        self.suffix.as_deref()
    }

    /// `base`, or `base`, the separator and the suffix; with the name that the program had.
    #[must_use]
    pub fn name(&self, base: &str, separator: char) -> String {
        let base = match self.product {
            Product::Present => base.to_owned(),
            Product::Former => former_name(base),
        };
        match &self.suffix {
            None => base,
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
        Instance::of(Path::new(data_dir), Path::new("/home/ann")).suffix
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
        let two = |product| Instance { suffix: Some("two-1".into()), product };
        assert_eq!(Instance::default().name("shuntyard", '-'), "shuntyard");
        assert_eq!(two(Product::Present).name("shuntyard", '.'), "shuntyard.two-1");
        assert_eq!(two(Product::Former).name("shuntyard-pulse", '-'), "switchyard-pulse-two-1");
    }

    /// As the program named them while it had that name.
    #[test]
    fn the_former_names_are_known() {
        let former =
            |data_dir: &str| Instance::former(Path::new(data_dir), Path::new("/home/ann")).name("shuntyard", '-');
        assert_eq!(former("/home/ann/.local/share/shuntyard"), "switchyard");
        let of_former = format!("{:08x}", hash(b"/srv/xdg/switchyard"));
        assert_eq!(former("/srv/xdg/shuntyard"), format!("switchyard-xdg-{of_former}"));
        assert_eq!(former("/srv/Two Yards"), "switchyard-two-yards-f44afe8f");
    }
}
