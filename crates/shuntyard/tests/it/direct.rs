//! A provider asked without OpenCode: the same record, judgement, bill and memory as with it, and only where it is
//! sure to be the same request.

use crate::{
    secrets::files_below,
    yard::{
        Key, MARKER, Yard, assert_settled, attempts, flags, in_store, model, plain, record_of, targets, with_models,
    },
};
use serde_json::{Value, json};
use shuntyard_core::Nano;
use shuntyard_scripted::{Step, Tokens};
use shuntyard_store::{RunStatus, Store as _};
use shuntyard_testkit::{SharedProvider, eventually, outcome::assert_bill};
use std::{
    io::{Read as _, Write as _},
    process::{Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

const SOON: Duration = Duration::from_secs(20);

const TOML: &str = r#"
[tiers]
flow = ["falling/m", "seated/m"]
straight = ["tumbling/m", "seated/m"]
patient = ["limited/m", "line/m"]
[via]
falling = "direct"
"#;

/// Every test has providers of its own here, because a provider that fails is cooling down for all tests.
fn yard() -> &'static Yard {
    static YARD: OnceLock<Yard> = OnceLock::new();
    YARD.get_or_init(|| {
        let other_package = model("m", &json!({"provider": {"npm": "@ai-sdk/togetherai"}}));
        let variants = model("m", &json!({"variants": {"low": {"reasoningEffort": "low"}}, "reasoning": true}));
        let mut providers = vec![
            plain("inlogin", Key::Login),
            plain("invariable", Key::Environment),
            plain("keyless", Key::Missing),
            with_models("seated", Key::Config, std::slice::from_ref(&other_package)),
            with_models("packaged", Key::Config, &[other_package]),
            with_models("varied", Key::Config, &[variants]),
        ];
        providers.extend(
            ["line", "single", "falling", "tumbling", "limited", "mended", "mortal"].map(|id| plain(id, Key::Config)),
        );
        Yard::new("direct", providers, &json!({"model": "line/m"}), TOML)
    })
}

fn limit(yard: &Yard, provider: &str) {
    yard.env.run(&["budget", "configure", provider, "--daily-budget", "100"]).expect_code(0);
}

#[test]
fn one_answer_with_the_key_wherever_it_is_and_no_server() {
    let yard = yard();
    for provider in ["single", "inlogin", "invariable"] {
        let step = Step::chunks(["directly ", "answered"]).usage(Tokens::new(1003, 57).cached(211).reasoning(13));
        let key = yard.at(provider).script("one", vec![step]);
        let report = yard.dispatch(&["--via", "direct", "-m", &format!("{provider}/m"), &key]).expect_ok();
        assert_eq!(report["text"], "directly answered");
        assert_eq!(
            [&report["via"], &report["session_id"], &report["kept"]],
            [&json!("direct"), &json!(""), &json!(false)]
        );
        assert_eq!(report["model"], json!({"provider": provider, "model": "m", "variant": null}));
        assert_eq!(report["cost_known"], true);
        assert_bill(&report, &yard.ledger(&key));
        let entries = yard.at(provider).requests(&key).entries;
        assert_eq!((entries.len(), &entries[0].session, &entries[0].answer_form), (1, &None, &None));
        let record = record_of(&yard.env, &format!("{provider}/m"));
        assert_eq!(
            (record.status, record.attempts[0].server, &record.attempts[0].session),
            (RunStatus::Ok, None, &None)
        );
        assert_eq!(record.attempts[0].cost, yard.ledger(&key).total_reported().cost);
    }
    let people = yard.env.run(&["dispatch", "--via", "direct", "-m", "line/m", "--system", "be brief", "hello"]);
    assert!(people.expect_code(0).stdout.contains("--- dispatch response from line/m [custom-system] ("));
    assert!(people.stdout.ends_with("ok: hello\n"), "{}", people.stdout);
}

#[test]
fn a_terminal_shows_the_answer_while_it_comes() {
    let yard = yard();
    let key = yard.at("line").script("streamed", vec![Step::hang_mid_stream()]);
    let command = yard.env.command(&["dispatch", "--via", "direct", "-m", "line/m", &key]);
    let line = format!("'{}' dispatch --via direct -m line/m '{key}'", command.get_program().to_string_lossy());
    let mut terminal = Command::new("script");
    terminal.args(["-qefc", &line, "/dev/null"]).env_clear().envs(yard.env.variables()).env("TERM", "dumb");
    let mut running = terminal
        .current_dir(yard.env.project())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a terminal");
    let mut output = running.stdout.take().expect("a pipe");
    let mut shown = Vec::new();
    // The provider sends no more than this, so that the read ends only because it was shown at once.
    while !String::from_utf8_lossy(&shown).contains("partial ") {
        let mut piece = [0; 1024];
        let read = output.read(&mut piece).expect("what is shown");
        assert!(read > 0, "it ended without showing anything: {}", String::from_utf8_lossy(&shown));
        shown.extend_from_slice(&piece[..read]);
    }
    // As a person would: to end the terminal alone leaves its program when hang-ups are ignored here.
    running.stdin.take().expect("a keyboard").write_all(b"\x03").expect("Ctrl-C");
    running.wait().expect("reaped");
    yard.wait_until_let_go();
}

#[test]
fn an_answer_that_does_not_fit_is_corrected_and_both_are_paid() {
    let yard = yard();
    let schema = r#"{"type":"object","properties":{"score":{"type":"number"}},"required":["score"]}"#;
    let steps = vec![
        Step::structured(json!({"score": "four"})).usage(Tokens::new(1000, 10)),
        Step::structured(json!({"score": 4})).usage(Tokens::new(1100, 12)),
    ];
    let key = yard.at("mended").script("corrected", steps);
    let report = yard.dispatch(&["--via", "direct", "-m", "mended/m", "--schema", schema, &key]).expect_ok();
    assert_eq!(report["structured"], json!({"score": 4}));
    assert!(report["warnings"].to_string().contains("try 1 did not fit the schema"), "{report:#}");
    // The correction names the error and contains the earlier messages, the key among them.
    let entries = yard.ledger(&key).entries;
    assert_eq!(entries.len(), 2);
    assert!(entries.iter().all(|entry| entry.answer_form.as_deref() == Some("json_schema")));
    assert!(entries[1].last_user_text.contains("does not fit the required schema"), "{:?}", entries[1].messages);
    assert_eq!(entries[1].messages.len(), 3);
    assert_bill(&report, &yard.ledger(&key));
    assert_eq!(report["attempts"].as_array().map(Vec::len), Some(1), "one attempt with two prompts");

    // A provider that knows no schemas is asked in its own manner; what never fits is a failure, and paid.
    let refusal = Step::status(400).message("Invalid parameter: response_format of type json_schema is not supported");
    let wrong = || Step::text("certainly, four!").usage(Tokens::new(100, 1));
    let key = yard.at("mended").script("never", vec![refusal, wrong(), wrong(), wrong(), wrong()]);
    let outcome = yard.dispatch(&["--via", "direct", "-m", "mended/m", "--schema", schema, &key]);
    outcome.expect_code(1).expect_class("structured_output_failed");
    assert_bill(&outcome.json(), &yard.ledger(&key));
    assert!(yard.ledger(&key).total_reported().cost > Nano::ZERO);
}

#[test]
fn what_a_direct_call_learns_of_a_provider_all_processes_know() {
    let yard = yard();
    let key = yard.at("limited").script("limited", vec![Step::status(429).retry_after(3600)]);
    let outcome = yard.dispatch(&["--via", "direct", "-m", "limited/m", &key]);
    outcome.expect_code(1).expect_class("quota_exhausted");
    assert_eq!(yard.asked("limited"), 1, "a wait of an hour is not waited");
    let shown = yard.env.run(&["fallback", "patient", "--json"]).expect_code(0).json();
    let rows = shown["cooldowns"].as_array().cloned().unwrap_or_default();
    let cooling = rows.iter().find(|row| row["target"] == "limited" && row["trigger"] == "quota");
    assert!(cooling.and_then(|row| row["seconds_left"].as_u64()) > Some(3000), "{shown:#}");
    let decided = yard.env.run(&["route", "--json", "--tier", "patient", "hello"]).expect_code(0).json();
    assert_eq!(decided["ref"], "line/m", "{decided:#}");
}

#[test]
fn a_direct_failure_moves_on_to_a_model_that_needs_opencode() {
    let yard = yard();
    let key = yard.at("falling").script("moved", vec![Step::empty().usage(Tokens::new(1000, 3))]);
    yard.script("seated", &key, vec![Step::text("from the other way").usage(Tokens::new(2000, 30))]);
    let report = yard.dispatch(&["--tier", "flow", &key]).expect_ok();
    assert_eq!(report["text"], "from the other way");
    let story = [("falling/m", "empty_response"), ("seated/m", "ok")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(attempts(&report), story);
    assert_eq!([&report["attempts"][0]["via"], &report["attempts"][1]["via"]], ["direct", "opencode"]);
    assert_eq!(report["via"], "opencode");
    assert_bill(&report, &yard.ledger(&key));
    let record = record_of(&yard.env, "seated/m");
    assert_eq!(record.attempts.len(), 2);
    assert!(record.attempts[0].server.is_none() && record.attempts[1].server.is_some(), "{record:#?}");

    // Where only the direct way will do, the one that needs OpenCode is left out, with the reason.
    let key = yard.at("tumbling").script("barred", vec![Step::empty()]);
    let outcome = yard.dispatch(&["--via", "direct", "--tier", "straight", &key]);
    outcome.expect_code(1).expect_class("empty_response");
    let warnings = outcome.json()["warnings"].to_string();
    assert!(warnings.contains("seated/m: it does not speak the OpenAI-compatible protocol"), "{warnings}");
    assert_eq!(yard.asked_for("seated", &key), 0);
}

#[test]
fn the_direct_way_is_refused_where_it_would_be_another_request() {
    let yard = yard();
    let plugged = yard.env.repository("plugged");
    std::fs::create_dir_all(plugged.join(".opencode/plugin")).expect("a directory");
    let trace = plugged.join("it-ran");
    let code = format!(
        "import {{ writeFileSync }} from 'fs'\nwriteFileSync({trace:?}, 'x')\nexport const P = async () => ({{}})\n"
    );
    std::fs::write(plugged.join(".opencode/plugin/p.js"), code).expect("a plugin");
    let foreign = yard.env.repository("describing");
    let theirs = SharedProvider::start();
    let entry = json!({"npm": "@ai-sdk/openai-compatible", "models": {"m": model("m", &json!({}))},
        "options": {"baseURL": theirs.base_url(), "apiKey": "theirs"}});
    std::fs::write(foreign.join("opencode.json"), json!({"provider": {"theirs": entry}}).to_string()).expect("written");
    let [plugged, foreign] = [plugged, foreign].map(|directory| directory.to_string_lossy().into_owned());
    // Other tests ask the same providers: only what asks for this counts.
    let key = yard.at("line").fresh_key("refused");
    let table: [(&[&str], &str); 8] = [
        (&["-m", "line/m", "--dir", &plugged], "a plugin of OpenCode may change requests"),
        (&["-m", "theirs/m", "--dir", &foreign], "the directory's own settings have a say in it"),
        (&["-m", "packaged/m"], "it does not speak the OpenAI-compatible protocol"),
        (&["-m", "varied/m@low"], "a variant is asked for"),
        (&["-m", "line/m", "--mode", "agent"], "tools and commands are OpenCode's"),
        (&["-m", "line/m", "--keep"], "sessions are OpenCode's"),
        (&["-m", "line/m", "--agent", "build"], "agents are OpenCode's"),
        (&["-m", "line/m", "-m", "varied/m@low"], "a variant is asked for"),
    ];
    for (args, why) in table {
        let batch = args.iter().filter(|flag| **flag == "-m").count() > 1;
        let outcome = yard.dispatch(&[args, &["--via", "direct", &key]].concat());
        let message = if batch { "/results/1/error/message" } else { "/error/message" };
        let told = outcome.json().pointer(message).cloned().unwrap_or_default();
        let told = told.to_string();
        assert!(told.contains("cannot be asked directly: ") && told.contains(why), "{args:?}: {}", outcome.stdout);
        assert_eq!(outcome.code, Some(if batch { 1 } else { 2 }), "{args:?}");
    }
    // The one of the batch that can be asked is.
    assert_eq!(yard.asked_for("line", &key), 1);
    assert_eq!((yard.asked("packaged"), yard.asked("varied"), theirs.ledger().entries.len()), (0, 0, 0));
    assert!(!std::path::Path::new(&plugged).join("it-ran").exists(), "the plugin has run");
    // What OpenCode would send without a key is not sent directly either: it goes through OpenCode.
    let report = yard.ask(&["keyless/m", "line/m"], &["hello"]);
    assert_eq!(report.json()["results"][1]["via"], "direct");
}

#[test]
fn a_directory_that_redirects_a_provider_never_gets_a_direct_call() {
    let yard = yard();
    let thief = SharedProvider::start();
    let directory = yard.env.repository("redirecting");
    let config = json!({"provider": {"line": {"options": {"baseURL": thief.base_url()}}}});
    std::fs::write(directory.join("opencode.json"), config.to_string()).expect("written");
    let directory = directory.to_string_lossy().into_owned();
    let refused = yard.dispatch(&["--via", "direct", "-m", "line/m", "--dir", &directory, "hello"]);
    refused.expect_code(2);
    assert!(refused.stdout.contains("the directory's own settings have a say in it"), "{}", refused.stdout);
    assert_eq!(thief.ledger().entries.len(), 0);
    let warned =
        |report: &Value| report["warnings"].to_string().contains("is said by this directory's OpenCode settings");
    let alone = yard.dispatch(&["-m", "line/m", "--dir", &directory, "alone"]).expect_ok();
    assert!(warned(&alone), "{alone:#}");
    let report = yard.ask(&["line/m", "mended/m"], &["--dir", &directory, "together"]).expect_code(0).json();
    let [redirected, untouched] = [&report["results"][0], &report["results"][1]];
    assert!(warned(redirected), "{redirected:#}");
    assert_eq!([&redirected["via"], &untouched["via"]], ["opencode", "direct"]);
    // All that came there came from OpenCode, as it does without us.
    let entries = thief.ledger().entries;
    assert!(!entries.is_empty() && entries.iter().all(|entry| entry.session.is_some()), "{entries:#?}");
}

#[test]
fn keys_of_direct_calls_are_nowhere() {
    let providers = ["first", "second"].map(|id| plain(id, Key::Config)).into();
    let yard = Yard::new("direct-keys", providers, &json!({"model": "first/m"}), "");
    let echo = |id: &str| Step::status(401).message(format!("Incorrect API key provided: {id}.{MARKER}."));
    let key = yard.at("first").script("echo", (0..9).map(|_| echo("first")).collect());
    yard.script("second", &key, (0..9).map(|_| Step::text("fine")).collect());
    let named = flags(&["first/m", "second/m"]);
    let log = [("SHUNTYARD_LOG", "trace")];
    let mut said = String::new();
    let both = ["--judge", "second/m"];
    for args in [
        &["dispatch", "--via", "direct", "-m", "first/m", &key][..],
        &[&["dispatch", "--json"][..], &named, &both, &[&key]].concat(),
        &[&["dispatch"][..], &named, &[&key]].concat(),
        &[&["council", "--json"][..], &named, &[&key]].concat(),
    ] {
        let outcome = yard.env.run_with(&log, args);
        assert!(outcome.stderr.contains("DEBUG") || outcome.stderr.contains("TRACE"), "it talks: {}", outcome.stderr);
        assert!(outcome.stdout.contains("Incorrect API key provided") || outcome.stderr.contains("Incorrect API key"));
        said.push_str(&outcome.stdout);
        said.push_str(&outcome.stderr);
    }
    assert!(!said.contains(MARKER), "printed: {said}");
    let mut files = Vec::new();
    files_below(&yard.env.data_dir(), &mut files);
    files_below(&yard.env.root.join("tmp"), &mut files);
    assert!(files.len() > 1, "{files:?}");
    for file in files {
        let bytes = std::fs::read(&file).unwrap_or_default();
        assert!(!bytes.windows(MARKER.len()).any(|window| window == MARKER.as_bytes()), "in {}", file.display());
    }
}

#[test]
fn a_killed_direct_dispatch_is_closed_by_the_next_one() {
    let yard = yard();
    limit(yard, "mortal");
    let key = yard.at("mortal").script("dies", vec![Step::hang_mid_stream()]);
    let mut running = yard.env.spawn(&["dispatch", "--json", "--via", "direct", "-m", "mortal/m", &key]);
    yard.at("mortal").wait_for_requests(&key, 1);
    let line = || yard.env.run(&["budget", "--json", "status", "mortal"]).json()["lines"][0].clone();
    assert!(line()["reserved"].as_i64() > Some(0), "{:#}", line());
    running.kill().expect("killed");
    running.wait().expect("reaped");
    yard.wait_until_let_go();
    yard.dispatch(&["--via", "direct", "-m", "inlogin/m", "hello"]).expect_ok();
    let record = record_of(&yard.env, "mortal/m");
    assert_eq!((record.status, record.attempts[0].status), (RunStatus::Abandoned, RunStatus::Abandoned));
    assert_eq!((record.attempts[0].cost_known, &line()["reserved"]), (false, &json!(0)));
}

#[test]
fn ten_at_once_stay_below_the_line_together() {
    // At worst one comes to 128 000 tokens and 8 192 of output, which is $0.60288. The line of $1.90 has budget for
    // three; what three really cost leaves none for a fourth.
    let ids: Vec<String> = (0..10).map(|n| format!("m{n}")).collect();
    let models: Vec<Value> = ids.iter().map(|id| model(id, &json!({}))).collect();
    let yard = Yard::new("direct-ten", vec![with_models("crowd", Key::Config, &models)], &json!({}), "");
    yard.env.run(&["budget", "configure", "crowd", "--daily-budget", "2"]).expect_code(0);
    let answer = || Step::text("one of them").usage(Tokens::new(110_000, 8000)).delay(Duration::from_millis(200));
    let key = yard.at("crowd").script("crowd", (0..10).map(|_| answer()).collect());
    let names: Vec<String> = ids.iter().map(|id| format!("crowd/{id}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let strict = [("SHUNTYARD_BUDGET_STRICT", "true"), ("SHUNTYARD_DISPATCH_PROVIDER_RETRIES", "0")];
    let args = [&["dispatch", "--json"][..], &flags(&names), &[&key]].concat();
    let report = yard.env.run_with(&strict, &args).expect_code(1).json();
    let (answered, refused): (Vec<_>, Vec<_>) = targets(&report).into_iter().partition(|(_, status, _)| status == "ok");
    assert_eq!((answered.len(), yard.asked("crowd")), (3, 3), "who was refused asked nobody: {report:#}");
    assert!(refused.iter().all(|(_, _, class)| class == "budget_refused"), "{refused:?}");
    assert!(yard.booked() <= Nano(1_900_000_000), "{}", yard.booked());
    let cost = report["summary"]["cost_usd"].as_f64().and_then(Nano::from_usd);
    assert_eq!(cost, Some(yard.booked()));
    assert_settled(&yard.env);
    let spent = in_store(&yard.env, async |store| store.recent_dispatches(20).await.expect("dispatches"));
    let spent: Nano = spent.iter().flat_map(|record| &record.attempts).map(|attempt| attempt.cost).sum();
    assert_eq!(spent, yard.booked());
    eventually("no server was needed", SOON, || yard.env.servers().is_empty());
}
