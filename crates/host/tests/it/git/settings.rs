//! Settings that come on top of those that the user's environment has.

use std::process::Command;

use shuntyard_host::git::Git;

use super::scene::Scene;

fn setting(git: &Git, scene: &Scene, key: &str) -> Option<String> {
    git.setting(&scene.top, key).unwrap()
}

#[test]
fn a_setting_is_added_to_those_that_were_given() {
    let (scene, _) = Scene::new();
    let git = scene.git.clone().with_setting("core.hooksPath", "/dev/null").with_setting("user.name", "first");
    let git = git.with_setting("user.name", "second");
    let read = |key| setting(&git, &scene, key);
    assert_eq!(read("init.defaultBranch").as_deref(), Some("main"), "what was given before stays");
    assert_eq!(read("core.hooksPath").as_deref(), Some("/dev/null"));
    assert_eq!(read("user.name").as_deref(), Some("second"));
}

/// Set for the process that inherits settings: the environment of this one is shared by all its tests.
const INHERITS: &str = "SHUNTYARD_INHERITS_SETTINGS";

#[test]
fn what_the_environment_sets_stays() {
    if std::env::var_os(INHERITS).is_some() {
        let (mut scene, _) = Scene::new();
        scene.git.variables.retain(|(name, _)| !name.to_string_lossy().starts_with("GIT_CONFIG_"));
        let git = scene.git.clone().with_setting("core.hooksPath", "/dev/null");
        let read = |key| setting(&git, &scene, key);
        assert_eq!(read("user.name").as_deref(), Some("by pair"));
        assert_eq!(read("user.email").as_deref(), Some("by parameter"));
        assert_eq!(read("core.hooksPath").as_deref(), Some("/dev/null"));
        return;
    }
    let own = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "git::settings::what_the_environment_sets_stays"])
        .env(INHERITS, "1")
        .envs([("GIT_CONFIG_COUNT", "2"), ("GIT_CONFIG_KEY_0", "user.name"), ("GIT_CONFIG_VALUE_0", "by pair")])
        .envs([("GIT_CONFIG_KEY_1", "core.hooksPath"), ("GIT_CONFIG_VALUE_1", "/elsewhere")])
        .env("GIT_CONFIG_PARAMETERS", "'user.email'='by parameter'")
        .output()
        .unwrap();
    assert!(own.status.success(), "{}{}", String::from_utf8_lossy(&own.stdout), String::from_utf8_lossy(&own.stderr));
}
