//! The completion scripts: bash loads the real one and completes lines with it; nothing is created or started by that.

use crate::{
    PROGRAM, own_env,
    tasks::{add, yard},
};
use shuntyard_testkit::{TestEnv, script};
use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Presses Tab at the end of a line, as bash does it: the words are split at spaces, `=` and `:`.
const TAB: &str = r#"
PATH="$2:$PATH"
source <(shuntyard completions bash)
COMP_LINE="$1" COMP_POINT="${#1}" COMP_WORDS=() COMP_CWORD=0
_shuntyard shuntyard
printf '%s\n' "${COMPREPLY[@]}"
"#;

fn tab(env: &TestEnv, line: &str) -> Vec<String> {
    let programs = Path::new(PROGRAM).parent().expect("a directory").to_string_lossy().into_owned();
    let answer = bash(env, &["-c", TAB, "bash", line, &programs]);
    answer.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// What bash prints, with the program's environment.
fn bash(env: &TestEnv, args: &[&str]) -> String {
    let ours = env.command(&[]);
    let mut command = Command::new("bash");
    command.args(args).env_clear().current_dir(env.project()).stdin(Stdio::null());
    command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().expect("bash runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn bash_completes_commands_options_and_values() {
    let env = own_env("completions");
    let table: &[(&str, &[&str])] = &[
        ("shuntyard comp", &["completions"]),
        ("shuntyard task re", &["retry", "reset"]),
        ("shuntyard dispatch --mode a", &["agent"]),
        // The line keeps what is before the separator.
        ("shuntyard dispatch --mode=a", &["agent"]),
        ("shuntyard dispatch --tag auto:f", &["fast"]),
        ("shuntyard dispatch --task-type code-", &["code-review"]),
        ("shuntyard config set dispatch.text_t", &["dispatch.text_timeout"]),
        ("shuntyard task show ", &[]),
        ("shuntyard nonsense ", &[]),
    ];
    for (line, expected) in table {
        assert_eq!(tab(&env, line), *expected, "{line}");
    }
    env.write_config("broken = [\n");
    assert_eq!(tab(&env, "shuntyard dispatch --tier hai"), ["haiku"], "a broken configuration hides nothing built in");
    assert!(!env.data_dir().exists(), "nothing was created");
}

#[test]
fn bash_completes_tasks_batches_and_models() {
    let env = yard("completions-names");
    env.run(&["batch", "create", "night"]).expect_code(0);
    let first = add(&env, &["Rename foo", "--batch", "night"]);
    let second = add(&env, &["Rename bar"]);
    assert_eq!(tab(&env, "shuntyard task show "), [first.clone(), second.clone()]);
    assert_eq!(tab(&env, &format!("shuntyard task show {first}")), std::slice::from_ref(&first));
    let listed = format!("shuntyard task add Next --depends-on {first},{}", &second[..1]);
    assert_eq!(tab(&env, &listed), [format!("{first},{first}"), format!("{first},{second}")]);
    assert_eq!(tab(&env, "shuntyard status "), ["night"]);
    assert_eq!(tab(&env, "shuntyard dispatch hello -m scripted/al"), ["scripted/alpha"]);
    assert_eq!(tab(&env, "shuntyard providers check scri"), ["scripted"]);
    assert_eq!(env.servers(), Vec::<serde_json::Value>::new(), "no server was started");
}

/// Neither shell is needed to build or test this, so only their loading commands are searched for.
#[test]
fn the_other_scripts_are_for_their_shells() {
    let env = own_env("completions-others");
    for (shell, marks) in
        [("zsh", ["#compdef shuntyard", "__complete"]), ("fish", ["complete -c shuntyard", "__complete"])]
    {
        let printed = env.run(&["completions", shell]);
        printed.expect_code(0);
        assert!(marks.iter().all(|mark| printed.stdout.contains(mark)), "{}", printed.stdout);
    }
    env.run(&["completions", "tcsh"]).expect_code(2);
}

#[test]
fn what_a_script_asks_is_answered_in_one_form() {
    let env = own_env("completions-form");
    let answer = |words: &[&str]| env.run(&[&["__complete"], words].concat()).expect_code(0).stdout.clone();
    assert_eq!(answer(&["dispatch", "--dir", ""]), "directories\n");
    assert_eq!(answer(&["dispatch", "--image", ""]), "files\n");
    assert_eq!(answer(&["completions", "b"]), "values\nbash\t\n");
    assert_eq!(answer(&[]).lines().next(), Some("values"));
    // A Tab does not run a program of the same name in the directory.
    let trap = env.project().join("shuntyard");
    script(&trap, "#!/bin/sh\ntouch run\n");
    tab(&env, "./shuntyard task ");
    assert!(!env.project().join("run").exists());
}
