//! Steps written in code: a constructor for each kind of answer and one method for each refinement.

use crate::Gate;
use crate::step::{Fault, Finish, RetryAfter, Step, Tokens, ToolCall, UsageReport};
use serde_json::Value;
use std::time::Duration;

impl Step {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: vec![text.into()], ..Self::default() }
    }

    /// A text that is streamed in these pieces.
    #[must_use]
    pub fn chunks<Piece: Into<String>>(pieces: impl IntoIterator<Item = Piece>) -> Self {
        Self { text: pieces.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    #[must_use]
    pub fn tool(name: impl Into<String>, arguments: Value) -> Self {
        Self::default().and_tool(name, arguments)
    }

    #[must_use]
    pub fn structured(value: Value) -> Self {
        Self { structured: Some(value), ..Self::default() }
    }

    #[must_use]
    pub fn empty() -> Self {
        Self::default().fault(Fault::Empty)
    }

    #[must_use]
    pub fn status(code: u16) -> Self {
        Self::default().fault(Fault::Status { code, retry_after: None, message: None, body: None })
    }

    #[must_use]
    pub fn hang_before_headers() -> Self {
        Self::default().fault(Fault::HangBeforeHeaders)
    }

    #[must_use]
    pub fn hang_before_first_byte() -> Self {
        Self::default().fault(Fault::HangBeforeFirstByte)
    }

    /// Hangs after the first of two pieces of text.
    #[must_use]
    pub fn hang_mid_stream() -> Self {
        Self::chunks(["partial ", "answer"]).fault(Fault::HangMidStream { after_chunks: 1 })
    }

    /// Drops the connection after the first of two pieces of text.
    #[must_use]
    pub fn drop_connection() -> Self {
        Self::chunks(["partial ", "answer"]).fault(Fault::DropConnection { after_chunks: 1 })
    }

    #[must_use]
    pub fn malformed() -> Self {
        Self::text("before the garbage").fault(Fault::Malformed)
    }

    #[must_use]
    pub fn truncated() -> Self {
        Self::text("never finished").fault(Fault::Truncated)
    }

    #[must_use]
    pub fn and_tool(mut self, name: impl Into<String>, arguments: Value) -> Self {
        self.tools.push(ToolCall { name: name.into(), arguments });
        self
    }

    #[must_use]
    pub fn reasoning(self, text: impl Into<String>) -> Self {
        Self { reasoning: Some(text.into()), ..self }
    }

    #[must_use]
    pub fn usage(self, tokens: Tokens) -> Self {
        Self { usage: UsageReport::Exact(tokens), ..self }
    }

    #[must_use]
    pub fn no_usage(self) -> Self {
        Self { usage: UsageReport::None, ..self }
    }

    #[must_use]
    pub fn finish(self, reason: impl Into<String>) -> Self {
        Self { finish: Finish::Reason(reason.into()), ..self }
    }

    #[must_use]
    pub fn no_finish(self) -> Self {
        Self { finish: Finish::None, ..self }
    }

    /// Waits this long before the response headers.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        Self { delay_ms: milliseconds(delay), ..self }
    }

    /// Waits before the response headers until the gate is open.
    #[must_use]
    pub fn at(self, gate: &Gate) -> Self {
        Self { gate: Some(gate.clone()), ..self }
    }

    /// Waits this long between two pieces of content.
    #[must_use]
    pub fn chunk_delay(self, delay: Duration) -> Self {
        Self { chunk_delay_ms: milliseconds(delay), ..self }
    }

    #[must_use]
    pub fn fault(self, fault: Fault) -> Self {
        Self { fault: Some(fault), ..self }
    }

    /// Seconds for the `retry-after` header of a [`Step::status`]; other steps have no such header.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.with_retry_after(RetryAfter::Seconds(seconds))
    }

    /// The same as an HTTP date.
    #[must_use]
    pub fn retry_after_date(self, date: impl Into<String>) -> Self {
        self.with_retry_after(RetryAfter::Date(date.into()))
    }

    /// The message in the error object of a [`Step::status`].
    #[must_use]
    pub fn message(mut self, text: impl Into<String>) -> Self {
        if let Some(Fault::Status { message, .. }) = &mut self.fault {
            *message = Some(text.into());
        }
        self
    }

    /// The whole body of a [`Step::status`].
    #[must_use]
    pub fn body(mut self, text: impl Into<String>) -> Self {
        if let Some(Fault::Status { body, .. }) = &mut self.fault {
            *body = Some(text.into());
        }
        self
    }

    fn with_retry_after(mut self, value: RetryAfter) -> Self {
        if let Some(Fault::Status { retry_after, .. }) = &mut self.fault {
            *retry_after = Some(value);
        }
        self
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
