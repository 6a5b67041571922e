//! Findings, the verdict made of them, and the credentials of providers, with no server.

use super::{server::providers, *};
use crate::ops::conformance::Outcome;
use shuntyard_core::{
    routing::{Catalogue, Model, Provider, Source},
    settings::Layered,
};
use std::{collections::BTreeSet, os::unix::fs::PermissionsExt, path::PathBuf, sync::Mutex};

fn diagnosis(findings: &[(Area, State)], failing: Option<&'static str>) -> Diagnosis {
    let findings = findings.iter().map(|(area, state)| Finding::new(*area, "it", *state, "")).collect();
    let outcome = Outcome::Fails { problem: String::new() };
    let conformance = failing.map(|name| Check { name, outcome, detail: String::new() }).into_iter().collect();
    Diagnosis { findings, conformance, conformance_skipped: None }
}

#[test]
fn the_gravest_finding_is_the_verdict() {
    let table = [
        (vec![], None, Verdict::Well),
        (vec![(Area::Opencode, State::Warning), (Area::Store, State::Ok)], None, Verdict::Well),
        (vec![(Area::Machine, State::Problem)], None, Verdict::Unwell),
        (vec![], Some("abort"), Verdict::Unwell),
        (vec![], Some(conformance::START), Verdict::OpencodeUnusable),
        (vec![(Area::Server, State::Problem)], Some("abort"), Verdict::OpencodeUnusable),
        (vec![(Area::Store, State::Problem), (Area::Opencode, State::Problem)], None, Verdict::OpencodeUnusable),
        (
            vec![(Area::Opencode, State::Problem), (Area::Configuration, State::Problem)],
            None,
            Verdict::ConfigurationBroken,
        ),
    ];
    for (findings, failing, verdict) in table {
        assert_eq!(diagnosis(&findings, failing).verdict(), verdict, "{findings:?} {failing:?}");
    }
}

fn catalogue(entries: &[(&str, &str, bool)]) -> Catalogue {
    let provider = |source: &str, has_key| {
        let models = [("m".to_owned(), Model::default())].into();
        Provider {
            source: Source::parse(source).unwrap_or_default(),
            has_key,
            connected: true,
            models,
            ..Provider::default()
        }
    };
    let providers = entries.iter().map(|(id, source, has_key)| ((*id).to_owned(), provider(source, *has_key)));
    Catalogue { providers: providers.collect(), ..Catalogue::default() }
}

#[test]
fn providers_are_judged_by_their_credentials() {
    let found = providers(
        &catalogue(&[
            ("anthropic", "env", true),
            ("local", "config", false),
            ("openai", "api", false),
            ("opencode", "custom", true),
        ]),
        "opencode",
    );
    let states: Vec<_> = found.iter().map(|finding| (finding.subject.as_str(), finding.state)).collect();
    let expected =
        [("anthropic", State::Ok), ("local", State::Ok), ("openai", State::Warning), ("opencode", State::Ok)];
    assert_eq!(states, expected);
    assert_eq!(found[2].fix.as_deref(), Some("opencode auth login -p openai"));
}

#[test]
fn what_comes_with_opencode_is_no_provider_of_ones_own() {
    for entries in [&[][..], &[("opencode", "custom", true)][..], &[("openai", "api", false)][..]] {
        let found = providers(&catalogue(entries), "/o/opencode");
        let last = found.last().unwrap();
        assert_eq!((last.subject.as_str(), last.state), ("yours", State::Warning), "{entries:?}");
        assert_eq!(last.fix.as_deref(), Some("/o/opencode auth login"));
    }
}

#[test]
fn keys_do_not_reach_a_finding() {
    let finding = Finding::problem(Area::Server, "named", "refused with sk-abc123def456ghi");
    assert_eq!(finding.detail, "refused with [secret]");
}

#[test]
fn paths_are_quoted_for_a_shell() {
    assert_eq!(quoted(Path::new("/home/me/.local/share")), "/home/me/.local/share");
    assert_eq!(quoted(Path::new("/home/o'me/my data")), r"'/home/o'\''me/my data'");
}

/// A machine without OpenCode, with a broken store, broken settings and an open data directory.
#[tokio::test]
async fn everything_that_can_be_seen_is_seen_when_all_else_is_broken() {
    let root = shuntyard_testkit::Scratch::of_test();
    std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut config = Layered::merge(&[]).unwrap().config;
    config.server.binary = "/no/such/opencode".to_owned();
    let own = |name: &str| root.path().join(name);
    let paths = Paths { config_dir: own("config"), data_dir: root.path().to_owned(), cache_dir: own("cache") };
    let environment = BTreeMap::from([("HOME".to_owned(), own("home").display().to_string())]);
    let trouble = |problem: &str| Trouble { problem: problem.to_owned(), fix: "mend it".to_owned() };
    let patient = Patient {
        config: &config,
        paths: &paths,
        environment: &environment,
        program: &PathBuf::from("/bin/false"),
        directory: root.path(),
        configuration: Err(trouble("line 1 is odd")),
        context: Err(trouble("not a database")),
    };
    let said = Mutex::new(Vec::new());
    let progress = |step: &str| said.lock().unwrap().push(step.to_owned());
    let diagnosis = examine(&patient, Depth::Full, &progress).await;
    let states: BTreeSet<_> = diagnosis
        .findings
        .iter()
        .filter(|finding| finding.subject != "git" && finding.subject != "npm")
        .map(|finding| format!("{:?} {} {:?} {}", finding.area, finding.subject, finding.state, finding.fix.is_some()))
        .collect();
    let expected = [
        "Configuration settings Problem true",
        "Opencode binary Problem true",
        "Server servers Warning false",
        "Store database Problem true",
        "Store directory Warning true",
    ];
    assert_eq!(states, expected.map(str::to_owned).into());
    assert_eq!(diagnosis.verdict(), Verdict::ConfigurationBroken);
    assert!(diagnosis.conformance.is_empty() && diagnosis.conformance_skipped.is_some());
    assert!(!said.lock().unwrap().is_empty());
}
