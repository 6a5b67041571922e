use super::*;
use crate::cli::Cli;
use clap::CommandFactory;

fn at(line: &str) -> Wanted {
    let mut command = Cli::command();
    command.build();
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    wanted(&command, &words)
}

fn values(line: &str) -> Vec<String> {
    match at(line) {
        Wanted::Candidates(candidates) => candidates.into_iter().map(|candidate| candidate.value).collect(),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn commands_options_and_words_come_from_the_description() {
    let table: &[(&str, &[&str])] = &[
        ("comp", &["completions"]),
        ("task re", &["retry", "reset"]),
        ("--json task re", &["retry", "reset"]),
        ("--server http://x task re", &["retry", "reset"]),
        ("dispatch --mo", &["--model", "--models", "--mode"]),
        ("dispatch --mode a", &["agent"]),
        ("dispatch --mode=a", &["--mode=agent"]),
        ("task list --phase qu", &["queued"]),
        ("completions f", &["fish"]),
        ("nonsense x", &[]),
        ("keep", &[]),
    ];
    for (line, expected) in table {
        assert_eq!(values(line), *expected, "{line}");
    }
    assert!(values("").contains(&"dispatch".to_owned()) && !values("").contains(&"keeper".to_owned()));
}

#[test]
fn names_are_asked_for_where_they_are_taken() {
    let table = [
        ("task show t0", Source::Tasks, "", "t0"),
        ("task show --json ", Source::Tasks, "", ""),
        ("task cancel t001 t0", Source::Tasks, "", "t0"),
        ("task add --depends-on t001,t0", Source::Tasks, "t001,", "t0"),
        ("dispatch hello -m acme/", Source::Models, "", "acme/"),
        ("dispatch --model=ac", Source::Models, "--model=", "ac"),
        ("dispatch --judge ac", Source::Models, "", "ac"),
        ("models compare a/b c", Source::Models, "", "c"),
        ("dispatch --tier so", Source::Tiers, "", "so"),
        ("dispatch --task-type co", Source::TaskTypes, "", "co"),
        ("dispatch --tag auto:f", Source::Tags, "", "auto:f"),
        ("dispatch --profile co", Source::Profiles, "", "co"),
        ("providers check ac", Source::Providers, "", "ac"),
        ("batch pause n", Source::Batches, "", "n"),
        ("task list --batch n", Source::Batches, "", "n"),
        ("config set dispatch.te", Source::Settings, "", "dispatch.te"),
    ];
    for (line, source, head, typed) in table {
        let expected = Wanted::Dynamic { source, head: head.to_owned(), typed: typed.to_owned() };
        assert_eq!(at(line), expected, "{line}");
    }
    assert_eq!(at("task add --id t"), Wanted::Candidates(Vec::new()), "a new id is nobody's yet");
    assert_eq!(at("dispatch --dir x"), Wanted::Directories);
    assert_eq!(at("dispatch --image x"), Wanted::Files);
    assert_eq!(at("dispatch -- -x"), Wanted::Files);
}
