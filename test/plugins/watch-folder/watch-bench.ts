import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { receiptSchema } from '../../../src/pipeline/output/receipt.js'
import { runCliInProcess } from '../../helpers/command-in-process.js'
import { FaultServer } from '../../helpers/fault-server.js'
import { fixture } from '../../helpers/job-bench.js'
import { tinyWave } from '../../helpers/sound/tiny-wave.js'
import { until } from '../../helpers/until.js'
import { type CliResult, type RunningCli, startCli } from '../../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../../helpers/workshop.js'

/** A watched folder `in`, a fault server, and daemons between them. */
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
  /** Both. */
  watchConfiguredThrough(program: readonly string[], config: string, ...more: readonly string[]): RunningCli
  /** Runs it to its end with `--once` in the test's process, without a start of its own. */
  once(...more: readonly string[]): Promise<CliResult>
  /** The same for the folders of a configuration. */
  onceConfigured(config: string, ...more: readonly string[]): Promise<CliResult>
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

/**
 * Sets a bench up around each test of the file or `describe` that calls it, or one around all of them, for tests that
 * share a daemon. Daemons that still run at its end are killed.
 */
export function watchBench(around: 'each' | 'all' = 'each'): WatchBench {
  const [before, after] = around === 'each' ? [beforeEach, afterEach] : [beforeAll, afterAll]
  let server: FaultServer
  let workshop: Workshop
  let running: RunningCli[]
  before(async () => {
    server = await FaultServer.start()
    workshop = openWorkshop()
    running = []
    mkdirSync(workshop.path('in'))
  })
  after(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
    workshop.remove()
    await server.close()
  })
  const file = (path: string) => join(workshop.dir, 'in', path)
  const words = (args: readonly string[], more: readonly string[]) => [
    ...['watch', ...args, ...impatience(more), ...more, '--json'],
  ]
  const start = (args: readonly string[], more: readonly string[], through: readonly string[] = []) => {
    const started = startCli(words(args, more), {
      ...{ cwd: workshop.dir, through },
      env: { ...workshop.env, ...server.env },
    })
    running.push(started)
    return started
  }
  const once = (args: readonly string[], more: readonly string[]) =>
    runCliInProcess(words(args, [...more, '--once']), {
      cwd: workshop.dir,
      env: { PATH: '/usr/bin:/bin', ...workshop.env, ...server.env },
    })
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
    watchConfiguredThrough: (program, config, ...more) => start(['--config', config], more, program),
    once: (...more) => once(['in'], more),
    onceConfigured: (config, ...more) => once(['--config', config], more),
    names: (folder) => filesBelow(file(folder)),
    report(source) {
      const path = file(`failed/${source}.json`)
      return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>) : undefined
    },
  }
}

/** What tests do with a bench and see of it. */
export function handlesOf(bench: WatchBench) {
  const isPublished = (name: string) => existsSync(bench.file(`out/${name}.voxmux.json`))
  const place = (name: string) => {
    mkdirSync(dirname(bench.file(name)), { recursive: true })
    return bench.file(name)
  }
  return {
    isPublished,
    published: (name: string) => until(() => isPublished(name)),
    starts: () => bench.server.calls.startProcess,
    receiptOf: (name: string) =>
      receiptSchema.parse(JSON.parse(readFileSync(bench.file(`out/${name}.voxmux.json`), 'utf8'))),
    drop(fixtureName: string, as: string): string {
      copyFileSync(fixture(fixtureName), place(as))
      return bench.file(as)
    },
    /** Drops half a second of sound, another for every number, as a whole. */
    dropSound(number: number, as: string): string {
      writeFileSync(bench.workshop.path('sound.wav'), tinyWave(number))
      renameSync(bench.workshop.path('sound.wav'), place(as))
      return bench.file(as)
    },
  }
}

/** Paths of the files below a folder, sorted, without the mark of a daemon; none if it does not exist. */
export function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.watched'))
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .sort()
  } catch (error) {
    // A file that vanished while it was listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return filesBelow(folder)
    throw error
  }
}

/** SHA-256 of a file, hex. */
export function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
