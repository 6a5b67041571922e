//! Commands that hide what they do, and texts that are no commands at all.

use super::{check, is_attributed, placed};
use crate::work::task::checkout::{Call, Kind, Scene};
use proptest::prelude::*;

#[test]
fn a_path_that_is_put_together_is_found() {
    for (command, attributed) in [
        ("D=ROOT; rm $D/src/a.rs", true),
        ("D=ROOT; rm \"${D}\"/src/a.rs", true),
        ("export D=ROOT/src && rm $D/a.rs", true),
        ("D=ROOT rm src/a.rs", false),
        ("rm $HOME/app/src/a.rs", true),
        ("rm ~/app/src/a.rs", true),
        ("cd && rm app/src/a.rs", true),
        ("cd ~/app; rm $PWD/src/a.rs", true),
        ("cd ROOT; cd /; rm $OLDPWD/src/a.rs", true),
        ("bash -c 'rm ROOT/src/a.rs'", true),
        ("sh -ec \"cd ROOT; rm src/a.rs\"", true),
        ("eval 'rm ROOT/src/a.rs'", true),
        ("bash -c \"bash -c 'rm ROOT/src/a.rs'\"", true),
        ("sudo -n env X=1 /bin/rm ROOT/src/a.rs", true),
        ("timeout 5 nice -n 10 rm ROOT/src/a.rs", true),
        ("echo $(rm ROOT/src/a.rs)", true),
        ("echo `rm ROOT/src/a.rs`", true),
        ("echo \"$(cd ROOT; rm src/a.rs)\"", true),
        ("cat <(rm ROOT/src/a.rs)", true),
        ("for f in src/a.rs b; do rm ROOT/$f; done", true),
        ("for f in b c; do rm ROOT/$f; done", false),
        ("for d in ROOT; do rm $d/src/a.rs; done", true),
        ("echo src/a.rs | xargs -I{} rm ROOT/{}", true),
        ("rm /home/*/app/src/a.rs", true),
        ("rm ROOT/src/a.rs&", true),
        ("true||rm ROOT/src/a.rs", true),
        ("{ rm ROOT/src/a.rs; }", true),
        ("f() { rm ROOT/src/a.rs; }; f", true),
        ("rm \\\n  ROOT/src/a.rs", true),
        ("bash <<EOF\nrm ROOT/src/a.rs\nEOF", true),
        ("bash <<'EOF' 2>&1 | tee log\ncd ROOT\nrm src/a.rs\nEOF", true),
        ("cat <<A > x <<B\nrm ROOT/src/a.rs\nA\nb\nB\nls", false),
        ("cat <<A\ntext\nA\nrm ROOT/src/a.rs", true),
        ("python3 - <<EOF\nopen('ROOT/src/a.rs', 'w')\nEOF", true),
        ("python3 -c \"import os; os.chdir('ROOT'); os.remove('src/a.rs')\"", true),
        ("perl -e 'unlink \"ROOT/src/a.rs\"'", true),
        ("rm $UNKNOWN/src/a.rs", false),
        ("rm \"$(git rev-parse --show-toplevel)/src/a.rs\"", false),
        ("cd $SOMEWHERE; rm src/a.rs", false),
        ("rm ROOT/$x/../src/a.rs", false),
        ("rm '$HOME/app/src/a.rs'", false),
        ("rm 'ROOT/src/*.rs'", false),
        ("rm ROOT/src/a.rs/", true),
        ("rm //home//ann/./app/src/a.rs", true),
    ] {
        check(Kind::Deleted, "src/a.rs", command, attributed);
    }
}

#[test]
fn a_workspace_within_the_checkout_is_not_the_users() {
    let scene = Scene {
        root: "/r".into(),
        git_directory: "/r/.git".into(),
        workspace: "/r/.work/t1".into(),
        home: "/h".into(),
    };
    let evidence = |command: &str| {
        let found = crate::work::task::checkout::Evidence::of(&[Call::of_command(command)], &scene);
        found.attribute(&super::difference(Kind::Modified, ".work/t1/a"))
    };
    assert_eq!(
        evidence("rm a; rm /r/.work/t1/a; rm ../t1/a; git checkout ."),
        crate::work::task::checkout::Verdict::Unknown
    );
}

#[test]
fn names_with_odd_letters_are_found() {
    let odd = "odd 'name'\n\"x\" $y *.txt";
    let path = placed("ROOT/").clone() + odd;
    let quoted = format!("rm '{}'", path.replace('\'', "'\\''"));
    assert!(is_attributed(Kind::Deleted, odd, &[Call::of_command(&quoted)]));
    let call = Call::of_tool("write", &serde_json::json!({"filePath": path}));
    assert!(is_attributed(Kind::Modified, odd, &call));
}

#[test]
fn a_text_may_end_anywhere() {
    for open in ["'", "\"", "`", "${", "$(", "\\", "[", "{", "("] {
        for text in [format!("<<{open}"), format!("rm {open}"), format!("rm x >{open}"), format!("${{a{open}")] {
            check(Kind::Deleted, "src/a.rs", &text, false);
        }
    }
}

#[test]
fn a_text_that_nests_without_end_is_read_in_a_moment() {
    for text in
        ["$(".repeat(20_000), "(".repeat(20_000), "`\"'".repeat(7000), "sh -c '".repeat(3000), "<<A ".repeat(5000)]
    {
        check(Kind::Deleted, "src/a.rs", &text, false);
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(ROOT|/|\\.\\.|[ -~]|\n|\\PC){0,80}") {
        is_attributed(Kind::Deleted, "src/a.rs", &[Call::of_command(&placed(&text))]);
    }

    /// Nothing that stays in the workspace is ever evidence.
    #[test]
    fn work_in_the_workspace_is_never_blamed(
        names in prop::collection::vec("[a-z]{1,3}", 1..4),
        program in prop::sample::select(vec!["rm -rf", "git checkout --", "tee", "sed -i x", "./run", "mv x"]),
    ) {
        let path = names.join("/");
        let around = format!("{path}/../{}", names.last().unwrap());
        for word in [path.clone(), around, placed(&format!("MINE/{path}")), format!("../t001/{path}")] {
            let calls = [Call::of_command(&format!("{program} {word}")), Call::File { tool: "edit".into(), path: word }];
            prop_assert!(!is_attributed(Kind::Modified, &path, &calls));
        }
    }
}
