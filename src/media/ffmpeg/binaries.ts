import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { z } from 'zod'
import { UsageError, VoxmuxError } from '../../core/errors.js'
import { startChild } from './child-process.js'
import { keepToolFactsIn, toolFact } from './tool-memory.js'

/** Oldest supported version. The argument lists are tested with it. */
const OLDEST_FFMPEG = '5.1'

/** Its libavutil, which a build between releases (`N-47683-g0e8eb07980`) states too. */
const OLDEST_LIBAVUTIL = [57, 28] as const

const toolVersionSchema = z.object({
  /** As printed, such as `5.1.9-0+deb12u1`, `n7.1`, `N-118193-g5f38c82536`. */
  version: z.string(),
  isTooOld: z.boolean(),
})

/** A media tool that ran once successfully. */
export interface MediaBinary {
  /** Absolute path. */
  readonly path: string
  readonly version: ToolVersion['version']
}

type Tool = 'ffmpeg' | 'ffprobe'

/** Usual folders of package managers, for processes with an empty environment. */
const COMMON_FOLDERS =
  process.platform === 'win32'
    ? ['C:\\ffmpeg\\bin', 'C:\\Program Files\\ffmpeg\\bin']
    : ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin', '/opt/local/bin', '/snap/bin']
/** Far more than the version, configuration and libraries of any build. */
const MAX_PRINTED_CHARS = 65_536
const PROBE_TIMEOUT_MS = 15_000

const found = new Map<string, Promise<MediaBinary>>()

/**
 * Finds a working ffmpeg: `VOXMUX_FFMPEG`, the optional ffmpeg-static, PATH, the usual folders. Runs each candidate
 * once before trusting it, and remembers the result (see `toolFact`).
 *
 * @throws UsageError ERR_FFMPEG_MISSING, ERR_FFMPEG_TOO_OLD
 */
export function findFfmpeg(): Promise<MediaBinary> {
  return findTool('ffmpeg', process.env.VOXMUX_FFMPEG, packagedFfmpeg())
}

/** Finds ffprobe as {@link findFfmpeg} does. @throws {UsageError} ERR_FFMPEG_MISSING, ERR_FFMPEG_TOO_OLD */
export function findFfprobe(): Promise<MediaBinary> {
  return findTool('ffprobe', process.env.VOXMUX_FFPROBE, [])
}

/** Forgets the results, those of earlier processes too, so that the tools are seen as they are now. */
export function forgetBinaries(): void {
  found.clear()
  keepToolFactsIn(undefined)
}

function findTool(tool: Tool, chosen: string | undefined, packaged: readonly string[]): Promise<MediaBinary> {
  const key = [tool, chosen, process.env.PATH].join('\0')
  const known = found.get(key)
  if (known) return known
  const search = searchTool(tool, chosen, packaged)
  found.set(key, search)
  search.catch(() => found.delete(key))
  return search
}

async function searchTool(tool: Tool, chosen: string | undefined, packaged: readonly string[]): Promise<MediaBinary> {
  if (chosen) {
    const binary = await tryBinary(chosen)
    return binary
      ? notTooOld(tool, binary)
      : fail(
          `${chosen} is not a working ${tool}`,
          `Set VOXMUX_${tool.toUpperCase()} to the path of one, or unset it so that voxmux searches for one.`,
        )
  }
  const name = process.platform === 'win32' ? `${tool}.exe` : tool
  const installed = [...pathFolders(), ...COMMON_FOLDERS].map((folder) => join(folder, name))
  let old: TriedBinary | undefined
  for (const candidate of new Set([...packaged, ...installed])) {
    const binary = isExecutable(candidate) ? await tryBinary(candidate) : undefined
    if (binary && !binary.isTooOld) return binary
    old ??= binary
  }
  return old
    ? notTooOld(tool, old)
    : fail(
        `voxmux found no working ${tool} (version ${OLDEST_FFMPEG} or newer)`,
        'Run `voxmux doctor --install` to get ffmpeg from the package manager of this system.',
        `Or set VOXMUX_${tool.toUpperCase()} to the path of a working ${tool}.`,
      )
}

type TriedBinary = MediaBinary & ToolVersion

async function tryBinary(path: string): Promise<TriedBinary | undefined> {
  try {
    return { path, ...(await toolFact([path], ['version'], toolVersionSchema, () => printedVersion(path))) }
  } catch (error) {
    // Too many open files say nothing about the binary.
    if (error instanceof VoxmuxError && error.code === 'ERR_TOO_MANY_FILES') throw error
    return undefined
  }
}

async function printedVersion(path: string): Promise<ToolVersion> {
  let stdout = ''
  const child = startChild({ path, args: ['-version'], stdin: 'ignore', stdout: 'pipe', timeoutMs: PROBE_TIMEOUT_MS })
  child.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout = (stdout + text).slice(0, MAX_PRINTED_CHARS)
  })
  const { exitCode } = await child.ended
  const version = exitCode === 0 ? toolVersion(stdout) : undefined
  if (!version) throw new Error(`${path} prints no version`)
  return version
}

/** The path that the optional ffmpeg-static exports, also if its download failed. It is newer than most systems' ffmpeg. */
function packagedFfmpeg(): readonly string[] {
  try {
    const path: unknown = createRequire(import.meta.url)('ffmpeg-static')
    return typeof path === 'string' ? [path] : []
  } catch {
    return []
  }
}

function pathFolders(): string[] {
  // A relative entry would let the working folder choose the program.
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return dirname(path) !== path
  } catch {
    return false
  }
}

function notTooOld(tool: Tool, { path, version, isTooOld }: TriedBinary): MediaBinary {
  if (!isTooOld) return { path, version }
  throw new UsageError(
    'ERR_FFMPEG_TOO_OLD',
    `${path} is too old (${version}): voxmux needs ${OLDEST_FFMPEG} or newer.`,
    {
      remedies: [
        `Install a newer ${tool}, or set VOXMUX_${tool.toUpperCase()} to the path of one.`,
        'If your package manager has none, download a build from https://ffmpeg.org/download.html.',
      ],
    },
  )
}

function fail(what: string, ...remedies: readonly string[]): never {
  throw new UsageError('ERR_FFMPEG_MISSING', `${what}.`, { remedies })
}
type ToolVersion = Readonly<z.infer<typeof toolVersionSchema>>

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
