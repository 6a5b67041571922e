//! What is dispatched unasked.

use super::*;

/// Each task that is picked or skipped, with the reason, in the order of the file.
fn seen(text: &str) -> String {
    let pickup = pickable(&Document::parse(text));
    let why = |why: &PickReason| match why {
        PickReason::Tag => "tag".to_owned(),
        PickReason::Queue => "queue".to_owned(),
        PickReason::Parent(id) => format!("below {id}"),
    };
    let obstacle = |obstacle: &Obstacle| match obstacle {
        Obstacle::Ambiguous { lines } => format!("on {lines:?}"),
        Obstacle::NotOpen(checkbox) => checkbox.to_string(),
        Obstacle::Claimed { by } => format!("claimed {by}"),
        Obstacle::Needs { tag } => tag.clone(),
        Obstacle::Blocked(blockers) => {
            format!("blocked {}", blockers.iter().map(|blocker| blocker.id.clone()).collect::<Vec<_>>().join(","))
        }
        Obstacle::OpenChildren(ids) => {
            format!("parts {}", ids.iter().map(TaskId::to_string).collect::<Vec<_>>().join(","))
        }
    };
    let picked = pickup.picks.iter().map(|pick| (pick.line, format!("{} {}", pick.id, why(&pick.why))));
    let skipped = pickup.skipped.iter().map(|skipped| {
        let (id, of) = (&skipped.id, &skipped.of);
        (skipped.line, format!("{id} not: {of} {}", obstacle(&skipped.obstacle)))
    });
    let mut all: Vec<(usize, String)> = picked.chain(skipped).collect();
    all.sort();
    all.into_iter().map(|(_, shown)| shown).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_tag_a_queue_or_a_tagged_parent_picks() {
    let table = [
        ("- [ ] t1 a\n- [ ] t2 #auto-dispatch", "t2 tag"),
        ("- [ ] t1 `#auto-dispatch` auto-dispatch #auto-dispatch-not", ""),
        ("## Dispatch Queue\n- [ ] t1\n### Now\n- [ ] t2\n## Other\n- [ ] t3", "t1 queue; t2 queue"),
        ("## dispatch queue ##\n- [ ] t1", "t1 queue"),
        ("## Dispatch Queue later\n- [ ] t1", ""),
        ("Dispatch Queue\n---\n- [ ] t1", "t1 queue"),
        (
            "- [x] t9 a\n- [ ] t1 #auto-dispatch\n  - [ ] t2\n- [ ] t1.1",
            "t1 not: t1 parts t2,t1.1; t2 below t1; t1.1 below t1",
        ),
        (
            "- [ ] t1 #auto-dispatch\n- [ ] t1.1\n- [ ] t1.1.1",
            "t1 not: t1 parts t1.1,t1.1.1; t1.1 not: t1.1 parts t1.1.1; t1.1.1 below t1",
        ),
        ("- [ ] t1 #auto-dispatch\n- [x] t1.1", "t1 tag; t1.1 not: t1.1 [x]"),
        ("- [ ] t1 #auto-dispatch\n  - [ ] a step", "t1 tag"),
        ("```\n- [ ] t1 #auto-dispatch\n```", ""),
    ];
    for (text, expected) in table {
        assert_eq!(seen(text), expected, "{text}");
    }
}

#[test]
fn obstacles_are_named_and_handed_down() {
    let table = [
        ("- [ ] t1 #auto-dispatch assignee:bob", "t1 not: t1 claimed bob"),
        ("- [x] t1 #auto-dispatch", "t1 not: t1 [x]"),
        ("- [>] t1 #auto-dispatch", "t1 not: t1 [>]"),
        ("- [ ] t1 #auto-dispatch #discussion-needed", "t1 not: t1 discussion-needed"),
        ("- [ ] t1 #Review-Needed, #auto-dispatch", "t1 not: t1 Review-Needed"),
        ("- [ ] t1 #needed #auto-dispatch `#a-needed`", "t1 tag"),
        ("- [ ] t1 #auto-dispatch blocked-by:t2,t3\n- [x] t2", "t1 not: t1 blocked t3"),
        ("- [ ] t1 #auto-dispatch blocked-by:t2\n- [x] t2", "t1 tag"),
        ("- [ ] t1 #auto-dispatch\n- [ ] t1", "t1 not: t1 on [1, 2]"),
        ("- [ ] t1 assignee:bob\n- [ ] t1.1 #auto-dispatch", "t1.1 not: t1 claimed bob"),
        ("- [ ] t1 #a-needed\n- [ ] t1.1 #auto-dispatch", "t1.1 not: t1 a-needed"),
        ("- [-] t1 a\n- [ ] t1.1 #auto-dispatch", "t1.1 not: t1 [-]"),
        ("- [>] t1 a\n- [ ] t1.1 #auto-dispatch", "t1.1 tag"),
        ("- [ ] t1 blocked-by:t2\n- [ ] t1.1 #auto-dispatch\n- [ ] t2", "t1.1 not: t1 blocked t2"),
        ("- [ ] t1 blocked-by:t1.1,t1.2\n- [ ] t1.1 #auto-dispatch\n- [ ] t1.2", "t1.1 tag"),
    ];
    for (text, expected) in table {
        assert_eq!(seen(text), expected, "{text}");
    }
}

#[test]
fn there_is_no_row_limit() {
    let text: String = (0..5000).map(|n| format!("- [ ] t{n} a #auto-dispatch\n")).collect();
    assert_eq!(pickable(&Document::parse(&text)).picks.len(), 5000);
}
