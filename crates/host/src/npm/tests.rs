//! The real npm where it can be made to show a behaviour, and a scripted one for the rest.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const VERSION: &str = "1.18.33";

struct Place {
    directory: shuntyard_testkit::Scratch,
}

impl Place {
    fn new() -> Self {
        Self { directory: shuntyard_testkit::Scratch::of_test() }
    }

    fn target(&self) -> PathBuf {
        self.directory.path().join("opencode")
    }

    /// A PATH with an npm that notes its call and then runs the script; `binary NAME TEXT` makes a native binary.
    fn scripted(&self, script: &str) -> Vec<(OsString, OsString)> {
        let bin = self.directory.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
        let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let text = format!(
            "#!/bin/sh\necho \"$*\" >> '{log}'\nbinary() {{ d=node_modules/opencode-{system}-{processor}$1/bin; mkdir -p $d; \
             printf '#!/bin/sh\\n%s\\n' \"$2\" > $d/opencode; chmod 755 $d/opencode; }}\n{script}\n",
            log = self.directory.path().join("calls").display()
        );
        crate::bounded::install_script(&bin.join("npm"), &text);
        vec![("PATH".into(), format!("{}:/usr/bin:/bin", bin.display()).into())]
    }

    fn install(&self, variables: &[(OsString, OsString)]) -> Result<PathBuf, InstallError> {
        install_opencode(&self.target(), VERSION, variables, &mut |_| {})
    }

    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.directory.path().join("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Names in the target directory, without the lock.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.target()).unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(|name| name.into_string().unwrap()).filter(|name| name != ".install.lock").collect()
    }
}

#[test]
fn the_best_variant_that_runs_is_kept_alone() {
    let place = Place::new();
    let npm = place.scripted("binary '' 'kill -ILL $$'; binary -baseline 'echo 1.18.33'; binary -musl 'echo 1.18.33'");
    assert_eq!(installed_opencode(&place.target(), VERSION), None);
    let mut steps = Vec::new();
    let binary = install_opencode(&place.target(), VERSION, &npm, &mut |step| steps.push(step.to_owned())).unwrap();
    assert_eq!(steps, ["installing opencode-ai 1.18.33 with npm", "checking that OpenCode runs"]);
    assert!(binary.starts_with(place.target().join(VERSION)) && binary.ends_with("bin/opencode"));
    assert!(binary.to_str().unwrap().contains("-baseline/"));
    assert_eq!(installed_opencode(&place.target(), VERSION), Some(binary.clone()));
    assert_eq!(fs::read_dir(place.target().join(VERSION).join("node_modules")).unwrap().count(), 1);
    assert!(!place.target().join(VERSION).join(".check").exists());

    assert_eq!(place.install(&npm).unwrap(), binary);
    let [call] = &place.calls()[..] else { panic!("npm ran again") };
    assert!(call.starts_with("install --prefix ") && call.contains(" opencode-ai@1.18.33 --ignore-scripts "), "{call}");
}

#[test]
fn installers_at_once_do_the_work_once() {
    let place = Place::new();
    let npm = place.scripted("binary '' 'echo 1.18.33'");
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                place.install(&npm).unwrap();
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!((done.into_inner(), place.calls().len(), place.names()), (4, 1, vec![VERSION.to_owned()]));
}

#[test]
fn a_half_install_is_never_taken_for_one() {
    let place = Place::new();
    let abandoned = place.target().join(".staging-1.18.33-1-1");
    fs::create_dir_all(abandoned.join("node_modules")).unwrap();
    fs::create_dir_all(place.target().join(VERSION).join("node_modules")).unwrap();
    assert_eq!(installed_opencode(&place.target(), VERSION), None);
    let broken = place.scripted("binary '' 'echo 1.18.33'; echo 'disk is full' >&2; exit 28");
    let error = place.install(&broken).unwrap_err();
    assert!(
        matches!(&error, InstallError::Failed { status: Some(28), stderr } if stderr == "disk is full"),
        "{error:?}"
    );
    assert_eq!(installed_opencode(&place.target(), VERSION), None);
    assert_eq!(place.names(), [VERSION]);
    place.install(&place.scripted("binary '' 'echo 1.18.33'")).unwrap();
    assert_eq!(place.names(), [VERSION]);
}

#[test]
fn a_binary_that_does_not_run_is_refused() {
    let place = Place::new();
    let npm = place.scripted("binary '' 'exit 3'; binary -baseline 'echo 9.9.9'");
    let error = place.install(&npm).unwrap_err();
    let InstallError::DidNotRun { reasons } = &error else { panic!("{error:?}") };
    assert!(reasons[0].ends_with(" ended with exit status: 3"), "{reasons:?}");
    assert!(reasons[1].ends_with("-baseline calls itself version \"9.9.9\""), "{reasons:?}");
    let error = place.install(&place.scripted("mkdir node_modules")).unwrap_err();
    assert_eq!(error.to_string(), "run the OpenCode that npm installed: it has no binary for this machine");
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn without_npm_it_says_what_to_do() {
    let place = Place::new();
    let error = place.install(&[("PATH".into(), place.directory.path().into())]).unwrap_err();
    assert!(matches!(error, InstallError::NpmMissing), "{error:?}");
    assert!(error.to_string().contains("SHUNTYARD_OPENCODE_BIN"));
}

#[test]
fn only_exact_versions_are_installed() {
    for version in ["", "latest", "../1.0.0", "1.0/..", "1.0 --global", "^1.0.0"] {
        let error = install_opencode(Path::new("/nowhere"), version, &[], &mut |_| {}).unwrap_err();
        assert!(matches!(error, InstallError::Version(_)), "{version}: {error:?}");
        assert_eq!(installed_opencode(Path::new("/"), version), None);
    }
}

#[test]
fn reasons_of_old_and_new_npm_are_told_apart() {
    let unreachable = |stderr: &str| matches!(error::npm_failed(Some(1), stderr), InstallError::Unreachable { .. });
    assert!(unreachable("npm error code ENOTFOUND\nnpm error network"));
    assert!(unreachable("npm WARN x\nnpm ERR! code EAI_AGAIN\n"));
    assert!(!unreachable("npm error code ETARGET\nnpm error notarget ECONNREFUSED"));
    assert!(!unreachable(""));
}

#[test]
fn the_real_npm_without_a_network() {
    let place = Place::new();
    let cache = place.directory.path().join("cache");
    let variables = [("npm_config_registry", "http://127.0.0.1:9/"), ("npm_config_fetch_retries", "0")];
    let variables = variables.into_iter().chain([("npm_config_cache", cache.to_str().unwrap())]);
    let variables: Vec<_> = variables.map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    let error = place.install(&variables).unwrap_err();
    assert!(matches!(&error, InstallError::Unreachable { code } if code == "ECONNREFUSED"), "{error:?}");
    assert!(error.to_string().contains("could not reach its registry"));
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn the_real_npm_with_a_network() {
    let place = Place::new();
    let binary = place.install(&[]).unwrap();
    let said = Command::new(&binary).arg("--version").env("HOME", place.directory.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), VERSION);
    let size = |path: &Path| fs::metadata(path).unwrap().len();
    assert!(size(&binary) > 50_000_000);
    let natives = fs::read_dir(place.target().join(VERSION).join("node_modules")).unwrap().flatten();
    let natives = natives.filter(|entry| entry.path().join("bin/opencode").exists());
    assert_eq!(natives.count(), 1);
}
