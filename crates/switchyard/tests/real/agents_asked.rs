//! `agents configure` on a terminal: each group is asked for, and only a yes is written.

use crate::agents::{CONFIG, text, with_agents};
use switchyard_testkit::{
    Terminal, TestEnv,
    terminal::{CTRL_C, CTRL_D},
};

const MED: &str = "give the agents of MED the model scripted/alpha? [y/N]";
const LOW: &str = "give the agents of LOW the model scripted/odd? [y/N]";

fn asked(env: &TestEnv) -> Terminal {
    let mut terminal = Terminal::start(env, &["agents", "configure", "--no-probe"]);
    terminal.shows("recommended: scripted/alpha").shows("recommended: scripted/odd").shows(MED);
    terminal
}

#[test]
fn only_the_groups_that_get_a_yes_are_written() {
    let env = with_agents("agents-asked");
    let file = env.project().join("opencode.jsonc");
    for (first, second) in [("n\n", "no\n"), ("\n", "\n"), (CTRL_D, CTRL_D), ("yes please\n", "ny\n")] {
        let mut terminal = asked(&env);
        terminal.press(first).shows(LOW).press(second).shows("nothing was chosen, so nothing is written");
        terminal.ended().expect_code(0);
        assert_eq!(text(&file), CONFIG, "after {first:?} and {second:?}");
    }

    let mut terminal = asked(&env);
    terminal.press("n\n").shows(LOW).press("y\n").shows("small: configured");
    let outcome = terminal.ended();
    assert!(!outcome.expect_code(0).stdout.contains("leader: "), "{}", outcome.stdout);
    let low = CONFIG.replace(", \"variant\": \"old\"}", ", \"model\": \"scripted/odd\"}");
    assert_eq!(text(&file), low);

    let mut terminal = asked(&env);
    terminal.press("YES\n").shows(LOW).press("\n").shows("helper: configured");
    terminal.ended().expect_code(0);
    let both = low
        .replace("\"You lead.\" }", "\"You lead.\", \"model\": \"scripted/alpha\" }")
        .replace("\"You help.\",\n", "\"You help.\",\n      \"model\": \"scripted/alpha\",\n");
    assert_eq!(text(&file), both);
    assert_eq!(env.provider.ledger().entries.len(), 0, "nobody was asked for a word");
}

#[test]
fn whoever_leaves_before_the_last_answer_changes_nothing() {
    let env = with_agents("agents-left");
    let file = env.project().join("opencode.jsonc");
    let mut terminal = asked(&env);
    terminal.press(CTRL_C);
    terminal.ended().expect_code(130);
    assert_eq!(text(&file), CONFIG);

    // A yes for one group is not carried out when the other is not answered.
    let mut terminal = asked(&env);
    terminal.press("y\n").shows(LOW).press(CTRL_C);
    terminal.ended().expect_code(130);
    assert_eq!(text(&file), CONFIG);

    // A text that is piped in is nobody, and neither is one who wants JSON.
    let piped = env.run_with_input(&["agents", "configure"], "y\ny\n");
    assert!(piped.expect_code(3).stderr.contains("nobody is there to say yes"), "{}", piped.stderr);
    let mut terminal = Terminal::start(&env, &["agents", "configure", "--json"]);
    terminal.press("y\ny\n").shows("nobody is there to say yes");
    terminal.ended().expect_code(3);
    assert_eq!(text(&file), CONFIG);
}
