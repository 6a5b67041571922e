//! What was asked and what it cost.
//!
//! A [`Ledger`] is a copy at one moment. Costs are summed exactly and rounded once.

use crate::{openai::Said, script::Matched};
use shuntyard_core::{
    Nano, Usage,
    values::money::{Price, round_exact},
};
use std::{sync::Arc, time::Duration};

#[derive(Debug, Clone, Default)]
pub struct Ledger {
    pub entries: Vec<Entry>,
}

/// One request. Times are counted from the start of the provider.
#[derive(Debug, Clone)]
pub struct Entry {
    /// From 1, in the order of arrival.
    pub ordinal: usize,
    pub started_at: Duration,
    pub finished_at: Option<Duration>,
    pub ending: Ending,
    pub model: String,
    /// The OpenCode session that sent it.
    pub session: Option<String>,
    pub matched: Matched,
    pub answer: Answer,
    /// The status that was sent; none until the headers are out.
    pub status: Option<u16>,
    /// The usage of the answer, whether or not it was reported to the client.
    pub usage: Usage,
    pub price: Price,
    /// Whether the token counts were sent. An answer that broke off earlier is not on the bill.
    pub usage_reported: bool,
    pub tools: Vec<String>,
    pub tool_choice: Option<String>,
    /// The kind of `response_format`.
    pub answer_form: Option<String>,
    /// Characters of all system messages together; their text is long and is not kept.
    pub system_length: usize,
    /// The messages other than the system's.
    pub messages: Arc<[Said]>,
    pub last_user_text: String,
    /// The media type of each image part.
    pub images: Vec<String>,
    /// Whether there was an authorization header. Its value is never kept.
    pub authorization_present: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    InFlight,
    /// All output of the step was sent.
    Complete,
    /// The client went away first.
    ClientClosed,
    /// The provider broke off: a scripted drop, or its shutdown.
    Broken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Scripted,
    /// No step was left, so the default answered.
    Unscripted,
    /// The API key was missing or wrong.
    Unauthorized,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Total {
    pub requests: usize,
    pub usage: Usage,
    /// Millionths of a nano-dollar.
    pub exact: i128,
    pub cost: Nano,
}

impl Entry {
    /// The cost in millionths of a nano-dollar.
    #[must_use]
    pub fn exact(&self) -> i128 {
        self.price.exact(&self.usage)
    }

    #[must_use]
    pub fn cost(&self) -> Nano {
        round_exact(self.exact())
    }

    #[must_use]
    pub fn client_closed(&self) -> bool {
        self.ending == Ending::ClientClosed
    }
}

impl Ledger {
    /// All that was generated.
    #[must_use]
    pub fn total(&self) -> Total {
        sum(self.entries.iter())
    }

    /// The usage that was reported to the clients, which is what a client can account for.
    #[must_use]
    pub fn total_reported(&self) -> Total {
        sum(self.entries.iter().filter(|entry| entry.usage_reported))
    }

    #[must_use]
    pub fn for_session(&self, session: &str) -> Self {
        self.only(|entry| entry.session.as_deref() == Some(session))
    }

    /// The requests that belong to a script, by its key or its model id.
    #[must_use]
    pub fn for_key(&self, key: &str) -> Self {
        self.only(|entry| entry.matched.name() == Some(key))
    }

    #[must_use]
    pub fn requests_for_key(&self, key: &str) -> usize {
        self.entries.iter().filter(|entry| entry.matched.name() == Some(key)).count()
    }

    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.entries.iter().filter(|entry| entry.ending == Ending::InFlight).count()
    }

    fn only(&self, keep: impl Fn(&Entry) -> bool) -> Self {
        Self { entries: self.entries.iter().filter(|entry| keep(entry)).cloned().collect() }
    }
}

fn sum<'a>(entries: impl Iterator<Item = &'a Entry>) -> Total {
    let mut total = Total::default();
    for entry in entries {
        total.requests += 1;
        total.usage = total.usage + entry.usage;
        total.exact += entry.exact();
    }
    total.cost = round_exact(total.exact);
    total
}
