#!/bin/sh
# segment-complete.sh SPOOL [OUTPUT [PRESET]], for runOnRecordSegmentComplete of MediaMTX
#
# Puts the job of a whole segment into SPOOL, from which `voxmux worker --spool SPOOL` takes it, and returns at once.
# The segment's name comes from the environment and never from the command line, into which MediaMTX would paste it.
PATH=/usr/bin:/bin

[ $# -ge 1 ] && [ -n "${MTX_SEGMENT_PATH-}" ] || {
  echo 'usage: MTX_SEGMENT_PATH=… segment-complete.sh SPOOL [OUTPUT [PRESET]]' >&2
  exit 2
}
case $MTX_SEGMENT_PATH in
  /*) segment=$MTX_SEGMENT_PATH ;;
  *) segment=$PWD/$MTX_SEGMENT_PATH ;;
esac
case /${MTX_PATH-}$segment/ in
  */../*) aside='' ;;
  *) aside=$1/.open/${MTX_PATH-}/+$segment ;;
esac

# MediaMTX has replaced $MTX_PATH in OUTPUT. Older versions let a publisher choose a name such as ../../etc.
case /${MTX_PATH-}/:/${2-}/ in
  */../*:*/../*)
    echo "segment-complete.sh: the path name $MTX_PATH leads out of the output folder: $segment is not queued" >&2
    exit 1
    ;;
esac

# What segment-created.sh put aside is let in by one rename.
for job in "$aside"/*.json; do
  if [ -n "$aside" ] && [ -f "$job" ] && mv "$job" "$1/"; then
    rmdir "$aside" 2>/dev/null &
    exit 0
  fi
done
exec "${0%/*}/spool-job.sh" "$1" "$segment" "${2-}" "${3-}"
