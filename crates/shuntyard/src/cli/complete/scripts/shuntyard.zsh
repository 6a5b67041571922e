#compdef shuntyard
# zsh completion for shuntyard. Load it with: source <(shuntyard completions zsh)
# or save it as _shuntyard in a directory of $fpath.
_shuntyard() {
    local -a answer values
    local line
    answer=("${(@f)$(shuntyard __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    case "${answer[1]}" in
        files) _files; return ;;
        directories) _files -/; return ;;
    esac
    for line in "${(@)answer[2,-1]}"; do
        values+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    _describe 'shuntyard' values
}
if [[ "${funcstack[1]}" == "_shuntyard" ]]; then
    _shuntyard "$@"
else
    compdef _shuntyard shuntyard
fi
