//! What holds after any events in any order.

use super::*;
use crate::values::Deliver;
use crate::values::Rules;
use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{Index, select},
    strategy::{Strategy, ValueTree},
    test_runner::{Config as Run, TestRunner},
};
use std::collections::BTreeSet;

fn any_failure() -> impl Strategy<Value = Failure> {
    let modes = select(FailureMode::ALL.to_vec());
    let classes = option::of(select(ErrorClass::ALL.to_vec()));
    let until = select(vec![None, Some(0), Some(NOW), Some(NOW + HOUR), Some(i64::MIN), Some(i64::MAX)]);
    (modes, classes, select(vec!["x", "y", "z"]), until, any::<bool>()).prop_map(
        |(mode, class, signature, until, lift)| Failure {
            mode,
            class,
            until,
            lift: if lift { Lift::Allowed } else { Lift::Useless },
            ..logic(signature)
        },
    )
}

fn any_event() -> impl Strategy<Value = Event> {
    let plain = select(every_event());
    let tier = option::of(select(texts(&["a", "b", "c", "d", "e", "unknown"])));
    let refuse = (any_failure(), tier, option::of(select(texts(&["acme/a", "acme/b"]))))
        .prop_map(|(failure, tier, model)| Event::Refuse { failure, tier, model, resume: None });
    let until = select(vec![0, NOW, NOW + HOUR, i64::MAX]);
    let wait = select(vec![Wait::Limit, Wait::Budget, Wait::Trouble]);
    let postpone = (until, wait).prop_map(|(until, wait)| Event::Postpone { until, wait, detail: "later".into() });
    let merged = Delivered::Merged { base: "main".into(), head: "def".into() };
    let deliver = select(vec![merged, Delivered::Nothing, Delivered::Branch { branch: "b".into(), head: "h".into() }])
        .prop_map(|delivered| Event::Deliver { delivered });
    // What leads far: without these few walks would come beyond the first try.
    let far = ["claim", "start", "ask", "worked", "wake", "approve", "propose"];
    let onward = select(every_event().into_iter().filter(|event| far.contains(&event.name())).collect::<Vec<_>>());
    prop_oneof![
        6 => plain,
        9 => onward,
        2 => refuse,
        1 => any_failure().prop_map(|failure| Event::Return { failure }),
        1 => deliver,
        1 => postpone,
    ]
}

fn any_task() -> impl Strategy<Value = Task> {
    let deliver = select(vec![Deliver::Branch, Deliver::Merge, Deliver::Pr]);
    let place = prop_oneof![5 => Just(Place::Worktree), 1 => Just(Place::Directory)];
    let attempts = option::of(0..4_u32);
    let models = prop_oneof![
        2 => Just((None, None)),
        2 => Just((Some("acme/b".to_owned()), None)),
        1 => Just((None, Some(Contest { models: texts(&["acme/a", "acme/b"]) }))),
    ];
    (deliver, place, attempts, models, any::<bool>()).prop_map(|(deliver, place, attempts, models, listed)| {
        let mut task = Task { epoch: 0, ..task(State::Queued) };
        (task.spec.deliver, task.spec.place, task.spec.attempts) = (deliver, place, attempts);
        (task.spec.model, task.spec.contest) = models;
        task.spec.todo = listed.then(|| id("t007"));
        task
    })
}

/// What the past allows: whether the work of this claim was approved, and the epoch of the newest lesson.
#[derive(Default)]
struct Past {
    approved: bool,
    learned_at: Option<i64>,
}

fn count(step: &Step, kind: &str) -> usize {
    step.effects.iter().filter(|effect| effect.kind() == kind).count()
}

/// The epoch, and who holds the task.
fn holds(before: &Task, event: &Event, step: &Step) -> Result<(), TestCaseError> {
    let (was, is) = (before.state.is_held(), step.task.state.is_held());
    let follows = matches!(&step.resumed, Resumed::Follows(stage)
        if step.task.state == State::Starting { stage: stage.clone() } && *stage != Stage::Work);
    let risen = i64::from(*event == Event::Claim) + i64::from(follows);
    prop_assert_eq!(step.task.epoch, before.epoch + risen);
    prop_assert!(!is || was || *event == Event::Claim, "held without a claim");
    let wanted = match (was, is) {
        (false, true) => Resumed::Begins,
        (true, false) => Resumed::Ends,
        (true, true) if follows => step.resumed.clone(),
        _ => Resumed::Same,
    };
    prop_assert_eq!(&step.resumed, &wanted);
    prop_assert!(!follows || matches!(event, Event::Lose { .. }), "only a loss is followed");
    Ok(())
}

/// No recipient is notified twice, and none is forgotten.
fn tells(before: &Task, event: &Event, step: &Step, past: &mut Past) -> Result<(), TestCaseError> {
    let (was, is) = (before.state.phase(), step.task.state.phase());
    let settles = is.is_settled() && was != is;
    let notices = count(step, "notify");
    prop_assert!(notices <= 1);
    prop_assert!(!settles || notices == 1, "an end that nobody hears of");
    prop_assert!(notices == 0 || settles || is == Phase::Waiting);
    for effect in &step.effects {
        if let (Effect::Notify { notice, .. }, true) = (effect, settles) {
            prop_assert_eq!(notice.as_str(), is.as_str());
        }
        if let Effect::Mark { done } = effect {
            prop_assert_eq!(*done, is == Phase::Done);
        }
    }
    prop_assert_eq!(count(step, "mark"), usize::from(settles && before.spec.todo.is_some()));
    let judged = matches!(event, Event::Approve { .. } | Event::Refuse { .. });
    prop_assert_eq!(count(step, "learn"), usize::from(judged));
    if judged {
        prop_assert!(past.learned_at.is_none_or(|epoch| epoch < step.task.epoch), "two lessons of one claim");
        past.learned_at = Some(step.task.epoch);
    }
    Ok(())
}

/// Where it may have come from.
fn comes(before: &Task, event: &Event, step: &Step, past: &mut Past) -> Result<(), TestCaseError> {
    let state = &step.task.state;
    match &before.state {
        State::Done { .. } => prop_assert_eq!(event, &Event::Reset),
        State::Cancelled { .. } => prop_assert!(matches!(event, Event::Reset | Event::Retry)),
        _ => {}
    }
    past.approved |= matches!(event, Event::Approve { .. });
    if matches!(state, State::Done { .. } | State::Delivering { .. } | State::Review { .. }) {
        prop_assert!(past.approved, "{} without evidence", state.name());
    }
    // What was approved stays so while only its hand-over is tried again.
    let handed_over_next = matches!(step.task.tally.resume, Some(Stage::Deliver { .. }));
    if *state == State::Queued && !handed_over_next {
        past.approved = false;
    }
    let cared_for = state.is_held() || state.wakes_at().is_some() || *state == State::Queued;
    prop_assert!(cared_for != state.phase().is_settled(), "{:?} is a dead end", state);
    if *event == Event::Reset {
        prop_assert_eq!(&step.task.tally, &Tally { afresh: true, ..Tally::default() });
    }
    Ok(())
}

fn tallies(before: &Task, event: &Event, step: &Step, rules: &Rules) -> Result<(), TestCaseError> {
    let Task { spec, tally, .. } = &step.task;
    prop_assert!(tally.lessons.len() <= 4);
    prop_assert!(tally.losses <= rules.losses + 1);
    prop_assert!(tally.rises <= rules.rises && tally.reinforced <= rules.reinforcements);
    prop_assert!(spec.model.is_none() || tally.tier.is_none(), "a named model has risen");
    prop_assert!(spec.attempts.is_none_or(|most| tally.tries <= most.max(1)));
    let failed = matches!(event, Event::Refuse { .. } | Event::Return { .. } | Event::Revise { .. });
    prop_assert!(failed || tally.tries <= before.tally.tries, "only a failure counts as a try");
    let mut copy = tally.avoid.clone();
    copy.sort();
    copy.dedup();
    prop_assert_eq!(copy.len(), tally.avoid.len(), "avoided twice");
    Ok(())
}

/// All else stays as it is, and the audit records what happened.
fn keeps(before: &Task, event: &Event, step: &Step, now: i64) -> Result<(), TestCaseError> {
    let Task { state, tally, epoch, .. } = step.task.clone();
    prop_assert_eq!(&step.task, &Task { state, tally, epoch, changed_at: now, ..before.clone() });
    let Change { event: name, from, to, epoch, detail, route: None } = &step.change else {
        return Err(TestCaseError::fail("a step knows of no route"));
    };
    prop_assert_eq!((name.as_str(), from.as_str()), (event.name(), before.state.name()));
    prop_assert_eq!((to.as_str(), *epoch), (step.task.state.name(), step.task.epoch));
    let explains = matches!(step.task.state.phase(), Phase::Failed | Phase::Blocked | Phase::Cancelled);
    prop_assert!(!explains || !detail.is_empty());
    let text = serde_json::to_string(&(&step.task, &step.change, &step.effects)).expect("it can be written");
    let back: (Task, Change, Vec<Effect>) = serde_json::from_str(&text).expect("it can be read");
    prop_assert_eq!(back, (step.task.clone(), step.change.clone(), step.effects.clone()));
    Ok(())
}

/// Else what holds for any walk would hold for none.
#[test]
fn the_walks_lead_everywhere() {
    let (rules, mut runner) = (rules(), TestRunner::deterministic());
    let mut reached = BTreeSet::new();
    for _ in 0..2000 {
        let walk = (any_task(), vec(any_event(), 150)).new_tree(&mut runner).unwrap();
        let (mut task, events) = walk.current();
        for event in events {
            if let Ok(step) = step(&task, event, &rules, NOW + HOUR) {
                reached.insert((step.change.event, step.change.to));
                task = step.task;
            }
        }
    }
    let all: BTreeSet<&str> = every_event().iter().map(Event::name).collect();
    let events: BTreeSet<&str> = reached.iter().map(|(event, _)| event.as_str()).collect();
    assert_eq!(events, all);
    let all: BTreeSet<&str> = every_state().iter().map(State::name).collect();
    let states: BTreeSet<&str> = reached.iter().map(|(_, state)| state.as_str()).collect();
    assert_eq!(states, all);
    for (event, state) in [("lose", "starting"), ("reject", "blocked"), ("propose", "review")] {
        assert!(reached.contains(&(event.into(), state.into())), "{event} never led to {state}");
    }
}

proptest! {
    #![proptest_config(Run { cases: 2 * Run::default().cases, ..Run::default() })]

    #[test]
    fn any_events_in_any_order(start in any_task(), events in vec((any_event(), 0..HOUR), 1..150)) {
        let (rules, mut task, mut now, mut past) = (rules(), start, NOW, Past::default());
        for (event, passes) in events {
            now += passes;
            match step(&task, event.clone(), &rules, now) {
                Ok(step) => {
                    holds(&task, &event, &step)?;
                    tells(&task, &event, &step, &mut past)?;
                    comes(&task, &event, &step, &mut past)?;
                    tallies(&task, &event, &step, &rules)?;
                    keeps(&task, &event, &step, now)?;
                    task = step.task;
                }
                Err(illegal) => {
                    let wanted = Illegal { task: task.id.clone(), state: task.state.name(), event: event.name() };
                    prop_assert_eq!(illegal, wanted);
                }
            }
        }
    }

    /// A model that never manages comes to an end, whatever it does wrong and whichever tasks fail beside it.
    #[test]
    fn the_ladder_ends(start in any_task(), failures in vec((any_failure(), any::<Index>()), 60)) {
        let rules = rules();
        let mut task = start;
        let mut tries = 0;
        for (number, (failure, tier)) in failures.into_iter().enumerate() {
            task.state = State::Evaluating;
            let counts = failure.mode == FailureMode::Logic;
            tries += u32::from(counts);
            let tier = task.tally.tier.clone().or_else(|| rules.tier_order.get(tier.index(5)).cloned());
            let failure = Failure { signature: number.to_string(), ..failure };
            task = step(&task, Event::Refuse { failure, tier, model: None, resume: None }, &rules, NOW).expect("it is legal").task;
            prop_assert!(tries < 7, "the seventh try of six");
            if task.state.phase().is_settled() {
                return Ok(());
            }
        }
        prop_assert!(tries < 7);
    }
}
