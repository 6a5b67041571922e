# bash completion for shuntyard. Load it with: source <(shuntyard completions bash)
_shuntyard() {
    # Split by spaces only: Readline also splits at `=` and `:`, which stand inside of arguments here.
    local line="${COMP_LINE:0:COMP_POINT}" words answer=() value
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    # The installed program is asked, never a path that was only typed so far.
    while IFS= read -r value; do
        answer+=("$value")
    done < <(shuntyard __complete "${words[@]:1}" 2>/dev/null)
    COMPREPLY=()
    case "${answer[0]}" in
        files) compopt -o default 2>/dev/null; return ;;
        directories) compopt -o dirnames 2>/dev/null; return ;;
    esac
    # What is before the last separator stays on the line as it is.
    local current="${words[${#words[@]} - 1]}" head=""
    [[ $current == *[=:]* ]] && head="${current%"${current##*[=:]}"}"
    for value in "${answer[@]:1}"; do
        value="${value%%$'\t'*}"
        COMPREPLY+=("${value#"$head"}")
    done
}
complete -F _shuntyard shuntyard
