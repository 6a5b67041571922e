//! Managed servers: shared, replaced, ended.

use crate::{
    kills::{SOON, commands, kill, one_server, pids},
    own_env,
};
use shuntyard_testkit::{environment::finish, eventually};
use std::process::Command;

#[test]
fn later_commands_reuse_the_server_and_commands_at_once_start_one() {
    let env = own_env("reuse");
    let both: Vec<_> = (0..3).map(|_| env.spawn(&["dispatch", "--json", "-m", "scripted/alpha", "hi"])).collect();
    for child in both {
        finish(child).expect_ok();
    }
    let first = one_server(&env);
    env.dispatch(&["-m", "scripted/alpha", "again"]).expect_ok();
    assert_eq!(one_server(&env)["id"], first["id"]);
    assert_eq!(commands(&env, "serve").len(), 2, "the guard, which names its command, and the server itself");
    env.stop_servers();
    assert_eq!(pids(&env), Vec::<u32>::new());
}

#[test]
fn another_environment_or_configuration_gets_another_server() {
    let mut env = own_env("changes");
    env.dispatch(&["-m", "scripted/alpha", "hi"]).expect_ok();
    let first = one_server(&env);
    // A key that was exported later must reach the model.
    env.set("SOME_PROVIDER_API_KEY", "sk-later");
    env.dispatch(&["-m", "scripted/alpha", "hi"]).expect_ok();
    eventually("the first server goes", SOON, || env.servers().len() == 1);
    let second = one_server(&env);
    assert_ne!(second["id"], first["id"]);
    // So must an edited configuration.
    let mut config = env.opencode_config();
    config["provider"]["scripted"]["models"]["gamma"] = config["provider"]["scripted"]["models"]["alpha"].clone();
    env.write_opencode_config(config);
    env.dispatch(&["-m", "scripted/gamma", "hi"]).expect_ok();
    env.stop_servers();
}

#[test]
fn an_idle_server_ends_by_itself() {
    let mut env = own_env("idle");
    env.set("SHUNTYARD_SERVER_IDLE_TIMEOUT", "1s");
    env.dispatch(&["-m", "scripted/alpha", "hi"]).expect_ok();
    eventually("the idle server ends", SOON, || pids(&env).is_empty());
    assert_eq!(env.servers().len(), 0);
}

#[test]
fn a_process_that_only_looks_like_ours_is_never_signalled() {
    let env = own_env("strangers");
    env.dispatch(&["-m", "scripted/alpha", "hi"]).expect_ok();
    let server = one_server(&env);
    let keeper = u32::try_from(server["keeper_pid"].as_u64().expect("a pid")).expect("a pid");
    // A foreign process with the same name and arguments, but not started by us.
    let mut stranger = Command::new("sleep").arg("600").env_clear().spawn().expect("starts");
    kill("-9", keeper);
    eventually("what the keeper owned is gone", SOON, || pids(&env).is_empty());
    env.dispatch(&["-m", "scripted/alpha", "hi"]).expect_ok();
    env.stop_servers();
    assert!(stranger.try_wait().expect("asked").is_none(), "the stranger lives");
    stranger.kill().expect("ended");
    stranger.wait().expect("reaped");
}
