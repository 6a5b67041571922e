//! How the guard and its last step are called: `guard [--grace-ms N] -- CMD ARGS…`, `guard-exec PARENT -- CMD ARGS…`.
//!
//! Invariant: both ends of these command lines are in this file, so they cannot disagree.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use super::{GuardError, own_executable, run_guard, run_guard_exec};

pub const DEFAULT_GRACE: Duration = Duration::from_secs(3);

const GUARD: &str = "guard";
const GUARD_EXEC: &str = "guard-exec";

/// When the arguments (without the program's name) make this process a guard, it is one until its end, and
/// the answer is what to exit with. To be called first thing in `main`, before any thread is started.
pub fn invoked(args: impl IntoIterator<Item = OsString>) -> Option<Result<i32, GuardError>> {
    let mut args = args.into_iter();
    match args.next()?.to_str()? {
        GUARD => Some(guard(args.collect())),
        GUARD_EXEC => Some(guard_exec(args.collect())),
        _ => None,
    }
}

/// The arguments that make our own program the guard of `command`.
pub fn guard_arguments(grace: Duration, command: &OsStr, args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let grace = grace.as_millis().to_string();
    let head = [OsStr::new(GUARD), OsStr::new("--grace-ms"), OsStr::new(&grace), OsStr::new("--"), command];
    head.map(OsStr::to_owned).into_iter().chain(args).collect()
}

pub(super) fn exec_arguments(
    parent: u32,
    command: &OsStr,
    args: impl IntoIterator<Item = OsString>,
) -> impl Iterator<Item = OsString> {
    let parent = parent.to_string();
    let head = [OsStr::new(GUARD_EXEC), OsStr::new(&parent), OsStr::new("--"), command];
    head.map(OsStr::to_owned).into_iter().chain(args)
}

fn guard(args: Vec<OsString>) -> Result<i32, GuardError> {
    let (options, command, args) = split(args)?;
    let grace = match options.as_slice() {
        [] => DEFAULT_GRACE,
        [name, value] if name == "--grace-ms" => Duration::from_millis(number(value)?),
        _ => return Err(GuardError::Call("unknown option")),
    };
    run_guard(&own_executable().map_err(GuardError::Prepare)?, grace, command, args)
}

fn guard_exec(args: Vec<OsString>) -> Result<i32, GuardError> {
    let (options, command, args) = split(args)?;
    let [parent] = options.as_slice() else { return Err(GuardError::Call("no parent")) };
    let parent = u32::try_from(number(parent)?).map_err(|_| GuardError::Call("not a process number"))?;
    let source = run_guard_exec(parent, &command, args);
    Err(GuardError::Start { command, source })
}

fn split(mut args: Vec<OsString>) -> Result<(Vec<OsString>, OsString, Vec<OsString>), GuardError> {
    let dashes = args.iter().position(|arg| arg == "--").ok_or(GuardError::Call("no `--`"))?;
    let mut command = args.split_off(dashes).into_iter().skip(1);
    let program = command.next().ok_or(GuardError::Call("no command"))?;
    Ok((args, program, command.collect()))
}

fn number(text: &OsStr) -> Result<u64, GuardError> {
    text.to_str().and_then(|text| text.parse().ok()).ok_or(GuardError::Call("not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn other_commands_are_left_to_the_program() {
        for line in ["", "run", "guards -- x", "--help"] {
            assert!(invoked(words(line)).is_none(), "{line}");
        }
    }

    #[test]
    fn a_malformed_call_starts_nothing() {
        for line in ["guard", "guard --", "guard sh", "guard --grace-ms -- sh", "guard --grace-ms x -- sh"] {
            assert!(matches!(invoked(words(line)), Some(Err(GuardError::Call(_)))), "{line}");
        }
        for line in ["guard-exec -- sh", "guard-exec x -- sh", "guard-exec 1 --", "guard-exec 99999999999 -- sh"] {
            assert!(matches!(invoked(words(line)), Some(Err(GuardError::Call(_)))), "{line}");
        }
    }

    #[test]
    fn a_command_may_hold_dashes_of_its_own() {
        let mut line = guard_arguments(DEFAULT_GRACE, OsStr::new("git"), words("log -- file"));
        assert_eq!(line, words("guard --grace-ms 3000 -- git log -- file"));
        line.remove(0);
        assert_eq!(split(line).unwrap(), (words("--grace-ms 3000"), "git".into(), words("log -- file")));
    }
}
