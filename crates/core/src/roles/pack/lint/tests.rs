//! A good pack has nothing but what cannot be helped; each hole of a bad one is found in its place.

use super::{Finding, LintRule, Severity, lint, probes::PROBES};
use crate::roles::pack::shell::split;

const LEAD: &str = r#"---
description: leads
mode: primary
permission:
  "*": deny
  read: allow
  task:
    "*": deny
    writer: allow
    "look*": allow
---
"#;
const WRITER: &str = r#"---
description: writes
mode: subagent
permission:
  "*": deny
  read: allow
  edit: allow
  bash: allow
---
"#;
const LOOKER: &str = r#"---
description: looks
mode: subagent
permission:
  "*": deny
  read: allow
  grep: allow
---
"#;

fn pack(files: &[(&str, &str)]) -> Vec<Finding> {
    let named: Vec<(String, &str)> = files.iter().map(|(name, text)| (format!("agent/{name}.md"), *text)).collect();
    lint(&named)
}

fn good() -> Vec<(&'static str, &'static str)> {
    vec![("lead", LEAD), ("writer", WRITER), ("looker", LOOKER)]
}

/// The findings of one file in an otherwise good pack, as line and rule.
fn found(text: &str) -> Vec<(usize, &'static str)> {
    let mut files = good();
    files.push(("looker2", text));
    let findings = pack(&files);
    assert!(findings.iter().all(|finding| finding.file == "agent/looker2.md"), "{findings:#?}");
    findings.iter().map(|finding| (finding.line, finding.rule.as_str())).collect()
}

fn subagent(permission: &str) -> String {
    format!("---\ndescription: x\nmode: subagent\npermission:\n{permission}\n---\n")
}

#[test]
fn a_good_pack_has_no_findings() {
    assert_eq!(pack(&good()), []);
}

#[test]
fn the_head_is_complete_and_known() {
    let table: [(&str, &[(usize, &str)]); 10] = [
        ("no head", &[(1, "unreadable")]),
        ("---\ndescription: a: b\n---\n", &[(2, "unreadable")]),
        ("---\npermission:\n  *: deny\n---\n", &[(3, "unreadable")]),
        ("---\nname: looker3\npermission: deny\n---\n", &[(1, "missing-key"), (1, "missing-key")]),
        ("---\ndescription: x\nmode: sub\npermission: deny\n---\n", &[(3, "invalid-value")]),
        (
            "---\ndescription: 5\nmode: subagent\npermission:\n  \"*\": deny\n  bash: alow\n---\n",
            &[(2, "invalid-value"), (6, "invalid-value")],
        ),
        ("---\ndescription: x\nmode: subagent\ntemprature: 1\npermission: deny\n---\n", &[(4, "unknown-key")]),
        (
            "---\ndescription: x\nmode: subagent\npermission: deny\npermissions:\n  - {action: bash, resource: ls, effect: deny}\nmaxSteps: 3\n---\n",
            &[(5, "unknown-key"), (7, "deprecated-key")],
        ),
        (
            "---\ndescription: x\nmode: subagent\npermissions:\n  - {action: \"*\", resource: \"*\", effect: deny}\n---\n",
            &[(4, "unknown-key")],
        ),
        ("---\ndescription: x\nmode: subagent\npermission: deny\n---\n", &[]),
    ];
    for (text, expected) in table {
        assert_eq!(found(text), expected, "{text}");
    }
    let hint = &pack(&[("x", "---\ndescription: x\nmode: all\nmodels: y\npermission: deny\n---\n")])[0].hint;
    assert_eq!(hint, "did you mean model?");
}

#[test]
fn the_order_of_rules_is_checked() {
    let table: [(&str, &[(usize, &str)]); 8] = [
        ("  \"*\": deny\n  edit:\n    \"docs/*\": allow\n    \"docs/a.md\": deny", &[]),
        ("  \"*\": deny\n  edit:\n    \"docs/a.md\": deny\n    \"docs/*\": allow", &[(7, "unreachable-rule")]),
        ("  \"*\": deny\n  edit:\n    \"docs/*\": allow\n    \"*\": deny", &[(8, "catch-all-last")]),
        ("  read: allow\n  grep: allow\n  \"*\": deny", &[(4, "no-catch-all"), (7, "catch-all-last")]),
        (
            "  \"*\": allow\n  doom_loop: deny\n  external_directory: deny\n  question: deny\n  read: allow",
            &[(5, "not-deny-by-default")],
        ),
        ("  \"*\": deny\n  read: allow\n  \"re*\": deny", &[(7, "catch-all-last")]),
        ("  \"*\": deny\n  read:\n    \"a *\": allow\n    \"a\": deny", &[]),
        ("  \"*\": deny\n  read:\n    \"a\": deny\n    \"a *\": allow", &[(7, "unreachable-rule")]),
    ];
    for (permission, expected) in table {
        assert_eq!(found(&subagent(permission)), expected, "{permission}");
    }
}

#[test]
fn a_role_that_may_not_edit_may_not_write_by_commands() {
    let table = [
        ("echo *", "echo x > file"),
        ("find *", "-delete"),
        ("git config *", "git config core.pager"),
        ("git branch *", "git branch -D"),
        ("git remote *", "git remote add"),
        ("git diff *", "--output=file"),
        ("git log *", "--output=file"),
        ("git stash *", "git stash drop"),
        ("git *", "git config core.pager"),
        ("node -p *", "node -p"),
        ("python3 *", "python3 -c"),
        ("awk *", "system"),
        ("env *", "env rm"),
        ("xargs *", "xargs rm"),
        ("sort *", "sort -o"),
        ("sed *", "sed -i"),
        ("tee *", "tee file"),
        ("curl *", "curl -o"),
        ("npm *", "npm install"),
        ("my-own-tool *", "my-own-tool x > file"),
    ];
    for (pattern, hole) in table {
        let text = subagent(&format!("  \"*\": deny\n  bash:\n    \"*\": deny\n    \"{pattern}\": allow"));
        let findings = pack(&[("x", &text)]);
        let open = findings.iter().find(|finding| finding.rule == LintRule::WriteThroughShell).expect(pattern);
        assert_eq!((open.line, open.severity), (8, Severity::Error), "{pattern}");
        assert!(open.message.contains(hole), "{pattern}: {}", open.message);
    }
    let all = pack(&[("x", &subagent("  \"*\": deny\n  bash: allow"))]);
    let open: Vec<usize> =
        all.iter().filter(|finding| finding.rule == LintRule::WriteThroughShell).map(|finding| finding.line).collect();
    assert_eq!(open, [6], "one finding for one rule, however much it lets through");
}

#[test]
fn exact_commands_and_later_denials_close_what_can_be_closed() {
    let closed = [
        "    \"*\": deny\n    \"git status\": allow",
        "    \"*\": deny\n    \"ls *\": allow\n    \"*>*\": deny",
        "    \"*\": deny\n    \"git log *\": allow\n    \"*>*\": deny\n    \"*--output*\": deny",
    ];
    for patterns in closed {
        let findings = found(&subagent(&format!("  \"*\": deny\n  bash:\n{patterns}")));
        assert_eq!(findings, [(7, "shell-cannot-be-closed")], "{patterns}");
    }
    let part = subagent("  \"*\": deny\n  edit:\n    \"docs/*\": allow\n  bash:\n    \"*\": deny\n    \"rm *\": allow");
    assert!(found(&part).contains(&(10, "write-through-shell")), "edits of some paths are no edits of all");
    let runs = subagent("  \"*\": deny\n  bash:\n    \"*\": deny\n    \"cargo test\": allow");
    assert!(found(&runs).contains(&(8, "project-code")));
    assert_eq!(found(&subagent("  \"*\": deny\n  bash: deny")), [], "a hidden tool writes nothing");
}

#[test]
fn nobody_is_asked_who_is_not_there() {
    let table: [(&str, &[(usize, &str)]); 5] = [
        ("  \"*\": deny\n  webfetch: ask", &[(6, "ask-without-human")]),
        ("  \"*\": deny\n  edit:\n    \"*\": deny\n    \"docs/*\": ask", &[(8, "ask-without-human")]),
        ("  \"*\": deny\n  question: allow", &[(6, "ask-without-human")]),
        ("  \"*\": deny\n  external_directory: ask", &[(6, "ask-without-human")]),
        ("  \"*\": deny\n  edit: allow\n  bash:\n    \"*\": ask\n    ls: allow", &[(8, "ask-without-human")]),
    ];
    for (permission, expected) in table {
        assert_eq!(found(&subagent(permission)), expected, "{permission}");
    }
    let open = pack(&[("x", "---\ndescription: x\nmode: subagent\npermission:\n  edit: allow\n---\n")]);
    let asked: Vec<&str> = open
        .iter()
        .filter(|finding| finding.rule == LintRule::AskWithoutHuman)
        .map(|finding| finding.message.split('"').next().unwrap_or_default())
        .collect();
    let by_itself = |what: &str| format!("OpenCode by itself asks about {what} ");
    assert_eq!(asked, ["doom_loop", "external_directory", "read"].map(by_itself));
    let primary = "---\ndescription: x\nmode: primary\npermission:\n  \"*\": deny\n  webfetch: ask\n---\n";
    assert_eq!(pack(&[("x", primary)]), [], "someone sits before a primary agent");
}

#[test]
fn stars_are_not_glued_to_words() {
    let glued = subagent(
        "  \"*\": deny\n  edit: allow\n  bash:\n    \"*\": deny\n    \"git branch*\": allow\n    \"git push*\": deny\n    \"ls src/*\": allow",
    );
    assert_eq!(found(&glued), [(9, "glued-star")]);
}

#[test]
fn agents_and_their_callers_fit_together() {
    let mut files = good();
    files.push(("hermit", LOOKER));
    let findings = pack(&files);
    assert_eq!(
        findings.iter().map(|it| (it.file.as_str(), it.rule)).collect::<Vec<_>>(),
        [("agent/hermit.md", LintRule::NeverCalled)]
    );

    let lead = LEAD.replace("writer: allow", "writter: allow");
    let findings = pack(&[("lead", &lead), ("writer", WRITER), ("looker", LOOKER)]);
    let told: Vec<(&str, usize, LintRule)> = findings.iter().map(|it| (it.file.as_str(), it.line, it.rule)).collect();
    assert_eq!(told, [("agent/lead.md", 9, LintRule::UnknownAgent), ("agent/writer.md", 1, LintRule::NeverCalled)]);
    assert_eq!(findings[0].hint, "did you mean writer?");

    let mut files = good();
    let twin = LOOKER.replace("---\ndescription", "---\nname: looker\ndescription");
    files.push(("other", &twin));
    assert_eq!(pack(&files).iter().map(|it| it.rule).collect::<Vec<_>>(), [LintRule::DuplicateName]);

    let calls_primary = LEAD.replace("writer: allow", "writer: allow\n    lead2: allow");
    let lead2 = LEAD.replace("leads", "leads too");
    let findings = pack(&[("lead", &calls_primary), ("lead2", &lead2), ("writer", WRITER), ("looker", LOOKER)]);
    assert_eq!(findings.iter().map(|it| (it.line, it.rule)).collect::<Vec<_>>(), [(10, LintRule::UnknownAgent)]);

    let built_in = LEAD.replace("writer: allow", "writer: allow\n    general: allow");
    assert_eq!(pack(&[("lead", &built_in), ("writer", WRITER), ("looker", LOOKER)]), []);
}

#[test]
fn every_probe_is_one_clear_command() {
    for probe in &PROBES {
        let parts = split(probe.line).expect(probe.line);
        assert_eq!((parts.asked.as_slice(), parts.unseen.len()), ([probe.line.to_owned()].as_slice(), 0));
    }
    let lines: std::collections::BTreeSet<&str> = PROBES.iter().map(|probe| probe.line).collect();
    assert_eq!(lines.len(), PROBES.len(), "no probe is there twice");
}

#[test]
fn findings_are_in_the_order_of_files_and_lines() {
    let bad = subagent("  read: ask\n  bash:\n    \"git*\": allow\n    \"*\": ask\n  \"*\": ask");
    let files = [("b", bad.as_str()), ("a", bad.as_str())];
    let findings = pack(&files);
    assert_eq!(findings, pack(&files));
    let half = findings.len() / 2;
    assert!(half > 3 && findings[..half].iter().all(|finding| finding.file == "agent/b.md"));
    assert!(findings[..half].is_sorted_by_key(|finding| finding.line));
}

#[test]
fn a_rule_about_a_few_files_is_as_dangerous_as_its_command() {
    for pattern in [
        "git branch -D feature/*",
        "git branch * -d",
        "find src -exec *",
        "find src -name x -delete",
        "git config user.*",
        "python3 scripts/*",
        "bash scripts/*",
        "node scripts/*",
        "tee /var/log/*",
        "rm -rf build/*",
        "sed -n -i s/*",
        "git log --output=*",
        "git -C ../other status",
    ] {
        let text = subagent(&format!(
            "  \"*\": deny\n  read: allow\n  bash:\n    \"*\": deny\n    {pattern:?}: allow\n    \"*>*\": deny"
        ));
        assert!(found(&text).contains(&(9, "write-through-shell")), "{pattern}: {:?}", found(&text));
    }
    for (pattern, rule) in [("./tools/*", "project-code"), ("npm run lint", "project-code")] {
        let text = subagent(&format!(
            "  \"*\": deny\n  read: allow\n  bash:\n    \"*\": deny\n    {pattern:?}: allow\n    \"*>*\": deny"
        ));
        assert!(found(&text).contains(&(9, rule)), "{pattern}: {:?}", found(&text));
    }
    for pattern in [
        "git branch --show-current",
        "git branch --merged",
        "git config --get user.name",
        "git stash list",
        "git remote -v",
        "git status",
        "command -v cargo",
        "node --version",
        "ls -la",
    ] {
        let text = subagent(&format!(
            "  \"*\": deny\n  read: allow\n  bash:\n    \"*\": deny\n    {pattern:?}: allow\n    \"*>*\": deny"
        ));
        let harmful = ["write-through-shell", "project-code"];
        assert!(!found(&text).iter().any(|(_, rule)| harmful.contains(rule)), "{pattern}: {:?}", found(&text));
    }
}

#[test]
fn an_agent_that_others_may_call_is_not_asked_about_anything() {
    for mode in ["mode: subagent\n", "mode: all\n"] {
        let text = format!("---\ndescription: x\n{mode}permission:\n  \"*\": deny\n  bash: ask\n---\n");
        assert!(found(&text).contains(&(6, "ask-without-human")), "{mode}: {:?}", found(&text));
    }
    let primary = "---\ndescription: x\nmode: primary\npermission:\n  \"*\": deny\n  bash: ask\n---\n";
    assert!(!found(primary).iter().any(|(_, rule)| *rule == "ask-without-human"));
}
