#!/bin/sh
# sweep-segments.sh SPOOL, for runOnInit of MediaMTX, or before it starts (ExecStartPre of its unit)
#
# Lets in what a crash left: jobs of segments that segment-created.sh put aside and nobody let in. Run by runOnInit it
# sweeps its own path alone (MTX_PATH), for others may be recording; without MTX_PATH it sweeps them all.
PATH=/usr/bin:/bin

[ -d "${1-}" ] || {
  echo 'usage: sweep-segments.sh SPOOL (a folder)' >&2
  exit 2
}
{ read -r id </proc/sys/kernel/random/uuid; } 2>/dev/null || id=$(date +%s)-$$
# Sweeps of many paths run at once when the server starts: each has folders of its own, and removes no other.
case /${MTX_PATH-}/ in
  */../*) exit 0 ;;
  //) aside=$1/.open swept=$1/.swept taken=$id ;;
  *) aside=$1/.open/$MTX_PATH/+ swept=$1/.swept/$MTX_PATH taken=+$id ;;
esac

# One rename takes all there is: what begins from now on goes into a new folder. A sweep that was killed is taken up.
mkdir -p "$swept" || exit 1
if [ -d "$aside" ]; then mv "$aside" "$swept/$taken" || exit 1; fi
if [ -n "${MTX_PATH-}" ]; then set -- "$1" "$swept"/+*; else set -- "$1" "$swept"; fi
[ -d "$2" ] || exit 0
spool=$1
shift
find "$@" -type f -name '*.json' ! -name '.*' -exec sh -c '
  spool=$1
  shift
  for job; do
    folder=${job%/*}
    folder=${folder#"$spool"/.swept/}
    segment=/${folder#*/+*/}
    # One that was created and holds nothing needs no job. One that is away is for the worker to say: a share may be.
    if [ -f "$segment" ] && [ ! -s "$segment" ]; then rm -f "$job"; else mv "$job" "$spool/"; fi
  done
' sh "$spool" {} +
find "$@" -depth -type d -exec rmdir {} \; 2>/dev/null
exit 0
