//! TODO.md of repositories that opted in: the changes that a supervisor makes to it by itself.

use crate::claims::{Pair, git};
use jiff::Timestamp;
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::{TestEnv, environment::finish, eventually};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(60);

/// Opted in, with short timers; `more` goes into the repository's section.
fn opt_in(env: &TestEnv, more: &str) {
    let project = env.project().canonicalize().expect("there");
    env.write_config(&format!(
        r#"
[supervise]
adaptive = false
start_timeout = "20s"
trouble_rests = ["1s"]
rests = ["500ms"]
look_every = "1s"
todo_every = "1s"
disk_reserve_mib = 1
[tiers]
haiku = ["scripted/alpha"]
[repository."{}"]
todo = true
{more}
"#,
        project.display()
    ));
    git(&env.project(), &["config", "user.name", "Ann"]);
    git(&env.project(), &["config", "user.email", "ann@example.org"]);
}

/// Lets a model write a file that has the name of a task, whichever of the stores asks it.
fn script(pair: &Pair, id: &str, file: &str) -> String {
    let key = pair.yards[0].provider.fresh_key(id);
    for yard in &pair.yards {
        let write = Step::tool("write", json!({"filePath": file, "content": format!("{id}\n")}));
        yard.provider.script_key(&key, vec![write, Step::text("I wrote it.")]);
    }
    key
}

fn task(env: &TestEnv, id: &str) -> Value {
    env.run(&["task", "show", id, "--json"]).expect_code(0).json()
}

/// A store that reads a line after another one has claimed it does not adopt it.
fn known(env: &TestEnv, id: &str) -> Option<Value> {
    let shown = env.run(&["task", "show", id, "--json"]);
    (shown.code == Some(0)).then(|| shown.json())
}

fn line(plan: &str, id: &str) -> String {
    let wanted = |line: &&str| line.split_whitespace().any(|word| word == id);
    plan.lines().find(wanted).expect("a line of that id").trim().to_owned()
}

#[test]
fn lines_are_claimed_worked_on_verified_delivered_and_ticked_by_exactly_one_store() {
    let pair = Pair::new("todo-two", "- [ ] t000 later\n");
    let keys = ["t012", "t013", "t014.1"].map(|id| script(&pair, id, &format!("{id}.txt")));
    let [first, second, part] = &keys;
    for yard in &pair.yards {
        opt_in(
            yard,
            "verify = 'test -s \"$SHUNTYARD_TASK.txt\"'\ndeliver = \"merge\"\ntier = \"haiku\"\nbatch = \"plan\"",
        );
    }
    pair.plan(&format!(
        "# Plan\n\
         - [ ] t012 write it {first} #auto-dispatch #docs ~30m\n\
         - [ ] t013 go on from it {second} #auto-dispatch blocked-by:t012\n\
         - [ ] t014 the whole\n\
         \x20 - [ ] t014.1 a part of it {part} #auto-dispatch\n\
         - [ ] t015 for people first #auto-dispatch #discussion-needed\n"
    ));
    let running = pair.yards.each_ref().map(|yard| yard.spawn(&["supervise", "--until-idle"]));
    for outcome in running.map(finish) {
        outcome.expect_code(0);
    }
    let (plan, history) = (pair.shared(), pair.history());
    for id in ["t012", "t013", "t014.1"] {
        let line = line(&plan, id);
        assert!(line.starts_with(&format!("- [x] {id} ")), "{line}");
        for field in [" assignee:", " started:", " completed:20", " verified:20"] {
            assert_eq!(line.matches(field).count(), 1, "{field} in {line}");
        }
        for said in [format!("{id}: claimed by"), format!("{id}: done")] {
            assert_eq!(history.lines().filter(|line| line.starts_with(&said)).count(), 1, "{said} in {history}");
        }
        let is_done = |yard: &&TestEnv| known(yard, id).is_some_and(|task| task["phase"] == "done");
        let done: Vec<&TestEnv> = pair.yards.iter().filter(is_done).collect();
        assert_eq!(done.len(), 1, "{id} was done by one store");
        let done = done[0];
        assert_eq!(git(&done.project(), &["show", &format!("main:{id}.txt")]), format!("{id}\n"));
        assert_eq!((&task(done, id)["batch"], &task(done, id)["receipt"]["good"]), (&json!("plan"), &json!(true)));
    }
    for key in &keys {
        let asked: usize = pair.yards.iter().map(|yard| yard.provider.requests(key).entries.len()).sum();
        assert_eq!(asked, 2, "{key} was asked by one store: for the file, and for the last word");
    }
    // What waits for another begins when that is done, which the box shows somewhat later.
    let moment = |id: &str, what: &str| -> Timestamp {
        let done = pair.yards.iter().filter_map(|yard| known(yard, id)).find(|task| task["phase"] == "done");
        let attempts = done.expect("done")["attempts"].as_array().expect("attempts").clone();
        attempts.last().expect("one")[what].as_str().expect("a moment").parse().expect("a time")
    };
    assert!(moment("t013", "started_at") >= moment("t012", "ended_at"), "{history}");
    // The whole is not done before its parts.
    assert_eq!(line(&plan, "t014"), "- [ ] t014 the whole");
    assert_eq!(line(&plan, "t015"), "- [ ] t015 for people first #auto-dispatch #discussion-needed");
    let tasks = || pair.yards.iter().filter_map(|yard| known(yard, "t012"));
    let first = tasks().find(|task| task["phase"] == "done").expect("done");
    assert_eq!(first["labels"], json!(["auto-dispatch", "docs"]), "{first:#}");
    for other in tasks().filter(|task| task["phase"] != "done") {
        assert_eq!(other["phase"], "cancelled", "{other:#}");
    }
}

#[test]
fn a_box_is_ticked_only_after_the_steps_below_it() {
    let pair = Pair::new("todo-steps", "- [ ] t000 later\n");
    let ada = &pair.yards[0];
    opt_in(ada, "verify = \"test -s t016.txt\"\ntier = \"haiku\"");
    let key = script(&pair, "t016", "t016.txt");
    pair.plan(&format!("- [ ] t016 with a step {key} #auto-dispatch\n  - [ ] a step that a person takes\n"));
    ada.run(&["supervise", "--until-idle"]).expect_code(0);
    assert_eq!(task(ada, "t016")["phase"], "done");
    let problem = || ada.run(&["status", "--json"]).json()["todo"][0]["problem"].clone();
    let pulsed = |what: &str, is_so: &dyn Fn() -> bool| {
        eventually(what, SOON, || {
            ada.run(&["pulse"]).expect_code(0);
            is_so()
        });
    };
    pulsed("the open step is told", &|| problem().as_str().is_some_and(|told| told.contains("t016 has open parts")));
    assert!(line(&pair.shared(), "t016").starts_with("- [ ] t016 "), "{}", pair.shared());
    pair.plan(&pair.shared().replace("- [ ] a step", "- [x] a step"));
    pulsed("it is ticked", &|| line(&pair.shared(), "t016").starts_with("- [x] t016 "));
    pulsed("nothing is left to tell", &|| problem() == Value::Null);
}

#[test]
fn a_supervisor_ends_although_a_look_is_always_due() {
    let pair = Pair::new("todo-due", "- [ ] t000 later\n");
    let ada = &pair.yards[0];
    opt_in(ada, "tier = \"haiku\"");
    let config = ada.root.join("home/.config/shuntyard/config.toml");
    let text = std::fs::read_to_string(config).expect("the configuration");
    ada.write_config(&text.replace("todo_every = \"1s\"", "todo_every = \"1ms\""));
    let key = script(&pair, "t017", "t017.txt");
    pair.plan(&format!("- [ ] t017 write it {key} #auto-dispatch\n"));
    ada.run(&["supervise", "--until-idle"]).expect_code(0);
    assert_eq!(task(ada, "t017")["phase"], "done");
}

#[test]
fn a_remote_that_is_away_or_hangs_keeps_no_other_work_from_starting() {
    let pair = Pair::new("todo-away", "- [ ] t001 for people\n");
    let ada = &pair.yards[0];
    opt_in(ada, "");
    let away = pair.remote.with_extension("away");
    std::fs::rename(&pair.remote, &away).expect("moved");
    let add = |name: &str| {
        let command = format!("echo {name} > {name}.txt");
        ada.run(&["task", "add", "--id", name, "--repo", &beside(ada), "--command", &command]).expect_code(0);
    };
    let problem = || ada.run(&["status", "--json"]).expect_code(0).json()["todo"][0]["problem"].clone();
    add("one");
    let pulse = ada.run(&["pulse", "--json"]);
    pulse.expect_code(0);
    assert_eq!(pulse.json()["started"], json!(["one"]));
    assert!(problem().as_str().is_some_and(|problem| problem.contains("origin/main cannot be asked")), "{}", problem());
    assert!(ada.run(&["status"]).stderr.contains("origin/main cannot be asked"));
    std::fs::rename(&away, &pair.remote).expect("moved");
    eventually("the next look is well", SOON, || {
        ada.run(&["pulse"]).expect_code(0);
        problem() == Value::Null
    });
    // A remote that accepts the connection and sends nothing.
    git(&ada.project(), &["remote", "set-url", "origin", "ssh://nobody.invalid/x.git"]);
    let silent = ada.root.join("silent");
    shuntyard_testkit::script(&silent, "#!/bin/sh\ntouch \"$0.reached\"\nexec sleep 20\n");
    git(&ada.project(), &["config", "core.sshCommand", &silent.display().to_string()]);
    let mut supervising = ada.spawn(&["supervise"]);
    eventually("the remote is asked", SOON, || ada.root.join("silent.reached").exists());
    add("two");
    eventually("other work is done", SOON, || task(ada, "two")["phase"] == "done");
    supervising.kill().expect("it runs");
    supervising.wait().expect("it is gone");
}

/// A repository that did not opt in.
fn beside(env: &TestEnv) -> String {
    let directory = env.root.join("work/beside");
    if !directory.exists() {
        let made = env.repository("beside");
        git(&made, &["commit", "-q", "--allow-empty", "-m", "first"]);
    }
    directory.display().to_string()
}

#[test]
fn a_repository_has_defaults_and_flags_come_first() {
    let pair = Pair::new("todo-defaults", "- [ ] t001 for people\n");
    let ada = &pair.yards[0];
    opt_in(
        ada,
        "verify = [\"true\", \"test -d .\"]\ndeliver = \"merge\"\ntier = \"haiku\"\nbatch = \"plan\"\nallow_paths = [\"src\"]",
    );
    let added = |args: &[&str]| {
        let id = ada.run(&[&["task", "add", "--json"], args].concat()).expect_code(0).json()["id"].clone();
        let task = task(ada, id.as_str().expect("an id"));
        ["verify", "deliver", "tier", "batch", "allow_paths"].map(|field| task[field].clone())
    };
    let filled = [json!(["true", "test -d ."]), json!("merge"), json!("haiku"), json!("plan"), json!(["src"])];
    assert_eq!(added(&["do it"]), filled);
    ada.run(&["batch", "create", "other"]).expect_code(0);
    let own = [
        "do it",
        "--verify",
        "make",
        "--deliver",
        "branch",
        "--model",
        "scripted/alpha",
        "--batch",
        "other",
        "--allow-path",
        "docs",
    ];
    let wanted = [json!(["make"]), json!("branch"), Value::Null, json!("other"), json!(["docs"])];
    assert_eq!(added(&own), wanted);
}

#[test]
fn a_task_that_is_added_under_the_id_of_a_line_is_that_line() {
    let plan =
        "- [ ] t001 mend the parser #auto-dispatch #core ~2h blocked-by:t003\n- [x] t002 done\n- [ ] t003 wait\n";
    let pair = Pair::new("todo-link", plan);
    let [ada, bob] = &pair.yards;
    pair.yards.iter().for_each(|yard| opt_in(yard, ""));
    let would = ada.run(&["task", "add", "--id", "t001", "--dry-run", "--json"]);
    would.expect_code(0);
    assert_eq!(
        (would.json()["would_add"][0]["description"].clone(), pair.shared()),
        (json!("mend the parser"), plan.to_owned())
    );
    ada.run(&["task", "add", "--id", "t001"]).expect_code(0);
    assert!(line(&pair.shared(), "t001").contains(" assignee:ada@test started:"), "{}", pair.shared());
    let task = task(ada, "t001");
    assert_eq!((&task["description"], &task["depends_on"]), (&json!("mend the parser"), &json!(["t003"])), "{task:#}");
    assert_eq!(task["labels"], json!(["auto-dispatch", "core"]));
    bob.run(&["task", "add", "--id", "t001", "--json"]).expect_code(3).expect_class("refused");
    bob.run(&["task", "add", "--id", "t002", "--json"]).expect_code(3).expect_class("refused");
    assert_eq!(bob.run(&["task", "list", "--json"]).json()["tasks"], json!([]));
    // No line has it: a task like any other.
    bob.run(&["task", "add", "--id", "t009", "--json"]).expect_code(2).expect_class("usage");
    bob.run(&["task", "add", "something else", "--id", "t009"]).expect_code(0);
    ada.run(&["task", "add", "--id", "t001", "--json"]).expect_code(2);
    std::fs::rename(&pair.remote, pair.remote.with_extension("away")).expect("moved");
    bob.run(&["task", "add", "--id", "t003", "--json"]).expect_code(4).expect_class("git");
}

#[test]
fn a_model_does_not_write_into_todo() {
    let pair = Pair::new("todo-tamper", "- [ ] t000 later\n");
    let ada = &pair.yards[0];
    opt_in(ada, "verify = \"true\"\ntier = \"haiku\"");
    let tick = || Step::tool("write", json!({"filePath": "TODO.md", "content": "- [x] t001 done\n"}));
    let steps = (0..8).flat_map(|_| [tick(), Step::text("I am done.")]).collect();
    let key = ada.provider.script("tamper", steps);
    pair.plan(&format!("- [ ] t001 do it {key} #auto-dispatch\n"));
    ada.run(&["supervise", "--until-idle"]).expect_code(0);
    let task = task(ada, "t001");
    assert_eq!(task["phase"], "blocked", "{task:#}");
    assert!(task["reason"].as_str().expect("a reason").contains("TODO.md was changed"), "{task:#}");
    eventually("the claim is given back", SOON, || {
        ada.run(&["pulse"]).expect_code(0);
        line(&pair.shared(), "t001") == format!("- [ ] t001 do it {key} #auto-dispatch")
    });
}

#[test]
fn what_only_a_person_can_settle_is_in_the_status() {
    let pair = Pair::new("todo-told", "- [ ] t000 later\n");
    let ada = &pair.yards[0];
    let key = script(&pair, "t030", "t030.txt");
    opt_in(ada, "tier = \"haiku\"");
    pair.plan(&format!(
        "- [ ] t020 bad model #auto-dispatch model:no/such/thing@@\n\
         - [ ] t021 once #auto-dispatch\n\
         - [ ] t021 twice #auto-dispatch\n\
         - [ ] t022 waits #auto-dispatch blocked-by:t023\n\
         - [ ] t023 waits too #auto-dispatch blocked-by:t022\n\
         - [ ] t024 waits for nothing #auto-dispatch blocked-by:t999\n\
         - [ ] t030 without a check {key} #auto-dispatch\n"
    ));
    ada.run(&["supervise", "--until-idle"]).expect_code(0);
    assert_eq!(task(ada, "t030")["phase"], "done");
    let problem = || ada.run(&["status", "--json"]).json()["todo"][0]["problem"].to_string();
    eventually("the line that nothing proves is told", SOON, || {
        ada.run(&["pulse"]).expect_code(0);
        problem().contains("t030 is done, but no verify command has proved it")
    });
    let told = problem();
    for part in
        ["t022, t023 wait for each other", "t021: it stands on the lines 2, 3", "t999, which is not there", "t020: "]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(told.matches("it stands on the lines").count(), 1, "{told}");
}

#[test]
fn imported_tasks_have_the_settings_of_their_repository_and_of_their_line() {
    let pair = Pair::new("todo-imported", "- [ ] t000 later\n");
    let ada = &pair.yards[0];
    let key = script(&pair, "t040", "t040.txt");
    opt_in(
        ada,
        "setup = \"touch .git/prepared\"\nverify = \"test -e .git/prepared && test -s t040.txt\"\n\
         allow_paths = [\"t040.txt\"]\ntier = \"haiku\"\ndeliver = \"branch\"",
    );
    pair.plan(&format!("- [ ] t040 write it {key} #auto-dispatch ~2h\n"));
    ada.run(&["supervise", "--until-idle"]).expect_code(0);
    let done = task(ada, "t040");
    assert_eq!((&done["phase"], &done["estimate_seconds"]), (&json!("done"), &json!(7200)), "{done:#}");
    assert_eq!(done["allow_paths"], json!(["t040.txt"]), "{done:#}");
    // The same with a pull request: nothing opens one here, and the task has the order.
    opt_in(ada, "verify = \"true\"\ntier = \"haiku\"\ndeliver = \"pr\"");
    pair.plan(&format!("{}- [ ] t041 write more #auto-dispatch\n", pair.shared()));
    eventually("it is imported", SOON, || {
        ada.run(&["pulse"]).expect_code(0);
        ada.run(&["task", "show", "t041"]).code == Some(0)
    });
    assert_eq!(task(ada, "t041")["deliver"], "pr");
    ada.run(&["task", "cancel", "t041", "--wait"]);
}
