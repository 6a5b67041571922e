//! The server of one client, over standard input and output. It ends when its input does; the jobs go on.
//!
//! Invariant: nothing but the protocol is written to standard output.

use super::{server::Server, tools::Toolset, yard::Yard};
use rmcp::{
    ServiceExt,
    transport::io::{StdioReader, stdio_pipes},
};
use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// Why a session did not come about, to complete "failed to …".
#[derive(Debug, thiserror::Error)]
#[error("speak with the client: {0}")]
pub struct NoSession(String);

/// Serves until the input ends or `stop` is cancelled.
pub async fn serve(yard: Yard, tools: Toolset, stop: CancellationToken) -> Result<(), NoSession> {
    let closing = stop.child_token();
    let (reader, writer) = stdio_pipes();
    let reader = Noticing { reader, ended: closing.clone() };
    let server = Server::new(yard, tools, closing);
    let session = match server.serve_with_ct((reader, writer), stop.clone()).await {
        Ok(session) => session,
        // A client that disconnects before its first message has done nothing wrong.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(_) if stop.is_cancelled() => return Ok(()),
        Err(error) => return Err(NoSession(error.to_string())),
    };
    session.waiting().await.map(drop).map_err(|error| NoSession(error.to_string()))
}

/// Input that signals its end at once, so that no wait outlives the client that it is for.
#[derive(Debug)]
struct Noticing {
    reader: StdioReader,
    ended: CancellationToken,
}

impl AsyncRead for Noticing {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.reader).poll_read(context, buffer);
        let ended = matches!(&polled, Poll::Ready(result) if result.is_err() || buffer.filled().len() == before);
        if ended {
            self.ended.cancel();
        }
        polled
    }
}
