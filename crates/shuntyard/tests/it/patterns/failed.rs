//! What is kept of a dispatch that failed: only the model's own failures count, and a cancelled dispatch counts for
//! nothing.

use super::{SCHEMA, all, of_dispatch, of_report, only, yard};
use crate::yard::{attempts, in_store, record_of};
use serde_json::json;
use shuntyard_core::{
    ErrorClass, Nano,
    experience::{Evidence, FailureMode, Verdict},
};
use shuntyard_scripted::{Step, Tokens};
use shuntyard_store::{RunStatus, Store as _};
use shuntyard_testkit::{environment::finish, eventually};
use std::{process::Command, time::Duration};

const SOON: Duration = Duration::from_secs(20);

fn wrong() -> Step {
    Step::structured(json!({"score": "four"}))
}

#[test]
fn only_what_the_model_did_not_manage_counts_against_it() {
    let yard = yard();
    use ErrorClass as Class;
    use FailureMode::{Environment, Logic, Resource, Transient};
    let hang = Step::hang_before_headers;
    let schema: &[&str] = &["--schema", SCHEMA];
    let empty = || Step::empty().usage(Tokens::new(400, 4));
    let table = [
        ("refused", "barred", vec![], &[][..], Class::AuthInvalid, Environment),
        ("an hour", "low", vec![Step::status(429).retry_after(3600)], &[], Class::QuotaExhausted, Resource),
        ("too often", "low", vec![Step::status(429), Step::status(429)], &[], Class::RateLimited, Transient),
        ("overloaded", "low", vec![Step::status(503), Step::status(503)], &[], Class::Overloaded, Transient),
        ("silent", "low", vec![hang()], &[], Class::Timeout, Transient),
        ("endless", "low", vec![Step::hang_mid_stream()], &["--timeout", "3s"], Class::Timeout, Logic),
        ("unfit", "low", vec![wrong(), wrong(), wrong()], schema, Class::StructuredOutputFailed, Logic),
        ("empty", "low", vec![empty()], &[], Class::EmptyResponse, Logic),
    ];
    let impatient = [("SHUNTYARD_DISPATCH_PROVIDER_RETRIES", "0"), ("SHUNTYARD_DISPATCH_FIRST_TOKEN_TIMEOUT", "5s")];
    std::thread::scope(|scope| {
        for (name, provider, steps, flags, class, mode) in table {
            scope.spawn(move || {
                let key = yard.at(provider).script(name, steps);
                let model = format!("{provider}/m");
                let args = ["dispatch", "--json", "-m", &model, "--task-type", "failing"];
                let outcome = yard.env.run_with(&impatient, &[&args, flags, &[key.as_str()]].concat());
                let report = outcome.expect_class(class.as_str()).json();
                let kept = only(&yard.env, &report);
                assert_eq!(
                    (kept.verdict, kept.failure_mode, kept.error_class, kept.counts()),
                    (Verdict::Failure, Some(mode), Some(class), mode == Logic),
                    "{name}"
                );
                let evidence = if flags == schema { Evidence::Structured } else { Evidence::Answered };
                assert_eq!((kept.evidence, kept.retries, kept.model.as_str()), (evidence, 0, model.as_str()), "{name}");
                let book = yard.at(provider).requests(&key).total_reported();
                assert_eq!(kept.cost_known, class != Class::Timeout, "{name}");
                if kept.cost_known {
                    assert_eq!((kept.cost, kept.tokens), (book.cost, book.usage.total()), "{name}");
                } else {
                    assert!(kept.cost > book.cost, "{name}: what is not known counts as it was estimated");
                }
            });
        }
    });
    let counted = in_store(&yard.env, async |store| {
        store.outcome_tallies(Some("failing"), None, i64::MIN).await.expect("counts")
    });
    let sums = counted.iter().map(|tally| [tally.successes, tally.failures, tally.uncounted]);
    let sums = sums.fold([0; 3], |sum, more| std::array::from_fn(|at| sum[at] + more[at]));
    assert_eq!(sums, [0, 3, 5], "{counted:#?}");
}

#[test]
fn what_was_refused_before_anybody_was_asked_teaches_nothing() {
    let yard = yard();
    let key = yard.at("low").script("untouched", vec![]);
    let flags = [&["--max-cost", "0.0000001", "-m", "low/m"][..], &["-m", "nobody/m"], &["--tier", "nowhere"]];
    for flags in flags {
        let refused = yard.dispatch(&[flags, &[key.as_str()]].concat());
        assert_ne!(refused.code, Some(0), "{}", refused.stdout);
    }
    assert_eq!(yard.asked_for("low", &key), 0);
    assert!(all(&yard.env).iter().all(|outcome| !outcome.text.contains(&key)));
}

#[test]
fn what_somebody_interrupts_says_nothing_about_the_model() {
    let yard = yard();
    let key = yard.at("spare").script("interrupted", vec![Step::hang_mid_stream(), Step::hang_mid_stream()]);
    for (flags, requests, failed) in [(["-m", "spare/m"], 1, None), (["--tier", "shaky"], 2, Some("barred/m"))] {
        let running = yard.env.spawn(&[&["dispatch", "--json"], &flags[..], &[&key]].concat());
        yard.at("spare").wait_for_requests(&key, requests);
        let interrupt = Command::new("kill").args(["-INT", &running.id().to_string()]).status().expect("kill");
        assert!(interrupt.success());
        let outcome = finish(running);
        outcome.expect_code(1).expect_class("cancelled");
        // An earlier failure of the model itself is not removed by that.
        let kept = of_report(&yard.env, &outcome.json());
        let kept: Vec<&str> = kept.iter().map(|kept| kept.model.as_str()).collect();
        assert_eq!(kept, failed.as_slice(), "{flags:?}");
    }
}

#[test]
fn a_process_that_dies_leaves_no_outcome_and_neither_does_its_recovery() {
    let yard = yard();
    let key = yard.at("mortal").script("dies", vec![Step::hang_mid_stream()]);
    let mut running = yard.env.spawn(&["dispatch", "--json", "-m", "mortal/m", &key]);
    yard.at("mortal").wait_for_requests(&key, 1);
    running.kill().expect("killed");
    running.wait().expect("reaped");
    eventually("it is settled by others", SOON, || record_of(&yard.env, "mortal/m").ended_at.is_some());
    let record = record_of(&yard.env, "mortal/m");
    assert_eq!(record.status, RunStatus::Abandoned);
    yard.dispatch(&["-m", "low/m", "hello"]).expect_ok();
    assert_eq!(of_dispatch(&yard.env, &record.id.to_string()), []);
    assert!(all(&yard.env).iter().all(|outcome| outcome.model != "mortal/m"));
}

#[test]
fn each_attempt_of_a_dispatch_has_an_outcome_of_its_own() {
    let yard = yard();
    let key =
        yard.at("middle").script("climbs", vec![Step::structured(json!({"score": 4})).usage(Tokens::new(900, 9))]);
    yard.script("low", &key, vec![wrong(), wrong(), wrong()]);
    let report = yard.dispatch(&["--task-type", "climbing", "--schema", SCHEMA, &key]).expect_ok();
    assert_eq!(attempts(&report).len(), 2, "{report:#}");
    let up = of_report(&yard.env, &report);
    let aside = yard.dispatch(&["--task-type", "shaking", "Shake it"]).expect_ok();
    let aside = of_report(&yard.env, &aside);
    let told = |kept: &[shuntyard_store::NewOutcome]| -> Vec<_> {
        kept.iter()
            .map(|kept| {
                let names = [Some(&kept.model), kept.asked_tier.as_ref(), kept.tier.as_ref()];
                let names = names.map(|name| name.cloned().unwrap_or_default()).join(" ");
                (kept.attempt.map(|(_, ordinal)| ordinal), kept.retries, names, kept.verdict, kept.failure_mode)
            })
            .collect()
    };
    let row = |retries: u32, names: &str, mode: Option<FailureMode>| {
        let verdict = if mode.is_some() { Verdict::Failure } else { Verdict::Success };
        (Some(retries + 1), retries, names.to_owned(), verdict, mode)
    };
    let climbed = [row(0, "low/m haiku haiku", Some(FailureMode::Logic)), row(1, "middle/m haiku sonnet", None)];
    assert_eq!(told(&up), climbed);
    let shaken = [row(0, "barred/m shaky shaky", Some(FailureMode::Environment)), row(1, "spare/m shaky shaky", None)];
    assert_eq!(told(&aside), shaken);
    let books = ["low", "middle"].map(|provider| yard.at(provider).requests(&key).total_reported().cost);
    assert_eq!([up[0].cost, up[1].cost], books);
    assert!(books.iter().all(|cost| *cost > Nano::ZERO));
    assert!(up.iter().chain(&aside).all(|kept| kept.requested.get("task_type").is_some()), "{up:#?}");
}
