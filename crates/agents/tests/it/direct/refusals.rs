//! Providers that refuse: the class of each refusal, and what is asked again.

use super::{
    Limits, Question, class, limits, scripted,
    station::{Act, Station, good, response, response_with},
};
use futures_util::future::join_all;
use shuntyard_agents::{openai::Provider, opencode::GiveUp};
use shuntyard_core::ErrorClass;
use shuntyard_scripted::Step;
use std::time::{Duration, Instant};

#[tokio::test]
async fn refusals_have_their_classes_and_are_not_retried() {
    let table = [
        (Step::status(400), ErrorClass::ServerError),
        (Step::status(400).message("This model's maximum context length is 8192 tokens"), ErrorClass::ContextOverflow),
        (Step::status(401), ErrorClass::AuthInvalid),
        (Step::status(402), ErrorClass::QuotaExhausted),
        (Step::status(403), ErrorClass::AuthInvalid),
        (Step::status(404), ErrorClass::ModelNotFound),
        (Step::status(404).body("<html>nginx</html>"), ErrorClass::ModelNotFound),
        (Step::status(413), ErrorClass::ContextOverflow),
        (Step::status(429).message("You exceeded your current quota"), ErrorClass::QuotaExhausted),
        (Step::text("so far so g").finish("length"), ErrorClass::Truncated),
        (Step::text("I ca").finish("content_filter"), ErrorClass::ContentFiltered),
        (Step::empty(), ErrorClass::EmptyResponse),
        (Step::text("done?").finish("banana"), ErrorClass::ServerError),
        (Step::text("done?").no_finish(), ErrorClass::ServerError),
    ];
    for (step, expected) in table {
        let shown = format!("{step:?}");
        let key = scripted().script("refused", vec![step]);
        let answered = Question::new(&scripted().base_url(), &key).ask().await;
        assert_eq!(class(&answered), Err(expected), "{shown}");
        assert_eq!(scripted().requests(&key).entries.len(), 1, "{shown}");
        assert!(answered.usage_known, "{shown}");
        assert_eq!(answered.usage, scripted().requests(&key).total_reported().usage, "{shown}");
    }
}

#[tokio::test]
async fn a_missing_key_is_told_from_a_wrong_one() {
    let refuse = || Act::Send(response(401, "application/json", r#"{"error":{"message":"no"}}"#));
    let station = Station::start(vec![vec![refuse()], vec![refuse()]]).await;
    let with = Question::new(&station.base_url(), "go");
    let without = Question {
        provider: Provider::new(&station.base_url(), None, []).unwrap(),
        ..Question::new(&station.base_url(), "go")
    };
    assert_eq!(class(&with.ask().await), Err(ErrorClass::AuthInvalid));
    assert_eq!(class(&without.ask().await), Err(ErrorClass::AuthMissing));
    assert!(!station.received()[1].head.to_lowercase().contains("authorization"));
}

#[tokio::test]
async fn what_passes_is_asked_again_and_no_oftener_than_allowed() {
    let table = [
        (Step::status(429), ErrorClass::RateLimited),
        (Step::status(500), ErrorClass::ServerError),
        (Step::status(503), ErrorClass::Overloaded),
        (Step::status(529), ErrorClass::Overloaded),
        (Step::status(502).body("<html>bad gateway</html>"), ErrorClass::ServerError),
    ];
    let asked = table.map(async |(step, expected)| {
        let shown = format!("{step:?}");
        let key = scripted().script("passes", vec![step.clone(), Step::text("at last")]);
        let answered = Question::new(&scripted().base_url(), &key).ask().await;
        assert_eq!((class(&answered), answered.text.as_str(), answered.retries), (Ok(()), "at last", 1), "{shown}");
        assert!(answered.usage_known, "{shown}");
        let key = scripted().script("stays", vec![step.clone(), step.clone(), step]);
        let answered = Question::new(&scripted().base_url(), &key).ask().await;
        assert_eq!((class(&answered), answered.retries), (Err(expected), 1), "{shown}");
        assert_eq!(scripted().requests(&key).entries.len(), 2, "{shown}");
    });
    join_all(asked).await;
    let key = scripted().script("once", vec![Step::status(500), Step::text("never")]);
    let limits = Limits { provider_retries: 0, ..limits() };
    let answered = Question { limits, ..Question::new(&scripted().base_url(), &key) }.ask().await;
    assert_eq!(class(&answered), Err(ErrorClass::ServerError));
    assert_eq!(scripted().requests(&key).entries.len(), 1);
}

#[tokio::test]
async fn the_wait_that_a_provider_asks_for_is_taken() {
    let key = scripted().script("second", vec![Step::status(429).retry_after(1), Step::text("after a second")]);
    let began = Instant::now();
    let answered = Question::new(&scripted().base_url(), &key).ask().await;
    assert_eq!((class(&answered), answered.retries), (Ok(()), 1));
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    let finer = response_with(429, "retry-after-ms: 1\r\nretry-after: 9\r\n", "slow down");
    let station = Station::start(vec![vec![Act::Send(finer)], vec![Act::Send(good("soon"))]]).await;
    // The coarser one is a wait that is not taken.
    let limits = Limits { retry_wait_cap: Some(Duration::from_secs(5)), ..limits() };
    assert_eq!(class(&Question { limits, ..Question::new(&station.base_url(), "go") }.ask().await), Ok(()));
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_not_taken() {
    let table = [
        (Step::status(429).retry_after(3600), ErrorClass::QuotaExhausted, 3600),
        (Step::status(429).retry_after(60), ErrorClass::RateLimited, 60),
        (Step::status(429).retry_after_date("Fri, 31 Dec 2100 23:59:59 GMT"), ErrorClass::QuotaExhausted, 300_000_000),
        (Step::status(503).retry_after(3600), ErrorClass::Overloaded, 3600),
    ];
    for (step, expected, at_least) in table {
        let key = scripted().script("hour", vec![step, Step::text("never")]);
        let answered = Question::new(&scripted().base_url(), &key).ask().await;
        assert_eq!(class(&answered), Err(expected));
        assert_eq!(scripted().requests(&key).entries.len(), 1);
        match answered.gave_up {
            Some(GiveUp::ProviderRetry { wait, attempt: 1, .. }) => {
                assert!(wait >= Duration::from_secs(at_least), "{wait:?}");
            }
            other => panic!("the wait is told: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_reason_that_never_ends_does_not_hide_the_status() {
    let hanging = vec![Act::Send(response(401, "text/plain", "no, and I will tell you why")), Act::WaitForClose];
    let endless =
        vec![Act::Send(response(401, "text/plain", "no")), Act::SendEndlessly(b"and another thing ".repeat(1000))];
    let mut station = Station::start(vec![hanging, endless]).await;
    for count in 1..=2 {
        let answered = Question::new(&station.base_url(), "go").ask().await;
        assert_eq!(class(&answered), Err(ErrorClass::AuthInvalid));
        station.wait_closed(count).await;
    }
}
