//! What is taken for a name and what is not.

use super::*;
use proptest::prelude::*;

fn targets() -> Vec<Names> {
    let of = |provider: &str, model: &str, also: &[&str]| Names {
        provider: provider.into(),
        model: model.into(),
        also: also.iter().map(|name| (*name).to_owned()).collect(),
    };
    vec![
        of("anthropic", "claude-sonnet-4-5", &["Opus"]),
        of("openai", "gpt-5", &[]),
        of("openrouter", "meta/llama-4", &[]),
        of("cohere", "command-r", &[]),
        of("openai", "o3", &[]),
    ]
}

#[test]
fn names_go_and_words_stay() {
    let mask = Mask::new(&targets(), "How do I sort a list?");
    let table = [
        ("As Claude, I would say", "As [name], I would say"),
        ("I am Claude Sonnet 4.5, made by Anthropic.", "I am [name], made by [name]."),
        ("Claude 4.5 Sonnet here", "[name] here"),
        ("GPT-4o and gpt-5 and GPT5", "[name] and [name] and [name]"),
        ("Meta's Llama 4", "[name]'s [name]"),
        ("run the command, then read a sonnet", "run the command, then read a sonnet"),
        ("o3 is short, but with its digit it is a name", "[name] is short, but with its digit it is a name"),
        ("the opus magnum and Opus", "the opus magnum and [name]"),
        ("import `openai` or `Claude`, says OpenAI", "import `openai` or `Claude`, says [name]"),
        ("```\nClaude\n```\nClaude", "```\nClaude\n```\n[name]"),
        ("an open ` and Claude", "an open ` and [name]"),
        ("Claudette and metal", "Claudette and metal"),
        ("Grüße von Claude – größer", "Grüße von [name] – größer"),
        ("", ""),
    ];
    for (text, expected) in table {
        assert_eq!(mask.apply(text).text, expected, "{text}");
    }
    assert_eq!(mask.apply("Claude or GPT-5").replaced, 2);
}

#[test]
fn what_the_question_speaks_of_is_kept() {
    let mask = Mask::new(&targets(), "Which client library of openai is current?");
    assert_eq!(mask.apply("OpenAI has one. As Claude, I know.").text, "OpenAI has one. As [name], I know.");
    assert_eq!(Mask::default().apply("As Claude").text, "As Claude");
}

proptest! {
    #[test]
    fn any_text_is_read_and_nothing_but_names_is_lost(text in any::<String>()) {
        let masked = Mask::new(&targets(), "").apply(&text);
        prop_assert!(masked.replaced > 0 || masked.text == text);
        let without = Mask::new(&[], "").apply(&text);
        prop_assert_eq!(without.text, text);
    }

    #[test]
    fn a_name_between_other_words_is_always_found(before in "[a-z ,.!]{0,20}", after in "[ ,.!][a-z ]{0,20}") {
        let text = format!("{before} Anthropic{after}");
        prop_assert!(!Mask::new(&targets(), "").apply(&text).text.contains("Anthropic"));
    }
}
