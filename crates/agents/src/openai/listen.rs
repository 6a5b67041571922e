//! Listens to the body of an answer to its end: a stream, or one piece of JSON from a provider that does not stream.
//!
//! The first byte shows its kind: providers are careless with content types. Every wait is the
//! clock's, except after the answer is finished: then only its token counts are worth a moment.

use super::{
    again::Trouble,
    clock::{Clock, HangUp},
    complaint::Complaint,
    frames::{Frames, LONGEST_EVENT},
    heard::{Heard, Stage, Stop},
    provider::Provider,
};
use crate::opencode::Sink;
use bytes::Bytes;
use shuntyard_core::ErrorClass;
use std::{ops::ControlFlow, time::Duration};
use tokio::time::Instant;

/// Token counts follow the last word at once, or never.
const COUNTS_FOLLOW: Duration = Duration::from_secs(3);
/// The end of the body follows right after the end marker. When it is read, the connection can be used again.
const END_FOLLOWS: Duration = Duration::from_millis(20);
/// Keep-alives and thoughts are not kept, but receiving them costs time and bandwidth.
const LONGEST_BODY: u64 = 512 * 1024 * 1024;

/// Why an exchange did not come to its end.
#[derive(Debug)]
pub(super) enum Halt {
    Trouble(Trouble),
    HungUp(HangUp),
}

impl From<HangUp> for Halt {
    fn from(reason: HangUp) -> Self {
        Self::HungUp(reason)
    }
}

impl From<Trouble> for Halt {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

pub(super) struct Listening<'a> {
    pub(super) provider: &'a Provider,
    pub(super) sink: &'a Sink,
    pub(super) clock: &'a mut Clock,
    pub(super) heard: &'a mut Heard,
    counted_until: Option<Instant>,
}

enum Kind {
    Unknown,
    Stream(Frames),
    Whole(Vec<u8>),
}

enum Next {
    Piece(Bytes),
    Ended,
    Broken,
}

impl<'a> Listening<'a> {
    pub(super) fn new(provider: &'a Provider, sink: &'a Sink, clock: &'a mut Clock, heard: &'a mut Heard) -> Self {
        Self { provider, sink, clock, heard, counted_until: None }
    }

    pub(super) async fn listen(mut self, mut response: reqwest::Response) -> Result<(), Halt> {
        let mut kind = Kind::Unknown;
        let mut received: u64 = 0;
        loop {
            let next = self.next(&mut response).await?;
            let flow = match &next {
                Next::Piece(bytes) => {
                    received += bytes.len() as u64;
                    self.take(bytes, &mut kind, received)
                }
                Next::Ended => self.end(&mut kind),
                Next::Broken => ControlFlow::Break(()),
            };
            if flow.is_break() {
                let is_broken = matches!(next, Next::Broken);
                if self.heard.is_done && matches!(next, Next::Piece(_)) {
                    drop(tokio::time::timeout(END_FOLLOWS, response.chunk()).await);
                }
                return self.conclude(is_broken).map_err(Halt::Trouble);
            }
        }
    }

    async fn next(&mut self, response: &mut reqwest::Response) -> Result<Next, HangUp> {
        let received = if self.heard.finish.is_some() {
            let until = *self.counted_until.get_or_insert_with(|| Instant::now() + COUNTS_FOLLOW);
            tokio::time::timeout_at(until, response.chunk()).await.unwrap_or(Ok(None))
        } else {
            self.clock.within(response.chunk()).await?
        };
        Ok(match received {
            Ok(Some(bytes)) => Next::Piece(bytes),
            Ok(None) => Next::Ended,
            Err(error) => {
                tracing::debug!(error = %error.without_url(), "the answer broke off");
                Next::Broken
            }
        })
    }

    fn take(&mut self, bytes: &[u8], kind: &mut Kind, received: u64) -> ControlFlow<()> {
        if received > LONGEST_BODY {
            return self.heard.stop(Stop::TooLong("the answer"));
        }
        if matches!(kind, Kind::Unknown) {
            match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return ControlFlow::Continue(()),
                Some(b'{' | b'[') => *kind = Kind::Whole(Vec::new()),
                Some(b'<') => return self.heard.stop(Stop::WebPage),
                Some(_) => *kind = Kind::Stream(Frames::default()),
            }
        }
        match kind {
            Kind::Unknown => ControlFlow::Continue(()),
            Kind::Stream(frames) => {
                let (heard, clock, sink) = (&mut *self.heard, &mut *self.clock, self.sink);
                let pushed = frames.push(bytes, &mut |event| heard.hear(event, clock, sink));
                pushed.unwrap_or_else(|_| self.heard.stop(Stop::TooLong("a line of the answer")))
            }
            Kind::Whole(body) if body.len() + bytes.len() > LONGEST_EVENT => {
                self.heard.stop(Stop::TooLong("the answer"))
            }
            Kind::Whole(body) => {
                body.extend_from_slice(bytes);
                ControlFlow::Continue(())
            }
        }
    }

    fn end(&mut self, kind: &mut Kind) -> ControlFlow<()> {
        let (heard, clock, sink) = (&mut *self.heard, &mut *self.clock, self.sink);
        match kind {
            Kind::Unknown => {}
            Kind::Stream(frames) => {
                if frames.end(&mut |event| heard.hear(event, clock, sink)).is_err() {
                    return self.heard.stop(Stop::TooLong("a line of the answer"));
                }
                if let Some(Stop::Unreadable(_)) = self.heard.stop {
                    // A line that ends with the stream was cut off with it.
                    self.heard.stop = None;
                }
            }
            Kind::Whole(body) => {
                let _: ControlFlow<()> = heard.hear_whole(body, clock, sink);
            }
        }
        ControlFlow::Break(())
    }

    /// What stopped us, unless it was the end of an answer, which is judged by its content.
    fn conclude(self, is_broken: bool) -> Result<(), Trouble> {
        let Self { provider, heard, .. } = self;
        match heard.stop.take() {
            Some(Stop::Complaint(complaint)) => {
                if !heard.has_begun() {
                    // It refuses, only with the wrong status.
                    heard.stage = Stage::Nothing;
                }
                Err(refusal(provider, complaint))
            }
            Some(Stop::Unreadable(why)) => {
                let message = format!("what {} sent is no answer: {why}", provider.host());
                Err(Trouble::passing(ErrorClass::ServerError, message))
            }
            Some(Stop::WebPage) => {
                let message =
                    format!("{} answers with a web page: the base address is not that of an API", provider.host());
                Err(Trouble::lasting(ErrorClass::ServerError, message))
            }
            Some(Stop::TooLong(what)) => {
                Err(Trouble::lasting(ErrorClass::Truncated, format!("{what} is longer than we are willing to hold")))
            }
            None if heard.finish.is_some() || heard.is_done => Ok(()),
            None => {
                let how = if is_broken { "the connection was lost" } else { "the stream ended" };
                let when = if heard.has_begun() { "in the middle of the answer" } else { "before the answer" };
                Err(Trouble::passing(ErrorClass::Network, format!("{how} {when}")))
            }
        }
    }
}

/// A complaint as a trouble, in words that people may see.
pub(super) fn refusal(provider: &Provider, complaint: Complaint) -> Trouble {
    let class = match complaint.class() {
        // A refused key is a missing key when there is none.
        ErrorClass::AuthInvalid if !provider.has_credentials() => ErrorClass::AuthMissing,
        class => class,
    };
    let said = provider.presentable(&complaint.message);
    let message = match (complaint.status, said.is_empty()) {
        (Some(status), true) => format!("{} refused with status {status} and gave no reason", provider.host()),
        (None, true) => format!("{} refused and gave no reason", provider.host()),
        (Some(status), false) => format!("{} refused with status {status}: {said}", provider.host()),
        (None, false) => format!("{} refused: {said}", provider.host()),
    };
    let may_pass = complaint.may_pass();
    Trouble { complaint: Some(complaint), may_pass, ..Trouble::lasting(class, message) }
}
