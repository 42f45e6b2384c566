import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, closeSync, copyFileSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { until } from '../until.js'
import { freePort } from './free-port.js'
import { copyCluster, NO_POSTGRES, OTHER_USER, postgresProgram } from './postgres-template.js'

export interface PostgresOptions {
  /** Parameters of the server, such as `max_connections`. They replace those of the tests. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** PEM files, for `sslmode`. */
  readonly tls?: { readonly certificate: string; readonly key: string }
  /** Writes that are acknowledged are on the disk. */
  readonly isDurable?: boolean
}

/** A suite over a real PostgreSQL, skipped with its reason if there is none. */
export function describeOnPostgres(
  name: string,
  suite: (server: () => PostgresServer) => void,
  options: PostgresOptions = {},
): void {
  if (NO_POSTGRES !== null) process.stderr.write(`Skipped: ${name}: ${NO_POSTGRES}\n`)
  describe.skipIf(NO_POSTGRES !== null)(name, () => {
    let server: PostgresServer
    beforeAll(async () => {
      server = await PostgresServer.start(options)
    })
    afterAll(() => server?.stop())
    suite(() => server)
  })
}

/**
 * A PostgreSQL of one's own on a free port of loopback, with its files in a folder of its own. Roles: `voxmux` with the
 * least rights on the database `voxmux`, `locked` with the password `s3same`, `postgres` for everything.
 */
export class PostgresServer {
  /** Folder of its Unix socket. */
  readonly folder: string
  readonly port: number
  readonly #settings: readonly string[]
  #child: ChildProcess | undefined
  #databases = 0

  private constructor(folder: string, port: number, settings: readonly string[]) {
    this.folder = folder
    this.port = port
    this.#settings = settings
  }

  static async start(options: PostgresOptions = {}): Promise<PostgresServer> {
    const server = await PostgresServer.#prepared(options)
    copyCluster(server.#data)
    await server.start()
    return server
  }

  static async #prepared({ settings, tls, isDurable = false }: PostgresOptions): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'voxmux-postgres-'))
    const files = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
    for (const name of ['certificate', 'key'] as const) if (tls) copyFileSync(tls[name], files[name])
    for (const path of [folder, ...(tls ? Object.values(files) : [])]) {
      if (OTHER_USER.uid !== undefined) chownSync(path, OTHER_USER.uid, OTHER_USER.gid)
    }
    const port = await freePort()
    const all = {
      ...{ listen_addresses: '127.0.0.1', port, unix_socket_directories: folder, shared_buffers: '32MB' },
      ...(isDurable ? {} : { fsync: 'off', full_page_writes: 'off' }),
      ...(tls && { ssl: 'on', ssl_cert_file: files.certificate, ssl_key_file: files.key }),
      ...settings,
    }
    return new PostgresServer(
      folder,
      port,
      Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    )
  }

  get #data(): string {
    return join(this.folder, 'data')
  }

  /** Process of the server; its connections are its children. */
  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** The server and its connections. */
  get pids(): readonly number[] {
    return [this.pid, ...childrenOf(this.pid)]
  }

  /** Address of the database `voxmux` for the role with the least rights. */
  get url(): string {
    return this.urlOf()
  }

  urlOf(database = 'voxmux', login = 'voxmux'): string {
    return `postgres://${login}@127.0.0.1:${this.port}/${database}`
  }

  /** Makes another database with the same rights. @returns its address */
  newDatabase(): string {
    const name = `voxmux_${++this.#databases}`
    this.query(`CREATE DATABASE ${name} TEMPLATE template0`, 'postgres')
    this.query('REVOKE ALL ON SCHEMA public FROM PUBLIC; CREATE SCHEMA AUTHORIZATION voxmux', name)
    return this.urlOf(name)
  }

  /** Runs SQL with all rights. @returns its rows, each its columns with `|` between them */
  query(sql: string, database = 'voxmux'): string[] {
    const args = ['-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-h', this.folder, '-p', String(this.port)]
    const all = [...args, '-U', 'postgres', '-d', database, '-c', sql]
    return execFileSync(postgresProgram('psql'), all, { encoding: 'utf8' }).split('\n').filter(Boolean)
  }

  /** Bytes of the tables and indexes of voxmux, without what a vacuum can free. */
  usedBytes(): number {
    this.query('VACUUM FULL')
    const tables = "FROM pg_class WHERE relnamespace = 'voxmux'::regnamespace AND relkind = 'r'"
    return Number(this.query(`SELECT sum(pg_total_relation_size(oid)) ${tables}`))
  }

  /** Starts it over the files that are there, and waits until it accepts connections. */
  async start(): Promise<void> {
    const log = join(this.folder, 'log')
    await until(async () => {
      const said = openSync(log, 'a')
      this.#child = spawn(postgresProgram('postgres'), ['-D', this.#data, ...this.#settings], {
        ...OTHER_USER,
        cwd: this.folder,
        stdio: ['ignore', said, said],
      })
      closeSync(said)
      const child = this.#child
      await until(() => child.exitCode !== null || this.#isReady())
      if (child.exitCode === null) return true
      // After a kill the system needs a moment to release its shared memory.
      const text = readFileSync(log, 'utf8')
      if (!/still in use|is already in use/.test(text.slice(-600))) throw new Error(`PostgreSQL has ended: ${text}`)
      return false
    })
  }

  /** Kills it with all its connections, as a power cut does. Its files stay. */
  async kill(): Promise<void> {
    await this.#end(() => {
      this.#signal('SIGSTOP')
      this.#signal('SIGKILL')
    })
    rmSync(join(this.#data, 'postmaster.pid'), { force: true })
  }

  /** Kills it, and starts it again over the same files. */
  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** Stops every process of it: connections stay open and nothing answers. */
  freeze(): void {
    this.#signal('SIGSTOP')
  }

  thaw(): void {
    this.#signal('SIGCONT')
  }

  /**
   * Starts a second server that follows this one.
   *
   * @param options.isSynchronous a write on this server is done when the other has it too
   */
  async startReplica(options: PostgresOptions & { readonly isSynchronous?: boolean } = {}): Promise<PostgresServer> {
    const replica = await PostgresServer.#prepared(options)
    const from = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'postgres']
    const how = ['-R', '-X', 'stream', '-c', 'fast', '--no-sync']
    execFileSync(postgresProgram('pg_basebackup'), ['-D', replica.#data, ...from, ...how], {
      ...OTHER_USER,
      cwd: replica.folder,
    })
    await replica.start()
    await until(() => this.query('SELECT 1 FROM pg_stat_replication').length > 0)
    if (options.isSynchronous) {
      this.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
      this.query('SELECT pg_reload_conf()')
      await until(() => this.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'").length > 0)
    }
    return replica
  }

  /** Makes a replica the server that takes writes. */
  promote(): void {
    this.query('SELECT pg_promote()')
  }

  async stop(): Promise<void> {
    await this.#end(() => {
      this.thaw()
      this.#child?.kill('SIGQUIT')
    })
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #end(fatal: () => void): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    fatal()
    await gone
  }

  /** The last line of this file says what state the server is in. */
  #isReady(): boolean {
    try {
      return /\n(ready|standby)\s*$/.test(readFileSync(join(this.#data, 'postmaster.pid'), 'utf8'))
    } catch {
      return false
    }
  }

  /** The parent first: it would start others for those that end. */
  #signal(signal: NodeJS.Signals): void {
    for (const pid of this.pids) {
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended.
      }
    }
  }
}

function childrenOf(parent: number): number[] {
  const isChild = (pid: string) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isChild(name))
    .map(Number)
}
