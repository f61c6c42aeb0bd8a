# Kills the process groups it was told of when the pipe on its input closes: that happens
# whenever neco ends, in whatever way. `+N` adds the group N, `-N` takes it out. If there were any, the
# program that the arguments name is run afterwards.
trap '' HUP INT QUIT TERM
groups=' '
while read -r line; do
    group=${line#?}
    case $line in
    +*) groups="$groups$group " ;;
    -*) case $groups in *" $group "*) groups="${groups%%" $group "*} ${groups#*" $group "}" ;; esac ;;
    esac
done
for group in $groups; do
    kill -s KILL -- "-$group" 2>/dev/null
done
case $groups in *[0-9]*) [ $# -gt 0 ] && sleep 0.1 && exec "$@" ;; esac
