//! Steps of a change against real processes and files, and how commands are shown.

use super::{tools::shown, *};
use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

fn tools() -> Tools {
    Tools::new(&[("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into())
}

#[test]
fn a_failing_tool_is_shown_with_its_command_and_words() {
    let command = ["sh", "-c", "echo no bus, apiKey=hunter2hunter2 >&2; exit 3"];
    let error = tools().run(&command).unwrap_err();
    let expected =
        "`sh -c 'echo no bus, apiKey=hunter2hunter2 >&2; exit 3'` failed with exit 3: no bus, apiKey=[secret]";
    assert_eq!(error.to_string(), expected);
    let error = tools().run(&["no-such-program", "x"]).unwrap_err();
    assert!(error.is_missing());
    assert_eq!(error.to_string(), "`no-such-program x` cannot be run: there is no such program in PATH");
}

#[test]
fn a_tool_that_hangs_is_ended() {
    let tools = tools().with_deadline(Duration::from_millis(300));
    let error = tools.run(&["sh", "-c", "echo stuck >&2; exec sleep 300"]).unwrap_err().to_string();
    assert!(error.ends_with("did not end within 0.3 s: stuck"), "{error}");
}

#[test]
fn commands_are_shown_as_one_types_them() {
    assert_eq!(shown(&["a", "--b=c/d.e", ""]), "a --b=c/d.e ''");
    assert_eq!(shown(&["it's", "x y"]), "'it'\\''s' 'x y'");
}

#[test]
fn only_marked_files_are_ours() {
    use own_file::Found;
    let scratch = shuntyard_testkit::Scratch::of_test();
    let path = scratch.path().join("shuntyard.service");
    assert_eq!(Found::at(&path), Found::Absent);
    fs::write(&path, "[Service]\n").unwrap();
    assert_eq!(Found::at(&path), Found::Foreign);
    let text = format!("# {}\n", shuntyard_host::service::MARK);
    fs::write(&path, &text).unwrap();
    assert_eq!(Found::at(&path), Found::Ours(text));
    // A masked unit is a link to nothing.
    for target in ["/dev/null", "nowhere"] {
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(target, &path).unwrap();
        assert!(matches!(own_file::ours(&path), Err(ServiceError::Foreign(_))), "{target}");
    }
}

#[test]
fn a_step_is_tried_again_while_something_ends() {
    let scratch = shuntyard_testkit::Scratch::of_test();
    let file = scratch.path().join("tries");
    let script = format!("echo x >>'{0}'; test $(wc -l <'{0}') -ge 3", file.display());
    let change = Change {
        steps: vec![Step::Retry(vec!["sh".into(), "-c".into(), script])],
        ..Change::nothing(Outcome::Updated)
    };
    perform::perform(&change, &tools(), Mode::Show).unwrap();
    assert!(!file.exists());
    perform::perform(&change, &tools(), Mode::Do).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "x\nx\nx\n");
}

#[test]
fn a_directory_with_other_things_keeps_its_mode() {
    let scratch = shuntyard_testkit::Scratch::of_test();
    let directory = scratch.path().join("units");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    let write = Step::Write { path: directory.join("a/b.service"), text: "x".into() };
    let change = Change { steps: vec![write], ..Change::nothing(Outcome::Installed) };
    perform::perform(&change, &tools(), Mode::Do).unwrap();
    assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read_to_string(directory.join("a/b.service")).unwrap(), "x");
}
