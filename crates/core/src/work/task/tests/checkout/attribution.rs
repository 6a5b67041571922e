//! Which calls are evidence for which differences.

use super::{check, is_attributed, placed};
use crate::work::task::checkout::{Call, Kind};
use serde_json::json;

#[test]
fn a_tool_counts_for_the_very_path_that_it_changes() {
    let table = [
        ("edit", json!({"filePath": "ROOT/src/a.rs"}), true),
        ("write", json!({"content": "x".repeat(9000), "filePath": "ROOT/src/a.rs"}), true),
        ("write", json!({"filePath": "ROOT/src/./b/../a.rs"}), true),
        ("edit", json!({"filePath": "~/app/src/a.rs"}), true),
        ("edit", json!({"filePath": "../../../../../../app/src/a.rs"}), true),
        ("edit", json!({"filePath": "src/a.rs"}), false),
        ("edit", json!({"filePath": "MINE/src/a.rs"}), false),
        ("edit", json!({"filePath": "src/../src/a.rs"}), false),
        ("edit", json!({"filePath": "../t001/src/a.rs"}), false),
        ("edit", json!({"filePath": "MINE/../t001/src/a.rs"}), false),
        ("edit", json!({"filePath": "../t002/src/a.rs"}), false),
        ("edit", json!({"filePath": "ROOT/src/a.rs.orig"}), false),
        ("edit", json!({"filePath": "ROOT/src"}), false),
        ("edit", json!({"filePath": "ROOT-2/src/a.rs"}), false),
        ("edit", json!({"filePath": "notes", "newString": "see ROOT/src/a.rs"}), false),
        ("read", json!({"filePath": "ROOT/src/a.rs"}), false),
        ("grep", json!({"path": "ROOT/src/a.rs", "pattern": "x"}), false),
        ("files_read_file", json!({"path": "ROOT/src/a.rs"}), false),
        ("files_write_file", json!({"path": "ROOT/src/a.rs"}), true),
        ("multiedit", json!({"edits": [{"filePath": "ROOT/src/a.rs"}]}), true),
        ("delete", json!({"paths": ["x", "ROOT/src/a.rs"]}), true),
        ("apply_patch", json!({"patchText": "*** Begin Patch\n*** Update File: ROOT/src/a.rs\n@@"}), true),
        ("apply_patch", json!({"patchText": "*** Begin Patch\n*** Update File: src/a.rs\n@@"}), false),
        ("bash", json!({"command": "rm src/a.rs"}), false),
        ("bash", json!({"command": "rm src/a.rs", "workdir": "ROOT"}), true),
        ("bash", json!({"command": "rm a.rs", "workdir": "../../../../../../app/src"}), true),
        ("bash", json!({"command": "cat a.rs", "workdir": "ROOT/src"}), false),
        ("bash", json!(["no", "object"]), false),
    ];
    for (tool, input, attributed) in table {
        let input = serde_json::from_str(&placed(&input.to_string())).unwrap();
        let calls = Call::of_tool(tool, &input);
        assert_eq!(is_attributed(Kind::Modified, "src/a.rs", &calls), attributed, "{tool} {input}");
    }
}

#[test]
fn a_command_counts_for_the_paths_that_it_can_change() {
    for (command, attributed) in [
        ("rm ROOT/src/a.rs", true),
        ("rm -f -- 'ROOT/src/a.rs'", true),
        ("rm \"ROOT/src/a.rs\"", true),
        ("rm ROOT/src/a\\.rs", true),
        ("echo x > ROOT/src/a.rs", true),
        ("echo x >>ROOT/src/a.rs", true),
        ("cat evil 2>/dev/null >| ROOT/src/a.rs", true),
        ("make &> ROOT/src/a.rs", true),
        ("true;>ROOT/src/a.rs", true),
        ("cat x | tee -a ROOT/src/a.rs", true),
        ("cd ROOT && echo x > src/a.rs", true),
        ("cd ROOT/src && rm a.rs", true),
        ("cd ROOT; cd src; rm ./a.rs", true),
        ("(cd ROOT && rm src/a.rs)", true),
        ("pushd ROOT/src; rm a.rs; popd", true),
        ("if true; then rm ROOT/src/a.rs; fi", true),
        ("rm -rf ROOT/src", true),
        ("rm -r ROOT", true),
        ("rm ROOT/src/*.rs", true),
        ("rm ROOT/src/[ab].rs", true),
        ("rm ROOT/src/{a,b}.rs", true),
        ("cp x ROOT/src/a.rs", true),
        ("cp a.rs ROOT/src/", true),
        ("cp -r src ROOT", true),
        ("cp -t ROOT/src a.rs", true),
        ("rsync -a src/ ROOT/src/", true),
        ("mv ROOT/src/a.rs .", true),
        ("mv ROOT/src elsewhere", true),
        ("sed -i s/a/b/ ROOT/src/a.rs", true),
        ("dd if=x of=ROOT/src/a.rs", true),
        ("find ROOT -name '*.rs' -delete", true),
        ("find ROOT/src -exec rm {} +", true),
        ("tar -xf x.tar -C ROOT", true),
        ("patch -d ROOT -p1 < x.patch", true),
        ("./deploy.sh ROOT src/a.rs", true),
        ("./deploy.sh --to=ROOT/src/a.rs", true),
        ("rm src/a.rs", false),
        ("rm MINE/src/a.rs", false),
        ("rm ../t001/src/a.rs", false),
        ("cd ..; rm t001/src/a.rs", false),
        ("cd ROOT; cd -; rm src/a.rs", false),
        ("(cd ROOT && ls); rm src/a.rs", false),
        ("pushd ROOT; popd; rm src/a.rs", false),
        ("rm ROOT/src/b.rs", false),
        ("rm ROOT/src/*.txt", false),
        ("rm ROOT/*", false),
        ("cp ROOT/src/a.rs .", false),
        ("cp -r ROOT/src .", false),
        ("cp x ROOT", false),
        ("find ROOT -name '*.rs'", false),
        ("find ROOT -name '*.pyc' -delete", false),
        ("tar -czf x.tgz -C ROOT src", false),
        ("cd ROOT && make", false),
        ("./deploy.sh ROOT", false),
        ("echo ROOT src/a.rs", false),
        ("", false),
    ] {
        check(Kind::Modified, "src/a.rs", command, attributed);
    }
}

#[test]
fn a_command_that_only_reads_does_not_count() {
    for reader in
        ["cat", "less", "head -n 5", "tail -f", "grep -n x", "rg x", "ls -l", "diff x", "wc -l", "stat", "file"]
    {
        check(Kind::Modified, "src/a.rs", &format!("{reader} ROOT/src/a.rs"), false);
        check(Kind::Modified, "src/a.rs", &format!("cd ROOT && {reader} src/a.rs | sort > MINE/x"), false);
        check(Kind::Modified, "src/a.rs", &format!("{reader} ROOT/src/b.rs > ROOT/src/a.rs"), true);
    }
    for command in [
        "sed -n 1,5p ROOT/src/a.rs",
        "awk '{print}' ROOT/src/a.rs",
        "sort < ROOT/src/a.rs > sorted",
        "wc 2>&1 < ROOT/src/a.rs",
        "test -f ROOT/src/a.rs && echo there",
        "[ -f ROOT/src/a.rs ]",
        "x=$(cat ROOT/src/a.rs); echo $x > y",
        "diff <(cat ROOT/src/a.rs) src/a.rs",
        "python3 ROOT/src/a.rs",
        "sh -c 'cat ROOT/src/a.rs'",
        "git -C ROOT diff src/a.rs",
        "# rm ROOT/src/a.rs",
        "ls # rm ROOT/src/a.rs",
        "cat > notes.md <<EOF\nrm ROOT/src/a.rs\nEOF",
    ] {
        check(Kind::Modified, "src/a.rs", command, false);
    }
}

#[test]
fn git_counts_for_what_its_subcommand_changes() {
    use Kind::*;
    for (command, kind, name, attributed) in [
        ("git -C ROOT checkout -- src/a.rs", Reverted, "src/a.rs", true),
        ("git -C ROOT checkout src/a.rs", Reverted, "src/a.rs", true),
        ("git -C ROOT checkout .", Reverted, "src/a.rs", true),
        ("cd ROOT && git restore src", Reverted, "src/a.rs", true),
        ("git -C ROOT reset --hard", Reverted, "src/a.rs", true),
        ("git --git-dir=ROOT/.git --work-tree=ROOT reset --hard", Reverted, "src/a.rs", true),
        ("git --git-dir ROOT/.git --work-tree ROOT reset --hard", Reverted, "src/a.rs", true),
        ("GIT_DIR=ROOT/.git GIT_WORK_TREE=ROOT git reset --hard", Reverted, "src/a.rs", true),
        ("git -C ROOT clean -fdx", Deleted, "notes.txt", true),
        ("git -C ../../../../../../app stash", Reverted, "src/a.rs", true),
        ("git -C ROOT stash drop", StashDropped, "s1", true),
        ("git -C ROOT stash -q", StashAdded, "s1", true),
        ("git -C ROOT update-ref -d refs/stash", StashDropped, "s1", true),
        ("git -C ROOT branch -f main HEAD~1", RefMoved, "refs/heads/main", true),
        ("git -C ROOT branch -D old", RefDeleted, "refs/heads/old", true),
        ("export GIT_DIR=ROOT/.git; git branch -D old", RefDeleted, "refs/heads/old", true),
        ("GIT_DIR=ROOT/.git; export GIT_DIR && git branch -D old", RefDeleted, "refs/heads/old", true),
        ("GIT_DIR=ROOT/.git; git branch -D old", RefDeleted, "refs/heads/old", false),
        ("git -C ROOT update-ref refs/heads/main abc", RefMoved, "refs/heads/main", true),
        ("git -C ROOT commit -qam x", RefMoved, "refs/heads/main", true),
        ("git push ROOT HEAD:main", RefMoved, "refs/heads/main", true),
        ("git push -f ROOT +x:refs/heads/main", RefMoved, "refs/heads/main", true),
        ("git -C ROOT checkout -q other", HeadMoved, "HEAD", true),
        ("git -C ROOT symbolic-ref HEAD refs/heads/x", HeadMoved, "HEAD", true),
        ("git -C ROOT config user.name Eve", ConfigChanged, "config", true),
        ("git -C ROOT config --unset user.name", ConfigChanged, "config", true),
        ("git -C ROOT add src/a.rs", Staged, "src/a.rs", true),
        ("git -C ROOT reset -q", Unstaged, "src/a.rs", true),
        ("git -C ROOT undo-everything", Reverted, "src/a.rs", true),
        ("echo x > ROOT/.git/hooks/pre-commit", HookChanged, "pre-commit", true),
        ("echo x >> ROOT/.git/config", ConfigChanged, "config", true),
        ("git config -f ROOT/.git/config alias.st x", ConfigChanged, "config", true),
        ("git config --file=ROOT/.git/config --unset alias.st", ConfigChanged, "config", true),
        ("git config --global alias.st x", ConfigChanged, "/home/ann/.gitconfig", true),
        ("echo x >> ~/.gitconfig", ConfigChanged, "/home/ann/.gitconfig", true),
        ("git -C ROOT worktree add ../tree", ConfigChanged, "worktrees/tree/gitdir", true),
        ("rm -r ROOT/.git/worktrees/tree", ConfigChanged, "worktrees/tree/gitdir", true),
        ("git -C ROOT update-index --skip-worktree src/a.rs", Modified, "src/a.rs", true),
        ("rm ROOT/.git/refs/heads/old", RefDeleted, "refs/heads/old", true),
        ("rm -rf ROOT/.git", StashDropped, "s1", true),
        // In the agent's own clone.
        ("git checkout -- src/a.rs", Reverted, "src/a.rs", false),
        ("git -C MINE stash drop", StashDropped, "s1", false),
        ("git config user.name Eve", ConfigChanged, "config", false),
        ("git config user.name Eve", ConfigChanged, "/home/ann/.gitconfig", false),
        ("git config -f ../../other/config user.name Eve", ConfigChanged, "config", false),
        ("cd ROOT && cd MINE && git reset --hard", Reverted, "src/a.rs", false),
        ("git push origin main", RefMoved, "refs/heads/main", false),
        ("git fetch ROOT main", RefMoved, "refs/heads/main", false),
        // Reading, or another thing.
        ("git -C ROOT status", Reverted, "src/a.rs", false),
        ("git -C ROOT log --oneline", RefMoved, "refs/heads/main", false),
        ("git -C ROOT stash list", StashDropped, "s1", false),
        ("git -C ROOT branch --list", RefMoved, "refs/heads/main", false),
        ("git -C ROOT branch", RefMoved, "refs/heads/main", false),
        ("git -C ROOT config user.name", ConfigChanged, "config", false),
        ("git -C ROOT config --get user.name", ConfigChanged, "config", false),
        ("git config --global --list", ConfigChanged, "/home/ann/.gitconfig", false),
        ("git -C ROOT update-index --skip-worktree src/a.rs", Modified, "README", false),
        ("git -C ROOT branch -D old", RefMoved, "refs/heads/main", false),
        ("git -C ROOT branch -D old", StashDropped, "s1", false),
        ("git -C ROOT stash drop", Reverted, "src/a.rs", false),
        ("git -C ROOT checkout -- README", Reverted, "src/a.rs", false),
        ("git -C ROOT restore README", Reverted, "src/a.rs", false),
        ("git -C ROOT checkout -- src/a.rs", RefMoved, "refs/heads/main", false),
        ("git -C ROOT reset --soft HEAD~1", Reverted, "src/a.rs", false),
        ("git -C ROOT commit -m x", StashDropped, "s1", false),
        ("git -C ROOT add src/a.rs", Modified, "src/a.rs", false),
        ("echo git -C ROOT stash drop", StashDropped, "s1", false),
        ("cat ROOT/.git/config", ConfigChanged, "config", false),
        ("git -C ROOT gc", RefMoved, "refs/heads/main", false),
    ] {
        check(kind, name, command, attributed);
    }
}
