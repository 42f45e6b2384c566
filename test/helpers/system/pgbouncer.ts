import { spawn, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../until.js'
import { freePort } from './free-port.js'
import type { PostgresServer } from './postgres-server.js'
import { OTHER_USER } from './postgres-template.js'

const PATH = `${process.env.PATH}:/usr/sbin`

/** Why tests through a real PgBouncer cannot run here; null if they can. */
export const NO_PGBOUNCER: string | null =
  spawnSync('pgbouncer', ['--version'], { env: { PATH } }).status === 0
    ? null
    : 'PgBouncer is not installed (Debian: apt-get install pgbouncer)'

/** A PgBouncer in transaction mode: each transaction has whichever of its connections to the server is free. */
export interface PgBouncer {
  readonly port: number
  /** As the server's, through it. */
  readonly url: string
  stop(): Promise<void>
}

/** @param size its connections to the server */
export async function startPgBouncer(server: PostgresServer, size: number): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'voxmux-pgbouncer-'))
  const port = await freePort()
  const [users, settings] = [join(folder, 'users.txt'), join(folder, 'pgbouncer.ini')]
  const lines = Object.entries({
    ...{ listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', auth_type: 'trust', auth_file: users },
    ...{ pool_mode: 'transaction', default_pool_size: size, server_login_retry: 1 },
  }).map(([name, value]) => `${name} = ${value}\n`)
  writeFileSync(users, '"voxmux" ""\n')
  writeFileSync(settings, `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\n${lines.join('')}`)
  for (const path of [folder, users, settings])
    if (OTHER_USER.uid !== undefined) chownSync(path, OTHER_USER.uid, OTHER_USER.gid)
  const child = spawn('pgbouncer', [settings], { ...OTHER_USER, cwd: folder, env: { PATH }, stdio: 'ignore' })
  await until(() => accepts(port))
  return {
    port,
    url: `postgres://voxmux@127.0.0.1:${port}/voxmux`,
    stop: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy())
  })
}
