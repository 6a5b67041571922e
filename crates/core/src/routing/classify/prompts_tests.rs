//! Prompts as people write them, each with what it may be taken for. The first of several is the best answer.

use super::classify;
use crate::routing::tests::config;

const CLEAR: &[(&str, &[&str])] = &[
    ("Add a LICENSE header to every file", &["boilerplate"]),
    ("generate getters and setters for the Customer class", &["boilerplate"]),
    ("Create a .gitignore and an .editorconfig for a Python project", &["boilerplate"]),
    ("I need the skeleton of a new crate with an empty lib.rs", &["boilerplate"]),
    ("scaffold an Express app with the usual folders", &["boilerplate"]),
    ("fix typo in README", &["simple-fix"]),
    ("rename variable foo to bar", &["simple-fix"]),
    ("bump version", &["simple-fix"]),
    ("Bump serde to 1.0.219 in Cargo.toml", &["simple-fix"]),
    ("Remove the unused imports in src/review/tests.rs", &["simple-fix"]),
    ("please replace println! with tracing::info! in main.rs", &["simple-fix"]),
    ("The button says 'Sumbit', correct the spelling", &["simple-fix"]),
    ("Change the default port from 8080 to 9090", &["simple-fix"]),
    ("could you fix the indentation in settings.yaml?", &["simple-fix"]),
    ("Is 7919 prime?", &["quick-check", "logic-verification"]),
    ("does this regex match 2024-02-30?", &["quick-check", "logic-verification"]),
    ("Quick question: is port 0 allowed in a bind call?", &["quick-check"]),
    ("Are trailing commas allowed in JSON?", &["quick-check"]),
    ("sanity check: 37 C is 98.6 F, yes or no", &["quick-check"]),
    ("How many bytes does a UTF-8 euro sign take?", &["quick-check"]),
    ("What do you think about tabs versus spaces?", &["general-opinion"]),
    ("Do you think remote work is here to stay?", &["general-opinion"]),
    ("I'd love your thoughts on calling the product Lantern", &["general-opinion"]),
    ("Is it worth learning Haskell these days?", &["general-opinion"]),
    ("write unit tests for parser.rs", &["test-scaffolding"]),
    ("Add tests for the retry logic", &["test-scaffolding"]),
    ("Raise the test coverage of the billing module to 80 %", &["test-scaffolding"]),
    ("Please create pytest fixtures for the user service", &["test-scaffolding"]),
    ("we have no regression test for the rounding bug, write one", &["test-scaffolding"]),
    ("Prove that this loop terminates for every n", &["logic-verification"]),
    ("Verify the invariant that the queue never holds two leases for one task", &["logic-verification"]),
    ("Which edge cases does my interval merge miss? Check its logic step by step.", &["logic-verification"]),
    ("Can this counter ever become negative?", &["logic-verification"]),
    ("Review this diff for bugs", &["code-review"]),
    ("Please have a look over my pull request", &["code-review"]),
    ("Anything wrong with this patch before I merge it?", &["code-review"]),
    ("critique the readability of the handler below", &["code-review"]),
    ("analyse this OpenAPI spec", &["api-analysis"]),
    ("Analyse the REST endpoint /users/{id} and list its status codes", &["api-analysis"]),
    ("Which fields of the webhook payload are optional?", &["api-analysis"]),
    ("Is this a breaking change of our public API?", &["api-analysis"]),
    ("find out which of our vendors offer EU hosting", &["research"]),
    ("Look into how others handle schema migrations without downtime", &["research"]),
    ("Investigate the options for running Postgres on ARM", &["research"]),
    ("What are best practices for rotating TLS certificates?", &["research"]),
    ("Design the architecture of a multi-tenant billing system", &["architecture"]),
    ("How should we split the monolith into services?", &["architecture"]),
    ("Propose a high-level design with clear module boundaries for the importer", &["architecture"]),
    ("We need a migration strategy from one database to two regions; list the trade-offs", &["architecture"]),
    ("What is the difference between tokio and async-std", &["library-comparison"]),
    ("axum vs actix-web for a small JSON service", &["library-comparison"]),
    ("Compare React, Vue and Svelte for an internal dashboard", &["library-comparison"]),
    ("which ORM crate should I use, diesel or sqlx?", &["library-comparison"]),
    ("Pros and cons of zod and yup", &["library-comparison"]),
    ("summarise the docs of clap's derive macros", &["docs-lookup"]),
    ("how do I use serde_json in a no_std crate", &["docs-lookup"]),
    ("What does the --locked flag of cargo mean?", &["docs-lookup"]),
    ("Explain what git rerere does", &["docs-lookup"]),
    ("Where is the retry policy of reqwest documented?", &["docs-lookup"]),
    ("write the README for this project", &["docs-generation"]),
    ("Update the changelog for 2.1", &["docs-generation"]),
    ("Add docstrings to all public functions", &["docs-generation"]),
    ("Draft release notes from the last ten commits", &["docs-generation"]),
    ("Write a short user guide for the export dialog", &["docs-generation"]),
    ("audit the login for SQL injection", &["security-review"]),
    ("Is our session handling safe against CSRF and token hijacking?", &["security-review"]),
    ("Do a threat model of the upload service", &["security-review"]),
    ("check the auth middleware for vulnerabilities", &["security-review"]),
    ("Could an attacker escalate privileges through this endpoint?", &["security-review"]),
    ("implement a distributed lock manager with leases", &["complex-codegen"]),
    ("Build a Raft-based replicated key-value store in Rust", &["complex-codegen"]),
    ("Rewrite the scheduler as a work-stealing thread pool", &["complex-codegen"]),
    ("write an interpreter for a small Lisp from scratch, with a garbage collector", &["complex-codegen"]),
    ("Implement concurrent transactions in the storage engine", &["complex-codegen"]),
    ("the tests deadlock sometimes under load, find out why and fix", &["complex-fix"]),
    ("Fix the memory leak in the websocket server", &["complex-fix"]),
    ("Our worker crashes randomly in production; find the root cause", &["complex-fix"]),
    ("Debug the race condition between the cache and the writer", &["complex-fix"]),
    ("test_upload is flaky, it fails once in a while on CI only", &["complex-fix"]),
    ("research the state of the art in vector databases, compare sources, cite", &["deep-research"]),
    ("Write a comprehensive, in-depth report on post-quantum key exchange with citations", &["deep-research"]),
    ("Survey the academic literature about code review automation", &["deep-research"]),
    ("Set up a minimal Dockerfile and docker-compose for local dev", &["boilerplate"]),
    ("Give me a basic Cargo.toml for a workspace with three members", &["boilerplate"]),
    ("create an empty React component for each page in the list", &["boilerplate"]),
    ("the copyright year in the footer should be 2026", &["simple-fix", "boilerplate"]),
    ("There's a stray comma in package.json, remove it", &["simple-fix"]),
    ("make the header colour blue", &["simple-fix"]),
    ("Update the dependency chrono to the newest patch release", &["simple-fix"]),
    ("clippy complains about a needless borrow in lib.rs, please silence it properly", &["simple-fix"]),
    ("drop the leftover debug print in worker.py", &["simple-fix"]),
    ("Does Python's sort keep equal elements in order?", &["quick-check"]),
    ("is 10.0.0.1 a private address?", &["quick-check"]),
    ("What's 2^40 in bytes?", &["quick-check", "docs-lookup"]),
    ("Has Rust 1.80 been released before July 2024?", &["quick-check"]),
    ("Would you rather maintain a big shell script or a small Python program?", &["general-opinion"]),
    ("How do you feel about monorepos?", &["general-opinion"]),
    ("Give me your honest opinion on my landing page copy", &["general-opinion"]),
    ("Cover the date helpers with specs, including leap years", &["test-scaffolding"]),
    ("I want a mock server so that we can test the payment client", &["test-scaffolding"]),
    ("Set up vitest and put a first suite next to utils.ts", &["test-scaffolding"]),
    ("Show that the two functions below return the same result for all inputs", &["logic-verification"]),
    (
        "Does my binary search handle an empty slice and a single element correctly?",
        &["logic-verification", "quick-check"],
    ),
    (
        "check the reasoning: if A implies B and B implies C, is not-C implies not-A valid?",
        &["logic-verification", "quick-check"],
    ),
    ("Take a look at the changes on this branch and tell me what you'd improve", &["code-review"]),
    ("PR 412 is up, can you go through it?", &["code-review"]),
    ("any code smells in this module?", &["code-review"]),
    ("Read our swagger file and tell me which calls aren't idempotent", &["api-analysis"]),
    ("What fields does the /orders response contain and which can be null?", &["api-analysis"]),
    ("map out the GraphQL schema and its mutations", &["api-analysis"]),
    ("Which cloud providers support confidential VMs with GPUs?", &["research"]),
    ("Please gather what is known about the outage of last Tuesday", &["research"]),
    ("see what open source tools exist for log anonymisation", &["research"]),
    ("How would you structure a plugin-based desktop app?", &["architecture"]),
    ("Sketch the services, queues and data stores for a ride sharing backend", &["architecture"]),
    ("should the cache sit in front of the API or inside each service? lay out the trade-offs", &["architecture"]),
    ("Is Bun a good alternative to Node for us, or should we stay?", &["library-comparison", "general-opinion"]),
    ("Playwright versus Cypress: which one has better debugging?", &["library-comparison"]),
    ("What options does rsync have to keep permissions?", &["docs-lookup", "research"]),
    ("In which version did Postgres get MERGE?", &["docs-lookup", "quick-check"]),
    ("give me the gist of RFC 9110 section 15", &["docs-lookup"]),
    ("what's the syntax for a lateral join", &["docs-lookup"]),
    ("Our CONTRIBUTING file is outdated, rewrite it", &["docs-generation"]),
    ("Please write doc comments for everything public in money.rs", &["docs-generation"]),
    ("turn these bullet points into a blog post about the launch", &["docs-generation"]),
    ("Can somebody read other users' files through this download handler?", &["security-review"]),
    ("Go through the OAuth flow and look for ways to steal tokens", &["security-review"]),
    ("are we leaking credentials in the logs?", &["security-review"]),
    ("We need a CRDT-based collaborative text editor backend", &["complex-codegen"]),
    ("Write a B+tree with concurrent readers and crash recovery", &["complex-codegen"]),
    ("Port our C++ video pipeline to Rust", &["complex-codegen"]),
    ("Add multi-region replication with automatic failover to the queue service", &["complex-codegen", "architecture"]),
    ("After a few hours the daemon eats all memory and gets killed", &["complex-fix"]),
    ("Users report that orders are occasionally charged twice. Track it down.", &["complex-fix"]),
    ("Since the last deploy latency doubled, nobody knows why", &["complex-fix"]),
    ("The integration tests pass locally but hang on CI", &["complex-fix"]),
    ("Write a thorough literature review on federated learning with references", &["deep-research"]),
    ("Compare what at least ten independent sources say about LLM energy use and cite them", &["deep-research"]),
    ("I need a deep dive into the history and current landscape of WebAssembly runtimes", &["deep-research"]),
    ("Generate TypeScript interfaces from this table of columns", &["boilerplate"]),
    ("add the standard CI workflow file", &["boilerplate"]),
    ("stub out the methods of the Storage trait", &["boilerplate"]),
    ("the tooltip text has a grammar mistake", &["simple-fix"]),
    ("Sort the imports alphabetically in app.ts", &["simple-fix"]),
    ("increase the timeout constant to 30 seconds", &["simple-fix"]),
    ("getUserName should be called getUsername everywhere", &["simple-fix"]),
    ("Can a Rust enum have zero variants?", &["quick-check"]),
    ("is `0x1F` equal to 31", &["quick-check"]),
    ("how many days until 1 March if today is 20 February 2028?", &["quick-check"]),
    ("Which editor theme do you like best?", &["general-opinion"]),
    ("Is Agile dead? Curious about your view.", &["general-opinion"]),
    ("We're missing tests around the CSV importer", &["test-scaffolding"]),
    ("Turn this bug report into a failing test", &["test-scaffolding"]),
    ("extend the proptest suite so that it shrinks unicode input", &["test-scaffolding"]),
    ("Could this expression overflow for large n? Walk through the cases", &["logic-verification"]),
    ("is the locking order here free of cycles? reason about it formally", &["logic-verification"]),
    ("I just pushed my branch, please review the last three commits", &["code-review"]),
    ("What would you criticise about this implementation?", &["code-review", "general-opinion"]),
    ("give feedback on the patch from Anna", &["code-review"]),
    ("List every endpoint in the proto files and who calls it", &["api-analysis"]),
    ("Does the v2 API stay backwards compatible with v1 clients?", &["api-analysis"]),
    ("Find information about the licensing of Llama models", &["research"]),
    ("what are people using instead of Redis now?", &["research", "library-comparison"]),
    ("Look into why other teams moved away from Kubernetes", &["research"]),
    ("Come up with an architecture for offline sync between phone and server", &["architecture"]),
    ("Where should validation live, in the domain model or at the edge?", &["architecture"]),
    ("Draw up a plan to break the billing code out into its own service", &["architecture"]),
    ("differences between HashMap and BTreeMap", &["library-comparison", "docs-lookup"]),
    ("Recommend a logging framework for Go", &["library-comparison"]),
    ("How to pass environment variables to docker run", &["docs-lookup"]),
    ("what is the meaning of the Vary header", &["docs-lookup"]),
    ("TL;DR of the attached manual please", &["docs-lookup"]),
    ("Document the configuration options in docs/configuration.md", &["docs-generation"]),
    ("write a migration guide from v1 to v2", &["docs-generation"]),
    ("Find security holes in our file upload", &["security-review"]),
    ("Pentest checklist for the admin panel, then go through the code with it", &["security-review"]),
    ("Does this deserialisation allow remote code execution?", &["security-review"]),
    ("Implement an incremental compiler cache with dependency tracking", &["complex-codegen"]),
    ("Create a full-stack chat app with presence, history and end-to-end encryption", &["complex-codegen"]),
    ("build a query optimizer for our SQL dialect", &["complex-codegen"]),
    ("Our p99 went from 20ms to 2s, find the bottleneck and repair it", &["complex-fix"]),
    ("segfault in release builds only, please debug", &["complex-fix"]),
    ("messages get lost when two consumers restart at the same time", &["complex-fix"]),
    ("Exhaustive analysis of EU AI Act obligations with citations to the articles", &["deep-research"]),
    ("What does current research say about intermittent fasting? Use primary sources.", &["deep-research"]),
];

/// More than one answer would do.
const HARD: &[(&str, &[&str])] = &[
    ("Fix the flaky unit tests for the parser", &["complex-fix", "test-scaffolding"]),
    ("Review the architecture of our auth service", &["architecture", "code-review", "security-review"]),
    ("Should we use Kafka or RabbitMQ?", &["library-comparison", "general-opinion"]),
    ("What do you think of this code?", &["code-review", "general-opinion"]),
    ("Refactor the payment module", &["complex-codegen", "architecture"]),
    ("Document the security model of the API", &["docs-generation", "security-review", "api-analysis"]),
    ("Write a design document for the sync engine", &["architecture", "docs-generation"]),
    ("Check whether the password reset is correct", &["logic-verification", "security-review", "quick-check"]),
    ("Find a library that parses TOML and preserves comments", &["library-comparison", "research"]),
    ("Why does the build fail with error: linker `cc` not found?", &["simple-fix", "docs-lookup", "complex-fix"]),
    ("Read the docs of the Stripe API and tell me how pagination works", &["docs-lookup", "api-analysis"]),
    ("Add a test that reproduces the crash and fix it", &["complex-fix", "test-scaffolding"]),
];

/// Pasted material around a request, and requests without any sign of their kind.
const SHAPES: &[(&str, Option<&str>)] = &[
    (
        "Looks good?\n\ndiff --git a/x.rs b/x.rs\n@@ -1,2 +1,2 @@\n-let test = fix();\n+let audit = design();\n",
        Some("code-review"),
    ),
    ("```diff\n@@ -1 +1 @@\n-a\n+b\n```", Some("code-review")),
    (
        "what happened here\n\nTraceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n",
        Some("complex-fix"),
    ),
    ("thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds", Some("complex-fix")),
    ("Is this correct?\n```rust\nfn half(n: u32) -> u32 { n / 2 }\n```", Some("logic-verification")),
    ("make it shorter\n```\n// review the architecture, write unit tests, audit security\n```", None),
    // No word in it decides.
    ("pandas or polars for 50 GB of CSV?", None),
    ("Continue", None),
    ("Implement Display for Money", None),
    ("Hello there, nice weather today", None),
    ("Bitte die Überschrift etwas größer", None),
    ("このコードを見てください", None),
    ("👍👍👍", None),
    ("", None),
    (" \n\t\u{0}\u{7}\u{1b}[31m", None),
];

fn check(prompts: &[(&str, &[&str])]) {
    let config = config();
    let mut wrong = Vec::new();
    for (prompt, acceptable) in prompts {
        let found = classify(prompt, 0, &config);
        if !found.task_type.as_deref().is_some_and(|found| acceptable.contains(&found)) {
            wrong.push(format!("{prompt}\n    {found:?}\n    and not {acceptable:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} prompts:\n{}", wrong.len(), prompts.len(), wrong.join("\n"));
}

#[test]
fn clear_prompts_are_taken_for_what_they_are() {
    check(CLEAR);
    let config = config();
    for task_type in config.task_types.keys() {
        let count = CLEAR.iter().filter(|(_, acceptable)| acceptable.contains(&task_type.as_str())).count();
        assert!(count >= 3, "only {count} prompts for {task_type}");
    }
}

#[test]
fn hard_prompts_are_taken_for_something_that_would_do() {
    check(HARD);
}

#[test]
fn pasted_material_is_a_sign_and_no_talk() {
    let config = config();
    for (prompt, expected) in SHAPES {
        let found = classify(prompt, 0, &config);
        assert_eq!(found.task_type.as_deref(), *expected, "{prompt:?} gave {found:?}");
    }
}
