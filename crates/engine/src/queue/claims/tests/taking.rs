//! A claim over a remote: what it writes, and what it leaves alone.

use super::*;

#[tokio::test]
async fn a_claim_is_one_commit_that_changes_one_line_and_nothing_else() {
    let scene = Scene::new(ODD);
    let yard = scene.yard("ada").await;
    let claim = yard.claim("t001").await;
    let wanted = Claim {
        taken: Taken::Confirmed,
        who: "ada@test".to_owned(),
        place: "origin/main".to_owned(),
        notes: Vec::new(),
    };
    assert_eq!(claim, wanted);
    let text = scene.shared();
    let started = text.split("started:").nth(1).unwrap().split_whitespace().next().unwrap();
    assert_eq!(text, ODD.replace("~2h", &format!("~2h assignee:ada@test started:{started}")));
    let changed = git(&scene.path("remote.git"), &["show", "--stat", "--format=%s|%an|%P", "main"]);
    assert!(changed.starts_with("t001: claimed by ada@test|"), "{changed}");
    assert!(changed.contains("1 file changed, 1 insertion(+), 1 deletion(-)"), "{changed}");
    // The checkout was clean, so it has followed.
    assert_eq!(yard.text(), text);
    assert_eq!(state(&yard.clone), "refs/heads/main\n");
}

#[tokio::test]
async fn the_same_store_may_claim_again_and_another_may_not() {
    let scene = Scene::new(ODD);
    let (ada, bob) = (scene.yard("ada").await, scene.yard("bob").await);
    assert_eq!(take(&ada.context, &ada.task("t001")).await.unwrap(), Taken::Confirmed);
    let text = scene.shared();
    assert_eq!(take(&ada.context, &ada.task("t001")).await.unwrap(), Taken::Confirmed);
    let lost = Taken::Lost { by: "ada@test".to_owned() };
    assert_eq!(take(&bob.context, &bob.task("t001")).await.unwrap(), lost);
    assert_eq!(scene.shared(), text);
    let mut plain = ada.task("t001");
    plain.spec.todo = None;
    assert_eq!(take(&ada.context, &plain).await.unwrap(), Taken::NotNeeded);
}

#[tokio::test]
async fn what_is_not_committed_stays_as_it_is() {
    let scene = Scene::new(ODD);
    let yard = scene.yard("ada").await;
    fs::write(yard.clone.join("TODO.md"), "my own words\n").unwrap();
    fs::write(yard.clone.join("staged"), "staged").unwrap();
    git(&yard.clone, &["add", "staged"]);
    fs::write(yard.clone.join("new"), "new").unwrap();
    let (before, head) = (state(&yard.clone), git(&yard.clone, &["rev-parse", "HEAD"]));
    let claim = yard.claim("t001").await;
    assert_eq!(claim.taken, Taken::Confirmed);
    assert!(claim.notes[0].contains("main was left, since TODO.md"), "{:?}", claim.notes);
    assert_eq!((state(&yard.clone), git(&yard.clone, &["rev-parse", "HEAD"])), (before, head));
    assert_eq!(yard.text(), "my own words\n");
    assert!(scene.shared().contains("assignee:ada@test"));
}

#[tokio::test]
async fn another_branch_that_is_checked_out_stays_checked_out() {
    let scene = Scene::new(ODD);
    let yard = scene.yard("ada").await;
    git(&yard.clone, &["checkout", "-q", "-b", "mine"]);
    commit(&yard.clone, "TODO.md", "- [ ] t001 on my branch\n");
    fs::write(yard.clone.join("TODO.md"), "- [ ] t001 on my branch, changed\n").unwrap();
    let before = state(&yard.clone);
    assert_eq!(yard.claim("t001").await, Claim { notes: Vec::new(), ..yard.claim("t001").await });
    assert_eq!(state(&yard.clone), before);
    assert_eq!(yard.text(), "- [ ] t001 on my branch, changed\n");
    // It is not checked out, so it could follow.
    assert_eq!(git(&yard.clone, &["show", "main:TODO.md"]), scene.shared());
}

#[tokio::test]
async fn a_branch_with_commits_of_its_own_is_left_and_that_is_said() {
    let scene = Scene::new(ODD);
    let yard = scene.yard("ada").await;
    commit(&yard.clone, "own", "own");
    let head = git(&yard.clone, &["rev-parse", "HEAD"]);
    let claim = yard.claim("t001").await;
    assert_eq!(claim.taken, Taken::Confirmed);
    assert!(claim.notes[0].contains("commits of its own"), "{:?}", claim.notes);
    assert_eq!(git(&yard.clone, &["rev-parse", "HEAD"]), head);
}

#[tokio::test]
async fn lines_that_cannot_be_claimed_say_why() {
    let scene = Scene::new("- [x] t001 done\n- [ ] t002 one\n- [ ] t002 two\n- [ ] t003 hers assignee:eve\n");
    let yard = scene.yard("ada").await;
    let fault = |id: &'static str| {
        let yard = &yard;
        async move { super::super::claim(&yard.context, &yard.line(id), Run::Real).await.unwrap_err().to_string() }
    };
    assert_eq!(fault("t001").await, "t001 is not open, its box is [x]");
    assert_eq!(fault("t002").await, "t002 stands on more than one line: 2, 3");
    assert_eq!(fault("t009").await, "there is no task t009");
    assert_eq!(yard.claim("t003").await.taken, Taken::Lost { by: "eve".to_owned() });
    // The name of this store, written by hand: a person means to do it.
    commit(&yard.clone, "TODO.md", "- [ ] t004 mine assignee:ada@test started:2026-01-01\n");
    git(&yard.clone, &["push", "-q"]);
    assert_eq!(yard.claim("t004").await.taken, Taken::Lost { by: "ada@test".to_owned() });
}

#[tokio::test]
async fn a_look_changes_nothing() {
    let scene = Scene::new(ODD);
    let yard = scene.yard("ada").await;
    let line = yard.line("t001");
    let claim = super::super::claim(&yard.context, &line, Run::Dry).await.unwrap();
    assert_eq!(claim.taken, Taken::Confirmed);
    assert_eq!(scene.shared(), ODD);
    assert_eq!(take(&yard.context, &yard.task("t001")).await.unwrap(), Taken::Confirmed);
    assert_eq!(unclaim(&yard.context, &line, Whose::ThisName, Run::Dry).await.unwrap(), Marked::Would);
    assert!(scene.shared().contains("assignee:ada@test"));
}
