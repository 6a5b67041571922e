//! A server of bytes: it reads real requests and answers with exactly what a test gives it.

use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Notify, watch},
};

#[derive(Debug, Clone)]
pub enum Act {
    Send(Vec<u8>),
    /// Until the client has gone.
    SendEndlessly(Vec<u8>),
    WaitForClose,
    WaitFor(Arc<Notify>),
    Reset,
    /// The connection stays, for the next request.
    KeepOpen,
}

#[derive(Debug, Clone)]
pub struct Received {
    pub head: String,
    pub body: Value,
}

#[derive(Debug, Default)]
struct Book {
    replies: VecDeque<Vec<Act>>,
    received: Vec<Received>,
    connections: usize,
}

pub struct Station {
    address: SocketAddr,
    book: Arc<Mutex<Book>>,
    closed: watch::Receiver<usize>,
}

impl Station {
    /// Each request is answered by the next of the replies.
    pub async fn start(replies: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let book = Arc::new(Mutex::new(Book { replies: replies.into(), ..Book::default() }));
        let (count, closed) = watch::channel(0);
        let (count, served) = (Arc::new(count), Arc::clone(&book));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                served.lock().unwrap().connections += 1;
                tokio::spawn(serve(stream, Arc::clone(&served), Arc::clone(&count)));
            }
        });
        Self { address, book, closed }
    }

    /// One reply: these bytes, and then the end of the connection.
    pub async fn replying(bytes: impl Into<Vec<u8>>) -> Self {
        Self::start(vec![vec![Act::Send(bytes.into())]]).await
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn received(&self) -> Vec<Received> {
        self.book.lock().unwrap().received.clone()
    }

    pub fn connections(&self) -> usize {
        self.book.lock().unwrap().connections
    }

    /// Waits until so many clients were seen to go away.
    pub async fn wait_closed(&mut self, count: usize) {
        let reached = self.closed.wait_for(|closed| *closed >= count);
        drop(tokio::time::timeout(super::DEADLINE, reached).await.expect("the client closes its connection").unwrap());
    }
}

async fn serve(mut stream: TcpStream, book: Arc<Mutex<Book>>, closed: Arc<watch::Sender<usize>>) {
    stream.set_nodelay(true).unwrap();
    while let Some(received) = read_request(&mut stream).await {
        let reply = {
            let mut book = book.lock().unwrap();
            book.received.push(received);
            book.replies.pop_front()
        };
        let reply = reply.unwrap_or_else(|| vec![Act::Send(response(500, "text/plain", "nothing is left to say"))]);
        let mut stays = false;
        for act in reply {
            match act {
                Act::Send(bytes) => drop(stream.write_all(&bytes).await),
                Act::SendEndlessly(bytes) => {
                    while stream.write_all(&bytes).await.is_ok() {}
                    closed.send_modify(|count| *count += 1);
                }
                Act::WaitForClose => {
                    let mut rest = [0; 64];
                    while matches!(stream.read(&mut rest).await, Ok(1..)) {}
                    closed.send_modify(|count| *count += 1);
                }
                Act::WaitFor(signal) => signal.notified().await,
                Act::Reset => stream.set_zero_linger().unwrap(),
                Act::KeepOpen => stays = true,
            }
        }
        if !stays {
            return;
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let split = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..split].to_vec()).ok()?;
    let mut body = bytes.split_off(split + 4);
    let length: usize = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    })?;
    while body.len() < length {
        stream.read_buf(&mut body).await.ok()?;
    }
    Some(Received { head, body: serde_json::from_slice(&body).ok()? })
}

/// A whole response whose body ends with the connection.
pub fn response(status: u16, content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    response_with(status, &format!("content-type: {content_type}\r\n"), body)
}

pub fn response_with(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} Scripted\r\n{headers}connection: close\r\n\r\n").into_bytes();
    bytes.extend_from_slice(body.as_ref());
    bytes
}

/// A response of server-sent events.
pub fn stream(events: impl AsRef<[u8]>) -> Vec<u8> {
    response(200, "text/event-stream", events)
}

pub fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

pub fn says(text: &str) -> String {
    event(&json!({"model": "alpha-2", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}))
}

pub fn finishes(reason: &str) -> String {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
}

pub fn counts(prompt: u64, completion: u64) -> String {
    event(&json!({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}}))
}

pub const DONE: &str = "data: [DONE]\n\n";

/// A whole good answer.
pub fn good(text: &str) -> Vec<u8> {
    stream([says(text), finishes("stop"), counts(7, 3), DONE.to_owned()].concat())
}
