import { z } from 'zod'

/** Oldest supported version. The argument lists are tested with it. */
export const OLDEST_FFMPEG = '5.1'
/**
 * Its libavutil. A build between releases has no release in its name (`N-47683-g0e8eb07980`), but always this version.
 */
const OLDEST_LIBAVUTIL = [57, 28] as const

export const toolVersionSchema = z.object({
  /** As printed, such as `5.1.9-0+deb12u1`, `n7.1`, `N-118193-g5f38c82536`. */
  version: z.string(),
  isTooOld: z.boolean(),
})
export type ToolVersion = Readonly<z.infer<typeof toolVersionSchema>>

/** Parses the output of `ffmpeg -version` or `ffprobe -version`. Undefined for any other program's output. */
export function toolVersion(printed: string): ToolVersion | undefined {
  const version = /^ff(?:mpeg|probe) version (\S+)/.exec(printed)?.[1]
  // The line has the version at compile time, then at run time. The second one counts.
  const [, major, minor] = /^libavutil\s.*\/\s*(\d+)\.\s*(\d+)\./m.exec(printed) ?? []
  if (version === undefined || major === undefined) return undefined
  const [oldestMajor, oldestMinor] = OLDEST_LIBAVUTIL
  const isOldestMajor = Number(major) === oldestMajor
  return { version, isTooOld: isOldestMajor ? Number(minor) < oldestMinor : Number(major) < oldestMajor }
}
