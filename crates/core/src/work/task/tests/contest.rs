//! Contests: what comes next, which entry wins, and what each may spend.

use super::*;
use crate::compare::judge::{Decision, Edge, Judgement as Judged, PassOutcome};
use crate::values::Diagnose;
use crate::values::Rules;
use proptest::{collection::vec, prelude::*, strategy::Strategy};

fn entry(number: usize, phase: Phase, verify: EntryCheck, cost: i64, lines: u64) -> Entry {
    let work = EntryWork { base: "c0".into(), head: format!("c{number}"), lines };
    Entry {
        id: id(&format!("t001.{number}")),
        model: format!("acme/{number}"),
        branch: Some(format!("shuntyard/t001.{number}")),
        verify,
        cost: Nano(cost),
        phase,
        reason: if phase == Phase::Done { String::new() } else { format!("trouble {number}") },
        work: (phase == Phase::Done).then_some(work),
    }
}

fn done(number: usize, cost: i64, lines: u64) -> Entry {
    entry(number, Phase::Done, EntryCheck::Green, cost, lines)
}

fn judged(decision: Decision, scores: &[f64]) -> Judged {
    let failed = || PassOutcome::Failed { why: "not looked at here".into() };
    Judged {
        decision,
        position_biased: None::<Edge>,
        scores: scores.iter().copied().enumerate().collect(),
        passes: [failed(), failed()],
    }
}

#[test]
fn a_contest_has_two_to_ten_different_models() {
    let named = |count: usize| (0..count).map(|number| format!("acme/{number}")).collect::<Vec<_>>();
    for (count, good) in [(0, false), (1, false), (2, true), (10, true), (11, false)] {
        assert_eq!(Contest::new(named(count)).is_ok(), good, "{count}");
    }
    let twice = Contest::new(texts(&["acme/a", "acme/b", "acme/a"])).unwrap_err();
    assert_eq!(twice, BadContest::Twice("acme/a".into()));
    let ids = Contest::new(named(3)).unwrap().entry_ids(&id("t007")).unwrap();
    assert_eq!(ids, [id("t007.1"), id("t007.2"), id("t007.3")]);
    assert!(Contest::new(named(2)).unwrap().entry_ids(&id(&"x".repeat(63))).is_err());
}

#[test]
fn entries_are_made_awaited_and_decided_about() {
    use Phase::{Blocked, Cancelled, Done, Failed, Queued, Running, Waiting};
    let contest = Contest::new(texts(&["acme/a", "acme/b", "acme/c"])).unwrap();
    let table: [(&[Phase], Readiness); 7] = [
        (&[], Readiness::Create),
        (&[Done, Done], Readiness::Create),
        (&[Queued, Queued, Queued], Readiness::Await { open: 3, of: 3 }),
        (&[Done, Waiting, Running], Readiness::Await { open: 2, of: 3 }),
        (&[Done, Failed, Running], Readiness::Await { open: 1, of: 3 }),
        (&[Done, Failed, Blocked], Readiness::Decide),
        (&[Cancelled, Cancelled, Cancelled], Readiness::Decide),
    ];
    for (phases, wanted) in table {
        assert_eq!(readiness(&contest, phases), wanted, "{phases:?}");
    }
}

#[test]
fn evidence_decides_before_anything_else() {
    let none = |number| entry(number, Phase::Done, EntryCheck::None, 1, 1);
    let red = |number| entry(number, Phase::Failed, EntryCheck::Red, 1, 1);
    let table = [
        (vec![red(1), red(2)], Field::Empty),
        (vec![red(1), entry(2, Phase::Blocked, EntryCheck::None, 0, 0)], Field::Empty),
        (vec![red(1), done(2, 9, 9)], Field::One(1)),
        (vec![none(1), done(2, 9, 9)], Field::One(1)),
        (vec![done(1, 1, 1), red(2), done(3, 1, 1)], Field::Several(vec![0, 2])),
        (vec![none(1), red(2)], Field::One(0)),
        (vec![none(1), none(2)], Field::Several(vec![0, 1])),
        (vec![Entry { work: None, ..done(1, 1, 1) }, red(2)], Field::Empty),
    ];
    for (entries, wanted) in table {
        assert_eq!(field(&entries), wanted, "{entries:?}");
    }
    let entries = [red(1), done(2, 1, 1)];
    let verdict = only_one(&entries, 1).unwrap();
    assert_eq!((verdict.winner, verdict.margin), (1, WHOLE));
    assert!(verdict.reason.contains("acme/2 is the only one of 2 entries whose verify commands are green"));
    assert_eq!(only_one(&[none(1), red(2)], 0).unwrap().margin, 0, "nothing verified it");
    let absent = entry(1, Phase::Blocked, EntryCheck::None, 0, 0);
    assert_eq!(only_one(&[absent, done(2, 1, 1)], 1).unwrap().margin, 0, "the other one never worked");
    let why = no_winner(&id("t001"), &[red(1), red(2)]);
    for words in ["t001.1 by acme/1 is failed: trouble 1", "t001.2 by acme/2", "`shuntyard task retry t001`"] {
        assert!(why.contains(words), "{words}: {why}");
    }
}

#[test]
fn a_judge_decides_among_the_shown_and_a_rule_among_the_tied() {
    let entries = [done(1, 5, 10), entry(2, Phase::Failed, EntryCheck::Red, 1, 1), done(3, 5, 7), done(4, 9, 1)];
    let shown = [0, 2, 3];
    let winner = |target, unmoved, scores: &[f64]| {
        by_judge(&entries, &shown, "acme/judge", &judged(Decision::Winner { target, unmoved }, scores)).unwrap()
    };
    let clear = winner(2, false, &[4.0, 6.0, 9.0]);
    assert_eq!((clear.winner, clear.margin), (3, 300_000));
    assert!(clear.reason.contains("acme/judge found the work of acme/4 the best of 3 in both orders, by 30 %"));
    assert_eq!(winner(2, true, &[4.0, 6.0, 9.0]).margin, 150_000, "it stood in the same place both times");
    assert_eq!(winner(0, false, &[8.0, 8.0, 9.0]).margin, 0);
    let tie = judged(Decision::Tie { targets: vec![2, 0] }, &[9.0, 1.0, 9.0]);
    let tie = by_judge(&entries, &shown, "acme/judge", &tie).unwrap();
    assert_eq!((tie.winner, tie.margin), (0, 0), "only the tied ones count, and the cheaper wins");
    assert!(tie.reason.contains("in the other order, so a rule decided: acme/1 is the cheapest"), "{}", tie.reason);
    let none = judged(Decision::NoVerdict { why: "it was silent".into() }, &[]);
    let none = by_judge(&entries, &shown, "acme/judge", &none).unwrap();
    assert_eq!(none.winner, 2, "the same cost, and the smaller change");
    assert!(none.reason.contains("gave no verdict (it was silent)") && none.reason.contains("7 lines against 10"));
    let alike = [done(1, 5, 10), done(2, 5, 10)];
    let first = by_rule(&alike, &[1, 0], "no judge could be asked").unwrap();
    assert_eq!(first.winner, 0);
    assert!(first.reason.contains("no judge could be asked, so a rule decided: acme/1 is the first of them"));
    assert_eq!(by_rule(&alike, &[], "x"), None);
}

#[test]
fn an_entry_may_spend_an_equal_part_of_what_is_left() {
    let table: [(i64, &[i64], usize, i64, i64); 6] = [
        (90, &[], 3, 0, 30),
        (90, &[], 3, 10, 20),
        (90, &[10], 2, 0, 40),
        (90, &[30, 60], 1, 0, 0),
        (90, &[200], 1, 0, 0),
        (90, &[], 0, 0, 90),
    ];
    for (limit, settled, open, own, wanted) in table {
        let settled: Vec<Nano> = settled.iter().copied().map(Nano).collect();
        assert_eq!(share(Nano(limit), &settled, open, Nano(own)), Nano(wanted), "{limit} {settled:?} {open} {own}");
    }
}

/// One step of some entry: it begins with its share, spends a part of that, and perhaps settles.
fn steps() -> impl Strategy<Value = Vec<(usize, u8, bool)>> {
    vec((0..10_usize, any::<u8>(), any::<bool>()), 1..60)
}

proptest! {
    #[test]
    fn entries_together_never_pass_the_limit(limit in 0..1_000_000_i64, count in 2..=10_usize, steps in steps()) {
        // What each has spent, what it may still spend in the attempt that runs, and whether it has settled.
        let mut entries = vec![(0_i64, 0_i64, false); count];
        for (chosen, part, settles) in steps {
            let place = chosen % count;
            if entries[place].2 {
                continue;
            }
            let settled: Vec<Nano> = entries.iter().filter(|entry| entry.2).map(|entry| Nano(entry.0)).collect();
            let open = entries.iter().filter(|entry| !entry.2).count();
            let own = entries[place].0;
            entries[place].1 = share(Nano(limit), &settled, open, Nano(own)).0;
            // All that run now may spend all that they may.
            let most: i64 = entries.iter().map(|(spent, may, settled)| spent + if *settled { 0 } else { *may }).sum();
            prop_assert!(most <= limit, "{most} of {limit}: {entries:?}");
            let (spent, may, is_settled) = &mut entries[place];
            *spent += *may * i64::from(part) / 255;
            *may = 0;
            *is_settled = settles;
        }
    }
}

#[test]
fn entries_are_listed_after_their_contest() {
    let mut listed =
        vec![("t001", None), ("t002", None), ("t001.1", Some("t001")), ("t003", None), ("t001.2", Some("t001"))];
    group_entries(&mut listed, |(own, contest)| (id(own), contest.map(id)));
    assert_eq!(listed.iter().map(|(own, _)| *own).collect::<Vec<_>>(), ["t001", "t001.1", "t001.2", "t002", "t003"]);
    let mut alone = vec![("t009", None), ("t001.1", Some("t001"))];
    group_entries(&mut alone, |(own, contest)| (id(own), contest.map(id)));
    assert_eq!(alone[1].0, "t001.1", "without its contest it stays where it is");
}

fn contest_task(state: State) -> Task {
    let contest = Contest::new(texts(&["acme/a", "acme/b"])).unwrap();
    let task = task(state);
    Task { spec: TaskSpec { contest: Some(contest), ..task.spec }, ..task }
}

fn entry_task(state: State) -> Task {
    let task = task(state);
    Task { spec: TaskSpec { entry_of: Some(id("t001")), todo: None, ..task.spec }, ..task }
}

#[test]
fn a_contest_waits_for_its_entries_and_wakes_before_its_moment() {
    let wait = |wait| State::Waiting { until: NOW + HOUR, wait, detail: "2 of 2 entries".into() };
    let woken = step(&contest_task(wait(Wait::Entries)), Event::Wake, &rules(), NOW).unwrap();
    assert_eq!(woken.task.state, State::Queued);
    assert!(step(&contest_task(wait(Wait::Trouble)), Event::Wake, &rules(), NOW).is_err());
}

#[test]
fn a_decision_is_kept_until_the_task_begins_anew() {
    let event = || Event::Decide { decided: decided() };
    let decided_task = step(&contest_task(State::Running), event(), &rules(), NOW).unwrap();
    assert_eq!((decided_task.task.state.clone(), decided_task.resumed), (State::Running, Resumed::Same));
    assert_eq!(decided_task.task.tally.contest, Some(decided()));
    assert!(decided_task.change.detail.contains("t001.2 by acme/b won"), "{:?}", decided_task.change);
    assert!(step(&task(State::Running), event(), &rules(), NOW).is_err(), "no other task has a contest");
    assert!(step(&contest_task(State::Evaluating), event(), &rules(), NOW).is_err());
    let after = |event: Event| {
        let task = Task { state: State::Evaluating, ..decided_task.task.clone() };
        step(&task, event, &rules(), NOW).unwrap().task.tally.contest.unwrap().taken
    };
    let refuse = |failure| Event::Refuse { failure, tier: None, model: None, resume: None };
    assert!(after(Event::Approve { head: "c1".into() }));
    assert!(after(refuse(logic("red"))), "the winner's model goes on from there");
    assert!(!after(refuse(Failure::environment("disk", "full"))), "it is taken again");
    let blocked = Task { state: State::Failed { detail: String::new() }, ..decided_task.task };
    let again = step(&blocked, Event::Retry, &rules(), NOW).unwrap().task;
    assert_eq!(again.tally.contest, Some(decided()), "the winner's model goes on");
    assert_eq!(step(&blocked, Event::Reset, &rules(), NOW).unwrap().task.tally.contest, None);
}

#[test]
fn an_entry_wakes_its_contest_and_sends_no_notice() {
    let rules = Rules { diagnose: Diagnose::Once, ..rules() };
    let exhausted = || Event::Block { cause: Cause::Exhausted, detail: "no".into() };
    let settled = step(&entry_task(State::Queued), exhausted(), &rules, NOW).unwrap();
    assert_eq!(settled.effects, [Effect::WakeContest], "neither a notice nor a look");
    let plain = step(&task(State::Queued), exhausted(), &rules, NOW).unwrap();
    assert!(plain.effects.contains(&Effect::Diagnose) && !plain.effects.contains(&Effect::WakeContest));
    let asking = Event::Ask { request: request(), until: NOW + HOUR };
    let asked = step(&entry_task(State::Running), asking, &rules, NOW).unwrap();
    assert!(matches!(asked.effects.as_slice(), [Effect::Notify { notice: Notice::Permission, .. }]), "{asked:?}");
    let cancelled = step(&contest_task(State::Queued), Event::Cancel { by: "ann".into() }, &rules, NOW).unwrap();
    assert!(cancelled.effects.contains(&Effect::CancelEntries), "{cancelled:?}");
    assert_eq!(entry_task(State::Queued).charged_to(), &id("t001"));
    assert_eq!(contest_task(State::Queued).charged_to(), &contest_task(State::Queued).id);
}
