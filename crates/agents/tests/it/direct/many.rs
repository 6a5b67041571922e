//! Many requests in flight at once. What they cost in memory is measured by `scripts/bench many`.

use super::{DEADLINE, Question, class};
use shuntyard_agents::{openai::Direct, opencode::Sink};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};

const REQUESTS: usize = 200;

#[tokio::test]
async fn two_hundred_requests_are_in_flight_together() {
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
    go_on.add_permits(REQUESTS);
    tokio::time::timeout(DEADLINE, asking.join_all()).await.expect("all are answered");
}

async fn run(direct: Direct, base_url: String, sink: Sink) {
    let answered = Question { sink, ..Question::new(&base_url, "an ordinary prompt") }.ask_with(&direct).await;
    assert_eq!((class(&answered), answered.text.as_str()), (Ok(()), "hi"));
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
