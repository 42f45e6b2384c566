import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { until } from '../until.js'

const missing = ['systemd-notify', 'python3'].find((program) => spawnSync(program, ['--version']).status !== 0)

/** Why nobody can play systemd; null where somebody can. */
export const NO_SYSTEMD_NOTIFY = missing === undefined ? null : `no ${missing}`

/** The end of systemd: a datagram socket, of which Node has none, that prints what it is told. */
const LISTENER = `
import socket, sys
end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
end.bind(sys.argv[1])
print("listening", flush=True)
while True: print(end.recv(4096).decode().replace("\\n", " "), flush=True)
`

/** Somebody who listens as systemd does to a unit of `Type=notify`. */
export interface SystemdListener {
  /** For `NOTIFY_SOCKET`. */
  readonly socket: string
  /** Every word so far, the lines of each joined by spaces. */
  readonly said: readonly string[]
  /** Waits until all that was said, joined by `|`, matches. */
  heard(pattern: RegExp): Promise<unknown>
  close(): Promise<void>
}

/** Begins to listen. */
export async function listenAsSystemd(): Promise<SystemdListener> {
  const folder = await mkdtemp(join(tmpdir(), 'voxmux-notify-'))
  const socket = join(folder, 'socket')
  const listener = spawn('python3', ['-c', LISTENER, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface(listener.stdout)
  await once(lines, 'line')
  const said: string[] = []
  // Only asks whether all before has arrived.
  lines.on('line', (line) => line !== 'BARRIER=1' && said.push(line))
  return {
    socket,
    said,
    heard: (pattern) => until(() => pattern.test(said.join('|'))),
    async close() {
      listener.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
