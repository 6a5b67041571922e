//! The texts of the measured requests.

pub const SHORT: &str = "Review this diff for races";

/// About two kilobytes, as a person writes them: prose around a program and the trace of its failure.
pub const LONG: &str = "\
Our nightly import has become slow and sometimes stops half way, and I would like to understand why before we change \
anything. It reads orders from a queue, looks up the customer of each one, and writes both to the database. Since last \
week it needs forty minutes instead of six. Nobody remembers a change to the import itself, but the number of customers \
has doubled in that time, and the team next door has moved its own job to the same hour.

This is the loop, as short as I could make it without taking away what matters:

```rust
pub async fn import(queue: &Queue, store: &Store) -> Result<Summary, ImportError> {
    let mut summary = Summary::default();
    while let Some(order) = queue.next().await? {
        let customer = store.customer(order.customer).await?;
        let total = order.lines.iter().map(|line| line.price * line.count).sum();
        store.write(&customer, &order, total).await?;
        summary.orders += 1;
    }
    Ok(summary)
}
```

And this is how it ends when it stops:

```
thread 'main' panicked at src/import.rs:41:18:
called `Result::unwrap()` on an `Err` value: Timeout { waited: 30s, statement: \"select customer\" }
   2: shop::import::import
             at ./src/import.rs:41:18
   3: shop::main
             at ./src/main.rs:17:5
```

What I know so far: the processor is idle most of the time, the database reports many short statements and some locks \
that are held for seconds, and the queue is never empty. Reading customers in groups has been proposed, as has a cache \
in front of the store. I am not sure that either of them helps with the locks, and a cache has bitten us before.

Please compare these two ways and any third one that you consider better. Say for each what it costs to build, what it \
does to the running time, how it behaves when the other job runs at the same hour, and what could go wrong with it. \
Then recommend one, with the order in which you would do it and how we would notice early that it does not work. Do \
not change any code yet; a page of text is enough, and please say plainly where you are guessing.
";
