import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TOOLS = ['ffmpeg', 'ffprobe'] as const

/**
 * Lets ffmpeg and ffprobe load their libraries (215 on Debian) once for a run of the tests instead of ten thousand times.
 * The tests find them in `PATH`, `VOXMUX_FFMPEG` and `VOXMUX_FFPROBE`. Does nothing if these variables choose programs, and
 * without Linux or a C compiler: the tests are the same then, but take half as long again.
 *
 * @returns what ends the servers
 */
export default async function startServers(): Promise<(() => void) | undefined> {
  const { PATH = '', VOXMUX_FFMPEG, VOXMUX_FFPROBE } = process.env
  if (process.platform !== 'linux' || VOXMUX_FFMPEG || VOXMUX_FFPROBE) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'voxmux-loaded-'))
  const servers: ChildProcess[] = []
  const end = () => {
    for (const server of servers) server.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  for (const tool of TOOLS) {
    const program = PATH.split(delimiter)
      .map((dir) => join(dir, tool))
      .find(existsSync)
    const server =
      program && isBinary(program) && compile(folder, tool) ? await startServer(program, join(folder, tool)) : undefined
    if (!server) {
      end()
      return undefined
    }
    servers.push(server)
  }
  Object.assign(process.env, {
    PATH: `${folder}${delimiter}${PATH}`,
    VOXMUX_FFMPEG: join(folder, 'ffmpeg'),
    VOXMUX_FFPROBE: join(folder, 'ffprobe'),
    LOADED_TOOLS: folder,
  })
  return end
}

/** False for a script, which would load its shell. */
function isBinary(program: string): boolean {
  return readFileSync(program).toString('latin1', 1, 4) === 'ELF'
}

/** Returns false without a compiler that can. */
function compile(folder: string, tool: string): boolean {
  const source = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  const runs = [
    ['-static', '-o', join(folder, tool), source('launcher.c')],
    ['-shared', '-fPIC', '-o', join(folder, `${tool}.server`), source('server.c')],
  ]
  return runs.every((args) => spawnSync('cc', ['-O2', ...args], { stdio: 'ignore' }).status === 0)
}

/** Starts the server of a launcher. Should it end, the launcher becomes the program. */
async function startServer(program: string, launcher: string): Promise<ChildProcess> {
  symlinkSync(program, `${launcher}.program`)
  const env = { LD_BIND_NOW: '1', LD_PRELOAD: `${launcher}.server`, LOADED_TOOL_SOCKET: `${launcher}.socket` }
  const server = spawn(program, { env, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] })
  await Promise.race([once(server.stdout, 'data'), once(server, 'exit')])
  return server
}
