import { PassThrough, Readable, type Writable } from 'node:stream'
import fluent from 'fluent-ffmpeg'
import type { VoxmuxError } from '../../core/errors.js'
import { findFfmpeg } from './binaries.js'
import { type ChildEnd, type ChildOptions, type RunningChild, startChild } from './child-process.js'
import { ffmpegFailure } from './ffmpeg-failure.js'

const EMPTY_RING: TextRing = { get: () => '' }

/** Keys of `-progress`, one per line. No other output of ffmpeg looks like `key=value` without a space. */
const PROGRESS_LINE =
  /^(frame|fps|stream_\d+_\d+_\w+|bitrate|total_size|out_time_us|out_time_ms|out_time|dup_frames|drop_frames|speed|progress)=\s*(\S*)\s*$/

export interface FfmpegInput {
  /** `file:<path>` (see `fileUrl`), a filter source with `-f lavfi`, or the source of stdin (one at most). */
  readonly url: string | AsyncIterable<Buffer>
  /** Options before `-i`, passed unchanged. */
  readonly options: readonly string[]
}

export interface FfmpegOutput {
  /** A path, `pipe:1`, or {@link FACTS_URL}. */
  readonly url: string
  /** Options before the address, passed unchanged. */
  readonly options: readonly string[]
}

/** Address of an output that prints facts as lines, separate from messages and progress. */
export const FACTS_URL = 'pipe:3'

/** One ffmpeg run as argument arrays. Nothing in them is split, quoted or passed through a shell. */
export interface FfmpegCommand {
  readonly globalOptions?: readonly string[]
  readonly inputs: readonly FfmpegInput[]
  readonly filterComplex?: string
  readonly outputs: readonly FfmpegOutput[]
}

export interface FfmpegRunOptions extends Pick<ChildOptions, 'signal'> {
  /** Longest time without progress while nothing waits for us; two minutes by default. */
  readonly stallMs?: number | undefined
  /** Called with the seconds of output written so far. */
  readonly onProgressSec?: ((sec: number) => void) | undefined
  /** Called with each line of stderr that is not progress. Returns true for data, false for a message. */
  readonly takeStderrLine?: ((line: string) => boolean) | undefined
  /** Called with each line of an output at {@link FACTS_URL}. */
  readonly onFactLine?: ((line: string) => void) | undefined
  /** The file's name in errors, as the user knows it. */
  readonly input?: string | undefined
}

/** Further outputs of a command that reads the file anyway, and the readers of what they print. */
export interface SideReading extends Required<Pick<FfmpegRunOptions, 'takeStderrLine' | 'onFactLine'>> {
  readonly outputs: readonly FfmpegOutput[]
}

interface FfmpegResult {
  /** The exact arguments, without the program. */
  readonly args: readonly string[]
}

/** Replaced internals of fluent-ffmpeg: it misreads capabilities of ffmpeg 7, and spawns with our secrets. */
interface FluentInternals {
  _getArguments(): string[]
  _checkCapabilities(done: (error: null) => void): void
  availableEncoders(done: (error: null, encoders: object) => void): void
  _spawnFfmpeg(args: string[], options: object, started: OnStarted, ended: OnEnded): void
}
type OnStarted = (child: RunningChild['process']) => void
type OnEnded = (error: Error | null, stdout: TextRing, stderr: TextRing) => void
interface TextRing {
  get(): string
}

/** The exact argument list of a command, for plans and receipts. A stream input appears as `pipe:0`. */
export function ffmpegArguments(command: FfmpegCommand): readonly string[] {
  return internals(buildFluent(command))._getArguments()
}

/**
 * Runs ffmpeg to its end.
 *
 * @throws typed errors: InterruptedError, TransientError (ERR_DISK_FULL, ERR_MEDIA_TIMEOUT, …)
 * @throws PrecheckError ERR_UNREADABLE, UsageError, else JobFailedError ERR_FFMPEG_FAILED
 */
export async function runFfmpeg(command: FfmpegCommand, options: FfmpegRunOptions = {}): Promise<FfmpegResult> {
  return execute(command, options, () => {})
}

/**
 * Runs ffmpeg with its output `pipe:1` as a stream. A failure destroys the stream with the typed error and rejects
 * `done`. A reader that leaves early ends ffmpeg, and `done` resolves.
 */
export function streamFfmpeg(
  command: FfmpegCommand,
  options: FfmpegRunOptions = {},
): { stdout: Readable; done: Promise<FfmpegResult> } {
  const stdout = new PassThrough({ highWaterMark: 1 << 18 })
  let left = false
  const done = execute(command, options, (child) => {
    child.process.stdout?.pipe(stdout, { end: false })
    stdout.once('close', () => {
      left = true
      child.process.stdout?.destroy()
      child.stop()
    })
    if (stdout.destroyed) child.stop()
  }).then(
    (result) => {
      stdout.end()
      return result
    },
    (error: VoxmuxError) => {
      if (left && error.code !== 'ERR_INTERRUPTED') return { args: [] }
      stdout.destroy(error)
      throw error
    },
  )
  // The stream carries the same error, so a caller that reads only the stream must not cause an unhandled rejection.
  done.catch(() => {})
  return { stdout, done }
}

async function execute(
  command: FfmpegCommand,
  options: FfmpegRunOptions,
  onStarted: (child: RunningChild) => void,
): Promise<FfmpegResult> {
  const source = command.inputs.map(({ url }) => url).find((url) => typeof url !== 'string')
  // An error before ffmpeg starts would end the process, because nothing listens for it yet.
  if (source instanceof Readable) source.on('error', () => {})
  try {
    const binary = await findFfmpeg()
    return await runFluent(buildFluent(command), binary.path, { ...options, source }, onStarted)
  } finally {
    if (source instanceof Readable) source.destroy()
  }
}

function runFluent(
  command: fluent.FfmpegCommand,
  path: string,
  { source, ...options }: FfmpegRunOptions & { readonly source: AsyncIterable<Buffer> | undefined },
  onStarted: (child: RunningChild) => void,
): Promise<FfmpegResult> {
  return new Promise((resolve, reject) => {
    let result: FfmpegResult | undefined
    let fault: { readonly of: unknown } | undefined
    internals(command)._spawnFfmpeg = (args, _options, started, ended) => {
      let child: RunningChild
      try {
        child = startChild({
          path,
          args,
          stdin: args.includes('pipe:0') ? 'pipe' : 'ignore',
          stdout: args.includes('pipe:1') ? 'pipe' : 'ignore',
          onFactLine: args.includes(FACTS_URL) ? (options.onFactLine ?? (() => {})) : undefined,
          signal: options.signal,
          stallMs: options.stallMs,
          onStderrLine: (line) => takeLine(line, options),
        })
      } catch (error) {
        return ended(error as Error, EMPTY_RING, EMPTY_RING)
      }
      started(child.process)
      onStarted(child)
      const { stdin } = child.process
      if (source && stdin) {
        feedStdin(stdin, source).catch((thrown: unknown) => {
          fault = { of: thrown }
          endUnfed(child)
        })
      }
      child.ended.then(
        (end) => {
          result = { args }
          ended(endError(end, options.input), EMPTY_RING, EMPTY_RING)
        },
        (error: Error) => ended(error, EMPTY_RING, EMPTY_RING),
      )
    }
    command.once('end', () => (fault ? reject(fault.of) : result && resolve(result)))
    // ffmpeg only reports that its input ended early; the fault of the source is the cause.
    command.once('error', (error: Error) => reject(fault ? fault.of : error))
    command.run()
  })
}

/**
 * Writes chunks to the stdin of a child, each completely before the next one is requested. So a source can use one
 * buffer for all of them. Leaves the source when the child closes its stdin.
 *
 * @throws the error of the source
 */
async function feedStdin(stdin: Writable, source: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of source) if (!(await isWritten(stdin, chunk))) return
  stdin.end()
}

function isWritten(stdin: Writable, chunk: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    stdin.write(chunk, (error) => resolve(!error))
  })
}

/** Ends a child whose input broke off: its reading resumes after SIGTERM, so it would wait for more without an end. */
function endUnfed({ process, stop }: RunningChild): void {
  if (process.exitCode !== null || process.signalCode !== null) return
  process.stdin?.destroy()
  stop()
}

/** Some versions of ffmpeg, such as 5.1, end with 0 all the same if they cannot write the last bytes of a file. */
const UNFINISHED = /Error (writing trailer|closing file)/

function endError(end: ChildEnd, input = 'the file'): VoxmuxError | null {
  return end.exitCode === 0 && !UNFINISHED.test(end.stderrTail) ? null : ffmpegFailure(end, input)
}

/** Reports progress and keeps it out of the tail. */
function takeLine(line: string, options: FfmpegRunOptions): boolean {
  const [isProgress, key, value] = PROGRESS_LINE.exec(line) ?? []
  if (isProgress === undefined) return options.takeStderrLine?.(line) !== true
  const micros = key === 'out_time_us' ? Number(value) : Number.NaN
  if (Number.isFinite(micros)) options.onProgressSec?.(Math.max(0, micros / 1e6))
  return false
}

function buildFluent({ globalOptions = [], inputs, filterComplex, outputs }: FfmpegCommand): fluent.FfmpegCommand {
  const command = fluent()
  for (const input of inputs) {
    command.input(typeof input.url === 'string' ? input.url : 'pipe:0')
    if (input.options.length > 0) command.inputOptions(...input.options)
  }
  internals(command)._checkCapabilities = (done) => done(null)
  internals(command).availableEncoders = (done) => done(null, {})
  if (filterComplex) command.complexFilter(filterComplex)
  const readsStdin = inputs.some(({ url }) => typeof url !== 'string' || url === 'pipe:0')
  const first = [...commonOptions(readsStdin, globalOptions), ...globalOptions]
  outputs.forEach((output, place) => {
    // fluent adds `-y` only for a bare path. Part files are always replaced on purpose.
    command.output(output.url)
    const options = place === 0 ? [...first, ...output.options] : output.options
    if (options.length > 0) command.outputOptions(...options)
  })
  return command
}

/** Global options precede the first output. ffmpeg accepts them anywhere, in any order. */
function commonOptions(readsStdin: boolean, given: readonly string[]): readonly string[] {
  const verbosity = given.includes('-loglevel') || given.includes('-v') ? [] : ['-loglevel', 'level+warning']
  return [
    '-hide_banner',
    // Without it ffmpeg reads keys typed into the terminal as commands.
    ...(readsStdin ? [] : ['-nostdin']),
    ...verbosity,
    '-nostats',
    '-progress',
    'pipe:2',
    '-y',
  ]
}

function internals(command: fluent.FfmpegCommand): FluentInternals {
  return command as unknown as FluentInternals
}
