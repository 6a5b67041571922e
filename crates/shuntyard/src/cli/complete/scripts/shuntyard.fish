# fish completion for shuntyard. Load it with: shuntyard completions fish | source
# or save it as ~/.config/fish/completions/shuntyard.fish
function __shuntyard_complete
    set -l words (commandline -opc)
    set -l answer (shuntyard __complete $words[2..-1] (commandline -ct | string collect --allow-empty) 2>/dev/null)
    switch "$answer[1]"
        case files
            __fish_complete_path (commandline -ct)
        case directories
            __fish_complete_directories (commandline -ct)
        case '*'
            printf '%s\n' $answer[2..-1]
    end
end
complete -c shuntyard -f -a '(__shuntyard_complete)'
