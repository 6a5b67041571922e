//! The directory that a request is about: its header, its query, or where the server was started.

use super::{config::Broken, instance::Instance, machine::Machine, world::World};
use axum::{
    Json,
    extract::{FromRequestParts, Query},
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Response},
};
use std::{collections::HashMap, convert::Infallible, sync::Arc};

#[derive(Debug)]
pub(super) struct Directory(Option<String>);

impl Directory {
    pub fn or_root(&self) -> &str {
        self.0.as_deref().unwrap_or("/")
    }

    pub fn of(&self, machine: &Machine) -> String {
        self.0.clone().unwrap_or_else(|| machine.directory.to_string_lossy().into_owned())
    }

    /// What the server has read there. None where it reads nothing.
    pub fn instance(&self, world: &World) -> Result<Option<Arc<Instance>>, Broken> {
        let Some(machine) = &world.machine else { return Ok(None) };
        world.instance(machine, &self.of(machine)).map(Some)
    }
}

impl FromRequestParts<Arc<World>> for Directory {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<World>) -> Result<Self, Infallible> {
        let header = parts.headers.get("x-opencode-directory").and_then(|value| value.to_str().ok()).map(decoded);
        let query = Query::<HashMap<String, String>>::try_from_uri(&parts.uri).ok();
        Ok(Self(header.or_else(|| query?.get("directory").cloned())))
    }
}

impl IntoResponse for Broken {
    fn into_response(self) -> Response {
        (StatusCode::BAD_REQUEST, Json(self.0)).into_response()
    }
}

/// `%41` is `A`; anything else stays as it is.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escaped = bytes.get(at + 1..at + 3).filter(|_| *byte == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) => {
                out.push(value);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
