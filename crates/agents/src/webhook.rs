//! Posting a message to an address of the user's, signed, so that the receiver can verify the sender.

use crate::web::install_tls;
use sha2::{Digest as _, Sha256};
use std::{fmt::Write as _, time::Duration};

/// HMAC's block for SHA-256, in bytes.
const BLOCK: usize = 64;

/// Posts JSON. With a secret, `X-Shuntyard-Signature` is `sha256=` and the HMAC of the body. Redirects are not
/// followed: the message is for this address and no other.
pub async fn post_signed(url: &str, body: String, secret: Option<&str>, deadline: Duration) -> Result<(), String> {
    install_tls();
    let client = reqwest::Client::builder()
        .timeout(deadline)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| error.without_url().to_string())?;
    let mut request = client.post(url).header("content-type", "application/json");
    if let Some(secret) = secret.filter(|secret| !secret.is_empty()) {
        request = request
            .header("x-shuntyard-signature", format!("sha256={}", signature(secret.as_bytes(), body.as_bytes())));
    }
    // The address may carry a token, so it is in no message.
    let response = request
        .body(body)
        .send()
        .await
        .map_err(|error| format!("the notice could not be posted: {}", error.without_url()))?;
    if response.status().is_success() {
        Ok(())
    } else {
        Err(format!("the notice was answered with {}", response.status()))
    }
}

/// The HMAC by RFC 2104, in hexadecimal.
fn signature(secret: &[u8], body: &[u8]) -> String {
    let mut key = [0_u8; BLOCK];
    if secret.len() > BLOCK {
        let short = Sha256::digest(secret);
        key.iter_mut().zip(short).for_each(|(place, byte)| *place = byte);
    } else {
        key.iter_mut().zip(secret).for_each(|(place, byte)| *place = *byte);
    }
    let with = |pad: u8| key.map(|byte| byte ^ pad);
    let inner = Sha256::new().chain_update(with(0x36)).chain_update(body).finalize();
    let outer = Sha256::new().chain_update(with(0x5c)).chain_update(inner).finalize();
    outer.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::signature;

    #[test]
    fn signatures_are_those_of_rfc_4231() {
        assert_eq!(
            signature(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            signature(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}
