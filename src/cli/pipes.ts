import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { systemCode, TransientError, UsageError } from '../core/errors.js'
import { makeProcessFolder } from '../core/process-folder.js'
import type { CommandContext } from './command.js'

/** The word for stdin and stdout. */
const PIPE = '-'

/** The input and output of a run that reads stdin or writes stdout: files in a folder of its own. */
export interface Pipes {
  readonly inputs: readonly string[]
  readonly output: string | undefined
  readonly toStdout: boolean
  /** A text with the words stdin and stdout in place of those files. */
  readonly named: (text: string) => string
  /** Writes the finished file to stdout, if it goes there. */
  readonly deliver: () => Promise<void>
  readonly close: () => Promise<void>
}

interface PipeArguments {
  readonly input: readonly string[]
  readonly output?: string | undefined
  readonly format?: string | undefined
  readonly 'output-type'?: string | undefined
}

/**
 * Reads stdin into a file, because media cannot be checked and cut before it is whole.
 *
 * @throws UsageError `ERR_PIPE` if a pipe is missing, or would get two kinds of bytes
 */
export async function openPipes(
  { input, output, format, 'output-type': outputType }: PipeArguments,
  stateDir: string,
  { output: { json }, signal }: CommandContext,
): Promise<Pipes> {
  const [fromStdin, toStdout] = [input.includes(PIPE), output === PIPE]
  if (format !== undefined && !toStdout)
    throw wrong('--format is for `-o -` alone.', 'Name the format by the extension of --output.')
  if (!fromStdin && !toStdout)
    return { inputs: input, output, toStdout, named: (text) => text, deliver: async () => {}, close: async () => {} }
  if (input.length > 1) throw wrong('A pipe takes one file, and several inputs are named.', 'Name one input.')
  if (fromStdin) requireReadable(output)
  if (toStdout) requireWritable(json)
  const extension = format ?? outputType ?? (fromStdin ? 'wav' : extname(input[0] ?? '').slice(1))
  const folder = await makeProcessFolder(join(stateDir, 'pipes'))
  const close = () => rm(folder, { recursive: true, force: true })
  try {
    const read = join(folder, 'stdin')
    if (fromStdin) await pipeline(process.stdin, createWriteStream(read, { mode: 0o600 }), { signal })
    const made = join(folder, `stdout.${extension}`)
    const deliver = async () => {
      if (toStdout) await writeToStdout(made, signal)
    }
    const named = (text: string) => text.replaceAll(made, 'stdout').replaceAll(read, 'stdin')
    return { inputs: fromStdin ? [read] : input, output: toStdout ? made : output, toStdout, named, deliver, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** @throws UsageError `ERR_PIPE` if nobody reads; TransientError `ERR_DISK_FULL` */
async function writeToStdout(path: string, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(createReadStream(path), process.stdout, { end: false, signal })
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'EPIPE') throw readerGone(cause)
    throw code === 'ENOSPC' || code === 'EDQUOT' ? stdoutFull(cause) : cause
  }
}

/** @throws UsageError `ERR_PIPE` */
function requireReadable(output: string | undefined): void {
  if (process.stdin.isTTY)
    throw wrong('Nothing is piped into stdin.', 'For example: ffmpeg … -f wav - | voxmux run - -o out.wav')
  if (output === undefined)
    throw wrong('A file from stdin has no place for its output.', 'Name it with -o FILE, or -o - for stdout.')
}

/** @throws UsageError `ERR_PIPE` */
function requireWritable(json: boolean): void {
  if (json) throw wrong('--json and -o - would both write to stdout.', 'Write the output into a file.')
  if (process.stdout.isTTY) throw wrong('-o - would write media into this terminal.', 'Pipe it on, or name a file.')
}

function readerGone(cause: unknown): UsageError {
  return new UsageError('ERR_PIPE', 'The program that reads stdout ended before it had the whole output.', {
    cause,
    remedies: ['Correct that program, or name a file with -o FILE. The voice is cached, so nothing is paid again.'],
  })
}

function stdoutFull(cause: unknown): TransientError {
  const message = 'The output on stdout is incomplete, because its disk has no space left.'
  return new TransientError('ERR_DISK_FULL', message, {
    cause,
    remedies: ['Free some space, then run the same command again. The voice is cached, so nothing is paid again.'],
  })
}

function wrong(message: string, remedy: string): UsageError {
  return new UsageError('ERR_PIPE', message, { remedies: [remedy] })
}
