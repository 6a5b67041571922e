//! Claims that end: given back, taken away, done, or left behind.

use super::*;
use shuntyard_core::todo::{Evidence, Force};
use shuntyard_store::NewTask;

#[tokio::test]
async fn a_claim_that_is_given_back_leaves_the_file_as_it_was() {
    let scene = Scene::new(ODD);
    let (ada, bob) = (scene.yard("ada").await, scene.yard("bob").await);
    let task = ada.task("t001");
    assert_eq!(release(&ada.context, &task, Force::No).await.unwrap(), Marked::Already);
    take(&ada.context, &task).await.unwrap();
    assert_eq!(release(&ada.context, &task, Force::No).await.unwrap(), Marked::Confirmed { note: None });
    assert_eq!(scene.shared(), ODD);
    assert_eq!(release(&ada.context, &task, Force::No).await.unwrap(), Marked::Already);
    assert_eq!(bob.claim("t001").await.taken, Taken::Confirmed);
}

#[tokio::test]
async fn only_force_takes_a_claim_from_somebody() {
    let scene = Scene::new(ODD);
    let (ada, bob) = (scene.yard("ada").await, scene.yard("bob").await);
    ada.claim("t001").await;
    let text = scene.shared();
    let hers = Marked::Anothers { by: "ada@test".to_owned() };
    assert_eq!(release(&bob.context, &bob.task("t001"), Force::No).await.unwrap(), hers);
    assert_eq!(unclaim(&bob.context, &bob.line("t001"), Whose::ThisName, Run::Real).await.unwrap(), hers);
    assert_eq!(complete(&bob.context, &bob.task("t001"), Evidence::Verified).await.unwrap(), hers);
    assert_eq!(scene.shared(), text);
    let freed = unclaim(&bob.context, &bob.line("t001"), Whose::Anyones, Run::Real).await.unwrap();
    assert!(matches!(freed, Marked::Confirmed { .. }), "{freed:?}");
    assert_eq!(scene.shared(), ODD);
}

#[tokio::test]
async fn a_store_of_the_same_name_is_somebody_else() {
    let scene = Scene::new(ODD);
    let (ada, mut twin) = (scene.yard("ada").await, scene.yard("twin").await);
    twin.context.environment.clone_from(&ada.context.environment);
    ada.claim("t001").await;
    let hers = Marked::Anothers { by: "ada@test".to_owned() };
    assert_eq!(release(&twin.context, &twin.task("t001"), Force::No).await.unwrap(), hers);
    // A person who goes by that name knows what they do.
    let freed = unclaim(&twin.context, &twin.line("t001"), Whose::ThisName, Run::Real).await.unwrap();
    assert!(matches!(freed, Marked::Confirmed { .. }), "{freed:?}");
}

#[tokio::test]
async fn a_task_is_done_once_with_its_evidence() {
    let scene = Scene::new("- [ ] t001 one\n- [ ] t002 two\n  - [ ] t002.1 part\n");
    let yard = scene.yard("ada").await;
    yard.claim("t001").await;
    let done = complete(&yard.context, &yard.task("t001"), Evidence::Verified).await.unwrap();
    assert_eq!(done, Marked::Confirmed { note: None });
    let text = scene.shared();
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("- [x] t001 one assignee:ada@test started:"), "{first}");
    assert!(first.contains(" verified:") && first.contains(" completed:"), "{first}");
    assert_eq!(complete(&yard.context, &yard.task("t001"), Evidence::Verified).await.unwrap(), Marked::Already);
    // Who did it stays.
    assert_eq!(release(&yard.context, &yard.task("t001"), Force::No).await.unwrap(), Marked::Already);
    assert_eq!(scene.shared(), text);
    let fault = complete(&yard.context, &yard.task("t002"), Evidence::PullRequest(7)).await.unwrap_err();
    assert_eq!(fault.to_string(), "t002 has open parts: t002.1");
}

#[tokio::test]
async fn only_this_stores_old_claims_without_work_are_freed() {
    let old = "2026-01-01T00:00:00.5Z";
    let at = 1_767_225_600_500_000;
    let lines = format!(
        "- [ ] t001 left behind assignee:ada@test started:{old}\n- [ ] t002 by hand assignee:ada@test started:{old}\n\
         - [ ] t003 hers assignee:eve started:{old}\n- [ ] t004 no date assignee:ada@test started:soon\n\
         - [ ] t005 not here assignee:ada@test started:{old}\n"
    );
    let scene = Scene::new(&lines);
    let yard = scene.yard("ada").await;
    let tasks: Vec<NewTask> =
        ["t001", "t002", "t003", "t004"].map(|name| NewTask { id: Some(id(name)), task: yard.task(name) }).to_vec();
    yard.context.store.add_tasks(&tasks).await.unwrap();
    // Only of these has the store written down that they are its own.
    for name in ["t001", "t003", "t004", "t005"] {
        let hash = crate::base::hash::short_hash(&yard.clone.display().to_string());
        yard.context.store.set_mark(&format!("claim.{hash}.{name}"), at).await.unwrap();
    }
    let freed: Vec<TaskId> =
        stale(&yard.context, &yard.clone).await.unwrap().into_iter().map(|freed| freed.todo).collect();
    assert_eq!(freed, [id("t001")]);
    assert_eq!(
        scene.shared(),
        lines.replace(&format!("t001 left behind assignee:ada@test started:{old}"), "t001 left behind")
    );
    assert!(stale(&yard.context, &yard.clone).await.unwrap().is_empty());
}
