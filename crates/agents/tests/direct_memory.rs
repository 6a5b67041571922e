//! Many requests in flight at once cost little. Alone in its process, so that nothing else is measured.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at the first surprise")]

use secrecy::SecretString;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use switchyard_agents::{
    openai::{Ask, Direct, Limits, Provider},
    opencode::Sink,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

const REQUESTS: usize = 200;
const DEADLINE: Duration = Duration::from_secs(60);
const MOST_EACH: usize = 100 * 1024;

#[tokio::test]
async fn two_hundred_requests_in_flight_are_cheap() {
    let go_on = Arc::new(Semaphore::new(0));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let gate = Arc::clone(&go_on);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&gate)));
        }
    });
    let direct = Direct::new().unwrap();
    // What is made once for all requests is no cost of one.
    go_on.add_permits(1);
    run(direct.clone(), base_url.clone(), Arc::new(|_| {})).await;

    let before = resident();
    let begun = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&begun);
    let sink: Sink = Arc::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let mut asking = JoinSet::new();
    for _ in 0..REQUESTS {
        asking.spawn(run(direct.clone(), base_url.clone(), Arc::clone(&sink)));
    }
    let deadline = Instant::now() + DEADLINE;
    while begun.load(Ordering::Relaxed) < REQUESTS {
        assert!(Instant::now() < deadline, "all have begun to answer");
        tokio::task::yield_now().await;
    }
    let each = resident().saturating_sub(before) / REQUESTS;
    println!("{each} bytes for each request, the server's side included");
    assert!(each < MOST_EACH, "{each} bytes for each request, the server's side included");
    go_on.add_permits(REQUESTS);
    tokio::time::timeout(DEADLINE, asking.join_all()).await.expect("all are answered");
}

async fn run(direct: Direct, base_url: String, sink: Sink) {
    let provider = Provider::new(&base_url, Some(&SecretString::from("key".to_owned())), []).unwrap();
    let limits = Limits {
        first_token: Some(DEADLINE),
        inactivity: Some(DEADLINE),
        total: Some(DEADLINE),
        began: Instant::now(),
        retry_wait_cap: None,
        provider_retries: 0,
    };
    let answered = direct
        .ask(Ask {
            provider: &provider,
            model: "alpha",
            system: None,
            earlier: &[],
            prompt: "an ordinary prompt",
            images: &[],
            schema: None,
            max_output_tokens: None,
            extra: None,
            limits,
            sink: &sink,
            cancel: &CancellationToken::new(),
        })
        .await;
    assert_eq!((answered.outcome, answered.text.as_str()), (Ok(()), "hi"));
}

/// Answers with one word, and with the end when the gate lets it.
async fn serve(mut stream: TcpStream, gate: Arc<Semaphore>) {
    let mut request = Vec::new();
    while !request.ends_with(b"}") {
        if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let begin =
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";
    stream.write_all(begin.as_bytes()).await.unwrap();
    gate.acquire().await.unwrap().forget();
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    stream.write_all(end.as_bytes()).await.unwrap();
}

/// Bytes of memory that this process has in use.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("the kernel tells it");
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}
