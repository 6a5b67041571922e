#!/bin/sh
# What GitHub and `gh` do, as far as it is used: pull requests whose heads follow their branches, in a bare repository.
hub=HUB
echo "$*" >> "$hub/calls"
if [ -e "$hub/hung" ]; then echo $$ > "$hub/hung"; sleep 600; fi
if [ -e "$hub/broken" ]; then echo "error connecting to api.github.com" >&2; exit 1; fi
remote() { git --git-dir="$hub/remote" "$@"; }

# The number of a pull request, by its address or its branch.
numbered() {
    number=${1##*/pull/}
    if [ "$number" = "$1" ]; then
        number=$(ls "$hub/$(echo "$1" | tr / _)".* 2> /dev/null | sed 's/.*\.//' | sort -n | tail -1)
        if [ -z "$number" ]; then echo "no pull requests found for branch \"$1\"" >&2; exit 1; fi
    fi
    if [ -e "$hub/gone-$number" ]; then
        echo "GraphQL: Could not resolve to a PullRequest with the number of $number. (repository.pullRequest)" >&2
        exit 1
    fi
    branch=$(cat "$hub/branch-$number")
    status="$hub/$(echo "$branch" | tr / _).$number"
    head=$(cat "$hub/head-$number" 2> /dev/null || remote rev-parse "refs/heads/$branch")
}

case "$1 $2" in
"pr create")
    test "$3 $5" = "--head --base" || exit 64
    name=$(echo "$4" | tr / _)
    remote rev-parse --verify --quiet "refs/heads/$4" > /dev/null || exit 1
    for found in "$hub/$name".*; do
        if [ -e "$found" ] && [ "$(cat "$found")" = OPEN ]; then
            echo "a pull request for branch \"$4\" into branch \"$6\" already exists:" >&2
            exit 1
        fi
    done
    number=$(($(cat "$hub/number" 2> /dev/null || echo 0) + 1))
    echo $number > "$hub/number"
    echo "$4" > "$hub/branch-$number"
    echo "$6" > "$hub/base-$number"
    echo OPEN > "$hub/$name.$number"
    echo "Creating pull request for $4 into $6 in ann/app" >&2
    echo "https://github.com/ann/app/pull/$number"
    if [ -e "$hub/lost" ]; then rm "$hub/lost"; kill -9 $PPID; fi;;
"pr view")
    numbered "$3"
    merged=null
    if [ -e "$hub/merged-$number" ]; then merged="{\"oid\":\"$(cat "$hub/merged-$number")\"}"; fi
    mergeable=MERGEABLE
    if [ -e "$hub/unknown" ]; then rm "$hub/unknown"; mergeable=UNKNOWN; fi
    # The comments of people and the states of checks, for one head or for all.
    said="$hub/said-$number.$head"
    if [ ! -e "$said" ]; then said="$hub/said-$number"; fi
    if [ ! -e "$said" ]; then said="$hub/said"; fi
    printf '{"headRefName":"%s","headRefOid":"%s","mergeCommit":%s,"mergeable":"%s","state":"%s",' \
        "$branch" "$head" "$merged" $mergeable "$(cat "$status")"
    printf '"url":"https://github.com/ann/app/pull/%s","baseRefName":"%s",' "$number" "$(cat "$hub/base-$number")"
    sed "s/HEAD/$head/g" "$said"
    echo '}';;
"pr merge")
    test "$5" = --match-head-commit || exit 64
    numbered "$3"
    if [ "$(cat "$status")" = MERGED ]; then echo "! Pull request #$number was already merged" >&2; exit 0; fi
    if [ "$6" != "$head" ]; then echo "GraphQL: Head branch was modified. Review and try the merge again." >&2; exit 1; fi
    base=$(remote rev-parse refs/heads/main)
    tree=$(remote merge-tree --write-tree "$base" "$head") || { echo "merge conflict" >&2; exit 1; }
    commit=$(remote -c user.name=GitHub -c user.email=g@g commit-tree -p "$base" -m "$branch (#$number)" "$tree")
    remote update-ref refs/heads/main "$commit" "$base"
    echo "$head" > "$hub/head-$number"
    echo "$commit" > "$hub/merged-$number"
    # Before the state: a test that sees it merged counts it.
    echo "$number $4" >> "$hub/merges"
    echo MERGED > "$status";;
"issue create")
    test "$3 $5" = "--title --body" || exit 64
    number=$(($(cat "$hub/issues" 2> /dev/null || echo 0) + 1))
    echo $number > "$hub/issues"
    echo "https://github.com/ann/app/issues/$number";;
"issue edit")
    test "$4 $5" = "--add-assignee @me" || exit 64;;
"issue close")
    test "$4" = --comment || exit 64;;
"run view")
    test "$3 $4 $5 $7" = "--repo github.com/ann/app --job --log-failed" || exit 64
    printf 'build\tRun tests\t2026-05-01T10:00:00Z error: expected 42\n';;
"api --hostname")
    test "$3" = github.com || exit 64
    cat "$hub/comments" 2> /dev/null || echo '[]';;
*) exit 64;;
esac
