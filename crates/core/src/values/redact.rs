//! Keeps secrets out of what we print, store and log.
//!
//! Providers like to repeat a wrong key in their error text, so every foreign message passes here.

const KEY_PREFIXES: [&str; 14] =
    ["sk-", "sk_", "pk-", "rk-", "ghp_", "gho_", "ghs_", "github_pat_", "xoxb-", "xoxp-", "AIza", "gsk_", "hf_", "eyJ"];
const MASK: &str = "[secret]";

/// Masks everything in `text` that looks like a credential.
#[must_use]
pub fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut mask_next = false;
    let mut rest = text;
    while !rest.is_empty() {
        let word_end = rest.find(is_boundary).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_end);
        if word.is_empty() {
            let boundary = after.chars().next().map_or(0, char::len_utf8);
            out.push_str(&after[..boundary]);
            rest = &after[boundary..];
            continue;
        }
        let announced = mask_next && word.len() >= 6;
        out.push_str(if announced || looks_like_key(word) { MASK } else { word });
        // "Bearer X", "apiKey": "X", token=X: the word after these is the secret.
        mask_next = announces_secret(word) || (mask_next && word.len() < 6);
        rest = after;
    }
    out
}

/// What a line has that must not be committed; only what is unmistakable, because code is full of words like "secret".
#[must_use]
pub fn committed_secret(line: &str) -> Option<&'static str> {
    if line.contains("-----BEGIN ") && line.contains("PRIVATE KEY-----") {
        return Some("a private key");
    }
    let is_access_key = |word: &str| {
        word.len() == 20
            && (word.starts_with("AKIA") || word.starts_with("ASIA"))
            && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    line.split(is_boundary).find_map(|word| {
        if is_access_key(word) {
            Some("an access key")
        } else if word.len() >= 20 && looks_like_key(word) && !word.contains('*') {
            Some("a key or token")
        } else {
            None
        }
    })
}

/// An address without the part before its `@`.
#[must_use]
pub fn redact_address(address: &str) -> String {
    match (address.find("://"), address.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => format!("{}{}", &address[..scheme + 3], &address[at + 1..]),
        _ => address.to_owned(),
    }
}

fn is_boundary(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '*' | '~'))
}

fn looks_like_key(word: &str) -> bool {
    word.len() >= 12
        && KEY_PREFIXES.iter().any(|prefix| word.starts_with(prefix))
        // A model may be called `sk-something`; keys have digits or are masked with stars.
        && word.chars().any(|c| c.is_ascii_digit() || c == '*')
}

fn announces_secret(word: &str) -> bool {
    matches!(
        word.to_ascii_lowercase().as_str(),
        "bearer" | "basic" | "apikey" | "api_key" | "api-key" | "x-api-key" | "access_token" | "auth_token" | "secret"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_their_passwords() {
        assert_eq!(redact_address("http://me:pw@host:1/x"), "http://host:1/x");
        assert_eq!(redact_address("http://host"), "http://host");
        assert_eq!(redact_address("not a url @ all"), "not a url @ all");
    }

    #[test]
    fn credentials_are_masked_and_the_rest_is_kept() {
        let table = [
            ("Incorrect API key provided: sk-proj-abc123DEF456.", "Incorrect API key provided: [secret]"),
            ("Authorization: Bearer abcdef123456", "Authorization: Bearer [secret]"),
            (r#"{"apiKey":"hunter2hunter2","x":1}"#, r#"{"apiKey":"[secret]","x":1}"#),
            ("https://h/v1?api_key=abcdef99&x=2", "https://h/v1?api_key=[secret]&x=2"),
            ("key sk-12***************89 refused", "key [secret] refused"),
            ("rate limit of 429 reached for gpt-5", "rate limit of 429 reached for gpt-5"),
            ("Zähler: größer als 5 → Ende", "Zähler: größer als 5 → Ende"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(redact(text), expected, "{text}");
        }
    }
}
