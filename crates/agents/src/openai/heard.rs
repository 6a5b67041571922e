//! What has been received of an answer so far, event by event.
//!
//! Invariant: it is bounded, whatever the provider sends; thoughts are noticed and not kept.

use super::{
    clock::Clock,
    complaint::Complaint,
    frames::Event,
    tally::Tally,
    wire::{Choice, Chunk, Word},
};
use crate::opencode::{Progress, Sink};
use serde_json::Value;
use std::{ops::ControlFlow, time::Instant};

/// Far more than any model writes in one answer.
pub(super) const LONGEST_TEXT: usize = 8 * 1024 * 1024;
/// The most of a refusal or of a name that is kept.
const LONGEST_NOTE: usize = 2048;

#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) stage: Stage,
    pub(super) text: String,
    /// The model's own words for not answering.
    pub(super) refusal: String,
    pub(super) finish: Option<String>,
    /// The end marker of the stream has come.
    pub(super) is_done: bool,
    pub(super) model: Option<String>,
    pub(super) tally: Option<Tally>,
    /// It thinks or calls tools.
    pub(super) is_at_work: bool,
    pub(super) stop: Option<Stop>,
}

/// How far an exchange has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Stage {
    /// Nothing that a provider would charge for.
    #[default]
    Nothing,
    Sent,
    Answering,
}

/// Why nothing more is listened to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Complaint(Complaint),
    Unreadable(&'static str),
    WebPage,
    TooLong(&'static str),
}

impl Heard {
    pub(super) fn has_begun(&self) -> bool {
        !self.text.is_empty() || !self.refusal.is_empty() || self.is_at_work
    }

    pub(super) fn may_be_billed(&self) -> bool {
        self.stage != Stage::Nothing
    }

    /// Takes one event of the stream. What follows an answer that is finished cannot spoil it any more, except a
    /// complaint.
    pub(super) fn hear(&mut self, event: Event<'_>, clock: &mut Clock, sink: &Sink) -> ControlFlow<()> {
        let Ok(data) = std::str::from_utf8(event.data) else { return self.unreadable("it is not UTF-8") };
        if data.trim() == "[DONE]" {
            self.is_done = true;
            return ControlFlow::Break(());
        }
        if event.is_error {
            let value = serde_json::from_str(data).unwrap_or_else(|_| Value::String(data.to_owned()));
            return self.stop(Stop::Complaint(Complaint::in_answer(&value)));
        }
        match serde_json::from_str(data) {
            // A list would be read as the fields in their order.
            Ok(_) if !data.trim_start().starts_with('{') => self.unreadable("it is not the JSON of an answer"),
            Ok(chunk) => self.take(chunk, data, clock, sink),
            Err(_) => self.unreadable("it is not the JSON of an answer"),
        }
    }

    /// Takes an answer that came in one piece.
    pub(super) fn hear_whole(&mut self, body: &[u8], clock: &mut Clock, sink: &Sink) -> ControlFlow<()> {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) if value.get("choices").is_none() => self.stop(Stop::Complaint(Complaint::in_answer(&value))),
            _ => self.hear(Event { data: body, is_error: false }, clock, sink),
        }
    }

    fn take(&mut self, chunk: Chunk<'_>, data: &str, clock: &mut Clock, sink: &Sink) -> ControlFlow<()> {
        if let Some(tally) = chunk.usage.and_then(|usage| Tally::read(usage.get())) {
            // Those who report it more than once report the sum so far.
            self.tally = Some(tally);
        }
        if let Some(error) = &chunk.error {
            return self.stop(Stop::Complaint(Complaint::in_answer(error)));
        }
        if self.model.is_none() {
            self.model = chunk
                .model
                .map(|Word(model)| model.chars().take(LONGEST_NOTE).collect())
                .filter(|model: &String| !model.is_empty());
        }
        let is_no_chunk = chunk.choices.is_none() && chunk.usage.is_none();
        if is_no_chunk && let Some(complaint) = unwrapped_complaint(data) {
            return self.stop(Stop::Complaint(complaint));
        }
        // Only one answer was asked for.
        let first = |choice: &&Choice<'_>| choice.index.unwrap_or(0) == 0;
        match chunk.choices.iter().flatten().find(first) {
            Some(choice) => self.take_choice(choice, clock, sink),
            None => ControlFlow::Continue(()),
        }
    }

    fn take_choice(&mut self, choice: &Choice<'_>, clock: &mut Clock, sink: &Sink) -> ControlFlow<()> {
        if let Some(error) = &choice.error {
            return self.stop(Stop::Complaint(Complaint::in_answer(error)));
        }
        if let Some(delta) = &choice.delta {
            for text in delta.content.iter().flat_map(|said| said.texts()) {
                clock.sign_of_life(Instant::now());
                let kept = beginning(text, LONGEST_TEXT - self.text.len());
                self.text.push_str(kept);
                sink(Progress::Text(kept.to_owned()));
                if kept.len() < text.len() {
                    return self.stop(Stop::TooLong("the answer"));
                }
            }
            for text in delta.refusal.iter().flat_map(|said| said.texts()) {
                clock.sign_of_life(Instant::now());
                self.refusal.push_str(beginning(text, LONGEST_NOTE.saturating_sub(self.refusal.len())));
            }
            if delta.is_at_work() {
                clock.sign_of_life(Instant::now());
                self.is_at_work = true;
            }
        }
        if let Some(Word(finish)) = &choice.finish_reason
            && !finish.is_empty()
        {
            self.finish = Some(beginning(finish, LONGEST_NOTE).to_owned());
        }
        ControlFlow::Continue(())
    }

    pub(super) fn unreadable(&mut self, why: &'static str) -> ControlFlow<()> {
        if self.finish.is_some() { ControlFlow::Break(()) } else { self.stop(Stop::Unreadable(why)) }
    }

    pub(super) fn stop(&mut self, stop: Stop) -> ControlFlow<()> {
        self.stop = Some(stop);
        ControlFlow::Break(())
    }
}

/// An error that is not wrapped as one; anything else that we do not know is no concern of ours.
fn unwrapped_complaint(data: &str) -> Option<Complaint> {
    let value: Value = serde_json::from_str(data).ok()?;
    let is_one = value.get("object").is_some_and(|object| object == "error")
        || value.get("type").is_some_and(|kind| kind == "error")
        || ["detail", "errors"].iter().any(|name| value.get(*name).is_some());
    is_one.then(|| Complaint::in_answer(&value))
}

/// At most this many bytes, in whole characters.
fn beginning(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
