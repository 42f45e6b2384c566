#!/bin/sh
# spool-job.sh SPOOL INPUT [OUTPUT [PRESET]]
#
# Writes one job into the folder SPOOL, for `voxmux worker --spool SPOOL`, and returns at once without starting voxmux.
# Made for the hooks of servers: needs no HOME, no PATH and no environment. OUTPUT is a file, or a folder if it ends in
# a slash. If it is missing or empty, the output is written beside the input.
#
# Exit codes: 0 the job is in SPOOL, 1 it could not be written, 2 too few arguments.

# Treat names as bytes, so that UTF-8 passes unchanged in every locale.
LC_ALL=C
PATH=/usr/bin:/bin
# A server may run its hooks with umask 0, which would let every user change the job.
umask 022

# Writes $1 as a JSON string to $json.
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

# Writes $1 as an absolute path to $path, because the worker runs in another folder.
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

# A unique name. Starts no program if the kernel provides one.
{ read -r id </proc/sys/kernel/random/uuid; } 2>/dev/null || id=$(date +%s)-$$

# The worker ignores dot names, so it never reads an incomplete job.
part=$1/.$id.part
if printf '%s}\n' "$job" >"$part" && mv "$part" "$1/$id.json"; then
  exit 0
fi
rm -f "$part"
echo "spool-job.sh: cannot write into $1: the job for $2 is lost" >&2
exit 1
