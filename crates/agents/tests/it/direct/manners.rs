//! Structured answers, from providers that know more or less of the wire format.

use super::{
    Question, class, scripted,
    station::{Act, Station, good, response},
};
use serde_json::{Value, json};
use shuntyard_agents::openai::StructureForm;
use shuntyard_core::ErrorClass;
use shuntyard_scripted::Step;

fn schema() -> Value {
    json!({"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]})
}

fn refuses(message: &str) -> Vec<Act> {
    let body = json!({"error": {"message": message, "type": "invalid_request_error"}});
    vec![Act::Send(response(400, "application/json", body.to_string()))]
}

#[tokio::test]
async fn a_structure_is_parsed_and_left_to_the_caller_to_validate() {
    let schema = schema();
    let fenced = Step::text("Sure:\n```json\n{\"score\": \"four\"}\n```\n");
    let table = [
        (Step::structured(json!({"score": 4})), Ok(()), Some(json!({"score": 4}))),
        (fenced, Ok(()), Some(json!({"score": "four"}))),
        (Step::text("four, I think"), Err(ErrorClass::StructuredOutputFailed), None),
        (Step::text("{\"score\": 4").finish("length"), Err(ErrorClass::Truncated), None),
    ];
    for (step, expected, structured) in table {
        let key = scripted().script("structured", vec![step]);
        let question = Question { schema: Some(&schema), ..Question::new(&scripted().base_url(), &key) };
        let answered = question.ask().await;
        assert_eq!((class(&answered), answered.structured), (expected, structured));
        assert_eq!(answered.form, Some(StructureForm::Schema));
        assert!(!answered.text.is_empty());
    }
}

#[tokio::test]
async fn a_provider_without_structures_is_asked_in_words() {
    let schema = schema();
    let replies = vec![
        refuses("'response_format' of type 'json_schema' is not supported with this model"),
        refuses("'response_format' is not supported"),
        vec![Act::Send(good("{\"score\": 4}"))],
    ];
    let station = Station::start(replies).await;
    let mut question = Question { schema: Some(&schema), ..Question::new(&station.base_url(), "how good?") };
    question.system = Some("be brief");
    // A change of manner is no retry.
    question.limits.provider_retries = 0;
    let answered = question.ask().await;
    assert_eq!((class(&answered), answered.structured, answered.retries), (Ok(()), Some(json!({"score": 4})), 0));
    assert_eq!((answered.form, answered.usage_known), (Some(StructureForm::Words), true));
    let bodies: Vec<Value> = station.received().into_iter().map(|received| received.body).collect();
    let strict = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": true}});
    assert_eq!(bodies[0]["response_format"], strict);
    assert_eq!(bodies[0]["messages"][0]["content"], "be brief");
    assert_eq!(bodies[1]["response_format"], json!({"type": "json_object"}));
    assert_eq!(bodies[2].get("response_format"), None);
    for body in &bodies[1..] {
        let system = body["messages"][0]["content"].as_str().unwrap();
        assert!(
            system.starts_with("be brief\n") && system.contains("JSON") && system.contains("\"score\""),
            "{system}"
        );
    }
}

#[tokio::test]
async fn a_provider_that_refuses_every_manner_is_given_up() {
    let schema = schema();
    let refuse = || refuses("response_format is not supported");
    let station = Station::start(vec![refuse(), refuse(), refuse(), refuse()]).await;
    let answered = Question { schema: Some(&schema), ..Question::new(&station.base_url(), "go") }.ask().await;
    assert_eq!((class(&answered), station.received().len()), (Err(ErrorClass::ServerError), 3));
}

#[tokio::test]
async fn the_newer_name_of_the_output_limit_is_used_when_asked_for() {
    let refusal =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let station = Station::start(vec![refuses(refusal), vec![Act::Send(good("yes"))]]).await;
    let answered = Question { max_output_tokens: Some(9), ..Question::new(&station.base_url(), "go") }.ask().await;
    assert_eq!(class(&answered), Ok(()));
    let limits: Vec<(Value, Value)> = station
        .received()
        .into_iter()
        .map(|received| (received.body["max_tokens"].clone(), received.body["max_completion_tokens"].clone()))
        .collect();
    assert_eq!(limits, [(json!(9), Value::Null), (Value::Null, json!(9))]);
}
