#compdef switchyard
# zsh completion for switchyard. Load it with: source <(switchyard completions zsh)
# or save it as _switchyard in a directory of $fpath.
_switchyard() {
    local -a answer values
    local line
    answer=("${(@f)$(switchyard __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    case "${answer[1]}" in
        files) _files; return ;;
        directories) _files -/; return ;;
    esac
    for line in "${(@)answer[2,-1]}"; do
        values+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    _describe 'switchyard' values
}
if [[ "${funcstack[1]}" == "_switchyard" ]]; then
    _switchyard "$@"
else
    compdef _switchyard switchyard
fi
