# fish completion for switchyard. Load it with: switchyard completions fish | source
# or save it as ~/.config/fish/completions/switchyard.fish
function __switchyard_complete
    set -l words (commandline -opc)
    set -l answer (switchyard __complete $words[2..-1] (commandline -ct | string collect --allow-empty) 2>/dev/null)
    switch "$answer[1]"
        case files
            __fish_complete_path (commandline -ct)
        case directories
            __fish_complete_directories (commandline -ct)
        case '*'
            printf '%s\n' $answer[2..-1]
    end
end
complete -c switchyard -f -a '(__switchyard_complete)'
