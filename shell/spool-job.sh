#!/bin/sh
# spool-job.sh SPOOL INPUT [OUTPUT [PRESET]]
#
# Puts one job into the folder SPOOL, from which `voxmux worker --spool SPOOL` takes it, and returns at once: nothing
# of voxmux is started here. For the hooks of servers: needs no HOME, no PATH and no environment. OUTPUT is a file, or
# a folder where it ends in a slash; without it (or empty) the result lies beside the input.
#
# Exit codes: 0 the job is in SPOOL, 1 it could not be written, 2 too few arguments.

# Bytes are bytes: a name in UTF-8 goes through as it is, whatever the locale.
LC_ALL=C
PATH=/usr/bin:/bin
# A server may have left us 0: then anybody could rewrite the job.
umask 022

# Leaves $1 as a JSON string in $json.
json_string() {
  json='' rest=$1
  while :; do
    plain=${rest%%[\"\\[:cntrl:]]*}
    json=$json$plain
    [ "$plain" != "$rest" ] || break
    rest=${rest#"$plain"}
    mark=${rest%"${rest#?}"}
    rest=${rest#?}
    case $mark in
      [\"\\]) json=$json\\$mark ;;
      *) json=$json$(printf '\\u%04x' "'$mark") ;;
    esac
  done
  json=\"$json\"
}

# Leaves $1 as an absolute path in $path: the worker runs in another folder.
absolute() {
  case $1 in
    /*) path=$1 ;;
    *) path=$PWD/$1 ;;
  esac
}

[ $# -ge 2 ] && [ -n "$1" ] && [ -n "$2" ] || {
  echo 'usage: spool-job.sh SPOOL INPUT [OUTPUT [PRESET]]' >&2
  exit 2
}

absolute "$2"
json_string "$path"
job="{\"input\":$json"
if [ -n "${3-}" ]; then
  absolute "$3"
  json_string "$path"
  job="$job,\"output\":$json"
fi
if [ -n "${4-}" ]; then
  json_string "$4"
  job="$job,\"preset\":$json"
fi

# A name that nobody else gives, without starting a program where the kernel hands one out.
{ read -r id </proc/sys/kernel/random/uuid; } 2>/dev/null || id=$(date +%s)-$$

# Under a dot-name until it is whole: the worker takes no half job.
part=$1/.$id.part
if printf '%s}\n' "$job" >"$part" && mv "$part" "$1/$id.json"; then
  exit 0
fi
rm -f "$part"
echo "spool-job.sh: cannot write into $1: the job for $2 is lost" >&2
exit 1
