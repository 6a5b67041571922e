use super::*;
use crate::values::Sign;
use crate::{
    routing::tests::{config, config_with},
    settings::{Layer, Layered, Origin},
};
use proptest::prelude::*;
use reading::Reading;
use std::sync::LazyLock;

fn kind(text: &str, config: &Config) -> Option<String> {
    classify(text, 0, config).task_type
}

#[test]
fn the_reason_names_the_evidence_and_the_runner_up() {
    let config = config();
    let text = "Please review this\n\ndiff --git a/a b/a\n@@ -1 +1 @@\n-a\n+b\n";
    let table = [
        (text, "looks like code-review: \"review\" (3), a diff (2); 5 points against 1 for quick-check"),
        ("Hello", "no kind of task stands out: quick-check has 1 of 2 points"),
        (
            "Is 7919 prime?",
            "looks like quick-check: \"is … prime\" (4), a yes-or-no question (1), a short text (1); 6 points against 1 for simple-fix",
        ),
    ];
    for (text, why) in table {
        assert_eq!(classify(text, 0, &config).why, why);
    }
    let long = "a word after the other that says nothing at all, and so on until this is no short text any more";
    assert_eq!(classify(long, 0, &config).why, "no kind of task stands out");
}

#[test]
fn hints_in_the_text_win() {
    let config = config();
    let table = [
        ("Review this diff #boilerplate", Some("boilerplate"), "haiku", "the text says #boilerplate"),
        (
            "- [ ] tidy up (#Code-Review, tier:opus)",
            Some("code-review"),
            "opus",
            "the text says #code-review and tier:opus",
        ),
        ("tidy up model:thinking", None, "opus", "the text says model:opus; no kind of task stands out"),
        ("fix typo tier:Standard.", Some("simple-fix"), "sonnet", "the text says tier:sonnet; looks like simple-fix"),
        ("tidy tier:pro tier:opus", None, "pro", "the text says tier:pro;"),
        ("tidy tier:nowhere #nothing # a#opus #research2x metier:opus", None, "sonnet", "no kind"),
        ("tidy up\n```\n#research tier:opus\n```", None, "sonnet", "no kind"),
    ];
    for (text, task_type, tier, why) in table {
        let found = classify(text, 0, &config);
        assert_eq!((found.task_type.as_deref(), found.tier.as_str()), (task_type, tier), "{text} gave {found:?}");
        assert!(found.why.starts_with(why), "{text} gave {found:?}");
    }
}

#[test]
fn only_whole_words_count() {
    let config = config();
    let none = [
        "preview the page for me",
        "get the latest numbers now",
        "contests",
        "prefixes",
        "my_review_list",
        "src/review/security.rs",
        "https://example.com/review/security",
    ];
    for text in none {
        assert_eq!(kind(text, &config), None, "{text}");
    }
    for text in ["REVIEW it", "(review)", "re: review!", "reviewing", "code-review", "revie’w", "build/review"] {
        assert_eq!(kind(text, &config).as_deref(), Some("code-review"), "{text}");
    }
}

#[test]
fn phrases_match_with_endings_gaps_and_points() {
    let table = [
        ("review*", "we reviewed it", Some(("\"reviewed\"", 2))),
        ("review", "we reviewed it", None),
        ("unit test*", "some unit testing", Some(("\"unit testing\"", 3))),
        ("unit test*", "test unit", None),
        ("write * tests", "write tests", Some(("\"write tests\"", 3))),
        ("write * tests", "write a b c d e tests", Some(("\"write … tests\"", 3))),
        ("write * tests", "write a b c d e f tests", None),
        ("a * b c", "a b x b c", Some(("\"a … b c\"", 4))),
        ("build +1", "build", Some(("\"build\"", 1))),
        ("toy -3", "a toy", Some(("\"toy\"", -3))),
        ("What's-Up*", "whats upper", Some(("\"whats upper\"", 3))),
        ("readme*", "readme.md", Some(("\"readme\"", 2))),
        ("ümlaut*", "ümlaute", Some(("\"ümlaute\"", 2))),
    ];
    for (phrase, text, expected) in table {
        let words = Words::new(text);
        let possible = Phrase::may_be_in(phrase, &words);
        let phrase = Phrase::parse(phrase).unwrap();
        let found = phrase.find(&words, &vec![false; words.len()]);
        assert!(possible || found.is_none(), "{phrase:?} in {text}");
        let found = found.map(|places| (phrase.quoted(&words, &places), phrase.points));
        assert_eq!(found, expected.map(|(quoted, points)| (quoted.to_owned(), points)), "{phrase:?} in {text}");
    }
    assert!(!Phrase::may_be_in("review*", &Words::new("preview it")));
    for empty in ["", "*", " * * ", "+1", "?!"] {
        assert_eq!(Phrase::parse(empty), None, "{empty}");
    }
}

/// A configuration with three kinds of task of its own, and no built-in words.
fn own(rest: &str) -> Config {
    let mut config = config_with(&format!("[task_types]\nzoo = \"haiku\"\nant = \"opus\"\nbee = \"haiku\"\n{rest}"));
    config.classifier.words.retain(|task_type, _| ["zoo", "ant", "bee"].contains(&task_type.as_str()));
    config.classifier.signs.clear();
    config
}

#[test]
fn ties_go_to_the_cheaper_tier_and_then_by_name() {
    let config = own("[classifier.words]\nzoo = [\"stripe*\"]\nant = [\"stripes\", \"legs\"]\nbee = [\"wings\"]\n");
    let stripes = classify("stripes", 0, &config);
    assert_eq!(stripes.task_type.as_deref(), Some("zoo"));
    assert_eq!(stripes.why, "looks like zoo: \"stripes\" (3); 3 points, as many as ant, which is dearer");
    assert_eq!(kind("stripes wings", &config).as_deref(), Some("bee"), "of two that cost the same the name decides");
    assert_eq!(kind("stripes wings legs", &config).as_deref(), Some("ant"));
}

#[test]
fn less_than_the_threshold_is_nothing() {
    let words = "[classifier.words]\nzoo = [\"stripes\"]\n[classifier]\nopening_points = 0\ndefault_tier = \"flash\"\n";
    let found = classify("stripes", 0, &own(&format!("{words}threshold = 2")));
    assert_eq!((found.task_type.as_deref(), found.tier.as_str()), (Some("zoo"), "haiku"));
    let found = classify("stripes", 0, &own(&format!("{words}threshold = 3")));
    assert_eq!((found.task_type, found.tier.as_str()), (None, "flash"));
    assert_eq!(found.why, "no kind of task stands out: zoo has 2 of 3 points");
}

#[test]
fn a_users_words_count_beside_the_built_in_ones() {
    let config = config_with(
        "[task_types]\ntranslation = \"flash\"\n[classifier.words]\ntranslation = [\"translat*\", \"into * german\"]\n",
    );
    let found = classify("Translate the review page into fluent German", 0, &config);
    assert_eq!((found.task_type.as_deref(), found.tier.as_str()), (Some("translation"), "flash"), "{found:?}");
    assert_eq!(kind("Review this diff", &config).as_deref(), Some("code-review"));
}

#[test]
fn a_word_counts_once_for_a_task_type_and_points_can_be_taken_away() {
    let config = own(
        "[classifier]\nopening_points = 0\n[classifier.words]\nzoo = [\"unit tests\", \"tests\", \"test*\", \"toy -2\"]\n",
    );
    let points = |text: &str| standings(&Reading::new(text, 0, &config.classifier), &config).first().map(|s| s.points);
    assert_eq!(points("unit tests"), Some(3));
    assert_eq!(points("unit tests and tests"), Some(5));
    assert_eq!(points("tests tests tests"), Some(4), "each phrase once");
    assert_eq!(points("unit tests toy"), Some(1));
    assert_eq!(points("tests toy"), None);
}

#[test]
fn faults_in_the_tables_are_said_with_what_was_meant() {
    let table = [
        (
            "[classifier.words]\ncode-reveiw = [\"x\"]\n",
            "`classifier.words.code-reveiw` `code-reveiw` is no task type, did you mean `code-review`?",
        ),
        (
            "[classifier.signs.diff]\nresaerch = 1\n",
            "`classifier.signs.diff.resaerch` `resaerch` is no task type, did you mean `research`?",
        ),
        (
            "[classifier.signs.dif]\nresearch = 1\n",
            "unknown setting `classifier.signs.dif`; did you mean `classifier.signs.diff`?",
        ),
        ("[classifier.words]\nresearch = [\"* +2\"]\n", "`classifier.words.research` `* +2` has no word in it"),
        ("[classifier]\nthreshold = 0\n", "`classifier.threshold` 0 is less than 1"),
        (
            "[classifier]\ndefault_tier = \"sonet\"\n",
            "`classifier.default_tier` `sonet` is no tier, did you mean `sonnet`?",
        ),
    ];
    for (text, expected) in table {
        let layer = Layer { origin: Origin::File("config.toml".into()), text: text.into() };
        let message = Layered::merge(&[layer]).map(|_| ()).unwrap_err().to_string();
        assert!(message.starts_with("config.toml") && message.contains(expected), "{text}\n  gave {message}");
    }
}

#[test]
fn each_sign_is_recognised_and_has_its_table() {
    let config = config();
    let table = [
        (Sign::Diff, "x\n+++ b/a.rs\n+b\n"),
        (Sign::Diff, "```\n@@ -1,2 +3,4 @@ fn x\n```"),
        (Sign::Code, "see\n```\nx\n```\n"),
        (Sign::Code, "fn main() {\n    let x = 1;\n}\n"),
        (Sign::Code, "def f(x):\n    y = g(x)\n    print(y)\n"),
        (Sign::StackTrace, "    at run (/srv/app.js:10:3)"),
        (Sign::StackTrace, "  at com.example.Main.run(Main.java:12)"),
        (Sign::ErrorText, "it says\nerror[E0425]: cannot find value `x`"),
        (Sign::ErrorText, "TypeError: x is not a function"),
        (Sign::Question, "why is it so"),
        (Sign::Question, "so, it is green?"),
        (Sign::YesNo, "Is it green?"),
        (Sign::Short, "x"),
        (Sign::Url, "see <https://example.com/a>"),
        (Sign::Image, "x"),
    ];
    for (sign, text) in table {
        let reading = Reading::new(text, usize::from(sign == Sign::Image), &config.classifier);
        assert!(reading.signs.contains(&sign), "no {sign} in {text:?}: {:?}", reading.signs);
        assert!(config.classifier.signs.contains_key(&sign), "{sign}");
        assert_eq!(serde_json::to_value(sign).unwrap(), sign.as_str());
    }
    let long = "word ".repeat(config.classifier.long);
    assert_eq!(Reading::new(&long, 0, &config.classifier).signs, [Sign::Long].into());
    let plain =
        ["Could you do it?", "at 10:30 it stopped", "I need { and } and ;", "- one\n- two\n+ three", "please, ok?"];
    for text in plain {
        assert_eq!(Reading::new(text, 0, &config.classifier).signs, [Sign::Short].into(), "{text:?}");
    }
}

#[test]
fn a_text_of_any_size_is_judged_by_its_ends() {
    let config = config();
    let filler = "nothing of note é\n".repeat(60_000);
    let request = "Audit the login for SQL injection.";
    for text in [format!("{request}\n{filler}"), format!("{filler}{request}")] {
        assert_eq!(kind(&text, &config).as_deref(), Some("security-review"));
    }
    assert_eq!(kind(&format!("{filler}{request}\n{filler}"), &config), None, "the middle is material");
    let cut = format!("look\n```\n{filler}review security\n```\n");
    assert_eq!(kind(&cut, &config), None, "the tail begins within the block");
}

/// However much of it there is, no more is read: how long that takes is measured by `scripts/bench route`.
#[test]
fn a_repetitive_text_is_judged_alike_at_any_length() {
    let config = config();
    for (first, again) in [("", "write "), ("", "a"), ("", "#"), ("", "\n"), ("", "is "), ("at ", ":1")] {
        let text = |bytes: usize| format!("{first}{}", again.repeat(bytes / again.len()));
        assert_eq!(classify(&text(1_200_000), 0, &config), classify(&text(60_000), 0, &config), "{again:?}");
    }
}

proptest! {
    #[test]
    fn any_text_gets_a_tier_and_always_the_same(text in "\\PC*|(?s).{0,400}", images in 0usize..3) {
        sound(&text, images);
    }

    #[test]
    fn any_mix_of_known_words_gets_a_tier_and_always_the_same(
        words in proptest::collection::vec(
            proptest::sample::select(&["review", "fix", "tests", "audit", "```\n", "\ndiff --git a b\n", "\n", "#research", "tier:pro", "?", "unit", "write"]),
            0..60,
        ),
    ) {
        sound(&words.join(" "), 0);
    }
}

/// What holds for every answer.
fn sound(text: &str, images: usize) {
    static CONFIGS: LazyLock<(Config, Config)> = LazyLock::new(|| {
        let mut turned = config();
        turned.classifier.words.values_mut().for_each(|phrases| phrases.reverse());
        (config(), turned)
    });
    let (config, turned) = &*CONFIGS;
    let found = classify(text, images, config);
    assert!(config.tiers.contains_key(&found.tier), "{found:?}");
    assert!(found.task_type.iter().all(|task_type| config.task_types.contains_key(task_type)), "{found:?}");
    assert!(!found.why.is_empty() && found.why.len() < 600 && !found.why.contains(char::is_control), "{found:?}");
    assert_eq!(found, classify(text, images, config));
    assert_eq!(found, classify(text, images, turned), "the order of the phrases must not matter");
}
