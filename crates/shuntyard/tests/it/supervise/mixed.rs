//! A night's work: many tasks through OpenCode with all kinds of trouble mixed in. In the end every task is
//! where it belongs, the base branch is green, and the bill is the provider's.

use crate::supervise::Yard;
use serde_json::{Value, json};
use shuntyard_scripted::Step;

fn write(path: &str, content: &str) -> Step {
    Step::tool("write", json!({"filePath": path, "content": content}))
}

fn bash(command: &str) -> Step {
    Step::tool("bash", json!({"command": command, "description": "work"}))
}

struct Night {
    yard: Yard,
    keys: Vec<String>,
}

impl Night {
    /// Adds a task that is merged when it is good, and returns its id.
    fn add(&mut self, name: &str, steps: Vec<Step>, more: &[&str]) -> String {
        let key = self.yard.env.provider.script(name, steps);
        let description = format!("{name} {key}");
        self.keys.push(key);
        self.yard.add(&[&[description.as_str(), "--deliver", "merge"], more].concat())
    }

    fn phases(&self, ids: &[String], phase: &str) {
        for id in ids {
            let task = self.yard.task(id);
            assert_eq!(task["phase"], phase, "{task:#}");
        }
    }
}

#[test]
fn twenty_tasks_with_all_kinds_of_trouble_end_where_they_belong() {
    let settings = r#"silence = "8s"
[dispatch]
first_token_timeout = "30s"
[fallback.cooldowns]
rate_limit = "1s"
timeout = "none"
api_error = "none"
overloaded = "none"
[availability]
limit_ttl = "1s"
health_ttl = "none"
[tiers]
haiku = ["scripted/alpha"]
flash = ["scripted/beta"]
"#;
    let mut night = Night { yard: Yard::with("night", settings), keys: Vec::new() };
    let tier = ["--tier", "haiku"];
    let mut done = Vec::new();
    for number in 0..9 {
        let file = format!("plain-{number}.txt");
        let verify = format!("test -s {file}");
        let steps = vec![write(&file, "plain\n"), Step::text("done")];
        done.push(night.add("plain", steps, &[&tier[..], &["--verify", &verify]].concat()));
    }
    let follows = format!("plain-0.txt after {}", done[0]);
    let steps = vec![bash("cat plain-0.txt plain-1.txt > both.txt"), Step::text(follows)];
    let needs = format!("{},{}", done[0], done[1]);
    done.push(night.add(
        "follows",
        steps,
        &[&tier[..], &["--depends-on", &needs, "--verify", "test -s both.txt"]].concat(),
    ));
    let limited = vec![
        Step::status(429).retry_after(1),
        Step::status(429).retry_after(1),
        write("limited.txt", "x\n"),
        Step::text("done"),
    ];
    done.push(night.add("limited", limited, &["--model", "scripted/odd"]));
    let hangs = vec![write("hang.txt", "x\n"), Step::hang_mid_stream(), write("hang.txt", "y\n"), Step::text("done")];
    done.push(night.add("hangs", hangs, &tier));
    let dropped =
        vec![Step::drop_connection(), Step::drop_connection(), write("dropped.txt", "x\n"), Step::text("done")];
    done.push(night.add("dropped", dropped, &tier));
    let asks =
        vec![Step::tool("read", json!({"filePath": "/etc/hostname"})), write("asked.txt", "x\n"), Step::text("done")];
    done.push(night.add("asks", asks, &tier));
    let red = vec![write("red.txt", "1\n"), Step::text("done"), write("red.txt", "2\n"), Step::text("done")];
    done.push(night.add("red", red, &[&tier[..], &["--verify", "grep -qx 2 red.txt"]].concat()));
    // Both change the same line; the second one is sent back to the new base.
    let rivals = ["left", "right"];
    let first_rival = night.keys.len();
    for name in rivals {
        let line = |number: u32| format!("{name} {number}\n");
        let steps = vec![
            write("README", &line(1)),
            Step::text("done").delay(std::time::Duration::from_secs(2)),
            write("README", &line(2)),
            Step::text("done"),
        ];
        done.push(night.add(name, steps, &tier));
    }
    let silent = vec![Step::text("All done!"), Step::text("As I said.")];
    let blocked = vec![night.add("silent", silent, &["--model", "scripted/alpha"])];
    let leak = || vec![write("key.txt", "AKIAIOSFODNN7EXAMPLE\n"), Step::text("done")];
    let leaking = vec![
        night.add("leak", leak(), &["--model", "scripted/alpha", "--attempts", "1"]),
        night.add(
            "outside",
            vec![write("elsewhere.txt", "x\n"), Step::text("done")],
            &["--model", "scripted/alpha", "--attempts", "1", "--allow-path", "src"],
        ),
    ];
    assert!(done.len() + blocked.len() + leaking.len() >= 20);
    let all: Vec<&String> = done.iter().chain(&blocked).chain(&leaking).collect();
    night.yard.settle();
    night.phases(&done, "done");
    night.phases(&blocked, "blocked");
    night.phases(&leaking, "failed");
    let yard = &night.yard;
    assert_eq!(yard.git(&["status", "--porcelain"]), "", "the checkout of the base follows and is clean");
    for file in ["plain-8.txt", "both.txt", "limited.txt", "hang.txt", "dropped.txt", "asked.txt", "red.txt"] {
        assert!(yard.repository().join(file).exists(), "{file}");
    }
    assert!(!yard.repository().join("key.txt").exists(), "a secret is never merged");
    let unknown = all.iter().filter(|id| yard.task(id)["cost_known"] != true).count();
    assert!(unknown <= 3, "only what was cut off has an unknown rest: {unknown}");
    let readme = std::fs::read_to_string(yard.repository().join("README")).expect("the README");
    // On a busy machine the second may start when the first is merged; then its first try fits.
    let last = rivals.iter().position(|name| readme.starts_with(name)).expect("one of them was the last");
    let asked = yard.env.provider.requests(&night.keys[first_rival + last]).entries.len();
    let line = if asked > 2 { 2 } else { 1 };
    assert_eq!(readme, format!("{} {line}\n", rivals[last]), "after {asked} requests");
    // Every request that the provider saw belongs to a task: watching costs no tokens.
    let ledger = yard.env.provider.ledger();
    let of_tasks: usize = night.keys.iter().map(|key| yard.env.provider.requests(key).entries.len()).sum();
    assert_eq!(ledger.entries.len(), of_tasks, "zero tokens for the supervision itself");
    for (id, key) in all.iter().zip(&night.keys) {
        let booked = yard.task(id)["cost_usd"].as_f64().expect("a cost");
        let requests = yard.env.provider.requests(key);
        let billed = requests.total_reported().cost.as_usd();
        // What is cut off in the middle of an answer is billed and never reported: then it counts with an estimate.
        let known = yard.task(id)["cost_known"] == true;
        let right = if known { (booked - billed).abs() < 1e-12 } else { booked > billed - 1e-12 };
        assert!(right, "{id}: {booked} was booked, {billed} billed: {:#?}", yard.task(id));
    }
    let modes = |id: &str| -> Vec<Value> {
        yard.task(id)["attempts"].as_array().expect("tries").iter().map(|one| one["failure_mode"].clone()).collect()
    };
    assert!(modes(&done[10]).iter().all(|mode| mode != "LOGIC"), "a limit is no failure of the model");
}
