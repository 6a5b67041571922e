use super::{
    environment::hermetic,
    models::{NAMES, PROVIDER, configuration, model, opencode_config, price},
    proof::Proof,
    report::{CostCheck, StageReport, faults},
    scratch::{BROKEN_LINE, FILE, MENDED_LINE, Scratch, git},
    stage::{SUBJECT, Stage, verdict},
};
use crate::dispatch::{DispatchReport, ErrorReport, Status};
use serde_json::json;
use std::{fs, path::Path};
use switchyard_core::{
    DispatchId, ErrorClass, Nano, Usage,
    route::{
        Advice, Availability, Catalogue, Model, ModelPolicy, Provider, Question, Resolution, Rule, Source, Step,
        resolve,
    },
};
use switchyard_host::git::Author;
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
    }
}

#[test]
fn a_stage_is_right_only_when_it_ends_as_it_should() {
    for stage in [Stage::Routed, Stage::Structured, Stage::Quota] {
        assert_eq!(faults(stage, &report(stage), None), Vec::<String>::new(), "{stage:?}");
        let mut wrong = report(stage);
        wrong.model = model("another");
        assert_eq!(faults(stage, &wrong, None).len(), 1, "{stage:?} with another model");
    }
    let mut failed = report(Stage::Quota);
    failed.error.as_mut().unwrap().class = ErrorClass::RateLimited;
    let expected = "it ended with rate_limited, not with quota_exhausted";
    assert_eq!(faults(Stage::Quota, &failed, None), [expected]);
    let mut at_once = report(Stage::Structured);
    at_once.warnings.clear();
    assert_eq!(faults(Stage::Structured, &at_once, None).len(), 1, "the schema has to have refused something");
    assert_eq!(faults(Stage::Agent, &report(Stage::Agent), None), ["there is no commit to look at"]);
    let told = StageReport::new(Stage::Structured, report(Stage::Structured), None);
    assert_eq!(told.refused_values().collect::<Vec<_>>(), ["at /score: it is a word"]);
}

#[test]
fn costs_agree_to_the_nano_dollar_or_not_at_all() {
    let stages = [Stage::Routed, Stage::Quota].map(|stage| StageReport::new(stage, report(stage), None));
    let check = |ledger| CostCheck::new(&stages, Nano(ledger), 2).equal;
    assert_eq!((check(2_000_000), check(2_000_001)), (true, false));
    assert!(!CostCheck::new(&[], Nano::ZERO, 0).equal, "nothing was compared");
}

#[test]
fn every_stage_is_routed_to_its_model_past_one_that_is_not_connected() {
    let config = configuration(Path::new("/bin/opencode")).unwrap();
    assert_eq!(config.server.binary, "/bin/opencode");
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
    for (stage, other) in Stage::ALL.into_iter().flat_map(|one| Stage::ALL.map(|other| (one, other))) {
        assert!(stage == other || !stage.prompt().contains(other.prompt()), "{stage:?} {other:?}");
    }
}

#[test]
fn git_is_believed_and_the_agent_is_not() {
    let scratch = Scratch::create().unwrap();
    let environment = hermetic(&scratch, std::env::var("PATH").ok().as_deref(), 1);
    scratch.make_homes().unwrap();
    scratch.make_repository(&environment).unwrap();
    let gather = || Proof::gather(&scratch, &environment).unwrap().faults();
    assert!(gather().iter().any(|fault| fault.contains("exactly one new commit")), "{:?}", gather());

    let file = scratch.worktree().join(FILE);
    let mended = fs::read_to_string(&file).unwrap().replace(BROKEN_LINE, MENDED_LINE);
    fs::write(&file, mended).unwrap();
    assert!(gather().iter().any(|fault| fault.contains("not committed")), "{:?}", gather());

    let author = Author { name: "a".into(), email: "a@example.invalid".into() };
    git(&environment).commit_all(&scratch.worktree(), SUBJECT, &author).unwrap();
    assert_eq!(gather(), Vec::<String>::new());

    fs::write(scratch.repository().join(FILE), "touched").unwrap();
    assert_eq!(gather(), ["the main checkout was touched"]);
    git(&environment).commit_all(&scratch.repository(), "also wrong", &author).unwrap();
    assert!(gather().contains(&"the main checkout was touched".to_owned()), "{:?}", gather());
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
