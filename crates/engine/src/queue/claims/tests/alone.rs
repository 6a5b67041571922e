//! A repository without a remote: the local branch is all that there is.

use super::*;

async fn alone(todo: &str) -> (Scene, Yard) {
    let scene = Scene::new(todo);
    let yard = scene.yard("ada").await;
    git(&yard.clone, &["remote", "remove", "origin"]);
    (scene, yard)
}

#[tokio::test]
async fn the_branch_and_its_checkout_move_on() {
    let (scene, yard) = alone(ODD).await;
    fs::write(yard.clone.join("new"), "new").unwrap();
    assert_eq!(yard.claim("t001").await.taken, Taken::Local);
    assert!(yard.text().contains("~2h assignee:ada@test started:"), "{}", yard.text());
    assert_eq!(state(&yard.clone), "refs/heads/main\n?? new\n");
    // Another store with the same repository sees it.
    let bob = scene.yard_at("bob", &yard.clone).await;
    assert_eq!(bob.claim("t001").await.taken, Taken::Lost { by: "ada@test".to_owned() });
    assert_eq!(
        release(&yard.context, &yard.task("t001"), shuntyard_core::todo::Force::No).await.unwrap(),
        Marked::Local
    );
    assert_eq!(yard.text(), ODD);
    assert_eq!(bob.claim("t001").await.taken, Taken::Local);
}

#[tokio::test]
async fn a_file_with_changes_is_refused_and_never_overwritten() {
    let (_scene, yard) = alone(ODD).await;
    fs::write(yard.clone.join("TODO.md"), "my own words\n").unwrap();
    let head = git(&yard.clone, &["rev-parse", "main"]);
    let fault = super::super::claim(&yard.context, &yard.line("t001"), Run::Real).await.unwrap_err();
    assert!(matches!(&fault, ClaimFault::Dirty(path) if *path == yard.clone), "{fault}");
    assert_eq!((yard.text().as_str(), git(&yard.clone, &["rev-parse", "main"])), ("my own words\n", head));
}

#[tokio::test]
async fn a_branch_that_nobody_is_on_moves_alone() {
    let (_scene, yard) = alone(ODD).await;
    git(&yard.clone, &["checkout", "-q", "-b", "mine"]);
    fs::write(yard.clone.join("TODO.md"), "my own words\n").unwrap();
    let before = state(&yard.clone);
    assert_eq!(yard.claim("t001").await.taken, Taken::Local);
    assert_eq!((state(&yard.clone), yard.text().as_str()), (before, "my own words\n"));
    assert!(git(&yard.clone, &["show", "main:TODO.md"]).contains("assignee:ada@test"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_stores_on_one_repository_one_has_the_task() {
    let (scene, ada) = alone(&(1..=10).map(|n| format!("- [ ] t{n:03} do it\n")).collect::<String>()).await;
    let bob = scene.yard_at("bob", &ada.clone).await;
    for number in 1..=10 {
        let wanted = format!("t{number:03}");
        let (first, second) = tokio::join!(ada.claim(&wanted), bob.claim(&wanted));
        let winners = [&first.taken, &second.taken].into_iter().filter(|taken| **taken == Taken::Local).count();
        assert_eq!(winners, 1, "{first:?} {second:?}");
    }
}
