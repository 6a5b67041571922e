//! Snapshots of a checkout that are compared, and differences that are attributed or not.

mod attribution;
mod differences;
mod hostile;

use crate::work::task::checkout::{Call, Difference, Evidence, Kind, Scene, Verdict};

const ROOT: &str = "/home/ann/app";
const WORK: &str = "/home/ann/.local/share/shuntyard/work/app/t001";

fn scene() -> Scene {
    Scene { root: ROOT.into(), git_directory: format!("{ROOT}/.git"), workspace: WORK.into(), home: "/home/ann".into() }
}

fn difference(kind: Kind, name: &str) -> Difference {
    Difference { kind, name: name.into() }
}

/// `ROOT` and `MINE` in a command stand for the two directories.
fn placed(text: &str) -> String {
    text.replace("ROOT", ROOT).replace("MINE", WORK)
}

fn is_attributed(kind: Kind, name: &str, calls: &[Call]) -> bool {
    match Evidence::of(calls, &scene()).attribute(&difference(kind, name)) {
        Verdict::Agent { evidence } => {
            assert!(!evidence.is_empty());
            true
        }
        Verdict::Unknown => false,
    }
}

#[track_caller]
fn check(kind: Kind, name: &str, command: &str, attributed: bool) {
    let call = Call::of_command(&placed(command));
    assert_eq!(is_attributed(kind, name, &[call]), attributed, "{kind:?} {name}: {command}");
}
