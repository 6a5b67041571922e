//! The key goes to its provider and nowhere else.

use super::{
    KEY, Question, class,
    station::{Act, Station, event, good, response, response_with, stream},
};
use serde_json::json;
use shuntyard_core::ErrorClass;
use std::sync::{Arc, Mutex};

#[tokio::test]
async fn a_key_that_a_provider_repeats_is_masked() {
    let said = format!("Incorrect key provided: {KEY}. Header was 'Bearer {KEY}'");
    let error = json!({"error": {"message": said, "code": 401}});
    let long = json!({"error": {"message": format!("{}{KEY}", "x".repeat(390)), "code": 401}});
    let table = [
        response(401, "application/json", error.to_string()),
        response(401, "text/plain", &said),
        response(200, "application/json", error.to_string()),
        stream(event(&error)),
        // A message is cut for showing, and half a key is too much.
        response(401, "application/json", long.to_string()),
    ];
    for bytes in table {
        let station = Station::replying(bytes).await;
        let question = Question::new(&station.base_url(), "go");
        let answered = question.ask().await;
        assert!(answered.outcome.is_err());
        let shown = format!("{answered:?} {:?}", question.provider);
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

/// Everything that is traced, as text.
#[derive(Clone, Default)]
struct Traced(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Traced {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_key_is_not_traced() {
    let traced = Traced::default();
    let writer = traced.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone());
    let guard = tracing::subscriber::set_default(subscriber.finish());
    let repeats = response(500, "text/plain", format!("the key was {KEY}"));
    let station = Station::start(vec![vec![Act::Send(repeats)], vec![Act::Send(good("yes"))]]).await;
    assert_eq!(class(&Question::new(&station.base_url(), "go").ask().await), Ok(()));
    drop(guard);
    let text = String::from_utf8(traced.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("the provider is asked again"), "something was traced: {text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let other = Station::start(vec![vec![Act::Send(good("stolen"))]]).await;
    for status in [301, 302, 303, 307, 308] {
        let location = format!("location: {}/chat/completions?key={KEY}\r\n", other.base_url());
        let station = Station::replying(response_with(status, &location, "")).await;
        let answered = Question::new(&station.base_url(), "go").ask().await;
        assert_eq!((class(&answered), station.received().len()), (Err(ErrorClass::ServerError), 1), "{status}");
        let message = answered.outcome.unwrap_err().message;
        assert!(message.contains("redirects are not followed") && !message.contains("hunter2"), "{message}");
    }
    assert_eq!(other.connections(), 0);
}
