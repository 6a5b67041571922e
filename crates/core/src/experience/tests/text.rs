//! What is kept of a text, and what is looked for.

use super::*;

const PEM: &str =
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabcdefgh\nqrstuvwx\n-----END RSA PRIVATE KEY-----";

#[test]
fn secrets_are_masked() {
    for (text, expected) in [
        ("use sk-proj-abc123DEF456ghi789 please", "use [secret] please"),
        ("Authorization: Bearer abcdefgh", "Authorization: Bearer [secret]"),
        ("token ghp_16C7e42F292c6912E7710c838347Ae178B4a now", "token [secret] now"),
        ("aws AKIAIOSFODNN7EXAMPLE12 and on", "aws [secret] and on"),
        ("hash d41d8cd98f00b204e9800998ecf8427e found", "hash [secret] found"),
        ("data SGVsbG8gd29ybGQxMjM0NTY3ODkw== end", "data [secret] end"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc x", "jwt [secret] x"),
        ("key=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b end", "[secret] end"),
        ("uuid 123e4567-e89b-12d3-a456-426614174000.", "uuid [secret]"),
    ] {
        assert_eq!(remembered(text, 400), expected, "{text}");
    }
    let text = format!("this is my key:\n{PEM}\nwhy is it refused?");
    assert_eq!(remembered(&text, 400), "this is my key: [secret] RSA PRIVATE KEY----- why is it refused?");
    // A block that is never closed hides all that follows.
    assert_eq!(remembered("see -----BEGIN OPENSSH PRIVATE KEY----- b3Bl abcd", 400), "see [secret]");
}

#[test]
fn ordinary_words_are_kept() {
    for text in [
        "rename parse_http_header_v2 to parse_header",
        "fix crates/core/src/experience/recommend.rs line 120, it panics at 10 % of runs",
        "why does IllegalStateExceptionHandlerFactoryBean exist?",
        "https://example.org/docs/a-very-long-path/with-many-parts/index.html",
        "update axum 1.54.0 to 2.0.0-beta.1",
        "Grüße an die Übersetzungsabteilung, 你好",
        "call 0x7fff5fbff8c0 returns ERR_CONNECTION_RESET",
        "a_rather_long_function_name_with_a_1_and_a_2",
    ] {
        assert_eq!(remembered(text, 400), text);
    }
    assert_eq!(remembered("  two\n\n lines\tand\r\n a tab ", 400), "two lines and a tab");
}

#[test]
fn a_cut_never_leaves_a_part_of_a_key() {
    let key = "sk-proj-abc123DEF456ghi789jkl012";
    let text = format!("look at this {key} and at {PEM} now");
    for limit in 0..120 {
        let kept = remembered(&text, limit);
        assert!(kept.chars().count() <= limit, "{limit}: {kept}");
        assert!(!kept.contains("sk-") && !kept.contains("abc123") && !kept.contains("MIIE"), "{limit}: {kept}");
    }
    assert_eq!(remembered(&text, 0), "");
    // Also where reading itself stops: a key that begins before that place and ends behind it.
    for limit in [0, 1, 400] {
        let read = limit * 2 + 4096;
        for before in read - 40..read {
            let text = format!("{} {key}", "x ".repeat(before / 2));
            let kept = remembered(&text, limit);
            assert!(!kept.contains("sk-") && kept.chars().count() <= limit, "{limit} {before}: {kept}");
        }
    }
}

#[test]
fn letters_of_several_bytes_are_cut_between_letters() {
    assert_eq!(remembered("äöü ß", 2), "äö");
    assert_eq!(remembered(&"ü".repeat(10_000), 5), "üüüüü");
}

#[test]
fn words_worth_looking_for() {
    for (text, expected) in [
        ("", vec![]),
        ("the and for", vec![]),
        ("Fix the parser, please: the PARSER is slow", vec!["parser", "slow", "fix"]),
        ("a bb ccc", vec!["ccc"]),
        ("snake_case and kebab-case", vec!["kebab", "snake", "case"]),
        ("Größe ändern", vec!["ändern", "größe"]),
        (r#"") OR 1=1; DROP TABLE outcomes; --"#, vec!["outcomes", "table", "drop"]),
    ] {
        assert_eq!(search_terms(text), expected, "{text}");
    }
    let many: String = (100..200).map(|number| format!("word{number} ")).collect();
    assert_eq!(search_terms(&many).len(), 12);
    assert!(search_terms(&"long ".repeat(100_000)).len() == 1);
}

#[test]
fn base64_with_slashes_is_masked_and_paths_are_not() {
    let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz9EXAMPLEKEY4";
    assert!(!remembered(&format!("use {secret} for it"), 400).contains("K7MDENG"));
    let path = "look at crates/core/src/experience/tests/route_2024/Cargo.toml and ModelRefError";
    assert_eq!(remembered(path, 400), path);
}
