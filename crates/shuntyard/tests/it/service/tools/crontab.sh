# A crontab of one user, in the file `table`.
case "$1" in
-l)
    echo 'crontab -l' >>"$STATE/calls"
    if [ -f "$STATE/denied" ]; then
        echo 'You (ann) are not allowed to use this program (crontab)' >&2
        exit 1
    fi
    if ! [ -f "$STATE/table" ]; then
        echo 'no crontab for ann' >&2
        exit 1
    fi
    cat "$STATE/table"
    # Another process saves an edited table right after this was read.
    if [ -f "$STATE/edited" ]; then
        rm "$STATE/edited"
        echo '0 0 * * * new' >>"$STATE/table"
    fi
    ;;
-r)
    echo 'crontab -r' >>"$STATE/calls"
    rm "$STATE/table"
    ;;
*)
    echo 'crontab FILE' >>"$STATE/calls"
    if [ -f "$STATE/picky" ]; then
        echo '"-":3: command too long' >&2
        exit 1
    fi
    cat "$1" >"$STATE/table"
    ;;
esac
