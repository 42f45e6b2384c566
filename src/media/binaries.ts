import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { UsageError, VoxmuxError } from '../core/errors.js'
import { startChild } from './child-process.js'

/** A media tool that was run once and answered. */
export interface MediaBinary {
  /** Absolute path. */
  readonly path: string
  /** As it prints it, e.g. `5.1.9-0+deb12u1`, `n7.1`, `N-118193-g5f38c82536`. */
  readonly version: string
}

type Tool = 'ffmpeg' | 'ffprobe'

/** Where package managers put it, for processes started with an empty environment. */
const COMMON_FOLDERS =
  process.platform === 'win32'
    ? ['C:\\ffmpeg\\bin', 'C:\\Program Files\\ffmpeg\\bin']
    : ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin', '/opt/local/bin', '/snap/bin']
/** The oldest that the argument lists are measured against; nightly builds carry no such number. */
const OLDEST_MAJOR = 5
const PROBE_TIMEOUT_MS = 15_000

const found = new Map<string, Promise<MediaBinary>>()

/**
 * Finds a working ffmpeg: `VOXMUX_FFMPEG`, the optional ffmpeg-static, PATH, the usual folders. Each candidate is
 * run once before it is trusted; the answer is kept for the process.
 *
 * @throws UsageError ERR_FFMPEG_MISSING
 */
export function findFfmpeg(): Promise<MediaBinary> {
  return findTool('ffmpeg', process.env.VOXMUX_FFMPEG, () => packaged('ffmpeg-static'))
}

/**
 * Finds a working ffprobe: `VOXMUX_FFPROBE`, PATH, the usual folders, the optional installer package.
 *
 * @throws UsageError ERR_FFMPEG_MISSING
 */
export function findFfprobe(): Promise<MediaBinary> {
  return findTool('ffprobe', process.env.VOXMUX_FFPROBE, () => packaged('@ffprobe-installer/ffprobe'))
}

/** Forgets what was found, so that a tool that was just installed is seen. */
export function forgetBinaries(): void {
  found.clear()
}

function findTool(tool: Tool, chosen: string | undefined, fromPackage: () => string | undefined): Promise<MediaBinary> {
  const key = [tool, chosen, process.env.PATH].join('\0')
  const known = found.get(key)
  if (known) return known
  const search = searchTool(tool, chosen, fromPackage)
  found.set(key, search)
  search.catch(() => found.delete(key))
  return search
}

async function searchTool(
  tool: Tool,
  chosen: string | undefined,
  fromPackage: () => string | undefined,
): Promise<MediaBinary> {
  if (chosen) return (await tryBinary(chosen)) ?? fail(tool, `${chosen} is not a working ${tool}`)
  const bundled = fromPackage()
  const installed = [...pathFolders(), ...COMMON_FOLDERS].map((folder) => join(folder, executable(tool)))
  // The bundled ffmpeg is newer than most systems'; the bundled ffprobe is older than any, so it comes last.
  const candidates = tool === 'ffmpeg' ? [bundled, ...installed] : [...installed, bundled]
  for (const candidate of new Set(candidates)) {
    const binary = candidate && isExecutable(candidate) ? await tryBinary(candidate) : undefined
    if (binary) return binary
  }
  return fail(tool, `No working ${tool} was found (version ${OLDEST_MAJOR} or newer)`)
}

async function tryBinary(path: string): Promise<MediaBinary | undefined> {
  let stdout = ''
  try {
    const child = startChild({ path, args: ['-version'], stdin: 'ignore', stdout: 'pipe', timeoutMs: PROBE_TIMEOUT_MS })
    child.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(0, 4096)
    })
    const { exitCode } = await child.ended
    const version = /^ff(?:mpeg|probe) version (\S+)/.exec(stdout)?.[1]
    if (exitCode !== 0 || !version) return undefined
    const major = /^n?(\d+)\./.exec(version)?.[1]
    return major !== undefined && Number(major) < OLDEST_MAJOR ? undefined : { path, version }
  } catch (error) {
    // Says nothing of the binary.
    if (error instanceof VoxmuxError && error.code === 'ERR_TOO_MANY_FILES') throw error
    return undefined
  }
}

/** The path a package exports (ffmpeg-static: the string itself; the installer: `.path`), undefined without it. */
function packaged(name: string): string | undefined {
  try {
    const exported: unknown = createRequire(import.meta.url)(name)
    const path = typeof exported === 'string' ? exported : (exported as { path?: unknown } | null)?.path
    return typeof path === 'string' ? path : undefined
  } catch {
    return undefined
  }
}

function pathFolders(): string[] {
  // A relative entry would let the working folder choose the program.
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder))
}

function executable(tool: Tool): string {
  return process.platform === 'win32' ? `${tool}.exe` : tool
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return dirname(path) !== path
  } catch {
    return false
  }
}

function fail(tool: Tool, what: string): never {
  throw new UsageError('ERR_FFMPEG_MISSING', `${what}.`, {
    remedies: [
      'Run `voxmux doctor --install` to get ffmpeg from the package manager of this system.',
      `Or set VOXMUX_${tool.toUpperCase()} to the path of a working ${tool}.`,
    ],
  })
}
