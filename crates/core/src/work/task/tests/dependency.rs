//! What may be merged although other work is below it.

use super::*;

fn branch(name: &str) -> Delivered {
    Delivered::Branch { branch: format!("shuntyard/{name}"), head: "f00d".into() }
}

#[test]
fn work_is_merged_only_when_the_base_has_what_it_builds_on() {
    let merged = Delivered::Merged { base: "develop".into(), head: "0123456789abcdef".into() };
    let url = "https://github.com/ann/app/pull/7".to_owned();
    let proposed = Delivered::PullRequest { url, head: "f00d".into() };
    let there = |delivered: &Delivered| (delivered.clone(), Presence::InBase);
    let missing = |delivered: &Delivered| (delivered.clone(), Presence::NotInBase);
    let retry = "; then `shuntyard task retry top` merges it";
    let on_branch = "it builds on d0, whose work is only on the branch shuntyard/one and not in main: merge that first \
                     (`git switch main && git merge shuntyard/one`)";
    let table = [
        (vec![], None),
        (vec![there(&branch("one")), there(&merged), there(&proposed)], None),
        (vec![missing(&Delivered::Nothing)], None),
        (vec![missing(&branch("one"))], Some(format!("{on_branch}{retry}"))),
        (vec![missing(&branch("one")), there(&merged)], Some(format!("{on_branch}{retry}"))),
        (
            vec![missing(&merged)],
            Some(format!(
                "it builds on d0, whose work was merged into develop and is not in main: bring 0123456789 there \
                 first{retry}"
            )),
        ),
        (
            vec![missing(&proposed)],
            Some(format!(
                "it builds on d0, which was merged by https://github.com/ann/app/pull/7, and main here does not have \
                 it: pull first{retry}"
            )),
        ),
        (
            vec![missing(&branch("one")), there(&merged), missing(&branch("two"))],
            Some(format!(
                "{on_branch}; it builds on d2, whose work is only on the branch shuntyard/two and not in main: merge \
                 that first (`git switch main && git merge shuntyard/two`){retry}"
            )),
        ),
    ];
    for (dependencies, wanted) in table {
        let named = dependencies.into_iter().enumerate();
        let dependencies: Vec<Dependency> = named
            .map(|(number, (delivered, presence))| Dependency { id: id(&format!("d{number}")), delivered, presence })
            .collect();
        let failure = not_in_base(&id("top"), "main", &dependencies);
        assert_eq!(failure.as_ref().map(|failure| failure.detail.clone()), wanted, "{dependencies:?}");
        assert!(failure.is_none_or(|failure| failure.mode == FailureMode::Blocked), "a person has to merge it");
    }
}
