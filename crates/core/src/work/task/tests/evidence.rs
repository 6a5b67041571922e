//! Whatever was found: good is good in every respect.

use super::*;
use proptest::{collection::vec, prelude::*, sample::select, strategy::Strategy, test_runner::Config as Run};

fn any_findings() -> impl Strategy<Value = Findings> {
    let failed = End::Failed { class: ErrorClass::Network, message: "m".into(), deadline: None, until: None };
    let zero = End::Exit { exit: Exit::Code(0) };
    let end = select(vec![End::Answered, End::Answered, zero, failed, End::Stopped { why: Stop::Circles }]);
    let exit = select(vec![Exit::Code(0), Exit::Code(0), Exit::Code(1), Exit::Code(127), Exit::Signal(9)]);
    let checks = vec((select(vec!["v", "w"]), exit), 0..3);
    let changed = vec(select(texts(&["src/a", "src/b", "srcx/a", "docs/a"])), 0..3);
    let trespass = prop_oneof![4 => Just(vec![]), 1 => Just(texts(&["x"]))];
    let secrets = prop_oneof![4 => Just(vec![]), 1 => Just(vec![secret()])];
    (end, checks, changed, trespass, secrets, 0..2_u64, 0..2_u32).prop_map(
        |(end, checks, changed, trespass, secrets, lines, binaries)| Findings {
            end,
            checks: checks.into_iter().map(|(command, exit)| check(command, exit)).collect(),
            changed,
            trespass,
            secrets,
            lines,
            binaries,
            ..findings()
        },
    )
}

proptest! {
    #![proptest_config(Run { cases: 4 * Run::default().cases, ..Run::default() })]

    #[test]
    fn good_is_good_in_every_respect(
        found in any_findings(),
        verify in vec(select(texts(&["v", "w"])), 0..2),
        allow in select(vec![vec![], texts(&["src"]), texts(&["src", "docs/*"])]),
        gate in select(vec![Gate::Closed, Gate::Open]),
    ) {
        let spec = TaskSpec { verify: verify.clone(), allow_paths: allow.clone(), gate, ..spec() };
        let inside = |path: &String| allow.is_empty() || allow.iter().any(|allowed| covers(allowed, path));
        let green = |check: &Check| check.exit == Exit::Code(0);
        let conditions = [
            found.trespass.is_empty(),
            found.secrets.is_empty(),
            found.changed.iter().all(inside),
            matches!(found.end, End::Answered | End::Exit { exit: Exit::Code(0) }),
            found.checks.iter().all(green),
            verify.iter().all(|command| found.checks.iter().any(|check| check.command == *command && green(check))),
            gate == Gate::Open || !found.changed.is_empty(),
        ];
        let judged = matches!(judge(&spec, &found), Judgement::Good { .. });
        prop_assert_eq!(judged, conditions.iter().all(|held| *held), "{:?}", conditions);
    }
}
