//! Merging pull requests, and what follows from a merge.

use crate::supervise::{
    hub::{Hub, check, review},
    yard::git_in,
};
use jiff::Timestamp;
use serde_json::{Value, json};
use shuntyard_testkit::eventually;
use std::time::Duration;

fn approval() -> Value {
    json!({"reviews": [review("PRR_1", "OWNER", "APPROVED", "Good.")], "reviewDecision": "APPROVED"})
}

#[test]
fn an_approved_pull_request_is_squashed_and_its_siblings_are_rebased() {
    // Without any setting an approval is needed, and the merge is a squash.
    let hub = Hub::new("pr-merge");
    let yard = &hub.yard;
    let ids = ["one", "two"].map(|name| hub.add(name));
    hub.until_review(&ids[0]);
    hub.until_review(&ids[1]);
    let before = hub.at("shuntyard/two");
    hub.until_seen(&ids[0], "ready");
    assert_eq!(yard.task(&ids[0])["pull_request"]["detail"], "it waits for an approval");
    // Which number a task has depends on which was faster.
    let number = |id: &str| {
        let url = yard.task(id)["pull_request"]["url"].as_str().expect("an address").to_owned();
        url.rsplit('/').next().expect("a number").to_owned()
    };
    hub.say(&format!("-{}", number(&ids[0])), &approval());
    yard.pulse_until("the merge", || yard.phase(&ids[0]) == "done");
    assert_eq!(hub.merges(), [format!("{} --squash", number(&ids[0]))]);
    assert_eq!(hub.at("main^"), yard.git(&["rev-parse", "main"]), "one commit on the remote's base");
    yard.pulse_until("the rebase", || hub.at("shuntyard/two") != before);
    hub.until_review(&ids[1]);
    let after = hub.at("shuntyard/two");
    assert_eq!(hub.at("shuntyard/two^"), hub.at("main"), "it is on the newest base");
    let task = yard.task(&ids[1]);
    assert_eq!(task["receipt"]["commit"], after.as_str());
    assert_eq!((hub.created(), hub.open()), (2, 1), "it is the same pull request");
    // The approval was for the same work on the older base.
    let mut approved = approval();
    approved["reviews"][0]["commit"]["oid"] = json!(before);
    hub.say(&format!("-{}", number(&ids[1])), &approved);
    yard.pulse_until("the second merge", || yard.phase(&ids[1]) == "done");
    assert_eq!(hub.merges().len(), 2);
}

#[test]
fn commits_of_others_are_neither_merged_nor_replaced() {
    let hub = Hub::with("pr-foreign", "merge = \"ready\"");
    let yard = &hub.yard;
    hub.say("-1", &json!({"isDraft": true}));
    let id = hub.add("one");
    hub.until_seen(&id, "draft");
    let other = yard.env.root.join("other");
    yard.git(&["clone", "-q", "-b", "shuntyard/one", &hub.directory.join("remote").display().to_string(), "../other"]);
    git_in(
        &other,
        &["-c", "user.name=Bo", "-c", "user.email=b@b", "commit", "-q", "--allow-empty", "-m", "by another"],
    );
    git_in(&other, &["push", "-q", "origin", "shuntyard/one"]);
    let theirs = hub.at("shuntyard/one");
    hub.say("-1", &json!({"statusCheckRollup": [check("build", "COMPLETED", "FAILURE")]}));
    hub.until_seen(&id, "ci_failed");
    assert_eq!(hub.attempts(&id), 1, "their commits are theirs to fix");
    hub.say("-1", &json!({"mergeStateStatus": "BEHIND"}));
    hub.until_seen(&id, "unstable");
    hub.say("-1", &json!({}));
    hub.until_seen(&id, "ready");
    // A merge of a sibling asks for its rebase.
    let sibling = hub.add("two");
    yard.pulse_until("the sibling's merge", || yard.phase(&sibling) == "done");
    yard.pulse_until("its effects", || yard.task(&id)["attempts"].as_array().is_some_and(|runs| runs.len() == 2));
    hub.until_review(&id);
    hub.until_seen(&id, "ready");
    assert_eq!(hub.at("shuntyard/one"), theirs);
    assert_eq!(hub.merges(), ["2 --squash"]);
    assert_eq!((hub.created(), hub.open()), (2, 1));
    let detail = yard.task(&id)["pull_request"]["detail"].as_str().unwrap_or_default().to_owned();
    assert!(detail.contains("commits that this task did not make"), "{detail}");
}

#[test]
fn a_pass_merges_at_most_five() {
    let hub = Hub::with("pr-five", "merge = \"ready\"\nmerge_method = \"merge\"");
    let yard = &hub.yard;
    hub.say("", &json!({"isDraft": true}));
    let ids: Vec<String> = (0..7).map(|number| hub.add(&format!("t{number}"))).collect();
    for id in &ids {
        hub.until_seen(id, "draft");
    }
    hub.say("", &json!({}));
    let is_due = |id: &String| {
        let due: Timestamp = yard.task(id)["wakes_at"].as_str().expect("a moment").parse().expect("a time");
        due < Timestamp::now()
    };
    eventually("all to be due", Duration::from_secs(60), || ids.iter().all(is_due));
    yard.env.run(&["pulse"]).expect_code(0);
    assert_eq!(hub.merges().len(), 5);
    assert!(hub.merges().iter().all(|merge| merge.ends_with(" --merge")), "{:?}", hub.merges());
    yard.pulse_until("the others", || ids.iter().all(|id| yard.phase(id) == "done"));
    assert_eq!((hub.merges().len(), hub.created()), (7, 7));
}

#[test]
fn a_supervisor_that_dies_repeats_nothing() {
    let hub = Hub::with("pr-deaths", "merge = \"ready\"");
    let yard = &hub.yard;
    let die = |place: &str| {
        let marker = yard.env.root.join(format!("died-{place}"));
        let fault = format!("{place}@{}", marker.display());
        eventually(&format!("the death at {place}"), Duration::from_secs(60), || {
            drop(yard.env.run_with(&[("SHUNTYARD_FAULT", &fault)], &["pulse"]));
            marker.exists()
        });
    };
    for place in ["looked", "merge", "merged"] {
        hub.say("", &json!({"isDraft": true}));
        let id = hub.add(place);
        hub.until_seen(&id, "draft");
        let before = hub.merges().len();
        hub.say("", &json!({}));
        die(place);
        yard.pulse_until("the merge", || yard.phase(&id) == "done");
        assert_eq!(hub.merges().len(), before + 1, "{place}");
    }
    for place in ["answer", "answered", "repush", "repushed"] {
        hub.say("", &json!({"isDraft": true}));
        let id = hub.add(place);
        hub.until_seen(&id, "draft");
        let (branch, created) = (format!("shuntyard/{id}"), hub.created());
        let first = hub.at(&branch);
        let number = created.to_string();
        let said = match place {
            "answer" | "answered" => json!({"statusCheckRollup": [check("build", "COMPLETED", "FAILURE")]}),
            _ => json!({"mergeStateStatus": "BEHIND"}),
        };
        hub.say(&format!("-{number}.{first}"), &said);
        die(place);
        yard.pulse_until("the next head", || yard.task(&id)["state"] == "review" && hub.at(&branch) != first);
        assert_eq!((hub.created(), hub.open()), (created, 1), "{place}");
        hub.until_seen(&id, "draft");
        if said["statusCheckRollup"].is_array() {
            assert_eq!(hub.attempts(&id), 2, "{place}");
        }
        hub.say("", &json!({}));
        yard.pulse_until("the merge", || yard.phase(&id) == "done");
    }
    assert_eq!(hub.merges().len(), 7);
}

#[test]
fn a_merge_that_breaks_something_opens_the_task_again() {
    let hub = Hub::with("pr-after", "merge = \"ready\"");
    let yard = &hub.yard;
    let log = hub.directory.join("checked");
    // Red for the first merge and its three retries.
    let command = format!("echo x >> {0}; echo evidence; test $(wc -l < {0}) -ge 5", log.display());
    let config = yard.env.root.join("home/.config/shuntyard/config.toml");
    let text = std::fs::read_to_string(config).expect("the configuration");
    let checks = format!(
        "after_merge = [{{ file_exists = \"one\" }}, {{ grep = {{ pattern = \"^[0-9]+$\", file = \"one\" }} }}, \
         {{ command = {command:?} }}]"
    );
    yard.env.write_config(&format!("{text}\n{checks}\n"));
    let id = hub.add("one");
    yard.pulse_until("the first merge", || hub.merges().len() == 1);
    hub.until_seen(&id, "merged");
    yard.pulse_until("the second merge", || hub.merges().len() == 2);
    yard.pulse_until("the end", || yard.phase(&id) == "done");
    let runs = std::fs::read_to_string(&log).expect("the log").lines().count();
    assert_eq!((runs, hub.created()), (5, 2), "three retries, and once after the second merge");
    let why = yard.task(&id)["attempts"].to_string();
    assert!(why.contains("evidence") && why.contains("failed 4 times"), "{why}");
}
