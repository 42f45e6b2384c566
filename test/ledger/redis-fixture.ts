import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { freePort } from '../helpers/system/free-port.js'

/** Why tests on a real Redis cannot run here; null where they can. */
function redisMissing(): string | null {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return null
  } catch {
    return 'redis-server is not installed (Debian: apt-get install redis-server)'
  }
}

/** A suite over a real Redis, skipped with its reason where there is none. */
export function describeOnRedis(name: string, suite: (redis: () => OwnRedis) => void): void {
  const missing = redisMissing()
  if (missing !== null) process.stderr.write(`Skipped: ${name}: ${missing}\n`)
  describe.skipIf(missing !== null)(name, () => {
    let redis: OwnRedis
    beforeAll(async () => {
      redis = await startRedis()
    })
    afterAll(() => redis.stop())
    suite(() => redis)
  })
}

/** A Redis of one's own on a free port, with its files in a folder of its own. */
export interface OwnRedis {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Kills it as a power cut does, and starts it again over the same files. */
  restart(): Promise<void>
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

/** Starts Redis as docs/scale-out.md says: every write on disk before it is acknowledged, and nothing thrown out. */
export async function startRedis(options: readonly string[] = []): Promise<OwnRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'voxmux-redis-'))
  const port = await freePort()
  const settings = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction']
  let child: ReturnType<typeof spawn> | undefined
  const start = async () => {
    child = spawn(
      'redis-server',
      [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--dir',
        folder,
        '--loglevel',
        'warning',
        ...settings,
        ...options,
      ],
      { stdio: 'ignore' },
    )
    await until(() => answers(port))
  }
  const kill = async () => {
    const gone = new Promise((resolve) => child?.once('exit', resolve))
    if (child?.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await gone
    }
  }
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return child?.pid ?? 0
    },
    kill,
    start,
    restart: async () => {
      await kill()
      await start()
    },
    stop: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function until(ready: () => Promise<boolean>): Promise<void> {
  while (!(await ready())) await new Promise((resolve) => setTimeout(resolve, 20))
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.on('data', (data) => {
      socket.destroy()
      resolve(data.toString().startsWith('+PONG'))
    })
    socket.on('error', () => resolve(false))
  })
}
