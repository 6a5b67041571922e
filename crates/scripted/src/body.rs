//! Executes the actions of a plan as a response body.
//!
//! Every piece is flushed on its own, and a hang lasts until the client or the provider goes away.

use crate::{exchange::Exchange, ledger::Ending, reply::Action};
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use std::{collections::VecDeque, future::Future, io, time::Duration};

/// A client that never gives up must not keep a process alive for ever.
const LONGEST_HANG: Duration = Duration::from_secs(600);

pub(crate) fn body(actions: VecDeque<Action>, exchange: Exchange) -> Body {
    Body::from_stream(stream::unfold(Performance { actions, exchange, begun: false }, Performance::next))
}

/// Waits as long as a hang lasts at most.
pub(crate) async fn hang(exchange: &Exchange) {
    unless_stopped(exchange, tokio::time::sleep(LONGEST_HANG)).await;
}

pub(crate) async fn unless_stopped(exchange: &Exchange, wait: impl Future<Output = ()>) {
    tokio::select! {
        () = wait => {}
        () = exchange.stopped() => {}
    }
}

struct Performance {
    actions: VecDeque<Action>,
    exchange: Exchange,
    begun: bool,
}

type Piece = Result<Bytes, io::Error>;

impl Performance {
    async fn next(mut self) -> Option<(Piece, Self)> {
        if self.begun {
            // The server writes out what it holds when the body is not ready; without this, pieces
            // would be merged, and those before a scripted drop would be lost with the connection.
            tokio::task::yield_now().await;
        }
        self.begun = true;
        loop {
            match self.actions.pop_front() {
                Some(Action::Pause(delay)) => unless_stopped(&self.exchange, tokio::time::sleep(delay)).await,
                Some(Action::Send(piece)) => return Some(self.send(piece)),
                Some(Action::SendUsage(piece)) => {
                    self.exchange.sends_usage();
                    return Some(self.send(piece));
                }
                Some(Action::Hang) => {
                    hang(&self.exchange).await;
                    return Some(self.broken());
                }
                Some(Action::Break) => {
                    tokio::task::yield_now().await;
                    return Some(self.broken());
                }
                None => {
                    self.exchange.end(Ending::Complete);
                    return None;
                }
            }
        }
    }

    /// The last piece ends the exchange before it is sent: a client may leave as soon as it has it.
    fn send(mut self, piece: Bytes) -> (Piece, Self) {
        if self.actions.is_empty() {
            self.exchange.end(Ending::Complete);
        }
        (Ok(piece), self)
    }

    fn broken(mut self) -> (Piece, Self) {
        self.exchange.end(Ending::Broken);
        self.actions.clear();
        (Err(io::Error::other("the connection is dropped on purpose")), self)
    }
}
