//! Every way to end a request ends it: each timer, and cancelling, on the server too.

use super::{
    DEADLINE, Limits, Question, class, limits, scripted,
    station::{Act, Station, finishes, says, stream},
};
use futures_util::future::join_all;
use shuntyard_agents::opencode::{GiveUp, Progress, Sink, Timer};
use shuntyard_core::ErrorClass;
use shuntyard_scripted::{Ending, Step};
use shuntyard_testkit::eventually;
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

const SHORT: Duration = Duration::from_secs(1);
/// Long enough for the first words of an answer to arrive on a busy machine.
const AMPLE: Duration = Duration::from_secs(4);
/// Nothing sits this out.
const HOUR: Duration = Duration::from_secs(3600);

fn timer(gave_up: Option<GiveUp>) -> Option<Timer> {
    match gave_up {
        Some(GiveUp::Timeout { timer, .. }) => Some(timer),
        _ => None,
    }
}

/// How the requests of a key ended for the provider, once they have. Elsewhere, since it blocks: closing a connection
/// is work for the runtime of the test.
async fn provider_saw(key: &str) -> Vec<Ending> {
    let key = key.to_owned();
    let looking = tokio::task::spawn_blocking(move || {
        eventually("all requests end", DEADLINE, || scripted().requests(&key).in_flight() == 0);
        scripted().requests(&key).entries.iter().map(|entry| entry.ending).collect()
    });
    looking.await.unwrap()
}

#[tokio::test]
async fn silence_ends_by_the_timer_that_it_belongs_to() {
    let first = |limits: Limits| Limits { first_token: Some(SHORT), ..limits };
    let stalled = |limits: Limits| Limits { inactivity: Some(SHORT), ..limits };
    let total = |limits: Limits| Limits { total: Some(SHORT), ..limits };
    let amply = |limits: Limits| Limits { total: Some(AMPLE), ..limits };
    type Limit = fn(Limits) -> Limits;
    let table: [(Step, Limit, Timer, &str); 5] = [
        (Step::hang_before_headers(), first, Timer::FirstToken, ""),
        (Step::hang_before_first_byte(), first, Timer::FirstToken, ""),
        (Step::hang_mid_stream(), stalled, Timer::Inactivity, "partial "),
        (Step::hang_mid_stream(), amply, Timer::Total, "partial "),
        (Step::hang_before_headers(), total, Timer::Total, ""),
    ];
    let ends = table.map(async |(step, limit, expected, text)| {
        let key = scripted().script("silent", vec![step]);
        let question = Question { limits: limit(limits()), ..Question::new(&scripted().base_url(), &key) };
        let answered = question.ask().await;
        assert_eq!(class(&answered), Err(ErrorClass::Timeout), "{expected:?}");
        assert_eq!((timer(answered.gave_up), answered.text.as_str()), (Some(expected), text));
        assert!(!answered.usage_known, "what was used of a request that we ended is not known");
        assert_eq!(provider_saw(&key).await, [Ending::ClientClosed]);
    });
    join_all(ends).await;
}

#[tokio::test]
async fn keep_alives_are_no_answer() {
    let pings = || Act::SendEndlessly(b": ping\n\n".to_vec());
    let empty = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    let replies = vec![
        vec![Act::Send(stream("")), pings()],
        vec![Act::Send(stream(empty)), pings()],
        vec![Act::Send(stream(says("hal"))), pings()],
    ];
    let mut station = Station::start(replies).await;
    for (count, expected) in [Timer::FirstToken, Timer::FirstToken, Timer::Inactivity].into_iter().enumerate() {
        let limits = Limits { first_token: Some(SHORT), inactivity: Some(SHORT), ..limits() };
        let answered = Question { limits, ..Question::new(&station.base_url(), "go") }.ask().await;
        assert_eq!((class(&answered), timer(answered.gave_up)), (Err(ErrorClass::Timeout), Some(expected)));
        station.wait_closed(count + 1).await;
    }
}

#[tokio::test]
async fn waiting_for_the_counts_of_a_finished_answer_has_an_end_of_its_own() {
    let finished = [says("all of it"), finishes("stop")].concat();
    let after = [Act::WaitForClose, Act::SendEndlessly(b": ping\n\n".to_vec())];
    let ends = after.map(async |after| {
        let mut station = Station::start(vec![vec![Act::Send(stream(&finished)), after]]).await;
        let limits = Limits { first_token: None, inactivity: None, total: None, ..limits() };
        let answered = Question { limits, ..Question::new(&station.base_url(), "go") }.ask().await;
        assert_eq!((class(&answered), answered.text.as_str()), (Ok(()), "all of it"));
        assert_eq!((answered.gave_up, answered.usage_known), (None, false));
        station.wait_closed(1).await;
    });
    join_all(ends).await;
}

#[tokio::test]
async fn cancelling_ends_the_request_on_the_server() {
    let mut station = Station::start(vec![
        vec![Act::Send(stream(says("hal"))), Act::WaitForClose],
        vec![Act::Send(stream(says("hal"))), Act::SendEndlessly(says(" on and on").into_bytes())],
    ])
    .await;
    for count in 1..=2 {
        let cancel = CancellationToken::new();
        let on_first = cancel.clone();
        let sink: Sink = Arc::new(move |progress| {
            if matches!(progress, Progress::Text(_)) {
                on_first.cancel();
            }
        });
        let answered = Question { sink, cancel, ..Question::new(&station.base_url(), "go") }.ask().await;
        assert_eq!((class(&answered), answered.gave_up), (Err(ErrorClass::Cancelled), Some(GiveUp::Cancelled)));
        assert!(answered.text.starts_with("hal"), "what was said is kept");
        assert!(!answered.usage_known);
        station.wait_closed(count).await;
    }
}

#[tokio::test]
async fn cancelling_ends_a_wait_for_the_first_byte_and_a_wait_between_retries() {
    let steps = [("headers", Step::hang_before_headers()), ("pause", Step::status(429).retry_after(250))];
    for (name, step) in steps {
        let key = scripted().script(name, vec![step]);
        let limits = Limits { retry_wait_cap: Some(HOUR), first_token: None, total: None, ..limits() };
        let question = Question { limits, ..Question::new(&scripted().base_url(), &key) };
        let cancel = question.cancel.clone();
        let waiting = tokio::task::spawn_blocking({
            let key = key.clone();
            move || {
                scripted().wait_for_requests(&key, 1);
                cancel.cancel();
            }
        });
        let answered = question.ask().await;
        waiting.await.unwrap();
        assert_eq!(class(&answered), Err(ErrorClass::Cancelled), "{name}");
        let expected = if name == "headers" { Ending::ClientClosed } else { Ending::Complete };
        assert_eq!(provider_saw(&key).await, [expected], "{name}");
    }
}

#[tokio::test]
async fn a_request_that_is_cancelled_beforehand_is_never_made() {
    let station = Station::start(vec![]).await;
    let question = Question::new(&station.base_url(), "go");
    question.cancel.cancel();
    let answered = question.ask().await;
    assert_eq!((class(&answered), answered.usage_known), (Err(ErrorClass::Cancelled), true));
    assert_eq!(station.connections(), 0);
}
