//! Work that is delivered as a pull request, with a `gh` that records its calls.

use super::{RUN, TASK, branches, carried_out, git, ground, plan_one, run, task, text, write};
use shuntyard_testkit::script;

const GH: &str = r#"#!/bin/sh
printf '%s\n' "$*" >> "$HOME/gh.txt"
case "$1 $2" in
"pr create") touch "$HOME/opened"; echo "https://example.org/pull/7" ;;
"pr view")
    if [ ! -e "$HOME/opened" ]; then echo "no pull requests found for branch \"$3\"" >&2; exit 1; fi
    head=$(git --git-dir="$HOME/../remote.git" rev-parse refs/heads/shuntyard/s001-deliver)
    printf '{"state":"OPEN","url":"https://example.org/pull/7","headRefName":"shuntyard/s001-deliver",'
    printf '"headRefOid":"%s","isDraft":false,"mergeable":"MERGEABLE","mergeStateStatus":"BLOCKED",' "$head"
    printf '"reviewDecision":"REVIEW_REQUIRED","statusCheckRollup":[],"reviews":[],"mergeCommit":null}' ;;
"api --hostname") echo '[]' ;;
*) exit 64 ;;
esac
"#;

#[test]
fn a_pull_request_is_opened_for_what_was_validated() {
    let mut env = ground("spec-request");
    let programs = env.root.join("programs");
    std::fs::create_dir_all(&programs).expect("a directory");
    script(&programs.join("gh"), GH);
    env.set("PATH", format!("{}:{}", programs.display(), std::env::var("PATH").expect("a PATH")));
    plan_one(&env, carried_out(TASK, write("a.txt", "a\n")));
    let project = env.project();
    let main = git(&project, &["rev-parse", "main"]);

    // There is no remote to push to: the report contains that, and the user adds one.
    let stopped = env.run(&[&RUN[..], &["--deliver", "pr", "--json"]].concat());
    let report = stopped.expect_code(1).json();
    let waits = "s001-deliver waits: the repository has no remote to push to";
    assert!(stopped.stderr.contains(waits), "{}", stopped.stderr);
    assert!(text(&report, "reason").contains("the repository has no remote to push to"), "{report:#}");
    let next = text(&report, "next");
    assert!(next.contains("task retry s001-deliver") && !next.contains("join"), "{report:#}");
    let remote = env.root.join("remote.git").display().to_string();
    git(&project, &["init", "-q", "--bare", &remote]);
    git(&project, &["remote", "add", "origin", &remote]);
    env.run(&["task", "retry", "s001-deliver"]).expect_code(0);

    let people = env.run(&[&RUN[..], &["--deliver", "pr"]].concat());
    let told = "001-export is validated: waits for the review of https://example.org/pull/7";
    assert!(people.expect_code(0).stdout.contains(told), "{}{}", people.stdout, people.stderr);
    assert_eq!(task(&env, "s001-deliver")["state"], "review");
    let asked = std::fs::read_to_string(env.root.join("home/gh.txt")).expect("it was asked");
    assert_eq!(asked.matches("pr create").count(), 1, "{asked}");
    assert!(asked.contains("--head shuntyard/s001-deliver --base main --title s001-deliver: Export"), "{asked}");
    assert_eq!(git(&project, &["--git-dir", &remote, "show", "shuntyard/s001-deliver:a.txt"]), "a");
    assert_eq!(git(&project, &["rev-parse", "main"]), main, "nobody has merged it");
    let kept = branches(&env);
    assert!(kept.contains(&"shuntyard/s001-validator".to_owned()), "nothing is removed before the merge: {kept:?}");
    // Once more: it is open, and stays the only one.
    let report = run(&env, 0, &["--deliver", "pr"]);
    assert_eq!(report["delivered"], "waits for the review of https://example.org/pull/7");
    let asked = std::fs::read_to_string(env.root.join("home/gh.txt")).expect("it was asked");
    assert_eq!(asked.matches("pr create").count(), 1, "{asked}");
}
