//! A request as it came in, the answer chosen for it, and the entry that records both.

use crate::{
    ledger::{Answer, Ending, Entry},
    openai::{Request, Said},
    reply::Plan,
    script::{Matched, last_user_text},
    server::{Setup, WRONG_KEY, authorized},
    step::Step,
};
use axum::http::{HeaderMap, header};
use shuntyard_core::{Nano, values::money::Price};
use std::time::Duration;

/// Dollars per million tokens: 3 in, 15 out, 0.30 from the cache, 3.75 into it.
const USUAL_PRICE: Price = Price {
    input: Nano(3_000_000_000),
    output: Nano(15_000_000_000),
    cache_read: Nano(300_000_000),
    cache_write: Nano(3_750_000_000),
};

pub(crate) struct Arrival {
    pub request: Request,
    pub said: Vec<Said>,
    at: Duration,
    session: Option<String>,
    authorization_present: bool,
}

pub(crate) struct Choice {
    matched: Matched,
    answer: Answer,
    pub step: Step,
    price: Price,
}

impl Choice {
    /// A request without the right key finds its script, for counting, but takes no step from it.
    pub fn of(arrival: &Arrival, setup: &mut Setup, headers: &HeaderMap) -> Self {
        let model = arrival.request.model.as_str();
        let matched = setup.scripts.find(model, &arrival.said);
        let price = setup.prices.get(model).copied().unwrap_or(USUAL_PRICE);
        let (answer, step) = if !authorized(setup, headers) {
            (Answer::Unauthorized, Step::status(401).message(WRONG_KEY))
        } else if let Some(step) = setup.scripts.take(&matched).or_else(|| setup.scripts.act(&matched, &arrival.said)) {
            (Answer::Scripted, step)
        } else {
            (Answer::Unscripted, setup.scripts.fallback(&arrival.said))
        };
        Self { matched, answer, step, price }
    }
}

impl Arrival {
    pub fn new(request: Request, headers: &HeaderMap, at: Duration) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self {
            said: request.said(),
            request,
            at,
            session: text("x-session-id").or_else(|| text("x-session-affinity")),
            authorization_present: headers.contains_key(header::AUTHORIZATION),
        }
    }

    pub fn entry(&self, ordinal: usize, choice: Choice, plan: &Plan) -> Entry {
        let (system, messages): (Vec<Said>, Vec<Said>) =
            self.said.iter().cloned().partition(|said| said.role == "system");
        Entry {
            ordinal,
            started_at: self.at,
            finished_at: None,
            ending: Ending::InFlight,
            model: self.request.model.clone(),
            session: self.session.clone(),
            matched: choice.matched,
            answer: choice.answer,
            status: None,
            usage: plan.tokens.as_usage(),
            price: choice.price,
            usage_reported: false,
            tools: self.request.tool_names(),
            tool_choice: self.request.tool_choice(),
            answer_form: self.request.answer_form(),
            system_length: system.iter().map(|said| said.text.chars().count()).sum(),
            last_user_text: last_user_text(&messages).to_owned(),
            messages: messages.into(),
            images: self.request.images(),
            authorization_present: self.authorization_present,
        }
    }
}
