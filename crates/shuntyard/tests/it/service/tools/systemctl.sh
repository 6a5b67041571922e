# A systemd that answers for one user: units are enabled and active, and that is all.
echo "systemctl $*" >>"$STATE/calls"
if [ -f "$STATE/no-bus" ]; then
    echo 'Failed to connect to bus: No medium found' >&2
    exit 1
fi
[ "$1" = --user ] || exit 64
shift
case "$1" in
show)
    case "$2" in
    --property=Version) echo Version=252 ;;
    *) cat "$STATE/show-$2" ;;
    esac
    ;;
daemon-reload) ;;
is-enabled) [ -f "$STATE/enabled-$2" ] ;;
is-active) [ -f "$STATE/active-$2" ] ;;
enable)
    [ "$2" = --now ] && now=yes && shift
    if [ -f "$STATE/masked" ]; then
        echo "Failed to enable unit: Unit file $2 is masked." >&2
        exit 1
    fi
    if ! [ -f "$HOME/.config/systemd/user/$2" ]; then
        echo "Failed to enable unit: Unit file $2 does not exist." >&2
        exit 1
    fi
    : >"$STATE/enabled-$2"
    if [ -n "$now" ]; then : >"$STATE/active-$2"; fi
    ;;
restart) : >"$STATE/active-$2" ;;
disable) rm "$STATE/enabled-$3" "$STATE/active-$3" ;;
*)
    echo "Unknown command verb $1." >&2
    exit 64
    ;;
esac
