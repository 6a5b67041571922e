//! A few lines of HTTP: one request to a connection, the answer as it comes.

use serde_json::Value;
use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    /// The message with this id, from a JSON body or a stream of events.
    #[track_caller]
    pub fn message(&self, id: i64) -> Value {
        let parts = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let found = parts.chain([self.body.as_str()]).filter_map(|part| serde_json::from_str::<Value>(part).ok());
        let mut found = found.filter(|message| message["id"] == id);
        found.next().unwrap_or_else(|| panic!("no message {id} in {self:?}"))
    }
}

/// Sends one request. `headers` come after the host's.
pub fn request(address: &str, host: &str, method: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let mut text =
        format!("{method} /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    // A server that refuses early may close while the body is still being sent.
    drop(stream.write_all(format!("{text}\r\n{body}").as_bytes()));
    let mut bytes = Vec::new();
    drop(stream.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let headers =
        lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    let headers: Vec<(String, String)> = headers.collect();
    let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if chunked { unchunked(body) } else { body.to_owned() };
    Response { status: status.expect("a status"), headers, body }
}

fn unchunked(body: &str) -> String {
    let (mut rest, mut whole) = (body, String::new());
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap_or(0);
        if length == 0 || after.len() < length {
            break;
        }
        whole.push_str(&after[..length]);
        rest = after[length..].trim_start_matches("\r\n");
    }
    whole
}
