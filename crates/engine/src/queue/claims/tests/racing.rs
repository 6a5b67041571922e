//! Two stores want the same task at the same moment.

use super::*;
use shuntyard_testkit::rounds;

fn many(count: usize) -> String {
    (1..=count).map(|number| format!("- [ ] t{number:04} do it\n")).collect()
}

/// Each round is about another line; both ask at once. Says how often each of them won.
async fn race(rounds: usize, names: [&str; 2]) -> [usize; 2] {
    let scene = Scene::new(&many(rounds));
    let mut yards = [scene.yard("first").await, scene.yard("second").await];
    for (yard, name) in yards.iter_mut().zip(names) {
        yard.context.environment.insert("SHUNTYARD_IDENTITY".to_owned(), name.to_owned());
    }
    let mut wins = [0, 0];
    for round in 1..=rounds {
        let wanted = format!("t{round:04}");
        let (first, second) = tokio::join!(yards[0].claim(&wanted), yards[1].claim(&wanted));
        match (&first.taken, &second.taken) {
            (Taken::Confirmed, Taken::Lost { by }) if by == names[0] => wins[0] += 1,
            (Taken::Lost { by }, Taken::Confirmed) if by == names[1] => wins[1] += 1,
            other => panic!("{wanted}: {other:?}"),
        }
    }
    let text = scene.shared();
    for (name, won) in names.into_iter().zip(wins).filter(|_| names[0] != names[1]) {
        assert_eq!(text.matches(&format!(" assignee:{name} started:")).count(), won, "{name}");
    }
    assert_eq!(text.matches(" assignee:").count(), rounds, "{text}");
    wins
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_stores_exactly_one_has_the_task() {
    let count = rounds(8);
    let wins = race(count, ["ada@one", "bob@two"]).await;
    assert_eq!(wins.iter().sum::<usize>(), count, "{wins:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_stores_that_go_by_the_same_name_do_not_take_each_other_for_themselves() {
    race(rounds(4), ["ada@one", "ada@one"]).await;
}
