//! What is kept of a dispatch that answered: the request, the model, the cost, the directory, and which words.

use super::{SCHEMA, only, yard};
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    experience::{Evidence, Verdict},
};
use shuntyard_scripted::{Step, Tokens};
use shuntyard_store::NewOutcome;
use shuntyard_testkit::{Outcome, environment::finish};
use std::{
    path::Path,
    process::{Command, Stdio},
};

/// What differs from one way of asking to the next.
struct Asked {
    flags: &'static [&'static str],
    text: &'static str,
    provider: &'static str,
    requested: Value,
    task_type: &'static str,
    asked_tier: Option<&'static str>,
    tier: Option<&'static str>,
    strategy: &'static str,
    evidence: Evidence,
}

/// Asked for by its kind.
fn by_kind() -> Asked {
    Asked {
        flags: &["--task-type", "proofreading"],
        text: "Mind the commas in this paragraph",
        provider: "middle",
        requested: json!({"task_type": "proofreading"}),
        task_type: "proofreading",
        asked_tier: Some("sonnet"),
        tier: Some("sonnet"),
        strategy: "text",
        evidence: Evidence::Answered,
    }
}

#[test]
fn a_dispatch_leaves_one_outcome_with_what_was_asked_and_what_came_of_it() {
    let yard = yard();
    let named = Asked {
        flags: &["-m", "low/m", "--task-type", "proofreading"],
        provider: "low",
        requested: json!({"model": "low/m"}),
        asked_tier: None,
        tier: Some("haiku"),
        ..by_kind()
    };
    let table = [
        by_kind(),
        Asked {
            flags: &["--task-type", "proofreading", "--schema", SCHEMA],
            evidence: Evidence::Structured,
            ..by_kind()
        },
        Asked {
            flags: &["-m", "low/m", "--task-type", "proofreading", "--mode", "agent", "--task", "T1", "--batch", "B1"],
            requested: named.requested.clone(),
            strategy: "agent",
            ..named
        },
        Asked {
            flags: &["-m", "unpriced/m", "--task-type", "proofreading"],
            provider: "unpriced",
            requested: json!({"model": "unpriced/m"}),
            asked_tier: None,
            tier: None,
            ..by_kind()
        },
        named,
        Asked {
            flags: &["--route"],
            text: "Audit the login page for injection attacks and stolen credentials",
            provider: "high",
            requested: json!({"route": "text"}),
            task_type: "security-review",
            asked_tier: Some("opus"),
            tier: Some("opus"),
            ..by_kind()
        },
        // Without a task type it gets the one that its text resembles.
        Asked {
            flags: &["--tier", "haiku"],
            text: "Review this pull request before I merge it",
            provider: "low",
            requested: json!({"tier": "haiku"}),
            task_type: "code-review",
            asked_tier: Some("haiku"),
            tier: Some("haiku"),
            ..by_kind()
        },
        Asked {
            flags: &[],
            text: "Review this pull request before I merge it",
            provider: "low",
            requested: json!({}),
            task_type: "code-review",
            asked_tier: None,
            tier: Some("haiku"),
            ..by_kind()
        },
    ];
    for (asked, number) in table.into_iter().zip(0_u64..) {
        let answer = match asked.evidence {
            Evidence::Structured => Step::structured(json!({"score": 4})),
            _ => Step::text("done"),
        };
        let answer = answer.usage(Tokens::new(1003 + number, 57).cached(211));
        let key = yard.at(asked.provider).script("kept", vec![answer]);
        let prompt = format!("{} {key}", asked.text);
        let report = yard.dispatch(&[asked.flags, &[prompt.as_str()]].concat()).expect_ok();
        let kept = only(&yard.env, &report);
        let book = yard.at(asked.provider).requests(&key).total_reported();
        let id = kept.attempt.expect("an attempt").0;
        assert_eq!(report["id"], id.to_string());
        let unpriced = asked.provider == "unpriced";
        let charged = asked.flags.contains(&"--task");
        let expected = NewOutcome {
            at: kept.at,
            attempt: Some((id, 1)),
            task: charged.then(|| "T1".to_owned()),
            batch: charged.then(|| "B1".to_owned()),
            task_type: asked.task_type.to_owned(),
            requested: asked.requested,
            asked_tier: asked.asked_tier.map(str::to_owned),
            tier: asked.tier.map(str::to_owned),
            model: format!("{}/m", asked.provider),
            strategy: asked.strategy.to_owned(),
            verdict: Verdict::Success,
            failure_mode: None,
            error_class: None,
            evidence: asked.evidence,
            quality: None,
            tokens: 1003 + number + 57,
            cost: if unpriced { Nano::ZERO } else { book.cost },
            cost_known: !unpriced,
            duration_ms: kept.duration_ms,
            retries: 0,
            repository: yard.env.project().to_string_lossy().into_owned(),
            propensity: None,
            text: prompt,
        };
        assert_eq!(kept, expected, "{:?}", asked.flags);
        assert_eq!(book.usage.total(), kept.tokens, "{:?}", asked.flags);
        assert!(kept.duration_ms > 0 && kept.at > 1_600_000_000_000_000, "{kept:?}");
    }
}

/// Dispatches from inside a directory.
fn inside(directory: &Path) -> Outcome {
    let key = yard().at("low").script("inside", vec![Step::text("here")]);
    let mut command = yard().env.command(&["dispatch", "--json", "-m", "low/m", &key]);
    command.current_dir(directory).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().expect("the binary starts"))
}

#[test]
fn a_linked_worktree_teaches_for_its_repository_and_no_repository_is_named_where_there_is_none() {
    let yard = yard();
    let main = yard.env.repository("taught");
    let linked = main.with_file_name("taught-linked");
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@t"];
        let done = Command::new("git").args(identity).args(args).current_dir(&main).output().expect("git");
        assert!(done.status.success(), "{done:?}");
    };
    git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&["worktree", "add", "-q", &linked.to_string_lossy()]);
    let deep = main.join("deep/down");
    std::fs::create_dir_all(&deep).expect("a directory");
    // The build directory, where other files of tests are, usually is in a repository.
    let nowhere = tempfile::tempdir().expect("a directory");
    let taught = main.to_string_lossy();
    let places = [(main.as_path(), &*taught), (&deep, &taught), (&linked, &taught), (nowhere.path(), "")];
    std::thread::scope(|scope| {
        for (place, repository) in places {
            scope.spawn(move || {
                let kept = only(&yard.env, &inside(place).expect_ok());
                assert_eq!(kept.repository, repository, "{}", place.display());
            });
        }
    });
}

/// Whether the store has these bytes anywhere, in whatever is left of old pages too.
fn is_in_the_store(bytes: &str) -> bool {
    let directory = std::fs::read_dir(yard().env.data_dir()).expect("a directory");
    let files = directory.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("shuntyard.db"));
    let files: Vec<Vec<u8>> = files.map(|entry| std::fs::read(entry.path()).expect("a file")).collect();
    assert!(!files.is_empty());
    files.iter().any(|file| file.windows(bytes.len()).any(|at| at == bytes.as_bytes()))
}

#[test]
fn words_are_remembered_without_keys_and_only_as_many_as_may_be() {
    let yard = yard();
    let keys = ["sk-live-4f9a8b7c6d5e4f3a2b1c0d", "opaque.7f3b9d", "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432"];
    let [marked, announced, bare] = keys;
    let dispatch = |limit: &str, text: &str| {
        let key = yard.at("low").script("words", vec![Step::text("read")]);
        let variables = [("SHUNTYARD_PATTERNS_TEXT_LIMIT", limit)];
        let prompt = format!("{text} {key}");
        let args = ["dispatch", "--json", "--task-type", "remembering", &prompt];
        let report = yard.env.run_with(&variables, &args).expect_ok();
        let heard = yard.at("low").requests(&key).entries[0].last_user_text.clone();
        assert!(heard.contains(text), "the model is told all: {heard}");
        (only(&yard.env, &report).text, key)
    };
    let text =
        format!("Rotate   {marked}\nwith the header Authorization: Bearer {announced} and the hash {bare}, periwinkle");
    let (kept, key) = dispatch("400", &text);
    let masked = "Rotate [secret] with the header Authorization: Bearer [secret] and the hash [secret] periwinkle";
    assert_eq!(kept, format!("{masked} {key}"));
    assert!(is_in_the_store("periwinkle"), "what may be remembered is in the files that are searched");
    for secret in keys {
        assert!(!is_in_the_store(secret), "{secret} was written down");
    }
    let (kept, _) = dispatch("22", &format!("Short memory keeps few words {marked}"));
    assert_eq!(kept, "Short memory keeps few");
    let (kept, _) = dispatch("0", "Chrysanthemums are forgotten");
    assert_eq!(kept, "");
    assert!(!is_in_the_store("Chrysanthemums"));
    assert!(!is_in_the_store(marked));
}
