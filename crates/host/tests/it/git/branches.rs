//! Questions about branches and commits, and changes of references.

use shuntyard_host::git::{Base, BranchDeletion, Expected, UpdateRefError};

use super::scene::{Scene, write};

#[test]
fn a_branch_is_found_by_its_exact_name_only() {
    let (scene, first) = Scene::new();
    let git = &scene.git;
    let second = scene.save(&scene.top, &[("file", "2\n")]);
    scene.run(&scene.top, &["branch", "deep/er", &first]);
    scene.run(&scene.top, &["tag", "deep"]);
    scene.run(&scene.top, &["tag", "main", &first]);
    let table = [
        ("main", Some(&second)),
        ("deep/er", Some(&first)),
        ("deep", None),
        ("main~1", None),
        ("m*", None),
        ("ma", None),
        ("", None),
        ("-x", None),
        ("HEAD", None),
    ];
    for (name, wanted) in table {
        assert_eq!(scene.at(name).as_ref(), wanted, "{name}");
    }
    assert!(git.branch_commit(&scene.beside, "main").is_err(), "no repository is an error");
}

#[test]
fn the_base_is_the_branch_or_else_the_commit() {
    let scene = Scene::empty();
    let git = &scene.git;
    assert_eq!(git.current_branch(&scene.top).unwrap().as_deref(), Some("main"), "before the first commit");
    let first = scene.save(&scene.top, &[("file", "1\n")]);
    scene.run(&scene.top, &["tag", "main"]);
    let base = git.default_base(&scene.top).unwrap();
    assert_eq!((base.name(), &base), ("main", &Base::Branch("main".to_owned())));
    scene.run(&scene.top, &["checkout", "--quiet", "--detach"]);
    assert_eq!(git.current_branch(&scene.top).unwrap(), None);
    assert_eq!(git.default_base(&scene.top).unwrap(), Base::Commit(first));
}

#[test]
fn histories_are_compared() {
    let (scene, first) = Scene::new();
    let (git, top) = (&scene.git, &scene.top);
    let side = scene.tree("side", &first);
    let left = [scene.save(top, &[("l", "1")]), scene.save(top, &[("l", "2"), ("dir/ü\n", "x")])];
    let right = scene.save(&side, &[("r", "1")]);
    assert_eq!(git.commits_between(top, &first, "main").unwrap(), left);
    assert_eq!(git.commits_between(top, "side", "main").unwrap(), left);
    assert_eq!(git.commits_between(top, "main", &first).unwrap(), [""; 0]);
    assert_eq!(git.merge_base(top, "main", "side").unwrap().as_ref(), Some(&first));
    for (ancestor, commit, wanted) in [(&first, &right, true), (&right, &right, true), (&right, &left[1], false)] {
        assert_eq!(git.is_ancestor(top, ancestor, commit).unwrap(), wanted, "{ancestor} {commit}");
    }
    assert!(git.is_ancestor(top, "no-such", "main").is_err());
    assert!(git.is_ancestor(top, "--octopus", "main").is_err());
    let alone = scene.run(top, &["commit-tree", "-m", "alone", &git.tree_of(top, "main").unwrap()]);
    assert_eq!(git.merge_base(top, "main", &alone).unwrap(), None);
    assert_eq!(git.tree_of(top, &alone).unwrap(), git.tree_of(top, "main").unwrap());
    assert_ne!(git.tree_of(top, &first).unwrap(), git.tree_of(top, "main").unwrap());
}

#[test]
fn changed_paths_have_both_names_of_a_renamed_file() {
    let (scene, first) = Scene::new();
    scene.run(&scene.top, &["mv", "other", "moved"]);
    let second = scene.save(&scene.top, &[("file", "2\n"), ("dir/ü\n", "x")]);
    let changed = scene.git.changed_between(&scene.top.join("dir"), &first, &second).unwrap();
    assert_eq!(changed, ["dir/ü\n", "file", "moved", "other"].map(std::path::PathBuf::from));
    assert!(scene.git.changed_between(&scene.top, "--output=x", &second).is_err());
}

#[test]
fn clean_means_neither_changed_nor_new() {
    let (scene, _) = Scene::new();
    scene.save(&scene.top, &[(".gitignore", "ignored\n")]);
    write(&scene.top, "ignored", "x");
    assert!(scene.git.status_porcelain(&scene.top).unwrap().is_empty());
    write(&scene.top, "new", "x");
    assert!(!scene.git.status_porcelain(&scene.top).unwrap().is_empty());
}

#[test]
fn a_reference_moves_only_from_where_it_was_seen() {
    let (scene, first) = Scene::new();
    let second = scene.save(&scene.top, &[("file", "2\n")]);
    let update =
        |new: &str, expected: Expected<'_>| scene.git.update_ref(&scene.top, "refs/heads/work/one", new, expected);
    update(&first, Expected::Absent).unwrap();
    assert_eq!(scene.at("work/one").as_ref(), Some(&first));
    let seen = |result: Result<(), UpdateRefError>| match result {
        Err(UpdateRefError::Moved { at, .. }) => at,
        other => panic!("{other:?}"),
    };
    assert_eq!(seen(update(&second, Expected::Absent)).as_ref(), Some(&first));
    assert_eq!(seen(update(&second, Expected::At(&second))).as_ref(), Some(&first));
    update(&second, Expected::At(&first)).unwrap();
    assert_eq!(seen(update(&first, Expected::At(&first))).as_ref(), Some(&second));
    let missing = scene.git.update_ref(&scene.top, "refs/heads/none", &second, Expected::At(&first));
    assert_eq!(seen(missing), None);
    assert!(matches!(update("no-such", Expected::At(&second)), Err(UpdateRefError::Git(_))));
    let refused = scene.git.update_ref(&scene.top, "refs/heads/bad..name", &second, Expected::Absent);
    assert!(matches!(refused, Err(UpdateRefError::Git(_))), "{refused:?}");
}

#[test]
fn of_many_movers_one_wins() {
    let (scene, first) = Scene::new();
    let commits: Vec<String> = (0..6).map(|number| scene.save(&scene.top, &[("file", &number.to_string())])).collect();
    scene.git.branch_create(&scene.top, "race", &first).unwrap();
    let winners = std::thread::scope(|scope| {
        let racers: Vec<_> = commits
            .iter()
            .map(|commit| {
                let (scene, first) = (&scene, &first);
                let run = move || scene.git.update_ref(&scene.top, "refs/heads/race", commit, Expected::At(first));
                scope.spawn(move || run().is_ok().then_some(commit))
            })
            .collect();
        racers.into_iter().filter_map(|racer| racer.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(winners.len(), 1);
    assert_eq!(scene.at("race").as_ref(), Some(winners[0]));
}

#[test]
fn a_branch_is_created_once() {
    let (scene, first) = Scene::new();
    let create = |name: &str, at: &str| scene.git.branch_create(&scene.top, name, at);
    create("work", &first).unwrap();
    assert!(matches!(create("work", &first), Err(UpdateRefError::Moved { at: Some(at), .. }) if at == first));
    for (name, at) in [("bad..name", first.as_str()), ("-d", &first), ("fine", "no-such")] {
        assert!(matches!(create(name, at), Err(UpdateRefError::Git(_))), "{name}");
    }
    assert_eq!(scene.at("fine"), None);
}

#[test]
fn only_a_merged_branch_that_nobody_is_on_is_deleted() {
    let (scene, first) = Scene::new();
    let delete = |branch: &str| scene.git.delete_branch_if_merged(&scene.top, branch, "main").unwrap();
    let tree = scene.tree("work", &first);
    let ahead = scene.save(&tree, &[("new", "x")]);
    assert_eq!(delete("work"), BranchDeletion::Unmerged { commits: vec![ahead] });
    scene.run(&scene.top, &["merge", "--quiet", "--ff-only", "work"]);
    assert_eq!(delete("work"), BranchDeletion::CheckedOut { path: tree.clone() });
    assert_eq!(delete("main"), BranchDeletion::CheckedOut { path: scene.top.clone() });
    scene.run(&scene.top, &["worktree", "remove", tree.to_str().unwrap()]);
    assert_eq!(delete("work"), BranchDeletion::Deleted);
    assert_eq!((scene.at("work"), delete("work")), (None, BranchDeletion::Absent));
}
