import { dirname } from 'node:path'
import { FileTree } from './file-tree.js'
import { type Maker, systemError } from './inode.js'
import { Random } from './random.js'
import { Scheduler } from './scheduler.js'
import { never, ProcessGone, SimProcess } from './sim-process.js'
import type { Weather } from './weather.js'

/** The time before the first seed's. Each seed has a span of its own, so that no two share an instant. */
const EPOCH_MS = Date.UTC(2026, 0, 1)
const DAY_MS = 24 * 3600 * 1000
/** The month of seed 10,000 still lies before the year 10000, whose dates no receipt can state. */
const SPAN_MS = 250 * DAY_MS
const HISTORY_LINES = Number(process.env.VOXMUX_HISTORY ?? 25)

/** Texts that are not said again so soon. */
const RECENT_TEXTS = 10

/** A promise that was broken: the simulation ends with it. */
export class Broken extends Error {
  constructor(
    readonly seed: number,
    readonly step: number,
    readonly promise: string,
    message: string,
    readonly history: readonly string[],
  ) {
    super(message)
  }
}

let worlds = 0

/** One simulated machine with its disks and clocks, and the world around it, driven by one seed. */
export class World {
  readonly number = ++worlds
  /** Decides what happens. */
  readonly random: Random
  /** Makes up ids: how many are asked for decides nothing. */
  readonly names: Random
  readonly scheduler = new Scheduler()
  readonly tree: FileTree
  readonly processes = new Map<number, SimProcess>()
  readonly history: string[] = []
  trace: string[] | null = null
  broken: Broken | null = null
  /** How far the machine's clock is off. */
  clockOffsetMs = 0
  bootId = 1
  /** Counts what is not mere looking: when it stands still, the machine may sleep. */
  activity = 0
  readonly #recent: string[] = []
  #suspendedMs = 0
  #pids = 100

  constructor(
    readonly seed: number,
    public weather: Weather,
  ) {
    this.random = new Random(seed)
    this.names = new Random(-seed)
    this.tree = new FileTree(this.number, () => this.wallMs)
  }

  get current(): SimProcess | null {
    return this.scheduler.current
  }

  /** Whose doing a change of the disk is. */
  get maker(): Maker {
    return this.current === null ? 'person' : 'voxmux'
  }

  /** What time it really is, Unix milliseconds: what the service's clock says. */
  get trueMs(): number {
    return EPOCH_MS + this.seed * SPAN_MS + this.scheduler.uptimeMs + this.#suspendedMs
  }

  /** What the machine's clock says. */
  get wallMs(): number {
    return this.trueMs + this.clockOffsetMs
  }

  get day(): number {
    return (this.scheduler.uptimeMs + this.#suspendedMs) / DAY_MS
  }

  /** The machine sleeps: no timer of it runs meanwhile. */
  suspend(ms: number): void {
    this.#suspendedMs += ms
  }

  spawn(name: string): SimProcess {
    const process = new SimProcess(name, this.#pids++, Math.floor(this.scheduler.uptimeMs * 10))
    this.processes.set(process.pid, process)
    return process
  }

  kill(process: SimProcess, how: string): void {
    process.isAlive = false
    this.processes.delete(process.pid)
    this.note(`${process.name} (${process.pid}) is killed ${how}`)
  }

  /** A step of the running process that a kill may come before, and that may take a while. */
  perform<T>(call: string, work: () => T): Promise<T> {
    const process = this.current
    this.trace?.push(`${this.scheduler.steps} ${this.scheduler.uptimeMs} ${process?.pid} ${call}`)
    if (process) {
      if (!process.isAlive) return never()
      if (--process.stepsLeft <= 0) {
        this.kill(process, `before ${call}`)
        return never()
      }
      if (this.random.chance(this.weather.slowCalls)) return this.later(this.random.between(0.1, 20), work)
    }
    try {
      return Promise.resolve(work())
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** The same at once, for calls that block. @throws ProcessGone in a killed process */
  performNow<T>(call: string, work: () => T): T {
    const process = this.current
    if (process?.isAlive && --process.stepsLeft <= 0) this.kill(process, `before ${call}`)
    if (process?.isAlive === false) throw new ProcessGone()
    return work()
  }

  /** Does something in the running process after a time. */
  later<T>(delayMs: number, work: () => T): Promise<T> {
    const process = this.current
    return new Promise((resolve, reject) => {
      this.scheduler.after(delayMs, process, () => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  makeFolder(path: string, recursive: boolean): void {
    const { tree } = this
    const found = tree.find(path, 'mkdir')
    if (found?.kind === 'folder' && recursive) return
    if (found) throw systemError('EEXIST', 'mkdir', path)
    if (recursive && !tree.find(dirname(path), 'mkdir')) this.makeFolder(dirname(path), true)
    tree.setName(path, tree.newFolder(tree.folder(dirname(path), 'mkdir').disk, this.maker), this.maker, 'mkdir')
  }

  /** Writes a line into the history that is shown when a promise is broken. */
  note(text: string): void {
    // What goes round in circles would push everything else out.
    if (this.#recent.includes(text)) return
    this.#recent.push(text)
    if (this.#recent.length > RECENT_TEXTS) this.#recent.shift()
    const hours = Math.floor((this.day % 1) * 24)
    this.history.push(`day ${Math.floor(this.day) + 1}, ${hours} h, step ${this.scheduler.steps}: ${text}`)
    if (this.history.length > HISTORY_LINES) this.history.shift()
  }

  /** Says that a promise is broken; the first one counts. */
  break(promise: string, what: string): void {
    if (this.broken) return
    const { steps } = this.scheduler
    const when = `on day ${Math.floor(this.day) + 1}, at step ${steps}`
    const sentence = `Seed ${this.seed} breaks "${promise}" ${when}: ${what}.`
    this.broken = new Broken(this.seed, steps, promise, sentence, [...this.history])
  }
}
