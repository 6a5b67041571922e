//! A pattern is written by anybody, and paths by an agent: no pair of them may take for ever to compare.

use std::{sync::mpsc, thread, time::Duration};
use switchyard_core::task::covers;

/// Trying everything would take longer than the machine lasts; this is much, and far less than that.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn many_stars_cost_no_more_than_their_number() {
    let deep = format!("{}b", "a/".repeat(300));
    let long = format!("{}b", "a".repeat(3000));
    let cases = [
        (format!("{}c", "**/".repeat(300)), deep.clone(), false),
        (format!("{}b", "**/".repeat(300)), deep.clone(), true),
        (format!("{}c", "**/a/".repeat(100)), deep.clone(), false),
        (format!("{}c", "**/*/".repeat(100)), deep, false),
        (format!("{}c", "*a".repeat(500)), long.clone(), false),
        (format!("{}b", "*a".repeat(500)), long.clone(), true),
        (format!("{}c", "*".repeat(3000)), long.clone(), false),
        (format!("**/{}c/**", "*a*".repeat(300)), format!("{long}/{long}/{long}"), false),
    ];
    let (done, compared) = mpsc::channel();
    thread::spawn(move || {
        for (pattern, path, wanted) in cases {
            let found = covers(&pattern, &path);
            if done.send((pattern, found, wanted)).is_err() {
                return;
            }
        }
    });
    for number in 0..8 {
        let (pattern, found, wanted) =
            compared.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("case {number} takes too long"));
        assert_eq!(found, wanted, "case {number}: {:.30}…", pattern);
    }
}
