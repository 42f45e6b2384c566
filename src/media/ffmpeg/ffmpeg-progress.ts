/** Keys of `-progress`, one per line. No other output of ffmpeg looks like `key=value` without a space. */
const PROGRESS_LINE =
  /^(frame|fps|stream_\d+_\d+_\w+|bitrate|total_size|out_time_us|out_time_ms|out_time|dup_frames|drop_frames|speed|progress)=\s*(\S*)\s*$/

/**
 * Parses one line of `-progress` output.
 *
 * @returns undefined for any other line; an `outTimeSec` of null if the line has no time
 */
export function progressOf(line: string): { readonly outTimeSec: number | null } | undefined {
  const match = PROGRESS_LINE.exec(line)
  if (!match) return undefined
  const [, key, value] = match
  const micros = key === 'out_time_us' ? Number(value) : Number.NaN
  return { outTimeSec: Number.isFinite(micros) ? Math.max(0, micros / 1e6) : null }
}
