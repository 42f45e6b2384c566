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
case /${MTX_PATH-}/ in
  */../*) exit 0 ;;
  //) aside=$1/.open to=all ;;
  *) aside=$1/.open/$MTX_PATH/+ to=+ ;;
esac

# One rename takes all there is: what begins from now on goes into a new folder. A sweep that was killed is taken up.
mkdir -p "$1/.swept" || exit 1
if [ -d "$aside" ]; then
  mkdir "$1/.swept/$id" && mv "$aside" "$1/.swept/$id/$to" || exit 1
fi
find "$1/.swept" -type f -name '*.json' ! -name '.*' -exec sh -c '
  spool=$1
  shift
  for job; do
    folder=${job%/*}
    folder=${folder#"$spool"/.swept/}
    # MediaMTX deletes old segments by itself; one that holds nothing needs no job.
    if [ -s "/${folder#*/+/}" ]; then mv "$job" "$spool/"; else rm -f "$job"; fi
  done
' sh "$1" {} +
find "$1/.swept" -depth -type d -exec rmdir {} \; 2>/dev/null
exit 0
