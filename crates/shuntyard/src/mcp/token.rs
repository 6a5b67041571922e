//! The token that every request over HTTP has to carry. It is compared by its digest, so that the time of a comparison
//! reveals nothing about how much of a guess was right.

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use shuntyard_host::paths::{private_dir, write_private};
use std::{
    io,
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// The variable that names a token; without it one is made.
pub const VARIABLE: &str = "SHUNTYARD_MCP_TOKEN";
/// A token that can be guessed is none.
pub const SHORTEST: usize = 16;

#[derive(Debug, Clone)]
pub struct Token {
    digest: [u8; 32],
}

impl Token {
    pub fn new(token: &SecretString) -> Self {
        Self { digest: digest(token.expose_secret()) }
    }

    /// Whether an `Authorization` header carries it.
    pub fn admits(&self, authorization: Option<&str>) -> bool {
        let (scheme, token) = authorization.and_then(|value| value.split_once(' ')).unwrap_or_default();
        // Both are always computed: a missing header must not answer faster than a wrong one.
        let same = digest(token.trim()) == self.digest;
        same && scheme.eq_ignore_ascii_case("bearer")
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// A token in a file that only this user can read. The file goes when the server does.
#[derive(Debug)]
pub struct TokenFile {
    pub path: PathBuf,
}

impl TokenFile {
    pub fn create(data_dir: &Path) -> io::Result<(Self, SecretString)> {
        let token = SecretString::from(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()));
        let directory = data_dir.join("mcp");
        private_dir(&directory)?;
        let path = directory.join(format!("{}.token", std::process::id()));
        write_private(&path, token.expose_secret().as_bytes())?;
        Ok((Self { path }, token))
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(file = %self.path.display(), %error, "the token's file could not be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_is_admitted() {
        let token = Token::new(&SecretString::from("0123456789abcdef".to_owned()));
        for good in ["Bearer 0123456789abcdef", "bearer 0123456789abcdef", "Bearer  0123456789abcdef "] {
            assert!(token.admits(Some(good)), "{good}");
        }
        for bad in [
            "",
            "Bearer",
            "Bearer ",
            "0123456789abcdef",
            "Basic 0123456789abcdef",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
        ] {
            assert!(!token.admits(Some(bad)), "{bad}");
        }
        assert!(!token.admits(None));
    }

    #[test]
    fn the_file_is_private_and_goes_with_the_server() {
        use std::os::unix::fs::PermissionsExt;
        let place = shuntyard_testkit::Scratch::of_test();
        let (file, token) = TokenFile::create(place.path()).expect("a file");
        let path = file.path.clone();
        assert_eq!(std::fs::metadata(&path).expect("metadata").permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(&path).expect("a text"), token.expose_secret());
        drop(file);
        assert!(!path.exists());
    }
}
