//! The verdicts of stages and tasks, the scripted models, and the scratch environment.

use super::{
    checkout::Checkout,
    environment::hermetic,
    errand::{Errand, answer},
    models::{CAREFUL, NAMES, PROVIDER, SWIFT, configuration, model, opencode_config, price, settings},
    news::{News, TaskNews},
    report::{CostCheck, StageReport, faults},
    scratch::{BROKEN_LINE, FILE, MENDED_LINE, Scratch, git},
    stage::{Stage, verdict},
    task_report::{self, TaskReport, TryReport},
};
use crate::dispatch::{DispatchReport, ErrorReport, Status};
use serde_json::json;
use shuntyard_core::{
    DispatchId, ErrorClass, Nano, Usage,
    routing::{Advice, Availability, Catalogue, Model, Provider, Question, Resolution, Rule, Source, Step, resolve},
    values::ModelPolicy,
    work::task::{Delivered, Phase, State},
};
use shuntyard_host::{git::Author, paths::Paths};
use shuntyard_scripted::Said;
use shuntyard_store::Event;
use std::{fs, path::Path};
use uuid::Uuid;

fn report(stage: Stage) -> DispatchReport {
    let error = (stage == Stage::Quota).then(|| ErrorReport {
        class: ErrorClass::QuotaExhausted,
        message: "used up".into(),
        hint: String::new(),
        retryable: true,
    });
    let route = Resolution {
        propensity: None,
        rule: Rule::Explicit,
        reason: String::new(),
        policy: ModelPolicy::Dynamic,
        task_type: None,
        tier: None,
        requested_tier: None,
        trace: Vec::new(),
        candidates: Vec::new(),
        considered: 1,
        rejected: Vec::new(),
        model: stage.model(),
        warnings: Vec::new(),
    };
    DispatchReport {
        id: DispatchId(Uuid::nil()),
        status: if error.is_some() { Status::Error } else { Status::Ok },
        text: "Write `0..items.len()`.".into(),
        structured: (stage == Stage::Structured).then(verdict),
        model: stage.model(),
        requested: json!({}),
        route,
        attempts: Vec::new(),
        usage: Usage::default(),
        cost_usd: 0.001,
        cost_known: true,
        duration_ms: 1,
        session_id: String::new(),
        via: "opencode",
        kept: false,
        truncated: false,
        full_text_path: None,
        warnings: vec!["try 1 did not fit the schema: at /score: it is a word".into()],
        error,
        stopped: true,
    }
}

#[test]
fn a_stage_is_right_only_when_it_ends_as_it_should() {
    for stage in Stage::ALL {
        assert_eq!(faults(stage, &report(stage)), Vec::<String>::new(), "{stage:?}");
        let mut wrong = report(stage);
        wrong.model = model("another");
        assert_eq!(faults(stage, &wrong).len(), 1, "{stage:?} with another model");
    }
    let mut failed = report(Stage::Quota);
    failed.error.as_mut().unwrap().class = ErrorClass::RateLimited;
    let expected = "it ended with rate_limited, not with quota_exhausted";
    assert_eq!(faults(Stage::Quota, &failed), [expected]);
    let mut at_once = report(Stage::Structured);
    at_once.warnings.clear();
    assert_eq!(faults(Stage::Structured, &at_once).len(), 1, "the schema has to have refused something");
    let told = StageReport::new(Stage::Structured, report(Stage::Structured));
    assert_eq!(told.refused_values().collect::<Vec<_>>(), ["at /score: it is a word"]);
}

fn task(errand: Errand, merged: &str, cost: Option<Nano>) -> TaskReport {
    TaskReport {
        id: errand.id(),
        description: errand.description().into(),
        depends_on: Vec::new(),
        phase: Phase::Done,
        tries: Vec::new(),
        delivered: Some(Delivered::Merged { base: "main".into(), head: merged.into() }),
        cost_nano_usd: cost,
        tokens: 0,
        duration_ms: 0,
        faults: Vec::new(),
    }
}

#[test]
fn costs_agree_to_the_nano_dollar_or_not_at_all() {
    let stages = [Stage::Routed, Stage::Quota].map(|stage| StageReport::new(stage, report(stage)));
    let check = |cost, ledger| CostCheck::new(&stages, &[task(Errand::Mend, "", cost)], Nano(ledger), 2).equal;
    assert_eq!((check(Some(Nano(3)), 2_000_003), check(Some(Nano(3)), 2_000_004)), (true, false));
    assert!(!check(None, 2_000_000), "what is not known does not agree");
    assert!(!CostCheck::new(&[], &[], Nano::ZERO, 0).equal, "nothing was compared");
}

#[test]
fn a_task_is_right_only_when_the_right_models_tried_it_and_it_is_merged() {
    let done = State::Done { delivered: Delivered::Merged { base: "main".into(), head: "1".into() } };
    let tried = |name: &str, outcome: &str| TryReport {
        model: model(name).to_string(),
        outcome: outcome.into(),
        why: String::new(),
    };
    let (red, green) = (tried(SWIFT, "refused"), tried(CAREFUL, "approved"));
    let faults = task_report::faults;
    assert_eq!(faults(Errand::Count, &done, &[red.clone(), green.clone()]), Vec::<String>::new());
    assert_eq!(faults(Errand::Mend, &done, &[tried(SWIFT, "approved")]), Vec::<String>::new());
    let at_once = faults(Errand::Count, &done, std::slice::from_ref(&green));
    let expected = "its tries were [demo/careful approved], not [demo/swift refused, demo/careful approved]";
    assert_eq!(at_once, [expected]);
    let failed = State::Failed { detail: "red".into() };
    assert_eq!(faults(Errand::Count, &failed, &[red, green]), ["it is failed and not merged: red"]);
}

#[test]
fn the_models_answer_by_the_conversation_alone() {
    let said = |role: &str, text: &str| Said { role: role.into(), text: text.into() };
    let asked = |errand: Errand| said("user", &format!("{}\n\nRules: …", errand.description()));
    let wrong = vec![said("system", "x"), asked(Errand::Count)];
    assert_eq!(answer(SWIFT, &wrong), answer(SWIFT, &wrong), "begun again, it is the same");
    assert_eq!(answer(SWIFT, &wrong).tools[0].name, "write");
    assert_eq!(answer(CAREFUL, &wrong).tools[0].name, "read");
    let later = [asked(Errand::Mend), said("assistant", ""), said("tool", "read")];
    assert_eq!(answer(SWIFT, &later).tools[0].name, "edit");
    assert!(answer(SWIFT, &[said("user", "hello")]).tools.is_empty());
}

#[test]
fn only_what_is_worth_telling_is_news() {
    let id = Errand::Mend.id();
    let news = |event: &str, detail: &str| {
        let change = json!({"event": event, "from": "a", "to": "b", "epoch": 1, "detail": detail});
        let event = Event { position: 1, at: 0, kind: "task.b".into(), subject: id.to_string(), data: change };
        TaskNews::of(&id, &event, &[]).map(|told| told.news)
    };
    assert_eq!(news("refuse", "red"), Some(News::Refused { why: "red".into() }));
    assert_eq!(news("deliver", "merged"), Some(News::Delivered { how: "merged".into() }));
    assert_eq!(news("block", "x"), Some(News::Held { state: "b".into(), why: "x".into() }));
    assert_eq!((news("start", ""), news("worked", "")), (None, None));
}

#[test]
fn every_stage_is_routed_to_its_model_past_one_that_is_not_connected() {
    let config = configuration(settings(Path::new("/bin/\"open\" code")).unwrap()).unwrap();
    assert_eq!(config.server.binary, "/bin/\"open\" code");
    assert!(config.tiers["flash"].ends_with(&[model(SWIFT), model(CAREFUL)].map(|model| model.to_string())));
    let able = Model { tool_calls: true, text_output: true, ..Model::default() };
    let models = NAMES.map(|name| (name.to_owned(), Model { id: name.into(), ..able.clone() })).into();
    let provider = Provider { source: Source::Config, has_key: true, connected: true, models, ..Provider::default() };
    let catalogue = Catalogue { providers: [(PROVIDER.to_owned(), provider)].into(), ..Catalogue::default() };
    let scratch = Scratch::create().unwrap();
    for stage in Stage::ALL {
        let request = stage.request(&scratch).unwrap();
        assert!(request.check().is_ok());
        let route = resolve(&Question {
            selector: &request.selector,
            needs: request.needs(),
            policy: ModelPolicy::Dynamic,
            catalogue: &catalogue,
            config: &config,
            availability: &Availability::default(),
            advice: &Advice::default(),
            now: 0,
        })
        .unwrap();
        assert_eq!((route.model, route.warnings), (stage.model(), Vec::new()), "{stage:?}");
        let passed_over = route.trace.iter().filter(|step| step.step == Step::Tier && !step.chosen).count();
        assert_eq!(passed_over, usize::from(stage != Stage::Quota), "{stage:?}");
    }
}

#[test]
fn opencode_is_told_the_prices_of_the_ledger() {
    let config = opencode_config("http://127.0.0.1:1/v1");
    for name in NAMES {
        let cost = &config["provider"][PROVIDER]["models"][name]["cost"];
        let nano = |key: &str| cost[key].as_f64().and_then(Nano::from_usd).unwrap();
        assert_eq!((nano("input"), nano("output")), (price(name).input, price(name).output), "{name}");
    }
}

#[test]
fn no_prompt_can_be_taken_for_another() {
    let stages = Stage::ALL.into_iter().map(Stage::prompt);
    let prompts: Vec<&str> = stages.chain(Errand::ALL.into_iter().map(Errand::description)).collect();
    for (number, prompt) in prompts.iter().enumerate() {
        let others = prompts.iter().enumerate().filter(|(other, _)| *other != number);
        assert!(others.clone().all(|(_, other)| !prompt.contains(other)), "{prompt}");
    }
}

#[test]
fn git_is_believed_and_the_tasks_are_not() {
    let scratch = Scratch::create().unwrap();
    let environment = hermetic(&scratch, std::env::var("PATH").ok().as_deref(), 1);
    scratch.make_homes().unwrap();
    scratch.make_repository(&environment).unwrap();
    let git = git(&environment);
    let repository = scratch.repository();
    let head = || git.head(&repository).unwrap().unwrap();
    let look = |merged: &str| {
        let tasks = Errand::ALL.map(|errand| task(errand, merged, None));
        Checkout::gather(&scratch, &environment, &tasks).unwrap()
    };
    let first = look(&head());
    assert_eq!((first.branch.as_str(), first.commit), ("main", head()));
    assert_eq!(first.faults.len(), Errand::ALL.len(), "everything is red before there is any work: {:?}", first.faults);

    let write = |name: &str, text: &str| fs::write(repository.join(name), text).unwrap();
    let mended = fs::read_to_string(repository.join(FILE)).unwrap().replace(BROKEN_LINE, MENDED_LINE);
    write(FILE, &mended);
    write("check.sh", "test \"$(sh greet.sh Grace)\" = 'Hello, Grace!'");
    write("count.sh", "echo $#");
    assert_eq!(look(&head()).faults, ["3 files of the checkout are not as they are committed"]);

    let author = Author { name: "a".into(), email: "a@example.invalid".into() };
    git.commit_all(&repository, "all of it", &author).unwrap();
    assert_eq!(look(&head()).faults, Vec::<String>::new());

    let all = head();
    git.branch_create(&repository, "elsewhere", &all).unwrap();
    write("count.sh", "echo 7");
    git.commit_all(&repository, "not ours", &author).unwrap();
    assert_eq!(look(&all).faults, ["`sh count.sh Ada Grace | grep -qx 2` is red on main"]);
    let beside = scratch.root().join("beside");
    git.output(&repository, &["worktree", "add", "--quiet", beside.to_str().unwrap(), "elsewhere"]).unwrap();
    fs::write(beside.join("more"), "").unwrap();
    let other = git.commit_all(&beside, "on another branch", &author).unwrap().unwrap();
    let missing = look(&other).faults;
    assert!(missing.contains(&"main does not have the work of t001".to_owned()), "{missing:?}");
}

#[test]
fn a_worker_finds_the_same_places_and_settings() {
    let scratch = Scratch::create().unwrap();
    let environment = hermetic(&scratch, None, 1);
    let paths = Paths::new(|name| environment.get(name).map(Into::into)).unwrap();
    assert_eq!(paths.data_dir, scratch.data());
    assert_eq!(environment["SHUNTYARD_CONFIG"], scratch.config().to_string_lossy());
}

#[tokio::test]
async fn the_scratch_directory_is_removed() {
    let scratch = Scratch::create().unwrap();
    let root = scratch.root().to_owned();
    scratch.make_homes().unwrap();
    scratch.remove().await.unwrap();
    assert!(!root.exists());
    let root = Scratch::create().unwrap().root().to_owned();
    assert!(!root.exists(), "dropped without a word, it is removed as well");
}
