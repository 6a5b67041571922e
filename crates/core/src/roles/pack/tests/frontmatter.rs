//! What is read from the head of an agent file, with its lines, and what is refused.

use crate::roles::pack::{
    agent_file::{AgentFile, Mode, name_of},
    frontmatter::{Frontmatter, FrontmatterError},
    yaml::Value,
};

const FILE: &str = r#"---
# who it is
description: >-
  Looks at changes.
  Says what it thinks.
mode: subagent # called by others
model: "scripted/alpha"
temperature: 0.5
permission:
  "*": deny

  bash:
    'git log *': allow # history
    "say \"hi\"": ask
    ls: allow
  task: {"*": deny, writer: allow}
options:
  - one
  - name: two
    size: 3
long: plain text
  that goes on
---
Body: with a colon
"#;

#[test]
fn a_file_is_read_with_its_lines() {
    let front = Frontmatter::parse(FILE).expect("readable");
    let keys: Vec<(&str, usize)> = front.entries().iter().map(|entry| (entry.key.as_str(), entry.line)).collect();
    let expected = [
        ("description", 3),
        ("mode", 6),
        ("model", 7),
        ("temperature", 8),
        ("permission", 9),
        ("options", 17),
        ("long", 21),
    ];
    assert_eq!(keys, expected);
    assert_eq!(front.text("description"), Some("Looks at changes. Says what it thinks."));
    assert_eq!(front.text("model"), Some("scripted/alpha"));
    assert_eq!(front.text("temperature"), None, "a number is no text");
    assert_eq!(front.text("long"), Some("plain text that goes on"));
    let agent = AgentFile::parse(".opencode/agent/team/looker.md", FILE).expect("readable");
    assert_eq!((agent.name.as_str(), agent.mode), ("team/looker", Mode::Subagent));
    let rules: Vec<String> = agent
        .own
        .iter()
        .map(|rule| {
            let line = rule.line.expect("a line");
            format!("{line} {} {} {}", rule.permission, rule.pattern, rule.action.as_str())
        })
        .collect();
    let expected = [
        "10 * * deny",
        "13 bash git log * allow",
        "14 bash say \"hi\" ask",
        "15 bash ls allow",
        "16 task * deny",
        "16 task writer allow",
    ];
    assert_eq!(rules, expected);
    let options = &front.get("options").expect("there").value.value;
    let Value::List(items) = options else { panic!("{options:?}") };
    assert_eq!(items[1].get("size").expect("there").line, 20);
}

#[test]
fn what_opencode_cannot_read_is_refused_with_its_line() {
    let table = [
        ("description: a: colon", 2, "not allowed"),
        ("a: \"b\" c: d", 2, "trailing"),
        ("permission:\n  *: deny", 3, "quoted"),
        ("bash: allow\nbash: deny", 3, "twice"),
        ("permission: {bash: allow, bash: deny}", 2, "twice"),
        ("permission:\n\tbash: deny", 3, "tab"),
        ("a: b\tc", 2, "tab"),
        ("description: \"open", 2, "quoted"),
        ("description: [a, b", 3, "expected ',' or ']'"),
        ("a: {b: c,\n  d: e}", 2, "closed"),
        ("a: 'b\n  c'", 2, "closed"),
        ("a: [b,,c]", 2, "content"),
        ("a: [b] c", 2, "key"),
        ("a: {b: c}}", 2, "key"),
        ("{a: b}", 2, "bracket"),
        ("description: @home", 2, "unexpected character"),
        ("description: x\n  y: z", 3, "not allowed"),
        ("a: b # c\n  d", 3, "key"),
        ("a:\n  b: c\n d: e", 4, "key"),
        ("- a\nb: c", 3, "'-'"),
        ("a: - b", 2, "not allowed"),
        ("a: 'b' c", 2, "trailing"),
        ("a: \"b\"\n  c: d", 3, "key"),
        ("a: &x b", 2, "quoted"),
        ("a: *x", 2, "quoted"),
        ("a: !x b", 2, "quoted"),
        ("<<: {a: b}", 2, "merge"),
        ("? [a]\n: b", 2, "no text"),
        (": b", 2, "empty"),
        ("a: b\n...\nc: d", 4, "second"),
        ("a: \"\\q\"", 2, "escape"),
        ("a: b\nc: d\u{7}e", 3, "control"),
    ];
    for (yaml, line, reason) in table {
        let error = Frontmatter::parse(&format!("---\n{yaml}\n---\n")).expect_err(yaml);
        assert_eq!(error.line(), line, "{yaml}: {error}");
        assert!(error.to_string().contains(reason), "{yaml}: {error}");
    }
    let deep = format!("a: {}{}", "[".repeat(60), "]".repeat(60));
    assert!(Frontmatter::parse(&format!("---\n{deep}\n---\n")).is_err());
}

#[test]
fn the_head_must_be_one() {
    let table = [
        ("", FrontmatterError::Missing),
        ("body only", FrontmatterError::Missing),
        ("\n---\na: b\n---\n", FrontmatterError::Missing),
        ("----\na: b\n---\n", FrontmatterError::Missing),
        ("---\na: b\n", FrontmatterError::Unclosed),
        ("---js\n({})\n---\n", FrontmatterError::Language("js".into())),
        ("---\n- a\n---\n", FrontmatterError::NotKeys),
        ("---\njust text\n---\n", FrontmatterError::NotKeys),
    ];
    for (text, expected) in table {
        assert_eq!(Frontmatter::parse(text), Err(expected), "{text:?}");
    }
    for empty in ["---\n---\nbody", "---\n\n---", "---\n# nothing\n---\n"] {
        assert!(Frontmatter::parse(empty).expect("readable").entries().is_empty(), "{empty:?}");
    }
    let windows = Frontmatter::parse("---\r\na: b\r\nc: \"d\"\r\n---\r\n").expect("readable");
    assert_eq!((windows.text("a"), windows.text("c")), (Some("b"), Some("d")));
}

#[test]
fn names_come_from_paths() {
    let table = [
        (".opencode/agent/writer.md", "writer"),
        ("/home/agent/p/.opencode/agents/a/b.md", "a/b"),
        ("agents/x.md", "x"),
        ("pack/x.md", "x"),
        ("x.md", "x"),
        ("C:\\p\\.opencode\\agent\\x.md", "x"),
    ];
    for (path, name) in table {
        assert_eq!(name_of(path), name);
    }
}
