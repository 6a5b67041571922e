//! What OpenCode itself says about what it has loaded.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use std::{
    io::{Read, Write},
    net::TcpStream,
};
use switchyard_testkit::TestEnv;

/// Asks the managed server of an environment, for the project.
pub fn get(env: &TestEnv, path: &str) -> Value {
    env.dispatch(&["-m", "scripted/alpha", "warm up"]).expect_ok();
    let server = &env.servers()[0];
    let id = server["id"].as_str().expect("an id");
    let password = std::fs::read_to_string(env.data_dir().join(format!("servers/{id}.password"))).expect("a password");
    let address = server["url"].as_str().expect("an address").trim_start_matches("http://").trim_end_matches('/');
    let login = STANDARD.encode(format!("opencode:{password}"));
    let directory = env.project();
    let mut stream = TcpStream::connect(address).expect("the server listens");
    // In this version of the protocol an answer ends with the connection, whatever its length.
    write!(
        stream,
        "GET {path} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Basic {login}\r\nx-opencode-directory: {}\r\n\r\n",
        directory.display(),
    )
    .expect("asked");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}\n{head}\n{body}"))
}
