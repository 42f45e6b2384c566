import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { FaultServer } from '../../helpers/fault-server.js'
import { type RunningCli, startCli } from '../../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../../helpers/workshop.js'

/** A watched folder `in`, a fault server, and daemons between them, new for each test. */
export interface WatchBench {
  readonly server: FaultServer
  readonly workshop: Workshop
  /** Absolute path below the watched folder. */
  file(path: string): string
  /** Starts the daemon, impatient: settles in 0.3 s, patience of 1.5 s, scans each 0.3 s. */
  watch(...more: readonly string[]): RunningCli
  /** The same within another program's view of the system (`unshare …`). */
  watchThrough(program: readonly string[], ...more: readonly string[]): RunningCli
  /** The same for the folders of a configuration, as impatient. */
  watchConfigured(config: string, ...more: readonly string[]): RunningCli
  /** Names below a folder of the watched one, receipts and all, sorted; files only. */
  names(folder: string): readonly string[]
  /** The report of a source; undefined where there is none. */
  report(source: string): Record<string, unknown> | undefined
}

/** Flags that make a daemon impatient enough for a test. */
const IMPATIENT = ['--settle', '0.3', '--patience', '1.5', '--scan', '0.3'] as const

/** Of those, the ones that a test does not set itself. */
function impatience(flags: readonly string[]): readonly string[] {
  return IMPATIENT.filter((_, index) => !flags.includes(IMPATIENT[index - (index % 2)] ?? ''))
}

/** Sets a bench up around each test of the file that calls it; daemons that still run are killed. */
export function watchBench(): WatchBench {
  let server: FaultServer
  let workshop: Workshop
  let running: RunningCli[]
  beforeEach(async () => {
    server = await FaultServer.start()
    workshop = openWorkshop()
    running = []
    mkdirSync(workshop.path('in'))
  })
  afterEach(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
    workshop.remove()
    await server.close()
  })
  const file = (path: string) => join(workshop.dir, 'in', path)
  const start = (args: readonly string[], more: readonly string[], through: readonly string[] = []) => {
    const started = startCli(['watch', ...args, ...impatience(more), ...more, '--json'], {
      ...{ cwd: workshop.dir, through },
      env: { ...workshop.env, ...server.env },
    })
    running.push(started)
    return started
  }
  return {
    get server() {
      return server
    },
    get workshop() {
      return workshop
    },
    file,
    watch: (...more) => start(['in'], more),
    watchThrough: (program, ...more) => start(['in'], more, program),
    watchConfigured: (config, ...more) => start(['--config', config], more),
    names: (folder) => filesBelow(file(folder)),
    report(source) {
      const path = file(`failed/${source}.json`)
      return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>) : undefined
    },
  }
}

/** Paths of the files below a folder, sorted; none where it is not there. */
export function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
}

/** SHA-256 of a file, hex. */
export function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
