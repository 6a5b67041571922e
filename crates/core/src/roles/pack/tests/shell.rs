//! What OpenCode asks for, for each kind of line. The table was made with the grammar that OpenCode uses.

use crate::roles::pack::shell::split;
use proptest::prelude::*;

#[test]
fn lines_are_split_as_opencode_does() {
    let table: [(&str, &[&str], &[&str]); 66] = [
        ("git status", &["git status"], &[]),
        ("  git status  ", &["git status"], &[]),
        ("echo x > f", &["echo x > f"], &[]),
        ("echo x>f", &["echo x>f"], &[]),
        ("echo a > f b", &["echo a > f b"], &[]),
        ("echo a > f 2> g", &["echo a > f 2> g"], &[]),
        ("a && b", &["a", "b"], &[]),
        ("a && b > f", &["a", "b"], &["> f"]),
        ("a | b > f", &["a", "b"], &["> f"]),
        ("a | b | c 2>&1", &["a", "b", "c"], &["2>&1"]),
        ("a > f && b", &["a > f", "b"], &[]),
        ("a ; b > f", &["a", "b > f"], &[]),
        ("a & b > f", &["a", "b > f"], &[]),
        ("a\nb > f", &["a", "b > f"], &[]),
        ("ls && find . > /dev/null -delete", &["ls", "find ."], &["> /dev/null -delete"]),
        ("> f", &[], &["> f"]),
        ("a; > f", &["a"], &["> f"]),
        (">f echo x", &[">f echo x"], &[]),
        ("a && >f b", &["a", ">f b"], &[]),
        ("< a < b rm x > c", &[], &["< a < b rm x > c"]),
        ("> a > b rm x", &["> a > b rm x"], &[]),
        ("X=1", &[], &[]),
        ("X=1 git status", &["X=1 git status"], &[]),
        ("X=$(rm f)", &["rm f"], &[]),
        ("export A=b > f", &[], &["> f"]),
        ("export A=$(rm f)", &["rm f"], &[]),
        ("[ -f x ] && b", &["b"], &[]),
        ("[[ a && b ]] > f", &[], &["> f"]),
        ("echo $(rm f)", &["echo $(rm f)", "rm f"], &[]),
        ("echo \"$(rm f)\"", &["echo \"$(rm f)\"", "rm f"], &[]),
        ("echo '$(rm f)'", &["echo '$(rm f)'"], &[]),
        ("echo `rm f`", &["echo `rm f`", "rm f"], &[]),
        ("cat <(rm f)", &["cat <(rm f)", "rm f"], &[]),
        ("echo ${x:-$(rm f)}", &["echo ${x:-$(rm f)}", "rm f"], &[]),
        ("(cd x && rm y) > f", &["rm y"], &["> f"]),
        ("{ a; b; } > f", &["a", "b"], &["> f"]),
        ("if a; then b > f; else c; fi > g", &["a", "b > f", "c"], &["> g"]),
        ("for i in $(ls); do rm $i; done", &["ls", "rm $i"], &[]),
        ("while read x; do rm $x; done < f", &["read x", "rm $x"], &["< f"]),
        ("! a > f", &["a"], &["> f"]),
        ("cat <<< x > f", &["cat <<< x > f"], &[]),
        ("git commit -m \"a && b > c\"", &["git commit -m \"a && b > c\""], &[]),
        ("echo a \\&\\& b", &["echo a \\&\\& b"], &[]),
        ("a \\\nb", &["a \\\nb"], &[]),
        ("a # b && c", &["a"], &[]),
        ("# only this", &[], &[]),
        ("\"git\" status", &["\"git\" status"], &[]),
        ("cd /tmp && ls", &["ls"], &[]),
        ("cd . > f", &[], &["> f"]),
        ("tee >(rm f) < g", &["tee >(rm f) < g", "rm f"], &[]),
        ("echo \"a\\\"b\" && ls", &["echo \"a\\\"b\"", "ls"], &[]),
        ("echo a\\;b", &["echo a\\;b"], &[]),
        ("ls \"\n\"", &["ls \"\n\""], &[]),
        ("ls \\\n -l", &["ls \\\n -l"], &[]),
        ("a=1 b=$(rm f) ls", &["a=1 b=$(rm f) ls", "rm f"], &[]),
        ("ls 2>&1 | tee f", &["ls 2>&1", "tee f"], &[]),
        ("(rm f) && ls", &["rm f", "ls"], &[]),
        ("{ rm f; }", &["rm f"], &[]),
        ("! rm f", &["rm f"], &[]),
        ("time rm f", &["time rm f"], &[]),
        ("ls # $(rm f)", &["ls"], &[]),
        ("eval \"rm f\"", &["eval \"rm f\""], &[]),
        ("a &\nb", &["a", "b"], &[]),
        ("[[ $(rm f) ]] && ls", &["rm f", "ls"], &[]),
        ("until rm f; do ls; done", &["rm f", "ls"], &[]),
        ("echo \"`rm f`\"", &["echo \"`rm f`\"", "rm f"], &[]),
    ];
    for (line, asked, unseen) in table {
        let parts = split(line).expect(line);
        assert_eq!((parts.asked, parts.unseen), (owned(asked), owned(unseen)), "{line}");
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn what_cannot_be_followed_is_unclear() {
    for line in [
        "cat <<EOF\nx\nEOF",
        "f() { rm x; }",
        "function f { rm x; }",
        "case x in y) a;; esac",
        "echo $((1 + 2))",
        "((x = 1))",
        "echo \"open",
        "echo $(open",
        "echo `open",
        "if a; then b",
        "A=(1 2)",
        "a[1]=2",
        "X=1 > f",
        "a &&",
        "echo `a` `b`",
        "( )",
        "done",
        "cat <<'EOF'\n$(rm f)\nEOF",
        "cat <<-EOF > f\n\tx\n\tEOF",
        "A=(1 $(rm f))",
        "select x in a; do rm f; done",
        "coproc rm f",
        "for ((i=0;i<1;i++)); do rm f; done",
        "echo $((1+$(rm f)))",
        "echo $'rm f'",
        "a;;b",
    ] {
        assert!(split(line).is_err(), "{line}: {:?}", split(line));
    }
}

#[test]
fn paths_are_taken_from_the_commands_that_opencode_looks_at() {
    let table: [(&str, &[&str]); 8] = [
        ("cat /etc/hostname", &["/etc/hostname"]),
        ("cat -n '/etc/host name' x", &["/etc/host name", "x"]),
        ("head /etc/hostname", &[]),
        ("rm -rf /tmp/a* \"$HOME/x\"", &["/tmp/a"]),
        ("cd .. && cp a /b", &["..", "a", "/b"]),
        ("chmod +x ~/a", &["~/a"]),
        ("cat *.rs", &[]),
        ("cat < /etc/hostname", &[]),
    ];
    for (line, paths) in table {
        assert_eq!(split(line).expect(line).paths, owned(paths), "{line}");
    }
}

proptest! {
    /// Every requested text is in the line, and no input makes the splitter fail.
    #[test]
    fn any_text_is_taken(line in "[ab '\"$(){}<>&|;!#`\\\\\n\u{e4}=\\[\\]0-2]{0,24}") {
        if let Ok(parts) = split(&line) {
            for text in parts.asked.iter().chain(&parts.unseen) {
                prop_assert!(line.contains(text.as_str()), "{:?} in {:?}", text, line);
            }
        }
    }

    /// Text in raw quotes is never a command.
    #[test]
    fn raw_quotes_hide_everything(inner in "[a-z $()&|;<>\"#]{0,12}") {
        let line = format!("echo '{inner}'");
        prop_assert_eq!(split(&line).expect("clear").asked, [line.clone()]);
    }

    /// Separate statements are asked for one by one, with their own redirections.
    #[test]
    fn statements_are_independent(parts in proptest::collection::vec("[a-z]{1,3}( [a-z]{1,3}){0,2}( > f)?", 1..5)) {
        let closing = ["do", "if", "fi", "for"];
        prop_assume!(parts.iter().all(|part| part.split(' ').all(|word| !closing.contains(&word) && word != "cd")));
        prop_assert_eq!(split(&parts.join("; ")).expect("clear").asked, parts);
    }
}
