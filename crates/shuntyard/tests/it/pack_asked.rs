//! `pack install` on a terminal: what the user wrote or changed is asked for, and only a yes replaces it.

use crate::{
    own_env,
    pack::{snapshot, target, write},
};
use shuntyard_testkit::{
    Terminal,
    terminal::{CTRL_C, CTRL_D},
};
use std::{fs, os::unix::fs::PermissionsExt};

const CHANGED: &str = "agents/init.md is not as the pack left it; replace it? It is backed up. [y/N]";

#[test]
fn only_a_yes_replaces_what_the_user_changed() {
    let env = own_env("pack-asked");
    env.run(&["pack", "install"]).expect_code(0);
    let file = target(&env).join("agents/init.md");
    let ours = fs::read_to_string(&file).expect("readable");
    // Without a last line end, which an editor may leave out and the program must not add.
    write(&file, &format!("{ours}And mine."), 0o600);
    let before = snapshot(&target(&env));
    for (keys, code) in [("n\n", 3), ("\n", 3), (CTRL_D, 3), ("yess\n", 3), ("j\n", 3), (CTRL_C, 130)] {
        let mut terminal = Terminal::start(&env, &["pack", "install"]);
        terminal.shows("--- agents/init.md").shows("-And mine.").shows(CHANGED).press(keys);
        terminal.ended().expect_code(code);
        assert_eq!(snapshot(&target(&env)), before, "after {keys:?}");
    }
    // Piped input is no user who can confirm, and neither is a caller that wants JSON.
    let piped = env.run_with_input(&["pack", "install"], "y\n");
    assert!(!piped.expect_code(3).stderr.contains("[y/N]"), "{}", piped.stderr);
    let mut terminal = Terminal::start(&env, &["pack", "install", "--json"]);
    terminal.press("y\n").shows("kept-edited");
    terminal.ended().expect_code(3);
    assert_eq!(snapshot(&target(&env)), before);

    let mut terminal = Terminal::start(&env, &["pack", "install"]);
    terminal.shows(CHANGED).press("y\n").shows("replaced agents/init.md");
    let outcome = terminal.ended();
    outcome.expect_code(0);
    assert_eq!(fs::read_to_string(&file).expect("readable"), ours);
    let backup = outcome.stdout.split("`shuntyard pack restore ").nth(1).and_then(|rest| rest.split('`').next());
    env.run(&["pack", "restore", backup.expect("the backup is named")]).expect_code(0);
    assert_eq!(fs::read_to_string(&file).expect("readable"), format!("{ours}And mine."));
    assert_eq!(file.metadata().expect("it is there").permissions().mode() & 0o777, 0o600);
}

#[test]
fn each_file_is_asked_for_and_nothing_is_begun_before_the_last_answer() {
    let env = own_env("pack-asked-each");
    let root = target(&env);
    write(&root.join("agents/shipper.md"), "my own shipper\n", 0o640);
    write(&root.join("commands/route.md"), "my own route\n", 0o644);
    write(
        &root.join("opencode.jsonc"),
        "{\"mcp\": {\"shuntyard\": {\"type\": \"local\", \"command\": [\"x\"]}}}",
        0o600,
    );
    let before = snapshot(&root);
    let questions = ["agents/shipper.md", "commands/route.md", "opencode.jsonc"]
        .map(|path| format!("{path} is yours and not of the pack; replace it? It is backed up. [y/N]"));

    let mut terminal = Terminal::start(&env, &["pack", "install", "--mcp"]);
    terminal.shows(&questions[0]).press("y\n").shows(&questions[1]).press("y\n").shows(&questions[2]).press(CTRL_C);
    terminal.ended().expect_code(130);
    assert_eq!(snapshot(&root), before);

    let mut terminal = Terminal::start(&env, &["pack", "install", "--mcp"]);
    terminal.shows("-my own shipper").shows(&questions[0]).press("n\n");
    terminal.shows("-my own route").shows(&questions[1]).press("y\n").shows(&questions[2]).press("\n");
    let outcome = terminal.ended();
    outcome.expect_code(3);
    let said = "you have written or changed agents/shipper.md, opencode.jsonc";
    assert!(outcome.stdout.contains(said), "{}", outcome.stdout);
    let after = snapshot(&root);
    for kept in ["agents/shipper.md", "opencode.jsonc"] {
        assert_eq!(after[&root.join(kept)], before[&root.join(kept)], "{kept}");
    }
    assert_ne!(after[&root.join("commands/route.md")], before[&root.join("commands/route.md")]);
    assert!(root.join("agents/init.md").is_file(), "what nobody objects to is installed");
    env.run(&["pack", "uninstall"]).expect_code(0);
    assert_eq!(snapshot(&root), before);
}
