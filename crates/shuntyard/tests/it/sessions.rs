//! Sessions: removed, kept, continued, refused.

use crate::{env, own_env};
use shuntyard_scripted::{Gate, Step};
use shuntyard_testkit::outcome::assert_bill;

#[test]
fn a_kept_session_goes_on_and_each_dispatch_pays_its_own_part() {
    let provider = &env().provider;
    let first_key = provider.script("keep-first", vec![Step::text("my name is Ada")]);
    let first = env().dispatch(&["-m", "scripted/alpha", "--keep", &first_key]).expect_ok();
    assert_eq!(first["kept"], true);
    assert_bill(&first, &provider.requests(&first_key));
    let session = first["session_id"].as_str().expect("an id");

    let second_key = provider.script("keep-second", vec![Step::text("Ada")]);
    let second = env().dispatch(&["-m", "scripted/alpha", "--session", session, &second_key]).expect_ok();
    assert_eq!(second["session_id"], first["session_id"]);
    assert_eq!(second["kept"], true, "a session that is reused is kept");
    let ledger = provider.requests(&second_key);
    assert_eq!(ledger.entries.len(), 1);
    assert!(ledger.entries[0].messages.len() >= 3, "the earlier turn is part of the request");
    assert_bill(&second, &ledger);

    let other = env().dispatch(&["-m", "scripted/beta", "--session", session, "hello"]);
    other.expect_code(2);
    assert!(other.stdout.contains("speaks with scripted/alpha"), "{}", other.stdout);
}

#[test]
fn a_session_that_is_not_ours_is_refused() {
    let outcome = env().dispatch(&["-m", "scripted/alpha", "--session", "ses_000000000000000000000000", "hello"]);
    outcome.expect_code(2);
    assert!(outcome.stdout.contains("was not created by Shuntyard"), "{}", outcome.stdout);
}

#[test]
fn a_busy_session_takes_one_prompt_at_a_time() {
    let provider = &env().provider;
    let opening = provider.script("busy-open", vec![Step::text("hi")]);
    let first = env().dispatch(&["-m", "scripted/alpha", "--keep", &opening]).expect_ok();
    let session = first["session_id"].as_str().expect("an id");
    let gate = Gate::default();
    let slow = provider.script("busy-slow", vec![Step::text("late").at(&gate)]);
    let running = env().spawn(&["dispatch", "--json", "-m", "scripted/alpha", "--session", session, &slow]);
    provider.wait_for_requests(&slow, 1);
    let refused = env().dispatch(&["-m", "scripted/alpha", "--session", session, "me too"]);
    refused.expect_code(2);
    assert!(refused.stdout.contains("is busy"), "{}", refused.stdout);
    gate.open();
    let report = shuntyard_testkit::environment::finish(running).expect_ok();
    assert_eq!(report["text"], "late");
}

#[test]
fn a_session_goes_on_only_in_its_own_directory() {
    let opening = env().provider.script("home", vec![Step::text("here")]);
    let first = env().dispatch(&["-m", "scripted/alpha", "--keep", &opening]).expect_ok();
    let session = first["session_id"].as_str().expect("an id");
    let elsewhere = env().root.join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a directory");
    let dir = elsewhere.to_string_lossy();
    let refused = env().dispatch(&["-m", "scripted/alpha", "--session", session, "--dir", &dir, "and there?"]);
    refused.expect_code(2);
    let hint = refused.json()["error"]["hint"].as_str().unwrap_or_default().to_owned();
    assert!(hint.contains(&env().project().to_string_lossy().into_owned()), "{hint}");
}

#[test]
fn two_prompts_at_once_for_one_session_have_one_winner() {
    let opening = env().provider.script("race-open", vec![Step::text("hi")]);
    let first = env().dispatch(&["-m", "scripted/alpha", "--keep", &opening]).expect_ok();
    let session = first["session_id"].as_str().expect("an id");
    let gate = Gate::default();
    let keys = [0, 1].map(|n| env().provider.script("race", vec![Step::text(format!("answer {n}")).at(&gate)]));
    let mut children = keys
        .each_ref()
        .map(|key| env().spawn(&["dispatch", "--json", "-m", "scripted/alpha", "--session", session, key]));
    // There is no answer before one of the two was refused.
    let refused = || children.iter_mut().any(|child| child.try_wait().expect("a status").is_some());
    shuntyard_testkit::eventually("one is refused", std::time::Duration::from_secs(60), refused);
    gate.open();
    let outcomes = children.map(shuntyard_testkit::environment::finish);
    let won: Vec<_> = (0..2).filter(|n| outcomes[*n].code == Some(0)).collect();
    assert_eq!(won.len(), 1, "{outcomes:#?}");
    let report = outcomes[won[0]].expect_ok();
    assert_eq!(report["text"], format!("answer {}", won[0]), "the winner has its own answer");
    assert_bill(&report, &env().provider.requests(&keys[won[0]]));
    assert_eq!(outcomes[1 - won[0]].code, Some(2), "{}", outcomes[1 - won[0]].stdout);
    // The loser left the session as it was.
    let again = env().provider.script("race-after", vec![Step::text("still here")]);
    env().dispatch(&["-m", "scripted/alpha", "--session", session, &again]).expect_ok();
}

#[test]
fn a_session_goes_on_after_its_server_has_ended() {
    let env = own_env("sessions-resumed");
    let first = env.provider.script("resumed-1", vec![Step::text("the gate is green")]);
    let kept = env.dispatch(&["--keep", "-m", "scripted/alpha", &first]).expect_ok();
    env.stop_servers();
    let second = env.provider.script("resumed-2", vec![Step::text("it was green")]);
    let session = kept["session_id"].as_str().expect("a session");
    let resumed = env.dispatch(&["--session", session, "-m", "scripted/alpha", &second]).expect_ok();
    assert_eq!((&resumed["session_id"], &resumed["text"]), (&kept["session_id"], &serde_json::json!("it was green")));
    let asked = format!("{:?}", env.provider.requests(&second).entries[0].messages);
    assert!(asked.contains("the gate is green"), "the model reads what was said before: {asked}");
}
