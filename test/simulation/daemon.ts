import type { FolderView } from '../../plugins/watch-folder/daemon-view.js'
import { WatchDaemon } from '../../plugins/watch-folder/watch-daemon.js'
import type { WatchedFolder } from '../../plugins/watch-folder/watched-folder.js'
import { toVoxmuxError } from '../../src/core/errors.js'
import type { Logger } from '../../src/core/logger.js'
import { PLACES } from './places.js'
import { openPipeline, settingsWith } from './voxmux-process.js'
import { cutPower } from './world/power-cut.js'
import { ProcessGone, type SimProcess } from './world/sim-process.js'
import type { World } from './world/world.js'

/** Of a process that is to be killed: within so many steps. */
const STEPS_OF_A_LIFE = 800
export const SCAN_MS = 15_000

/** The daemon's machine: starts it again whenever it has ended, as a service manager does. */
export class DaemonMachine {
  /** Model of the preset that the folder is configured with. */
  model = 'first'
  process: SimProcess | null = null
  folders: readonly FolderView[] = []
  readonly #world: World
  #stop: (() => Promise<void>) | null = null

  constructor(world: World) {
    this.#world = world
  }

  /** Starts the daemon where none runs. */
  revive(): void {
    const { random, scheduler } = this.#world
    if (this.process?.isAlive) return
    const wasKilled = this.process !== null && this.#stop !== null
    if (wasKilled && random.chance(this.#world.weather.powerCuts)) this.#cutPower()
    this.#stop = null
    const process = this.#world.spawn('the daemon')
    if (random.chance(this.#world.weather.kills)) process.stepsLeft = 1 + random.below(STEPS_OF_A_LIFE)
    this.process = process
    scheduler.after(random.between(100, 1000), process, () => {
      this.#main(process).catch((error) => this.#ended(process, error))
    })
  }

  /** Ends the daemon as SIGTERM does; the service manager starts it again. */
  stop(): void {
    const { process } = this
    if (!process?.isAlive || !this.#stop) return
    this.#world.note('the daemon is stopped')
    this.#world.scheduler.after(0, process, () => {
      this.#stop?.().then(() => {
        process.isAlive = false
        this.#world.processes.delete(process.pid)
      })
    })
  }

  async #main(process: SimProcess): Promise<void> {
    const logger = this.#logger()
    const pipeline = await openPipeline(logger)
    const daemon = new WatchDaemon({
      ...{ context: pipeline.context, seenFile: PLACES.seen, concurrency: 2, logger },
      waitsForFolders: true,
      ledgerId: 'one',
      notices: { secret: null, dashboardUrl: () => null },
    })
    this.#stop = async () => {
      await daemon.stop()
      await pipeline.close()
    }
    await daemon.watch([watchedFolder(this.model)])
    if (process.isAlive) this.folders = daemon.folders
  }

  #ended(process: SimProcess, error: unknown): void {
    if (error instanceof ProcessGone || !process.isAlive) return
    this.#world.kill(process, `by its own fault: ${toVoxmuxError(error).message}`)
  }

  #cutPower(): void {
    const { tree, random, processes } = this.#world
    this.#world.note('the power is cut')
    this.#world.bootId += 1
    for (const process of processes.values()) this.#world.kill(process, 'with the machine')
    for (const disk of tree.disks) cutPower(disk, tree, random)
  }

  #logger(): Logger {
    const say = (_fields: unknown, message = '') => this.#world.note(`the daemon: ${message.slice(0, 200)}`)
    return { debug: () => {}, info: say, warn: say, error: say } as unknown as Logger
  }
}

function watchedFolder(model: string): WatchedFolder {
  const { watched: path, out, failed } = PLACES
  return {
    ...{ group: path, path, out, failed, done: `${path}/done`, source: 'keep', nameTemplate: '{folder}/{name}{ext}' },
    filter: { include: [], exclude: [], marker: null, renamedFrom: null },
    ...{ priority: 0, settleMs: 300, patienceMs: 3000, scanMs: SCAN_MS, poll: false, after: null },
    settings: settingsWith(model),
  }
}
