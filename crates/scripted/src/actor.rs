//! An answer that is made from the request, for scripts in code: a judge that searches for a text, a reviewer that
//! reads a change. It is called once for each request, and others wait meanwhile.

use crate::{openai::Said, step::Step};
use std::{fmt, sync::Arc};

type Answering = dyn Fn(&[Said]) -> Step + Send + Sync;

/// Answers by the messages of the request.
#[derive(Clone)]
pub(crate) struct Actor(Arc<Answering>);

impl Actor {
    pub fn new(answer: impl Fn(&[Said]) -> Step + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }

    pub fn answer(&self, said: &[Said]) -> Step {
        (self.0)(said)
    }
}

impl fmt::Debug for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Actor")
    }
}
