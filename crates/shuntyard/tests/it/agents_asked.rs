//! `agents configure` on a terminal: for each group a model is picked from a list, and only a yes is written.

use crate::agents_described::{CONFIG, text, with_agents};
use shuntyard_testkit::{
    Terminal, TestEnv,
    terminal::{CTRL_C, CTRL_D},
};

const PICK_MED: &str = "the model of MED: a number, a name, or nothing";
const PICK_LOW: &str = "the model of LOW: a number, a name, or nothing";
const MED: &str = "give the agents of MED the model scripted/alpha? [y/N]";
const LOW: &str = "give the agents of LOW the model scripted/odd? [y/N]";
const VARIANT: &str = "its variant: high, low, medium, or nothing for none";

fn asked(env: &TestEnv) -> Terminal {
    let mut terminal = Terminal::start(env, &["agents", "configure", "--no-probe"]);
    terminal.shows("recommended: scripted/alpha").shows("WHY").shows("per million tokens");
    terminal.shows("recommended: scripted/odd").shows(PICK_MED);
    terminal
}

/// The file after these models were given; with a variant where there is one.
fn given(before: &str, med: Option<&str>, low: Option<&str>) -> String {
    let mut text = before.to_owned();
    if let Some(model) = med {
        text = text
            .replace("\"You lead.\" }", &format!("\"You lead.\", {model} }}"))
            .replace("\"You help.\",\n", &format!("\"You help.\",\n      {},\n", model.replace(", ", ",\n      ")));
    }
    if let Some(model) = low {
        text = text.replace(", \"variant\": \"old\"}", &format!(", {model}}}"));
    }
    text
}

#[test]
fn only_the_groups_that_get_a_yes_are_written() {
    let env = with_agents("agents-asked");
    let file = env.project().join("opencode.jsonc");
    for (first, second) in [("\n", "\n"), (CTRL_D, CTRL_D)] {
        let mut terminal = asked(&env);
        terminal.press(first).shows(PICK_LOW).press(second).shows("nothing was chosen, so nothing is written");
        terminal.ended().expect_code(0);
        assert_eq!(text(&file), CONFIG, "after {first:?} and {second:?}");
    }
    for (first, second) in [("n\n", "no\n"), ("\n", "\n"), (CTRL_D, CTRL_D), ("yes please\n", "ny\n")] {
        let mut terminal = asked(&env);
        terminal.press("1\n").shows(MED).press(first).shows(PICK_LOW).press("1\n").shows(LOW).press(second);
        terminal.shows("nothing was chosen, so nothing is written");
        terminal.ended().expect_code(0);
        assert_eq!(text(&file), CONFIG, "after {first:?} and {second:?}");
    }

    let mut terminal = asked(&env);
    terminal.press("\n").shows(PICK_LOW).press("1\n").shows(LOW).press("y\n").shows("small: configured");
    let outcome = terminal.ended();
    assert!(!outcome.expect_code(0).stdout.contains("leader: "), "{}", outcome.stdout);
    let low = given(CONFIG, None, Some("\"model\": \"scripted/odd\""));
    assert_eq!(text(&file), low);

    let mut terminal = asked(&env);
    terminal.press("1\n").shows(MED).press("YES\n").shows(PICK_LOW).press("\n").shows("helper: configured");
    terminal.ended().expect_code(0);
    assert_eq!(text(&file), given(&low, Some("\"model\": \"scripted/alpha\""), None));
    assert_eq!(env.provider.ledger().entries.len(), 0, "nobody was asked for a word");
}

#[test]
fn a_model_is_picked_by_number_or_name_and_then_its_variant() {
    let env = with_agents("agents-picked");
    let file = env.project().join("opencode.jsonc");
    let mut terminal = asked(&env);
    terminal.press("99\n").shows("there are the numbers 1 to ").shows(PICK_MED);
    terminal.press("no-such-model\n").shows("no-such-model").shows(PICK_MED);
    terminal.press("scripted/beta\n").shows(VARIANT).press("huge\n").shows("scripted/beta has no variant `huge`");
    terminal.shows(VARIANT).press("low\n");
    terminal.shows("give the agents of MED the model scripted/beta@low? [y/N]").press("y\n");
    terminal.shows(PICK_LOW).press("scripted/beta@medium\n");
    terminal.shows("give the agents of LOW the model scripted/beta@medium? [y/N]").press("y\n");
    terminal.shows("leader: configured").shows("small: configured");
    terminal.ended().expect_code(0);
    let beta = |variant: &str| format!("\"model\": \"scripted/beta\", \"variant\": \"{variant}\"");
    let small = "\"variant\": \"medium\", \"model\": \"scripted/beta\"";
    assert_eq!(text(&file), given(CONFIG, Some(&beta("low")), Some(small)));
}

#[test]
fn whoever_leaves_before_the_last_answer_changes_nothing() {
    let env = with_agents("agents-left");
    let file = env.project().join("opencode.jsonc");
    let mut terminal = asked(&env);
    terminal.press(CTRL_C);
    terminal.ended().expect_code(130);
    assert_eq!(text(&file), CONFIG);

    // A yes for one group is not executed when the other is not answered.
    let mut terminal = asked(&env);
    terminal.press("1\n").shows(MED).press("y\n").shows(PICK_LOW).press(CTRL_C);
    terminal.ended().expect_code(130);
    assert_eq!(text(&file), CONFIG);

    // Piped input is no user who can confirm, and neither is a caller that wants JSON.
    let piped = env.run_with_input(&["agents", "configure"], "1\ny\n1\ny\n");
    assert!(piped.expect_code(3).stderr.contains("nobody is there to say yes"), "{}", piped.stderr);
    let mut terminal = Terminal::start(&env, &["agents", "configure", "--json"]);
    terminal.press("1\ny\n").shows("nobody is there to say yes");
    terminal.ended().expect_code(3);
    assert_eq!(text(&file), CONFIG);
}
