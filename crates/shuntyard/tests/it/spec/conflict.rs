//! Two units that change the same line although their table declares no conflict.

use super::{branches, git, ground, plan_units, run, task, text, write};

#[test]
fn units_that_do_not_fit_together_are_put_before_a_person_and_nothing_is_lost() {
    let env = ground("spec-conflict");
    plan_units(&env, [write("shared.txt", "one\n"), write("shared.txt", "two\n")]);
    let project = env.project();
    let main = git(&project, &["rev-parse", "main"]);
    let report = run(&env, 1, &["--deliver", "merge", "--verify", "test -s shared.txt"]);
    assert_eq!((text(&report, "outcome"), text(&report, "class")), ("escalated", "failed"), "{report:#}");
    let (reason, next) = (text(&report, "reason"), text(&report, "next"));
    // Whichever came first is in, and the other gets the message.
    let inside = git(&project, &["show", "shuntyard/s001:shared.txt"]);
    let (late, number) = if inside == "one" { ("two", "02") } else { ("one", "01") };
    let branch = format!("shuntyard/s001-{number}-validator");
    let told = format!("{branch} cannot go into shuntyard/s001: both have changed shared.txt");
    assert!(reason.contains(&told), "{report:#}");
    assert!(next.contains(&format!("task retry s001-{number}-deliver")), "{report:#}");
    assert_eq!(git(&project, &["show", &format!("{branch}:shared.txt")]), late, "its work is where it was");
    assert_eq!(
        (git(&project, &["rev-parse", "main"]), git(&project, &["status", "--porcelain"])),
        (main, String::new())
    );
    for branch in branches(&env) {
        let content = git(&project, &["show", &format!("{branch}:shared.txt")]);
        assert!(!content.contains("<<<<"), "{branch} has both, unjoined: {content}");
    }

    // A person follows the hint.
    let bench = env.root.join("bench");
    git(&project, &["worktree", "add", "-q", &bench.display().to_string(), &branch]);
    git(&bench, &["merge", "-q", "-X", "ours", "--no-edit", "shuntyard/s001"]);
    std::fs::write(bench.join("shared.txt"), "one and two\n").expect("written");
    git(&bench, &["commit", "-qam", "join them"]);
    git(&project, &["worktree", "remove", &bench.display().to_string()]);
    let id = format!("s001-{number}-deliver");
    env.run(&["task", "retry", &id]).expect_code(0);
    let report = run(&env, 0, &["--deliver", "merge"]);
    assert_eq!(report["outcome"], "done", "{report:#} {:#}", task(&env, &id));
    assert_eq!(git(&project, &["show", "main:shared.txt"]), "one and two");
    assert_eq!(branches(&env), Vec::<String>::new());
}
