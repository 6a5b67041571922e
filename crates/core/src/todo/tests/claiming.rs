//! Whose a task is, when a claim is stale, and when a task is done.

use super::*;

const NOW: &str = "2026-11-16T04:00:00Z";

#[test]
fn a_claim_is_an_assignee_and_a_start() {
    let document = Document::parse("- [ ] t1 a #b\r\n- [ ] t1.1 c");
    let claimed = claim(&document, &id("t1"), "alice", NOW).unwrap();
    let after = "- [ ] t1 a #b assignee:alice started:2026-11-16T04:00:00Z\r\n- [ ] t1.1 c";
    assert_eq!(told(&claimed), (after, Some(1)));
    let again = claim(&claimed.document, &id("t1"), "alice", "2027-01-01T00:00:00Z").unwrap();
    assert_eq!(told(&again), (after, None));
    let refused = claim(&claimed.document, &id("t1"), "bob", NOW).unwrap_err();
    assert_eq!(refused.to_string(), "t1 is claimed by alice");
    let released = unclaim(&claimed.document, &id("t1"), "alice", Force::No).unwrap();
    assert_eq!(told(&released), (document.text(), Some(1)));
}

#[test]
fn claims_that_are_refused() {
    let refused = |by: &str| ClaimError::Refused { id: id("t1"), by: by.into() };
    let not_open = |checkbox| ClaimError::NotOpen { id: id("t1"), checkbox };
    let table = [
        ("- [ ] t1 assignee:bob", refused("bob")),
        ("- [x] t1 assignee:bob", refused("bob")),
        ("- [ ] t1 assignee:alice assignee:bob", refused("bob")),
        ("- [ ] t1 assignee:bob assignee:alice", refused("bob")),
        ("- [ ] t1 assignee:Alice", refused("Alice")),
        ("- [x] t1", not_open(Checkbox::Done)),
        ("- [-] t1", not_open(Checkbox::Declined)),
        ("- [>] t1", not_open(Checkbox::Unknown('>'))),
        ("- [ ] t10", EditError::Missing(id("t1")).into()),
        ("- [ ] t1\n- [ ] t1", EditError::from(Duplicate { id: id("t1"), lines: vec![1, 2] }).into()),
    ];
    for (text, error) in table {
        assert_eq!(claim(&Document::parse(text), &id("t1"), "alice", NOW), Err(error), "{text}");
    }
    let open = Document::parse("- [ ] t1 `assignee:bob` see assignee: bob");
    assert!(claim(&open, &id("t1"), "alice", NOW).is_ok());
    assert!(claim(&open, &id("t1"), "alice", "now").is_err());
    assert!(claim(&open, &id("t1"), "alice smith", NOW).is_err());
}

#[test]
fn somebody_elses_claim_is_released_by_force_alone() {
    let document = Document::parse("- [ ] t1 a assignee:bob b started:2026-11-16 c\n");
    let refused = ClaimError::Refused { id: id("t1"), by: "bob".into() };
    assert_eq!(unclaim(&document, &id("t1"), "alice", Force::No), Err(refused));
    let forced = unclaim(&document, &id("t1"), "alice", Force::Yes).unwrap();
    assert_eq!(told(&forced), ("- [ ] t1 a b c\n", Some(1)));
    let free = Document::parse("- [ ] t1 a started:2026-11-16\n");
    assert_eq!(told(&unclaim(&free, &id("t1"), "alice", Force::No).unwrap()), (free.text(), None));
    let both = Document::parse("- [ ] t1 assignee:bob assignee:alice");
    let repeated = EditError::Repeated { field: Field::Assignee, line: 1 };
    assert_eq!(unclaim(&both, &id("t1"), "alice", Force::Yes), Err(repeated.into()));
}

#[test]
fn only_an_old_claim_of_ones_own_without_traces_is_stale() {
    let hour = 3_600_000_000;
    let Some(Moment::Exact(now)) = Moment::parse("2026-11-18T00:00:00Z") else { panic!("no instant") };
    let none = Traces { worker: Presence::Gone, worktree: Presence::Gone };
    let kept = StaleVerdict::Kept;
    let old = "assignee:alice started:2026-11-16T00:00:00Z";
    let table = [
        (old, none, StaleVerdict::Stale { age_micros: 48 * hour }),
        (old, Traces { worker: Presence::There, ..none }, kept(Kept::Worker(Presence::There))),
        (old, Traces { worker: Presence::Unknown, ..none }, kept(Kept::Worker(Presence::Unknown))),
        (old, Traces { worktree: Presence::There, ..none }, kept(Kept::Worktree(Presence::There))),
        (old, Traces { worktree: Presence::Unknown, ..none }, kept(Kept::Worktree(Presence::Unknown))),
        ("assignee:bob started:2026-11-01", none, kept(Kept::Anothers { by: "bob".into() })),
        ("assignee:alice assignee:bob started:2026-11-01", none, kept(Kept::Anothers { by: "bob".into() })),
        ("started:2026-11-01", none, kept(Kept::NotClaimed)),
        ("assignee:alice", none, kept(Kept::UnreadableStart)),
        ("assignee:alice started:2026-11-31", none, kept(Kept::UnreadableStart)),
        ("assignee:alice started:2026-11-16T00:00:00+00:00", none, kept(Kept::UnreadableStart)),
        ("assignee:alice started:2026-11-01 started:2026-11-02", none, kept(Kept::UnreadableStart)),
        ("assignee:alice started:2026-11-17T00:00:00Z", none, kept(Kept::Recent { age_micros: 24 * hour })),
        ("assignee:alice started:2026-11-16T23:59:59.999999Z", none, StaleVerdict::Stale { age_micros: 24 * hour + 1 }),
        ("assignee:alice started:2026-11-17", none, kept(Kept::Recent { age_micros: 1 })),
        ("assignee:alice started:2026-11-15", none, StaleVerdict::Stale { age_micros: 48 * hour + 1 }),
        ("assignee:alice started:2027-01-01T00:00:00Z", none, kept(Kept::Recent { age_micros: -44 * 24 * hour })),
    ];
    for (fields, traces, verdict) in table {
        let task = read(&format!("- [ ] t1 {fields}"));
        assert_eq!(is_stale_claim(&task, "alice", now, traces), verdict, "{fields}");
    }
    let done = read(&format!("- [x] t1 {old}"));
    assert_eq!(is_stale_claim(&done, "alice", now, none), kept(Kept::NotOpen(Checkbox::Done)));
}

#[test]
fn a_task_is_completed_with_a_date_and_evidence() {
    let date = "2026-11-16";
    let table = [
        ("- [ ] t1 a", Evidence::PullRequest(34), "- [x] t1 a pr:#34 completed:2026-11-16", Some(1)),
        ("- [ ] t1 a", Evidence::Verified, "- [x] t1 a verified:2026-11-16 completed:2026-11-16", Some(1)),
        ("- [X] t1 a completed:2026-01-01", Evidence::PullRequest(3), "- [X] t1 a completed:2026-01-01 pr:#3", Some(1)),
        (
            "- [ ] t1 a completed:2026-01-01 pr:#3",
            Evidence::PullRequest(3),
            "- [x] t1 a completed:2026-11-16 pr:#3",
            Some(1),
        ),
        ("- [x] t1 pr:#3 completed:2026-01-01", Evidence::PullRequest(3), "- [x] t1 pr:#3 completed:2026-01-01", None),
        (
            "- [ ] t1\n  - [x] t2\n  - [-] step",
            Evidence::PullRequest(3),
            "- [x] t1 pr:#3 completed:2026-11-16\n  - [x] t2\n  - [-] step",
            Some(1),
        ),
    ];
    for (before, evidence, after, line) in table {
        let completed = complete(&Document::parse(before), &id("t1"), date, evidence).unwrap();
        assert_eq!(told(&completed), (after, line), "{before}");
        let again = complete(&completed.document, &id("t1"), date, evidence).unwrap();
        assert_eq!(told(&again), (after, None), "{before}");
    }
}

#[test]
fn nothing_is_done_before_its_parts() {
    let table = [
        ("- [ ] t1\n- [ ] t1.1", "t1 has open parts: t1.1"),
        ("- [x] t1\n- [ ] t1.1", "t1 has open parts: t1.1"),
        ("- [ ] t1\n- [x] t1.1\n- [>] t1.1.1", "t1 has open parts: t1.1.1"),
        (
            "- [ ] t1\n  - [ ] t5\n  - [ ] step\n    - [x] t6\n      - [ ] deep",
            "t1 has open parts: t5, the box on line 3, the box on line 5",
        ),
        ("- [-] t1", "t1 is not open, its box is [-]"),
        ("- [>] t1", "t1 is not open, its box is [>]"),
        ("- [ ] t10", "there is no task t1"),
        ("- [ ] t1 pr:#1 pr:#2", "line 1 has `pr:` more than once: leave one of them"),
    ];
    for (text, error) in table {
        let refused = complete(&Document::parse(text), &id("t1"), "2026-11-16", Evidence::PullRequest(3));
        assert_eq!(refused.unwrap_err().to_string(), error, "{text}");
    }
    let document = Document::parse("- [ ] t1");
    assert!(complete(&document, &id("t1"), "today", Evidence::PullRequest(3)).is_err());
}
