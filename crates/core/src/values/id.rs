//! Identifiers. Ours are time-ordered UUIDs; OpenCode's message ids are made in its own form.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use uuid::Uuid;

macro_rules! uuid_newtype {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

uuid_newtype!(
    /// One request to one or more models, with all its attempts.
    DispatchId
);
uuid_newtype!(
    /// One run of an OpenCode server that we started.
    ServerId
);

/// An OpenCode message id: `msg_`, twelve hex digits of time, fourteen base-62 characters.
///
/// OpenCode orders messages by this text, so the time part has to ascend; it is the low 48 bits of
/// milliseconds × 4096 plus a counter, as OpenCode itself makes it.
#[must_use]
pub fn message_id(unix_millis: u64, counter: u16, random: [u8; 14]) -> String {
    const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let time = (unix_millis.wrapping_mul(0x1000) + u64::from(counter & 0x0fff)) & 0xffff_ffff_ffff;
    let tail: String = random.iter().map(|byte| char::from(BASE62[usize::from(*byte) % 62])).collect();
    format!("msg_{time:012x}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_ids_have_opencodes_form_and_ascend() {
        // The millisecond and the id were read off one message of a real server.
        let id = message_id(1_794_769_759_640, 1, [0; 14]);
        assert_eq!(id, "msg_1e09d2d9800100000000000000");
        assert!(message_id(1_794_769_759_640, 2, [255; 14]) > id);
        assert!(message_id(1_794_769_759_641, 0, [0; 14]) > id);
    }
}
