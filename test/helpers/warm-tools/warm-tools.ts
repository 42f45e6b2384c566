import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const NAMESPACES = ['mnt', 'net', 'user', 'pid']

/**
 * Puts `ffmpeg` and `ffprobe` of a folder of its own at the front of PATH for a run of the tests. A call of one runs the
 * system's own tool, in a fork of a process that has loaded it already: a cold start costs a tenth of a second, and the
 * tests need more than ten thousand. Does nothing if a tool is chosen, for a soak, outside Linux and without a compiler.
 */
export default async function warmTools(): Promise<(() => void) | undefined> {
  const { PATH = '', VOXMUX_FFMPEG, VOXMUX_FFPROBE, COLD_TOOLS, WARM_TOOLS } = process.env
  const isOff = VOXMUX_FFMPEG || VOXMUX_FFPROBE || COLD_TOOLS || WARM_TOOLS
  const tools = ['ffmpeg', 'ffprobe'].map((name) => [name, find(name, PATH)] as const)
  if (isOff || process.platform !== 'linux' || [...tools, ['cc', find('cc', PATH)]].some(([, path]) => !path)) return
  const folder = mkdtempSync(join(tmpdir(), 'voxmux-warm-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const library = join(folder, 'warm-tool.so')
    execFileSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, source('warm-tool.c'), '-ldl'])
    const spaces = NAMESPACES.map((name) => JSON.stringify(readlinkSync(`/proc/self/ns/${name}`)))
    const ends = await Promise.all(tools.map(([name, path]) => keepWarm(folder, library, name, path ?? '', spaces)))
    Object.assign(process.env, { PATH: `${folder}${delimiter}${PATH}`, WARM_TOOLS: folder })
    return () => {
      for (const end of ends) end()
      remove()
    }
  } catch (error) {
    process.stderr.write(`ffmpeg and ffprobe start from nothing at each call: ${error}\n`)
    remove()
    return
  }
}

async function keepWarm(folder: string, library: string, name: string, path: string, spaces: readonly string[]) {
  const socket = join(folder, `${name}.socket`)
  const env = { ...process.env, LD_PRELOAD: library, WARM_SOCKET: socket }
  const child = spawn(path, [], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const defined = {
    TOOL: JSON.stringify(path),
    SOCKET: JSON.stringify(socket),
    NAMESPACES: spaces,
    USER: process.geteuid?.(),
  }
  const flags = Object.entries(defined).map(([key, value]) => `-D${key}=${value}`)
  execFileSync('cc', ['-O1', ...flags, '-o', join(folder, name), source('warm-call.c')])
  const failed = once(child, 'exit').then(() => {
    throw new Error(`${path} ended before it was warm.`)
  })
  await Promise.race([once(child.stdout, 'data'), failed])
  failed.catch(() => {})
  for (const handle of [child, child.stdin, child.stdout]) (handle as { unref?: () => void }).unref?.()
  return () => void child.stdin.end()
}

function find(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((candidate) => {
      try {
        accessSync(candidate, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}
