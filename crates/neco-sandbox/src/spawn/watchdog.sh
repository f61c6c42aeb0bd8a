# Kills the process groups it was told of when the pipe on its input closes: that happens
# whenever neco ends, in whatever way. `+N` adds the group N, `-N` takes it out. `?M` says that a command
# is being started whose processes have the entry M in their environment, `!M` that this is over. If there
# were any, the program that the arguments name is run afterwards.
trap '' HUP INT QUIT TERM
groups=' '
marks=' '
while read -r line; do
    group=${line#?}
    case $line in
    +*) groups="$groups$group " ;;
    -*) case $groups in *" $group "*) groups="${groups%%" $group "*} ${groups#*" $group "}" ;; esac ;;
    \?*) marks="$marks$group " ;;
    !*) case $marks in *" $group "*) marks="${marks%%" $group "*} ${marks#*" $group "}" ;; esac ;;
    esac
done
for group in $groups; do
    kill -s KILL -- "-$group" 2>/dev/null
done
# Twice: one that was not quite there yet is there by then.
for mark in $marks $marks; do
    for process in /proc/[0-9]*; do
        tr '\0' '\n' <"$process/environ" 2>/dev/null | grep -qxF -- "$mark" && kill -s KILL "${process#/proc/}"
    done
    sleep 0.05
done
case $groups$marks in *[0-9]*) [ $# -gt 0 ] && sleep 0.1 && exec "$@" ;; esac
