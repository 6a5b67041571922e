//! The OpenCode client by itself on a real server, for calls that a dispatch refuses before they get there.

use crate::env;
use serde_json::json;
use shuntyard_agents::opencode::{
    Client, Endpoint, EventHub, Expect, NewSession, PermissionPolicy, PromptBody, PromptReport, RunLimits, RunPrompt,
    Shape, StopOutcome, read_tree, run_prompt, stop_sessions,
};
use shuntyard_core::{ErrorClass, ModelRef, values::id::message_id};
use shuntyard_scripted::{Ending, Step};
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

struct Station {
    client: Client,
    hub: EventHub,
}

/// The shared environment's managed server, accessed directly.
async fn station() -> Station {
    env().dispatch(&["-m", "scripted/alpha", "warm up"]).expect_ok();
    let server = &env().servers()[0];
    let id = server["id"].as_str().expect("an id");
    let password =
        std::fs::read_to_string(env().data_dir().join(format!("servers/{id}.password"))).expect("a password");
    let url = server["url"].as_str().expect("an address").to_owned();
    let client = Client::new(&Endpoint { url, password: Some(password.into()) }).expect("a client");
    let client = client.in_directory(&env().project());
    let hub = EventHub::start(&client);
    assert!(hub.wait_connected(Duration::from_secs(10)).await);
    Station { client, hub }
}

impl Station {
    async fn session(&self) -> String {
        let new = NewSession { title: "client test".into(), ..NewSession::default() };
        self.client.create_session(&new).await.expect("a session").id
    }

    async fn run(&self, session: &str, model: &str, agent: Option<&str>, text: &str) -> PromptReport {
        static COUNTER: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time");
        let count = COUNTER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let message = message_id(u64::try_from(now.as_millis()).expect("a time"), u16::from(count), [count; 14]);
        let body = PromptBody::Prompt {
            parts: vec![json!({"type": "text", "text": text})],
            model: ModelRef::new("scripted", model),
            agent: agent.map(Into::into),
            system: None,
            schema: None,
        };
        let limits = RunLimits {
            first_token: None,
            inactivity: None,
            total: Some(Duration::from_secs(120)),
            began: std::time::Instant::now(),
            retry_wait_cap: Some(Duration::from_secs(5)),
            provider_retries: 1,
            steps: None,
            max_cost: None,
            permission: PermissionPolicy::Reject,
        };
        run_prompt(RunPrompt {
            client: &self.client,
            hub: &self.hub,
            session,
            message: &message,
            body: &body,
            expect: Expect::Text,
            shape: Shape::ManySteps,
            limits,
            approver: None,
            sink: &(Arc::new(|_| {}) as _),
            cancel: &CancellationToken::new(),
        })
        .await
    }
}

/// Waits until the provider was asked, without holding up the run that asks it.
async fn asked(key: &str) {
    let arrived = async {
        while env().provider.requests(key).entries.is_empty() {
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(240), arrived).await.expect("the provider is asked");
}

fn class(report: &PromptReport) -> Option<ErrorClass> {
    report.verdict.outcome.as_ref().err().map(|failure| failure.class)
}

#[tokio::test]
async fn an_unknown_model_is_not_waited_for() {
    let station = station().await;
    let session = station.session().await;
    let report = station.run(&session, "no-such-model", None, "hello").await;
    assert_eq!(class(&report), Some(ErrorClass::ModelNotFound), "{report:?}");
    assert_eq!(report.gave_up, None, "it was seen, not timed out");
}

#[tokio::test]
async fn an_unknown_agent_ends_although_the_server_never_says_idle() {
    let station = station().await;
    let session = station.session().await;
    let report = station.run(&session, "alpha", Some("nobody"), "hello").await;
    let failure = report.verdict.outcome.expect_err("a failure");
    // OpenCode reports the cause by an event that it does not always send; then its refusal is passed on.
    let told = failure.class == ErrorClass::ServerError && failure.message.contains("Agent not found");
    let refused = failure.class == ErrorClass::OpencodeUnhealthy && failure.message.contains("500");
    assert!(told || refused, "{failure:?}");
    assert_eq!(report.gave_up, None, "it was seen, not timed out");
}

#[tokio::test]
async fn a_run_that_somebody_else_aborts_is_a_failure() {
    let station = station().await;
    let key = env().provider.script("disposed", vec![Step::hang_mid_stream()]);
    let session = station.session().await;
    let (report, ()) = tokio::join!(station.run(&session, "alpha", None, &key), async {
        asked(&key).await;
        station.client.abort(&session).await.expect("aborted");
    });
    assert_eq!(class(&report), Some(ErrorClass::Cancelled), "{report:?}");
    assert!(report.verdict.unreported, "the tokens of a cut-off answer are unknown");
}

#[tokio::test]
async fn a_run_whose_instance_is_disposed_of_is_a_failure() {
    // A directory of its own: disposing ends everything that runs in it.
    let directory = env().root.join("disposed");
    std::fs::create_dir_all(&directory).expect("a directory");
    let mut station = station().await;
    station.client = station.client.in_directory(&directory);
    let key = env().provider.script("instance", vec![Step::hang_mid_stream()]);
    let session = station.session().await;
    let (report, ()) = tokio::join!(station.run(&session, "alpha", None, &key), async {
        asked(&key).await;
        station.client.dispose_instance().await.expect("disposed of");
    });
    assert_eq!(class(&report), Some(ErrorClass::Cancelled), "{report:?}");
    assert_eq!(report.gave_up, None, "it was seen, not timed out");
}

#[tokio::test]
async fn a_stopped_session_can_be_used_again_and_its_cost_is_the_whole() {
    let station = station().await;
    let session = station.session().await;
    let key = env().provider.script("again", vec![Step::status(402), Step::text("now it works")]);
    let refused = station.run(&session, "alpha", None, &key).await;
    assert_eq!(class(&refused), Some(ErrorClass::QuotaExhausted));
    let report = station.run(&session, "alpha", None, &key).await;
    assert_eq!(report.verdict.outcome.map(|answer| answer.text), Ok("now it works".into()));
    let tree = read_tree(&station.client, &session).await.expect("a tree");
    assert_eq!(tree.cost, env().provider.requests(&key).total_reported().cost);
}

#[tokio::test]
async fn stopping_ends_the_run_at_the_provider_and_idle_sessions_are_no_error() {
    let station = station().await;
    let idle = station.session().await;
    assert_eq!(stop_sessions(&station.client, &[idle, "ses_unknown0000".into()]).await, StopOutcome::Stopped);
    let key = env().provider.script("stopped", vec![Step::hang_before_first_byte()]);
    let session = station.session().await;
    let (report, stop) = tokio::join!(station.run(&session, "alpha", None, &key), async {
        asked(&key).await;
        stop_sessions(&station.client, std::slice::from_ref(&session)).await
    });
    assert_eq!(stop, StopOutcome::Stopped);
    assert!(report.verdict.outcome.is_err());
    station.client.delete_stopped_session(&session).await.expect("deleted");
    station.client.delete_stopped_session(&session).await.expect("deleting twice is no error");
    shuntyard_testkit::eventually("the provider is let go", Duration::from_secs(10), || {
        env().provider.requests(&key).entries.iter().all(|entry| entry.ending == Ending::ClientClosed)
    });
}
