import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServiceManager } from '../../../plugins/watch-folder/service-manager.js'
import { silentLogger } from '../../../src/core/logger.js'

const has = (program: string) => spawnSync(program, ['--version']).status === 0
const MISSING = ['systemd-notify', 'python3'].find((program) => !has(program))

/** The end of systemd: a datagram socket, of which Node has none, that prints what it is told. */
const LISTENER = `
import socket, sys
end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
end.bind(sys.argv[1])
print("listening", flush=True)
while True: print(end.recv(4096).decode().replace("\\n", " "), flush=True)
`

describe.skipIf(MISSING)(`the word to systemd${MISSING ? ` (skipped: no ${MISSING})` : ''}`, () => {
  let folder: string
  let listener: ChildProcess
  let lines: Interface
  const said: string[] = []

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'voxmux-notify-'))
    listener = spawn('python3', ['-c', LISTENER, join(folder, 'socket')], { stdio: ['ignore', 'pipe', 'inherit'] })
    if (!listener.stdout) throw new Error('no pipe')
    lines = createInterface(listener.stdout)
    await once(lines, 'line')
    said.length = 0
    lines.on('line', (line) => said.push(line))
  })
  afterEach(async () => {
    listener.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })

  const env = (more: NodeJS.ProcessEnv = {}) => ({
    PATH: process.env.PATH,
    NOTIFY_SOCKET: join(folder, 'socket'),
    ...more,
  })
  const heard = (pattern: RegExp) => vi.waitFor(() => expect(said.join('|')).toMatch(pattern), { timeout: 30_000 })

  it('says ready, feeds the watchdog from the loop, and says when it stops', async () => {
    const manager = new ServiceManager({ env: env({ WATCHDOG_USEC: '100000' }) })
    await manager.ready('2 folders')
    await heard(/READY=1/)
    await heard(/STATUS=2 folders/)
    await heard(/WATCHDOG=1.*WATCHDOG=1/)
    await manager.stopping()
    await heard(/STOPPING=1/)
  })

  it('leaves a watchdog alone that is of another process', async () => {
    const manager = new ServiceManager({ env: env({ WATCHDOG_USEC: '20000', WATCHDOG_PID: '1' }) })
    await manager.ready('x')
    await manager.stopping()
    await heard(/STOPPING=1/)
    expect(said.join()).not.toContain('WATCHDOG')
  })
})

describe('without systemd', () => {
  it('tells nobody', async () => {
    const warned: string[] = []
    const logger = { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) }
    const manager = new ServiceManager({ env: { PATH: '/nowhere' }, logger })
    await manager.ready('x')
    await manager.stopping()
    expect(warned).toEqual([])
  })

  it('warns once where systemd asks for word and its program is missing', async () => {
    const warned: string[] = []
    const logger = { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) }
    const manager = new ServiceManager({ env: { PATH: '/nowhere', NOTIFY_SOCKET: '/nowhere/socket' }, logger })
    await manager.ready('x')
    await manager.stopping()
    expect(warned).toHaveLength(1)
  })
})
