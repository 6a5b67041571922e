//! Every state with every event: what it becomes as a whole, or that it cannot happen.

use super::*;
use crate::values::Deliver;

fn earlier_answer() -> Answered {
    Answered { digest: "d0".into(), answer: PermissionReply::Always }
}

/// A history in which every number stands for something, so that one that is lost or kept by mistake is seen.
fn worn() -> Tally {
    Tally {
        answers: vec![earlier_answer()],
        tries: 2,
        reinforced: 1,
        rises: 1,
        tier: Some("b".into()),
        avoid: texts(&["acme/a"]),
        last: Some("old".into()),
        limits: 1,
        troubles: 2,
        losses: 1,
        lessons: texts(&["first"]),
        afresh: true,
        resume: None,
        pull_request: None,
        pinned: Some("acme/a".into()),
        contest: Some(Decided { taken: true, ..decided() }),
    }
}

fn known(url: &str, head: &str, assessed: Assessed) -> Tally {
    let record = PullRequestRecord::proposed(None, url, head, NOW, assessed);
    Tally { pull_request: Some(record), ..worn() }
}

fn seen(state: PullRequestState) -> Assessed {
    Assessed::Now(state.into())
}

/// What an event makes of a task, with all that may differ from before.
struct Became {
    state: State,
    tally: Tally,
    resumed: Resumed,
    effects: Vec<Effect>,
    detail: &'static str,
}

fn became(state: State) -> Became {
    Became { state, tally: worn(), resumed: Resumed::Same, effects: Vec::new(), detail: "" }
}

impl Became {
    fn tally(self, tally: Tally) -> Self {
        Self { tally, ..self }
    }

    fn run(self, resumed: Resumed) -> Self {
        Self { resumed, ..self }
    }

    fn with(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }

    fn told(self, detail: &'static str) -> Self {
        Self { detail, ..self }
    }

    fn notice(self, notice: Notice, detail: &'static str) -> Self {
        self.with(Effect::Notify { notice, detail: detail.into() }).told(detail)
    }
}

/// The moves that there are, by hand. `None`: it cannot happen.
fn expected(state: &State, event: &Event) -> Option<Became> {
    let cancelled = || {
        became(State::Cancelled { by: "bob".into() }).notice(Notice::Cancelled, "cancelled by bob").with(Effect::Tidy)
    };
    let stopping = |head: Option<&str>| {
        became(State::Stopping { by: "bob".into(), head: head.map(str::to_owned) }).told("cancelled by bob")
    };
    let blocked = |cause, detail: &str| became(State::Blocked { cause, detail: detail.into() });
    let done = || {
        let delivered = Delivered::PullRequest { url: "https://forge/1".into(), head: "def".into() };
        became(State::Done { delivered })
            .tally(known("https://forge/1", "def", seen(PullRequestState::Merged)))
            .notice(Notice::Done, "merged by https://forge/1")
            .with(Effect::RebaseSiblings)
            .with(Effect::Tidy)
    };
    let review = || {
        let (url, head) = ("https://forge/2".into(), "def".into());
        became(State::Review { url, head, until: NOW + HOUR })
            .tally(known("https://forge/2", "def", Assessed::No))
            .told("waits for the review of https://forge/2")
    };
    let lost = Tally { losses: 2, ..worn() };
    let follows = |stage: Stage| {
        let state = State::Starting { stage: stage.clone() };
        became(state).tally(lost.clone()).run(Resumed::Follows(stage)).told("gone")
    };
    let again = || became(State::Queued).tally(lost.clone()).run(Resumed::Ends).told("gone");
    let failed = Tally { tries: 3, last: Some("red".into()), limits: 0, troubles: 0, losses: 0, ..worn() };
    let retried = || {
        let Tally { lessons, tier, avoid, tries, afresh, answers, pinned, contest, .. } = worn();
        let kept = Tally { lessons, tier, avoid, tries, afresh, ..Tally::default() };
        became(State::Queued).tally(Tally { answers, pinned, contest, ..kept })
    };
    let reset = || became(State::Queued).tally(Tally { afresh: true, ..Tally::default() });
    let deliver = Stage::Deliver { head: "abc".into() };
    Some(match (state, event.name()) {
        (State::Queued, "claim") => became(State::Starting { stage: Stage::Work }).run(Resumed::Begins),
        (State::Queued | State::Running, "postpone") => {
            let later = State::Waiting { until: NOW + MINUTE, wait: Wait::Budget, detail: "later".into() };
            let run = if *state == State::Running { Resumed::Ends } else { Resumed::Same };
            became(later).run(run).told("later")
        }
        (State::Waiting { until, .. }, "wake") if *until == NOW => became(State::Queued),
        (State::Queued | State::Waiting { .. }, "block") => {
            blocked(Cause::Repository, "no repository").notice(Notice::Blocked, "repository: no repository")
        }
        (State::Queued | State::Waiting { .. } | State::Review { .. }, "cancel")
        | (State::Blocked { .. } | State::Failed { .. }, "cancel") => cancelled(),
        (State::Starting { stage: Stage::Work }, "start") => became(State::Running),
        (State::Starting { stage: Stage::Evaluate }, "start") => became(State::Evaluating),
        (State::Starting { stage: Stage::Deliver { .. } }, "start") => became(State::Delivering { head: "abc".into() }),
        (State::Starting { stage: Stage::Work } | State::Running | State::Asking { .. }, "lose") => again(),
        (State::Starting { stage: Stage::Evaluate } | State::Evaluating, "lose") => follows(Stage::Evaluate),
        (State::Starting { stage: Stage::Deliver { .. } } | State::Delivering { .. }, "lose") => follows(deliver),
        (State::Starting { stage: Stage::Deliver { .. } } | State::Delivering { .. }, "cancel") => {
            stopping(Some("abc"))
        }
        (State::Starting { .. } | State::Running | State::Asking { .. } | State::Evaluating, "cancel") => {
            stopping(None)
        }
        (State::Running, "ask") => became(State::Asking { request: request(), until: NOW + 2 * HOUR, answer: None })
            .notice(Notice::Permission, "waits for permission: bash make gate"),
        (State::Asking { answer: None, .. }, "answer") => {
            let answer = PermissionReply::Allow;
            let answers = vec![earlier_answer(), Answered { digest: "d1".into(), answer }];
            became(State::Asking { request: request(), until: NOW + 2 * HOUR, answer: Some(answer) })
                .tally(Tally { answers, ..worn() })
                .told("bob answered allow: bash make gate")
        }
        (State::Asking { answer: Some(_), .. }, "proceed") => became(State::Running).told("goes on with allow"),
        (State::Running | State::Asking { .. }, "worked") => {
            became(State::Evaluating).tally(Tally { losses: 0, afresh: false, ..worn() })
        }
        (State::Evaluating, "approve") => became(State::Delivering { head: "def".into() })
            .tally(Tally { limits: 0, troubles: 0, ..worn() })
            .with(Effect::Learn { good: true, failure: None }),
        (State::Evaluating, "refuse") => {
            let lessons = texts(&["first", "detail of red"]);
            let tally = Tally { rises: 2, reinforced: 0, tier: Some("c".into()), lessons, ..failed };
            became(State::Queued)
                .tally(tally)
                .run(Resumed::Ends)
                .with(Effect::Learn { good: false, failure: Some(logic("red")) })
                .told("detail of red")
        }
        (State::Delivering { .. }, "return") => {
            let lessons = texts(&["first", "detail of conflict"]);
            let tally = Tally { last: Some("conflict".into()), lessons, ..failed };
            blocked(Cause::Exhausted, "detail of conflict")
                .tally(tally)
                .run(Resumed::Ends)
                .notice(Notice::Blocked, "needs a person: detail of conflict")
                .told("detail of conflict")
        }
        (State::Delivering { .. }, "propose") => {
            review().run(Resumed::Ends).notice(Notice::Review, "waits for the review of https://forge/2")
        }
        (State::Review { .. }, "propose") => review(),
        (State::Review { .. }, "deliver") => done(),
        (State::Delivering { .. } | State::Stopping { head: Some(_), .. }, "deliver") => done().run(Resumed::Ends),
        (State::Review { .. }, "reject") => blocked(Cause::Rejected, "closed")
            .tally(known("https://forge/1", "abc", seen(PullRequestState::Closed)))
            .notice(Notice::Blocked, "rejected: closed"),
        (State::Review { .. }, "revise") => {
            let lessons = texts(&["first", "detail of ci"]);
            let (last, tier) = (Some("ci".into()), Some("c".into()));
            let tally = Tally { rises: 2, reinforced: 0, last, tier, lessons, ..failed };
            became(State::Queued).tally(tally).told("detail of ci")
        }
        (State::Review { .. }, "redeliver") => {
            let mut tally = Tally { resume: Some(deliver), ..known("https://forge/1", "abc", Assessed::No) };
            tally.pull_request.iter_mut().for_each(|record| record.rebased.push("abc".into()));
            became(State::Queued).tally(tally)
        }
        (State::Stopping { .. }, "stopped" | "lose") => became(State::Cancelled { by: "ann".into() })
            .run(Resumed::Ends)
            .notice(Notice::Cancelled, "cancelled by ann")
            .with(Effect::Tidy),
        (State::Waiting { .. } | State::Blocked { .. } | State::Failed { .. }, "retry")
        | (State::Cancelled { .. }, "retry") => retried(),
        (State::Queued | State::Waiting { .. } | State::Done { .. } | State::Failed { .. }, "reset")
        | (State::Blocked { .. } | State::Cancelled { .. }, "reset") => reset(),
        _ => return None,
    })
}

#[test]
fn every_state_with_every_event() {
    let mut legal = 0;
    for state in every_state() {
        for event in every_event() {
            let before = Task { tally: worn(), ..task(state.clone()) };
            let (from, name) = (state.name(), event.name());
            let wanted = match expected(&state, &event) {
                None => Err(Illegal { task: id("t007"), state: from, event: name }),
                Some(Became { state, tally, resumed, effects, detail }) => {
                    legal += 1;
                    let risen = matches!(resumed, Resumed::Begins | Resumed::Follows(_));
                    let epoch = if risen { 4 } else { 3 };
                    let change = Change {
                        event: name.into(),
                        from: from.into(),
                        to: state.name().into(),
                        epoch,
                        detail: detail.into(),
                        route: None,
                    };
                    let task = Task { state, tally, epoch, changed_at: NOW, ..before.clone() };
                    Ok(Step { task, effects, change, resumed })
                }
            };
            let got = step(&before, event, &rules(), NOW);
            assert_eq!(got, wanted, "{state:?} with {name}");
        }
    }
    assert_eq!(legal, 65, "the table by hand has lost or found a move");
}

#[test]
fn the_samples_leave_nothing_out() {
    let mut names: Vec<&str> = every_state().iter().map(State::name).collect();
    names.dedup();
    assert_eq!(names.len(), 13);
    let mut events: Vec<&str> = every_event().iter().map(Event::name).collect();
    events.dedup();
    assert_eq!(events.len(), 23);
}

#[test]
fn an_illegal_move_says_what_and_where() {
    let error = step(&task(State::Queued), Event::Worked, &rules(), NOW).unwrap_err();
    assert_eq!(error.to_string(), "t007 is queued: worked is not possible there");
}

#[test]
fn good_work_is_handed_over_as_it_was_asked_for() {
    let table = [
        (Place::Worktree, Deliver::Branch, State::Delivering { head: "def".into() }),
        (Place::Worktree, Deliver::Merge, State::Delivering { head: "def".into() }),
        (Place::Worktree, Deliver::Pr, State::Delivering { head: "def".into() }),
        (Place::Directory, Deliver::Branch, State::Done { delivered: Delivered::Nothing }),
        (Place::Directory, Deliver::Merge, State::Done { delivered: Delivered::Nothing }),
        (Place::Directory, Deliver::Pr, State::Done { delivered: Delivered::Nothing }),
    ];
    for (place, deliver, wanted) in table {
        let mut before = task(State::Evaluating);
        (before.spec.place, before.spec.deliver) = (place, deliver);
        let step = step(&before, Event::Approve { head: "def".into() }, &rules(), NOW).unwrap();
        assert_eq!(step.task.state, wanted, "{place:?} {deliver:?}");
    }
}
