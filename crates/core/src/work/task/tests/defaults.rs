//! What a repository's settings add to a task.

use super::*;
use crate::settings::Repository;
use crate::values::Deliver;

#[test]
fn only_what_was_not_given_is_filled_in() {
    let defaults = Repository {
        verify: vec!["make test".to_owned()],
        allow_paths: vec!["src".to_owned()],
        deliver: Some(Deliver::Merge),
        batch: "night".to_owned(),
        tier: "haiku".to_owned(),
        ..Repository::default()
    };
    let text = |text: &str| Some(text.to_owned());
    let plain = TaskSpec { deliver: Deliver::Branch, ..spec() };
    let command = Agent::Command { command: "make".to_owned() };
    let filled = |spec: &TaskSpec, batch: Option<&str>, deliver| {
        let (mut spec, mut batch) = (spec.clone(), batch.map(str::to_owned));
        defaults.fill(&mut spec, &mut batch, deliver);
        (spec.verify.join(";"), spec.allow_paths.join(";"), spec.deliver, spec.tier, batch)
    };
    let all = ("make test".to_owned(), "src".to_owned(), Deliver::Merge, text("haiku"), text("night"));
    let own = TaskSpec { verify: vec!["true".to_owned()], allow_paths: vec!["docs".to_owned()], ..plain.clone() };
    let named = TaskSpec { model: text("p/m"), ..plain.clone() };
    let kind = TaskSpec { task_type: text("docs"), ..plain.clone() };
    let by_command = TaskSpec { agent: command.clone(), ..plain.clone() };
    let in_place = TaskSpec { agent: command, place: Place::Directory, ..plain.clone() };
    for (spec, batch, deliver, wanted) in [
        (&plain, None, None, all.clone()),
        (&own, None, None, ("true".to_owned(), "docs".to_owned(), all.2, all.3.clone(), all.4.clone())),
        (
            &plain,
            Some("day"),
            Some(Deliver::Branch),
            (all.0.clone(), all.1.clone(), Deliver::Branch, all.3.clone(), text("day")),
        ),
        (&named, None, None, (all.0.clone(), all.1.clone(), all.2, None, all.4.clone())),
        (&kind, None, None, (all.0.clone(), all.1.clone(), all.2, None, all.4.clone())),
        (&by_command, None, None, (all.0.clone(), all.1.clone(), all.2, None, all.4.clone())),
        (&in_place, None, None, (String::new(), String::new(), Deliver::Branch, None, all.4.clone())),
    ] {
        assert_eq!(filled(spec, batch, deliver), wanted, "{spec:?}");
    }
    let mut untouched = plain.clone();
    Repository::default().fill(&mut untouched, &mut None, None);
    assert_eq!(untouched, plain);
}
