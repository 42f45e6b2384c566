import { type ExecFileSyncOptions, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, chownSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const DEBIAN = '/usr/lib/postgresql'
/** PostgreSQL refuses to run as root. This user exists everywhere. */
const NOBODY = 65_534
/** Started with these, a program of PostgreSQL runs as a user other than root. */
export const OTHER_USER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/**
 * As docs/scale-out.md says: a role that may connect to one database and owns one schema in it. `locked` is the same
 * with a password.
 */
const SETUP: readonly (readonly [database: string, sql: string])[] = [
  ['postgres', 'CREATE ROLE voxmux LOGIN'],
  ['postgres', "CREATE ROLE locked LOGIN PASSWORD 's3same'"],
  ['postgres', 'CREATE DATABASE voxmux'],
  ['postgres', 'REVOKE ALL ON DATABASE voxmux FROM PUBLIC'],
  ['postgres', 'GRANT CONNECT ON DATABASE voxmux TO voxmux, locked'],
  ['voxmux', 'REVOKE ALL ON SCHEMA public FROM PUBLIC'],
  ['voxmux', 'CREATE SCHEMA AUTHORIZATION voxmux'],
  ['voxmux', 'CREATE SCHEMA AUTHORIZATION locked'],
]
/** The first line that fits counts. */
const ACCESS =
  'local all all trust\nhost all locked all scram-sha-256\nhost all all all trust\nhost replication all all trust\n'

/** Folder with the programs of the newest PostgreSQL here; null without one. */
const POSTGRES_BIN: string | null = newestBin()

/** Why tests on a real PostgreSQL cannot run here; null if they can. */
export const NO_POSTGRES: string | null = whyNoPostgres()

function newestBin(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const folders = versions.map((version) => join(DEBIAN, version, 'bin'))
  return (
    [...folders, ...(process.env.PATH ?? '').split(delimiter)].find((dir) => existsSync(join(dir, 'initdb'))) ?? null
  )
}

function whyNoPostgres(): string | null {
  if (POSTGRES_BIN === null) return 'PostgreSQL is not installed (Debian: apt-get install postgresql)'
  const { status, stderr, error } = spawnSync(join(POSTGRES_BIN, 'postgres'), ['--version'], OTHER_USER)
  return status === 0 ? null : `${POSTGRES_BIN} does not run: ${error?.message ?? stderr}`
}

/** Path of a program of PostgreSQL, such as `psql`. */
export function postgresProgram(name: string): string {
  return join(POSTGRES_BIN ?? '', name)
}

/** Major version, such as 15. */
function postgresVersion(): number {
  return Number(/\d+/.exec(execFileSync(postgresProgram('postgres'), ['--version'], { encoding: 'utf8' }))?.[0])
}

/** Copies a new cluster to a folder. The first call makes it: initdb takes seconds. */
export function copyCluster(to: string): void {
  const version = postgresVersion()
  const revision = createHash('sha256')
    .update(JSON.stringify([SETUP, ACCESS]))
    .digest('hex')
    .slice(0, 8)
  const template = join(tmpdir(), `voxmux-postgres-${version}-${process.getuid?.() ?? 0}-${revision}`)
  if (!existsSync(template)) makeCluster(template, version)
  // Its files are mostly zeros.
  execFileSync('cp', ['-R', '-p', ...(process.platform === 'linux' ? ['--sparse=always'] : []), template, to])
}

function makeCluster(template: string, version: number): void {
  const folder = mkdtempSync(`${template}.`)
  if (OTHER_USER.uid !== undefined) chownSync(folder, OTHER_USER.uid, OTHER_USER.gid)
  const options: ExecFileSyncOptions = { ...OTHER_USER, cwd: folder, stdio: ['pipe', 'ignore', 'inherit'] }
  // Sorted by the rules of a language, as most servers are, and not byte by byte as SQLite.
  const locale =
    version >= 15 ? ['--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US'] : ['--locale=C.UTF-8']
  const common = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-sync']
  execFileSync(postgresProgram('initdb'), ['-D', folder, ...common, ...locale], options)
  for (const database of ['postgres', 'voxmux']) {
    const input = SETUP.filter(([name]) => name === database).map(([, sql]) => `${sql}\n`)
    execFileSync(postgresProgram('postgres'), ['--single', '-j', '-F', '-D', folder, database], {
      ...options,
      input: input.join(';\n\n'),
    })
  }
  rmSync(join(folder, 'pg_hba.conf'))
  appendFileSync(join(folder, 'pg_hba.conf'), ACCESS)
  if (OTHER_USER.uid !== undefined) chownSync(join(folder, 'pg_hba.conf'), OTHER_USER.uid, OTHER_USER.gid)
  try {
    renameSync(folder, template)
  } catch {
    // Another process of this run was faster.
    rmSync(folder, { recursive: true, force: true })
  }
}
