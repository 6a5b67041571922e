//! Remotes that are away, that refuse, or that others write to at the same moment.

use super::*;
use shuntyard_core::settings::OfflineClaims;

#[tokio::test]
async fn a_remote_that_is_gone_counts_as_taken_and_nothing_is_written() {
    let scene = Scene::new(ODD);
    let mut yard = scene.yard("ada").await;
    fs::rename(scene.path("remote.git"), scene.path("elsewhere.git")).unwrap();
    for offline in [OfflineClaims::Wait, OfflineClaims::Allow] {
        yard.context.config.supervise.offline_claims = offline;
        let claim = yard.claim("t001").await;
        // It is not known to be out of reach: it cannot be read.
        assert!(matches!(claim.taken, Taken::Offline(_)), "{claim:?}");
    }
    assert_eq!((yard.text().as_str(), git(&yard.clone, &["rev-list", "--count", "main"]).as_str()), (ODD, "1\n"));
    fs::rename(scene.path("elsewhere.git"), scene.path("remote.git")).unwrap();
    assert_eq!(yard.claim("t001").await.taken, Taken::Confirmed);
}

#[tokio::test]
async fn offline_work_is_allowed_only_by_the_settings_and_is_said_to_be_unconfirmed() {
    let scene = Scene::new(ODD);
    let mut yard = scene.yard("ada").await;
    let remote = scene.path("remote.git").display().to_string();
    // Nothing listens there.
    git(&yard.clone, &["remote", "set-url", "origin", "git://127.0.0.1:9/x"]);
    assert!(matches!(yard.claim("t001").await.taken, Taken::Offline(_)));
    assert_eq!(yard.text(), ODD);
    yard.context.config.supervise.offline_claims = OfflineClaims::Allow;
    let claim = yard.claim("t001").await;
    assert!(matches!(claim.taken, Taken::Unconfirmed(_)), "{claim:?}");
    assert!(yard.text().contains("assignee:ada@test"), "{}", yard.text());
    let done = complete(&yard.context, &yard.task("t001"), shuntyard_core::todo::Evidence::Verified).await.unwrap();
    assert!(matches!(done, Marked::Offline(_)), "{done:?}");
    // Back again, the same claim is confirmed, and says the same.
    git(&yard.clone, &["remote", "set-url", "origin", &remote]);
    assert_eq!(yard.claim("t001").await.taken, Taken::Confirmed);
    assert_eq!(scene.shared(), yard.text());
}

#[tokio::test]
async fn an_unconfirmed_claim_gives_way_to_one_that_was_shared() {
    let scene = Scene::new(ODD);
    let (mut ada, bob) = (scene.yard("ada").await, scene.yard("bob").await);
    ada.context.config.supervise.offline_claims = OfflineClaims::Allow;
    let remote = scene.path("remote.git").display().to_string();
    git(&ada.clone, &["remote", "set-url", "origin", "git://127.0.0.1:9/x"]);
    assert!(matches!(ada.claim("t001").await.taken, Taken::Unconfirmed(_)));
    assert_eq!(bob.claim("t001").await.taken, Taken::Confirmed);
    git(&ada.clone, &["remote", "set-url", "origin", &remote]);
    assert_eq!(ada.claim("t001").await.taken, Taken::Lost { by: "bob@test".to_owned() });
}

#[tokio::test]
async fn a_push_that_an_unrelated_commit_was_faster_than_is_made_again() {
    let scene = Scene::new(ODD);
    let yard = scene.yard("ada").await;
    let other = scene.path("seed");
    commit(&other, "unrelated", "unrelated");
    git(&other, &["push", "-q", &scene.path("remote.git").display().to_string(), "main:refs/heads/waiting"]);
    // With the first push, and before it counts, another author's commit arrives.
    let once = scene.path("once").display().to_string();
    scene.hook(
        "pre-receive",
        &format!(
            "#!/bin/sh\ntest -e '{once}' && exit 0\ntouch '{once}'\n\
             unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES\n\
             git update-ref refs/heads/main refs/heads/waiting\n"
        ),
    );
    assert_eq!(yard.claim("t001").await.taken, Taken::Confirmed);
    assert!(scene.path("once").exists());
    let history = git(&scene.path("remote.git"), &["log", "--format=%s", "main"]);
    assert_eq!(history, "t001: claimed by ada@test\nunrelated\nTODO.md\n");
}

#[tokio::test]
async fn a_remote_that_wants_no_pushes_is_asked_a_few_times_and_named() {
    let scene = Scene::new(ODD);
    let yard = scene.yard("ada").await;
    scene.hook("pre-receive", &format!("#!/bin/sh\necho x >> '{}'\nexit 1\n", scene.path("asked").display()));
    let fault = super::super::claim(&yard.context, &yard.line("t001"), Run::Real).await.unwrap_err();
    assert!(matches!(&fault, ClaimFault::Rejected { place, .. } if place == "origin/main"), "{fault}");
    assert_eq!(fs::read_to_string(scene.path("asked")).unwrap(), "x\nx\nx\nx\n");
    assert_eq!((scene.shared(), yard.text()), (ODD.to_owned(), ODD.to_owned()));
}

#[tokio::test]
async fn the_users_own_hooks_are_not_run() {
    let scene = Scene::new(ODD);
    let yard = scene.yard("ada").await;
    for hook in ["pre-push", "post-merge", "post-checkout", "pre-commit", "commit-msg", "reference-transaction"] {
        let path = yard.clone.join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(scene.path("draft"), format!("#!/bin/sh\ntouch '{}'\nexit 1\n", scene.path("ran").display()))
            .unwrap();
        assert!(
            Command::new("install").args(["-m", "755"]).args([&scene.path("draft"), &path]).status().unwrap().success()
        );
    }
    assert_eq!(yard.claim("t001").await.taken, Taken::Confirmed);
    assert!(!scene.path("ran").exists());
    assert_eq!(yard.text(), scene.shared());
}
