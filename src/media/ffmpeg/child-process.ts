import { type ChildProcess, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Readable } from 'node:stream'
import { InterruptedError, TransientError, toVoxmuxError, UsageError, type VoxmuxError } from '../../core/errors.js'
import { LineReader, LineTail } from './line-reader.js'

const TAIL_LINES = 80
/** Delay between SIGTERM and SIGKILL. */
const KILL_AFTER_MS = 2000
const DEFAULT_STALL_MS = 120_000

/** Variables that a media tool needs to start and to find its libraries and temp folder. All others are withheld. */
const PASSED_ON = 'PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH TMPDIR TEMP TMP SystemRoot windir'.split(' ')

export interface ChildOptions {
  readonly path: string
  readonly args: readonly string[]
  readonly stdin: 'ignore' | 'pipe'
  readonly stdout: 'ignore' | 'pipe'
  /** Called with every line of stderr. Return false to keep a line out of the tail. */
  readonly onStderrLine?: ((line: string) => boolean) | undefined
  /** Called with every line of file descriptor 3. Without it, that pipe does not exist. */
  readonly onFactLine?: ((line: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** Time limit of the whole run; none by default. */
  readonly timeoutMs?: number | undefined
  /** Longest silence while nothing waits for us; 0 for no limit. */
  readonly stallMs?: number | undefined
}

export interface ChildEnd {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderrTail: string
}

export interface RunningChild {
  readonly process: ChildProcess
  /** Resolves when the process and its pipes have ended. Rejects on abort, timeout, stall and failed start. */
  readonly ended: Promise<ChildEnd>
  /** Ends the process: SIGTERM, then SIGKILL. */
  stop(): void
}

const living = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/** Leaves a third of the processor to the event loop and to others against a process of ordinary niceness. */
const YIELDING_NICENESS = 5

let doToolsYield = false

/** Lowers the priority of all later tools: the process serves others while they run. */
export function lowerToolPriority(): void {
  doToolsYield = true
}

/**
 * Starts a tool without a shell, in a scrubbed environment, and watches it until it ends.
 *
 * @throws TransientError `ERR_TOO_MANY_FILES`: no handle is left for its pipes
 */
export function startChild(options: ChildOptions): RunningChild {
  const child = spawn(options.path, options.args, {
    stdio: [options.stdin, options.stdout, 'pipe', options.onFactLine ? 'pipe' : 'ignore'],
    env: childEnvironment(),
    windowsHide: true,
  })
  // Node creates no pipes when it has run out of handles, whatever its types say.
  if ((child.stdio as unknown) === undefined) throw outOfHandles(child)
  if (doToolsYield) yieldToOthers(child)
  living.add(child)
  const tail = new LineTail(TAIL_LINES)
  const reader = new LineReader((line) => {
    if (options.onStderrLine?.(line) !== false) tail.push(line)
  })
  const watch = new ChildWatch(child, options)
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (text: string) => {
    watch.alive()
    reader.push(text)
  })
  const facts = options.onFactLine && new LineReader(options.onFactLine)
  const factPipe = child.stdio[3] as Readable | null
  factPipe?.setEncoding('utf8')
  factPipe?.on('data', (text: string) => {
    watch.alive()
    facts?.push(text)
  })
  // A tool closes stdin early when it has enough. Its exit code shows if that was a fault.
  child.stdin?.on('error', () => {})

  const ended = new Promise<ChildEnd>((resolve, reject) => {
    child.once('error', (cause) => {
      if (child.pid !== undefined) return
      living.delete(child)
      watch.release()
      reject(notStarted(options.path, cause))
    })
    child.once('close', (exitCode, signal) => {
      living.delete(child)
      watch.release()
      reader.end()
      facts?.end()
      if (watch.reason) reject(watch.reason)
      else resolve({ exitCode, signal, stderrTail: tail.text })
    })
  })
  return { process: child, ended, stop: () => watch.kill() }
}

/** Looks without a sign of progress after which a child is given up. */
const QUIET_LOOKS = 4

/**
 * Ends a child on abort, on timeout, or when it makes no progress although nothing keeps it waiting. Counts looks and not
 * time: a computer that was asleep, and a clock that was set, say nothing about the child.
 */
class ChildWatch {
  reason: VoxmuxError | undefined
  readonly #child: ChildProcess
  readonly #options: ChildOptions
  readonly #timers: NodeJS.Timeout[] = []
  #killing = false
  #quietLooks = 0
  #lastBytes = 0

  constructor(child: ChildProcess, options: ChildOptions) {
    this.#child = child
    this.#options = options
    const { signal, timeoutMs, stallMs = DEFAULT_STALL_MS } = options
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    if (signal?.aborted) this.#onAbort()
    if (timeoutMs) this.#timers.push(setTimeout(() => this.#giveUp(`did not end within ${timeoutMs} ms`), timeoutMs))
    if (stallMs > 0)
      this.#timers.push(setInterval(() => this.#checkStall(stallMs), Math.max(50, stallMs / QUIET_LOOKS)))
    for (const timer of this.#timers) timer.unref()
  }

  alive(): void {
    this.#quietLooks = 0
  }

  kill(): void {
    if (this.#killing) return
    this.#killing = true
    this.#child.kill('SIGTERM')
    this.#timers.push(setTimeout(() => this.#child.kill('SIGKILL'), KILL_AFTER_MS))
  }

  release(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
  }

  readonly #onAbort = () => {
    this.reason ??= new InterruptedError('Interrupted.', { cause: this.#options.signal?.reason })
    this.kill()
  }

  #giveUp(what: string): void {
    this.reason ??= new TransientError('ERR_MEDIA_TIMEOUT', `ffmpeg or ffprobe ${what} and was stopped.`, {
      remedies: ['Check the disk or network share of the file, then run again.'],
    })
    this.kill()
  }

  #checkStall(stallMs: number): void {
    const { stdin, stdout } = this.#child
    const bytes = (stdin?.writable ? (this.#child.stdin as { bytesWritten?: number }).bytesWritten : 0) ?? 0
    const waitsForOurInput = stdin?.writable === true && stdin.writableLength === 0
    const waitsForOurReading = (stdout?.readableLength ?? 0) > 0
    if (waitsForOurInput || waitsForOurReading || bytes !== this.#lastBytes) this.alive()
    this.#lastBytes = bytes
    this.#quietLooks += 1
    if (this.#quietLooks > QUIET_LOOKS) this.#giveUp(`made no progress for ${stallMs} ms`)
  }
}

/** Set at once, because new threads inherit the priority of the thread that creates them. */
function yieldToOthers({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, YIELDING_NICENESS)
  } catch {
    // The child has ended, or the system refuses; then it keeps its priority.
  }
}

/** The child also emits this as an error event, which ends the process if nothing listens. */
function outOfHandles(child: ChildProcess): VoxmuxError {
  child.once('error', () => {})
  return toVoxmuxError(Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' }))
}

function notStarted(path: string, cause: NodeJS.ErrnoException): VoxmuxError {
  if (cause.code === 'EAGAIN' || cause.code === 'ENOMEM')
    return new TransientError(
      'ERR_TOO_MANY_PROCESSES',
      `The system cannot start ${path} at the moment (${cause.code}).`,
      {
        cause,
        remedies: ['Raise the process limit (ulimit -u), or lower --concurrency.'],
      },
    )
  return new UsageError('ERR_FFMPEG_MISSING', `voxmux cannot start ${path}.`, {
    cause,
    remedies: ['Run `voxmux doctor --install`, or set VOXMUX_FFMPEG and VOXMUX_FFPROBE to working binaries.'],
  })
}

/**
 * The environment of a child that reads untrusted files. It has no credentials, proxies or ffmpeg report settings, and
 * a plain locale, so that messages can be recognised.
 */
function childEnvironment(): Record<string, string> {
  const kept = PASSED_ON.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(kept), LC_ALL: 'C', AV_LOG_FORCE_NOCOLOR: '1' }
}
