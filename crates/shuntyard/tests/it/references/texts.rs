//! The texts themselves: links lead somewhere, files that are named exist, and variables are explained.

use super::{read, root};
use std::path::Path;

pub(super) const TEXTS: [&str; 24] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/agents.md",
    "docs/budget.md",
    "docs/choosing.md",
    "docs/claims.md",
    "docs/cli.md",
    "docs/configuration.md",
    "docs/dispatch.md",
    "docs/errors.md",
    "docs/fallback.md",
    "docs/many.md",
    "docs/mcp.md",
    "docs/opencode-facts.md",
    "docs/pack.md",
    "docs/patterns.md",
    "docs/servers.md",
    "docs/service.md",
    "docs/specs.md",
    "docs/states.md",
    "docs/tasks.md",
    "docs/workers.md",
];

#[test]
fn links_lead_somewhere() {
    for file in TEXTS {
        let text = read(file);
        let directory = root().join(Path::new(file).parent().expect("a directory"));
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        for target in targets.filter(|target| !target.starts_with("http") && !target.starts_with('#')) {
            let target = target.split('#').next().unwrap_or_default();
            assert!(directory.join(target).exists(), "{file} links to {target}, which does not exist");
        }
    }
}

/// A source file in back-ticks, such as `crates/core/src/lib.rs` or `core/src/lib.rs`.
#[test]
fn files_that_are_named_exist() {
    let mut named = 0;
    for file in TEXTS {
        for word in read(file).split('`').filter(|word| word.contains("/src/") && !word.contains([' ', '…', '*'])) {
            let path = if word.starts_with("crates/") { word.to_owned() } else { format!("crates/{word}") };
            assert!(root().join(&path).exists(), "{file} names {word}, which does not exist");
            named += 1;
        }
    }
    assert!(named > 20, "only {named} files are named; is this test still looking for the right thing?");
}

#[test]
fn variables_that_the_code_reads_are_explained() {
    let texts = format!("{}{}", read("docs/configuration.md"), read("docs/servers.md"));
    let places = [
        "shuntyard/src/settings.rs",
        "host/src/paths.rs",
        "host/src/guarded.rs",
        "engine/src/servers/order.rs",
        "engine/src/servers/mod.rs",
    ];
    for place in places {
        let text = read(&format!("crates/{place}"));
        let variables = words(&text);
        assert!(!variables.is_empty(), "{place} names no variable any more");
        for variable in variables {
            assert!(texts.contains(variable), "{variable} of {place} is explained nowhere");
        }
    }
}

fn words(text: &str) -> Vec<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_uppercase() && letter != '_');
    words.filter(|word| word.starts_with("SHUNTYARD_") && word.len() > "SHUNTYARD_".len()).collect()
}
