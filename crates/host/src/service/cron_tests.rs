use super::super::{Work, sample};
use super::*;
use std::process::Command;

fn instance(directory: &str) -> Instance {
    Instance::of(directory.as_ref(), "/home/ann".as_ref())
}

#[test]
fn the_block_is_one_entry_between_markers() {
    let expected = "\
# shuntyard begin
# made by `shuntyard service install`; `shuntyard service uninstall` removes it
*/2 * * * * /usr/bin/env HOME=/home/ann PATH='/opt/50'\\%' off:/usr/bin' /opt/bin/shuntyard pulse >/home/ann/.local/share/shuntyard/service.log 2>&1
# shuntyard end
";
    let mut service = sample("/opt/bin/shuntyard", Work::Pulse);
    assert_eq!(block(&service).unwrap(), expected);
    service.instance = instance("/srv/two");
    let suffix = service.instance.suffix().unwrap();
    let made = block(&service).unwrap();
    assert!(made.starts_with(&format!("# shuntyard begin {suffix}\n")), "{made}");
    assert!(made.ends_with(&format!("# shuntyard end {suffix}\n")), "{made}");
}

/// What a cron makes of a command before a shell sees it: the percent signs, and in some crons two backslashes.
fn through_cron(command: &str) -> String {
    assert!(!command.replace("\\%", "").contains('%'), "{command}");
    command.replace("\\%", "%")
}

#[test]
fn odd_paths_come_through_cron_and_the_shell() {
    for path in ["/a b", "/50%", "%", "/it's \"100%\" $HOME `x`", "/plain/x-1.2", "/ü;&|<>*?[]~#!", "''%%''"] {
        let word = quoted(path).unwrap();
        // A cron that knows nothing of percent signs leaves the backslash to the shell.
        for command in [through_cron(&word), word.clone()] {
            let output = Command::new("sh").args(["-c", &format!("printf %s {command}")]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), path, "{command}");
        }
    }
    for path in ["/a\\b", "/a\nb", "/a\0b"] {
        assert_eq!(quoted(path), Err(Unsayable { manager: Manager::Cron, value: path.to_owned() }));
    }
}

const BLOCK: &str = "# shuntyard begin\n1\n# shuntyard end\n";

#[test]
fn everything_else_is_kept_byte_for_byte() {
    let other = "# shuntyard begin two-1\n2\n# shuntyard end two-1\n";
    let foreign: [&[u8]; 6] = [
        b"",
        b"\n",
        b"MAILTO=x\n\n  0 1 * * *  a \\% b\r\n",
        b"\xff\xfe\n# caf\xe9\n",
        b"# shuntyard beginner\n",
        other.as_bytes(),
    ];
    let ours = Instance::default();
    for bytes in foreign {
        let crontab = Crontab::read(bytes).unwrap();
        assert_eq!((crontab.blocks(&ours).len(), crontab.without(&ours)), (0, bytes.to_vec()));
        let installed = crontab.with(&ours, BLOCK);
        assert_eq!(installed, [bytes, BLOCK.as_bytes()].concat());
        let again = Crontab::read(&installed).unwrap();
        assert_eq!(again.blocks(&ours), [BLOCK.as_bytes()]);
        assert_eq!((again.with(&ours, BLOCK), again.without(&ours)), (installed.clone(), bytes.to_vec()));
    }
}

#[test]
fn the_block_keeps_its_place_and_copies_go() {
    let ours = Instance::default();
    let text = format!("a\n{BLOCK}b\n{BLOCK}c\n");
    let crontab = Crontab::read(text.as_bytes()).unwrap();
    let new = BLOCK.replace('1', "3");
    assert_eq!(String::from_utf8(crontab.with(&ours, &new)).unwrap(), format!("a\n{new}b\nc\n"));
    assert_eq!(crontab.without(&ours), b"a\nb\nc\n");
    // A last line without an end would swallow the first of ours.
    assert_eq!(Crontab::read(b"a").unwrap().with(&ours, BLOCK), format!("a\n{BLOCK}").as_bytes());
}

#[test]
fn broken_markers_are_refused() {
    let table = [
        ("a\n# shuntyard begin\n1\n", 2),
        ("# shuntyard end\n", 1),
        ("# shuntyard begin\n# shuntyard begin\n# shuntyard end\n", 2),
        ("# shuntyard begin\n# shuntyard end two-1\n", 2),
        ("# shuntyard begin two-1\n\n# shuntyard end\n", 3),
    ];
    for (text, line) in table {
        assert_eq!(Crontab::read(text.as_bytes()), Err(BrokenBlock { line }), "{text}");
    }
}

#[test]
fn entries_by_hand_are_found_outside_of_blocks() {
    let text = "# 1 * * * * shuntyard pulse\n*/5 * * * * shuntyard pulse\n# shuntyard begin\n* * * * * shuntyard pulse\n\
                # shuntyard end\n@reboot cd /x; ./shuntyard supervise";
    let found = Crontab::read(text.as_bytes()).unwrap().by_hand();
    assert_eq!(found, ["*/5 * * * * shuntyard pulse", "@reboot cd /x; ./shuntyard supervise"]);
}
