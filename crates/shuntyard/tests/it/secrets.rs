//! Keys and passwords stay out of everything that is printed or kept.

use crate::own_env;
use shuntyard_scripted::Step;
use shuntyard_testkit::environment::API_KEY;
use std::path::Path;

pub fn files_below(directory: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

#[test]
fn keys_are_nowhere_but_in_opencodes_own_files() {
    let env = own_env("secrets");
    let key = env.provider.script("secrets", vec![Step::text("fine"), Step::status(401)]);
    let mut said = String::new();
    for args in
        [vec!["dispatch", "-m", "scripted/alpha", &key], vec!["dispatch", "--json", "-m", "scripted/alpha", &key]]
    {
        let outcome = env.run(&args);
        said.push_str(&outcome.stdout);
        said.push_str(&outcome.stderr);
    }
    let server = &env.servers()[0];
    let id = server["id"].as_str().expect("an id");
    let password = std::fs::read_to_string(env.data_dir().join(format!("servers/{id}.password"))).expect("a password");
    let mut lines = String::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        lines.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path().join("cmdline")).unwrap_or_default()));
    }
    for secret in [API_KEY, password.as_str()] {
        assert!(!said.contains(secret), "printed");
        assert!(!lines.contains(secret), "in a process's arguments");
    }
    let mut files = Vec::new();
    files_below(&env.data_dir(), &mut files);
    assert!(files.len() > 3, "{files:?}");
    for file in files {
        let bytes = std::fs::read(&file).unwrap_or_default();
        let holds = |secret: &str| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!holds(API_KEY), "the key is in {}", file.display());
        assert!(!holds(&password) || file.extension().is_some_and(|e| e == "password"), "in {}", file.display());
    }
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| std::fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
    assert_eq!(mode(&env.data_dir()), 0o700);
    assert_eq!(mode(&env.data_dir().join("servers")), 0o700);
    assert_eq!(mode(&env.data_dir().join("shuntyard.db")), 0o600);
    assert_eq!(mode(&env.data_dir().join(format!("servers/{id}.password"))), 0o600);
    env.stop_servers();
}
