/** The oldest that the argument lists are measured against. */
export const OLDEST_FFMPEG = '5.1'
/** Its libavutil. A build between releases carries no release in its name (`N-47683-g0e8eb07980`); this always tells. */
const OLDEST_LIBAVUTIL = [57, 28] as const

export interface ToolVersion {
  /** As it prints it, e.g. `5.1.9-0+deb12u1`, `n7.1`, `N-118193-g5f38c82536`. */
  readonly version: string
  readonly isTooOld: boolean
}

/** Reads what `ffmpeg -version` or `ffprobe -version` printed; undefined where something else printed it. */
export function toolVersion(printed: string): ToolVersion | undefined {
  const version = /^ff(?:mpeg|probe) version (\S+)/.exec(printed)?.[1]
  // Compiled against, then running with: the second does the work.
  const [, major, minor] = /^libavutil\s.*\/\s*(\d+)\.\s*(\d+)\./m.exec(printed) ?? []
  if (version === undefined || major === undefined) return undefined
  const [oldestMajor, oldestMinor] = OLDEST_LIBAVUTIL
  const isOldestMajor = Number(major) === oldestMajor
  return { version, isTooOld: isOldestMajor ? Number(minor) < oldestMinor : Number(major) < oldestMajor }
}
