//! Outcomes by the words of their texts.

use super::{Backend, sample};
use shuntyard_store::{NewOutcome, Store};

async fn keep<const N: usize>(store: &dyn Store, texts: [&str; N]) {
    let told: Vec<NewOutcome> =
        texts.into_iter().map(|text| NewOutcome { text: text.into(), ..sample::outcome(5) }).collect();
    store.record_outcomes(&told).await.unwrap();
}

async fn similar(store: &dyn Store, words: &[&str], limit: u32) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let found = store.similar_outcomes(&words, limit).await.unwrap();
    found.into_iter().map(|record| record.outcome.text).collect()
}

pub async fn words_are_found_by_their_stems(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    keep(store, ["Reviewing the parsers", "dépêche-toi", "nothing of the kind"]).await;
    for (word, expected) in [
        ("review", "Reviewing the parsers"),
        ("PARSER", "Reviewing the parsers"),
        ("reviewed", "Reviewing the parsers"),
        ("depeche", "dépêche-toi"),
        ("Toi", "dépêche-toi"),
        ("depeche-toi", "dépêche-toi"),
    ] {
        assert_eq!(similar(store, &[word], 9).await, [expected], "{word}");
    }
    for word in ["pars", "view", "toi-depeche"] {
        assert_eq!(similar(store, &[word], 9).await, [""; 0], "{word}");
    }
}

pub async fn the_better_match_comes_first(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let texts = [
        "write the documentation of the cache",
        "mend the cache so that the login works again",
        "mend the login of the cache",
        "mend it",
        "mend that",
        "something else",
    ];
    keep(store, texts).await;
    let [docs, long, short, it, that, _] = texts;
    assert_eq!(similar(store, &["mend", "login", "cache"], 9).await, [short, long, that, it, docs]);
    assert_eq!(similar(store, &["mend", "login", "cache"], 2).await, [short, long]);
    assert_eq!(similar(store, &["cache"], 9).await.len(), 3);
    assert_eq!(similar(store, &["login", "absent"], 9).await, [short, long]);
    assert_eq!(similar(store, &["cache"], 0).await, [""; 0]);
    // Of equals the newest, which is the one with the highest id.
    keep(store, [short]).await;
    let found = store.similar_outcomes(&["login".into()], 9).await.unwrap();
    assert!(found[0].outcome.text == short && found[1].outcome.text == short && found[0].id > found[1].id);
}

pub async fn only_a_text_can_be_similar(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    assert_eq!(similar(store, &["review"], 9).await, [""; 0]);
    keep(store, ["", " ", "?!", "review"]).await;
    assert_eq!(similar(store, &["review"], 9).await, ["review"]);
    assert_eq!(similar(store, &[], 9).await, [""; 0]);
    // Names of other columns are no part of the text.
    for word in ["small", "project", "race", "deep"] {
        assert_eq!(similar(store, &[word], 9).await, [""; 0], "{word}");
    }
}

pub async fn a_hostile_word_is_only_a_word(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let long = "x".repeat(10_000);
    let texts = ["plain words", "NOT a NEAR miss", "the rocket 🚀 flies", "a \"quoted\" word", &long];
    keep(store, texts).await;
    let hostile = [
        "\"",
        "\"\"",
        "*",
        "pl*",
        "NEAR(",
        "NEAR(plain words)",
        "-",
        "-plain",
        "^plain",
        "text:plain",
        "{text}:plain",
        "(",
        ")",
        "'",
        ";",
        "\0",
        "pla\0in",
        "",
        " ",
        "🚀",
        "\\",
        "plain\" OR \"rocket",
        "plain AND rocket",
        "+",
        "OR",
        "'; DROP TABLE outcome; --",
        &"\"".repeat(1_000),
        &"y".repeat(10_000),
        &"\u{0301}".repeat(50),
    ];
    for word in hostile {
        similar(store, &[word], 9).await;
        // Whatever it is, it finds or finds not, and does not keep another from being found.
        let found = similar(store, &[word, "rocket"], 9).await;
        assert!(found.iter().any(|text| text == texts[2]), "{word:?} {found:?}");
    }
    for (word, expected) in [
        ("pl*", vec![]),
        ("plain\" OR \"rocket", vec![]),
        ("plain AND rocket", vec![]),
        ("pla\0in", vec![]),
        ("-plain", vec![texts[0]]),
        ("text:plain", vec![]),
        ("plain\0words", vec![texts[0]]),
        ("NEAR(", vec![texts[1]]),
        ("not", vec![texts[1]]),
        ("\"quoted\"", vec![texts[3]]),
        (&long, vec![texts[4]]),
    ] {
        assert_eq!(similar(store, &[word], 9).await, expected, "{word:?}");
    }
    let many: Vec<String> = (0..5_000).map(|number| format!("word{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(similar(store, &many, 9).await, [""; 0]);
}
