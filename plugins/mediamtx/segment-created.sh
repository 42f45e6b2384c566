#!/bin/sh
# segment-created.sh SPOOL [OUTPUT [PRESET]], for runOnRecordSegmentCreate of MediaMTX
#
# Puts the job of a segment that begins aside, where no worker looks: SPOOL/.open. segment-complete.sh lets it in when
# the segment is whole; after a crash sweep-segments.sh finds there what was never let in.
PATH=/usr/bin:/bin

case ${MTX_SEGMENT_PATH-} in
  /*) segment=$MTX_SEGMENT_PATH ;;
  *) segment=$PWD/${MTX_SEGMENT_PATH-} ;;
esac
case /${MTX_PATH-}$segment/ in
  # The publisher chose the name: it may not lead out of SPOOL. Such a segment is queued when it is whole.
  */../*) exit 0 ;;
esac

# A folder a segment; `+` stands in no path name of MediaMTX and keeps the path `a` apart from the path `a/b`.
aside=$1/.open/${MTX_PATH-}/+$segment
mkdir -p "$aside" || exit 1
exec "${0%/*}/spool-job.sh" "$aside" "$segment" "${2-}" "${3-}"
