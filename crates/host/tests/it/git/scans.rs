//! Changes read line by line, whatever their size and whatever tries to hide them.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use shuntyard_host::git::{DiffLine, Git};

use super::scene::{Scene, read, write};

fn shown(line: DiffLine<'_>) -> String {
    match line {
        DiffLine::File { path } => format!("file {path}"),
        DiffLine::Added { number, text } => format!("{number} + {text}"),
        DiffLine::Removed { text } => format!("- {text}"),
    }
}

fn scan(git: &Git, directory: &Path, from: &str, to: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut collect = |line: DiffLine<'_>| {
        lines.push(shown(line));
        ControlFlow::Continue(())
    };
    git.scan_diff(directory, from, to, &mut collect).unwrap();
    lines
}

fn scan_commit(scene: &Scene, commit: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut collect = |line: DiffLine<'_>| {
        lines.push(shown(line));
        ControlFlow::Continue(())
    };
    scene.git.scan_commit(&scene.top, commit, &mut collect).unwrap();
    lines
}

#[test]
fn lines_have_their_file_and_number() {
    let (scene, first) = Scene::new();
    write(&scene.top, "a b", "new");
    fs::remove_file(scene.top.join("other")).unwrap();
    let second = scene.save(&scene.top, &[("file", "a\nB\nc\nd\ne\nf\ng\n")]);
    let lines = scan(&scene.git, &scene.top, &first, &second);
    let wanted =
        ["file a b", "1 + new", "file file", "- b", "2 + B", "6 + f", "7 + g", "file other", "- o"].map(str::to_owned);
    assert_eq!(lines, wanted);
}

#[test]
fn an_added_line_that_looks_like_the_format_is_a_line() {
    let (scene, first) = Scene::new();
    let text = "++ b/harmless\n@@ -1 +1 @@\n-- a/x\ndiff --git a/x b/x\nsecret\n";
    let second = scene.save(&scene.top, &[("new", text)]);
    let wanted =
        ["file new", "1 + ++ b/harmless", "2 + @@ -1 +1 @@", "3 + -- a/x", "4 + diff --git a/x b/x", "5 + secret"];
    assert_eq!(scan(&scene.git, &scene.top, &first, &second), wanted);
}

#[test]
fn neither_attributes_nor_settings_hide_a_line() {
    let (scene, first) = Scene::new();
    let settings = [
        ("diff.noprefix", "true"),
        ("diff.hide.textconv", "true"),
        ("diff.hide.command", "true"),
        ("diff.external", "true"),
        ("color.ui", "always"),
        ("diff.context", "9"),
    ];
    for (key, value) in settings {
        scene.run(&scene.top, &["config", key, value]);
    }
    write(&scene.top, "nul.bin", "\0before\nKEY=1\n");
    let attributes = (".gitattributes", "*.py -diff\n*.rs diff=hide\n*.bin binary\n");
    let second = scene.save(&scene.top, &[attributes, ("x.py", "hidden\n"), ("x.rs", "hidden\n")]);
    let lines = scan(&scene.git, &scene.top, &first, &second);
    for file in ["x.py", "x.rs"] {
        let at = lines.iter().position(|line| *line == format!("file {file}")).unwrap();
        assert_eq!(lines[at + 1], "1 + hidden", "{lines:?}");
    }
    assert!(lines.contains(&"2 + KEY=1".to_owned()), "{lines:?}");
}

#[test]
fn the_first_commit_is_compared_with_nothing_and_a_merge_with_its_first_parent() {
    let (scene, first) = Scene::new();
    assert_eq!(scene.git.first_parent(&scene.top, &first).unwrap(), None);
    assert!(scan_commit(&scene, &first).contains(&"5 + e".to_owned()));
    let tree = scene.tree("work", &first);
    let side = scene.save(&tree, &[("side", "side\n")]);
    let second = scene.save(&scene.top, &[("mine", "mine\n")]);
    scene.run(&scene.top, &["merge", "--quiet", "--no-ff", "-m", "both", "work"]);
    let merge = scene.git.head(&scene.top).unwrap().unwrap();
    assert_eq!(scene.git.first_parent(&scene.top, &merge).unwrap(), Some(second));
    assert_eq!(scan_commit(&scene, &merge), ["file side", "1 + side"]);
    assert_eq!(scan_commit(&scene, &side), ["file side", "1 + side"]);
    assert!(scene.git.scan_commit(&scene.top, "no-such", &mut |_| ControlFlow::Continue(())).is_err());
}

#[test]
fn a_reader_can_stop_and_a_range_that_is_not_there_is_an_error() {
    let (scene, first) = Scene::new();
    let mut seen = 0;
    let mut once = |_: DiffLine<'_>| {
        seen += 1;
        ControlFlow::Break(())
    };
    scene.git.scan_commit(&scene.top, &first, &mut once).unwrap();
    assert_eq!(seen, 1);
    let missing = scene.git.scan_diff(&scene.top, &first, "no-such", &mut |_| ControlFlow::Continue(()));
    assert!(missing.is_err());
    assert!(scene.git.scan_diff(&scene.top, "--output=x", &first, &mut |_| ControlFlow::Continue(())).is_err());
}

#[test]
fn the_start_of_a_diff_is_cut_where_it_was_asked_and_no_file_is_hidden() {
    let (scene, first) = Scene::new();
    write(&scene.top, "a.bin", "\0\0\n");
    let second = scene.save(&scene.top, &[(".gitattributes", "*.py -diff\n"), ("b.py", "hidden\n")]);
    let range = format!("{first}..{second}");
    let whole = scene.git.diff_of(&scene.top, &range).unwrap();
    assert!(whole.contains("Binary files /dev/null and b/a.bin differ\n") && whole.contains("+hidden\n"), "{whole}");
    let start = scene.git.diff_start(&scene.top, &range, 100).unwrap();
    assert_eq!((start.len(), whole.starts_with(&start)), (100, true), "{start}");
    assert_eq!(scene.git.diff_start(&scene.top, &range, 1 << 20).unwrap(), whole);
}

/// Set for the process in which the memory is measured: in this one other tests run as well.
const MEASURED: &str = "SHUNTYARD_SCANNED_REPOSITORY";
const PEAK: &str = ".git/peak";
const MIB: usize = 1024 * 1024;
/// Each of the two files is larger than the memory that is allowed.
const LINES_MIB: usize = 96;
const LINE_MIB: usize = 96;

#[test]
fn memory_does_not_grow_with_the_change() {
    if let Some(top) = std::env::var_os(MEASURED) {
        return measure(Path::new(&top));
    }
    let (scene, _) = Scene::new();
    scene.run(&scene.top, &["config", "core.compression", "0"]);
    let mut lines = fs::File::create(scene.top.join("lines")).unwrap();
    let block = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n".repeat(MIB / 64);
    for _ in 0..LINES_MIB {
        lines.write_all(block.as_bytes()).unwrap();
    }
    let mut line = fs::File::create(scene.top.join("one line")).unwrap();
    for _ in 0..LINE_MIB {
        line.write_all(block.replace('\n', "-").as_bytes()).unwrap();
    }
    scene.save(&scene.top, &[]);
    let own = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "git::scans::memory_does_not_grow_with_the_change"])
        .env(MEASURED, &scene.top)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&own.stdout).into_owned();
    assert!(own.status.success(), "{said}{}", String::from_utf8_lossy(&own.stderr));
    let peak = read(&scene.top, PEAK);
    assert!(peak.parse::<usize>().unwrap() < 80 * MIB / 1024, "{peak} KiB");
}

/// Writes down the most memory that this process ever had, in KiB.
fn measure(top: &Path) {
    let git = Git::default();
    let (mut added, mut longest) = (0, 0);
    let mut count = |line: DiffLine<'_>| {
        if let DiffLine::Added { text, .. } = line {
            added += 1;
            longest = longest.max(text.len());
        }
        ControlFlow::Continue(())
    };
    git.scan_commit(top, "HEAD", &mut count).unwrap();
    assert_eq!(added, LINES_MIB * MIB / 64 + 1);
    assert!(longest > 1024 && longest <= 64 * 1024, "{longest}");
    assert_eq!(git.diff_start(top, "HEAD^..HEAD", 400_000).unwrap().len(), 400_000);
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or(" 0 kB");
    fs::write(top.join(PEAK), peak.trim().trim_end_matches(" kB")).unwrap();
}
