import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { JobFailedError, type PrecheckError } from '../../core/errors.js'
import type { AudioStreamInfo, MediaInfo } from '../media-info.js'
import { findFfprobe } from './binaries.js'
import { startChild } from './child-process.js'
import { ffmpegFailure, unreadable } from './ffmpeg-failure.js'
import { fileUrl, safeInputOptions } from './input-safety.js'
import { LineReader } from './line-reader.js'

/** Any sane file's table is far smaller. A crafted one must not fill the memory. */
const MAX_JSON_CHARS = 64 * 1024 * 1024
const DEFAULT_TIMEOUT_MS = 120_000
const LOOK_EVERY_MS = 250

interface FfprobeOptions {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  /** Processor time after which the file counts as unreadable; no limit by default. */
  readonly mostProcessorSec?: number | undefined
}

/**
 * Runs ffprobe on a local file and parses its JSON.
 *
 * @param args what to show, such as `-show_format -show_streams`
 * @throws the typed errors of {@link ffmpegFailure}
 */
export async function ffprobe<T>(
  path: string,
  args: readonly string[],
  schema: z.ZodType<T>,
  options: FfprobeOptions = {},
): Promise<T> {
  const chunks: string[] = []
  await ffprobeText(path, ['-print_format', 'json', ...args], (text) => chunks.push(text), options)
  let json: unknown
  try {
    json = JSON.parse(chunks.join(''))
  } catch (cause) {
    throw new JobFailedError('ERR_FFPROBE_ANSWER', `ffprobe printed unreadable output for ${path}.`, {
      input: path,
      cause,
    })
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  throw new JobFailedError('ERR_FFPROBE_ANSWER', `ffprobe printed output of an unknown form for ${path}.`, {
    input: path,
    cause: parsed.error,
  })
}

const framesSchema = z.object({
  frames: z.array(
    z.object({
      pts_time: z.coerce.number().optional(),
      nb_samples: z.number(),
      pkt_pos: z.string().optional(),
    }),
  ),
})

/** Decodes the first packets of a stream of sound, and returns what ffprobe states of their frames. */
export async function firstFrames(
  { path, readOptions = [] }: Pick<MediaInfo, 'path' | 'readOptions'>,
  index: number,
  packets: number,
) {
  const show = ['-select_streams', `${index}`, '-read_intervals', `%+#${packets}`]
  const entries = ['-show_entries', 'frame=pts_time,nb_samples,pkt_pos']
  return (await ffprobe(path, [...readOptions, ...show, ...entries], framesSchema)).frames
}

const packetsSchema = z.object({ packets: z.array(z.object({ data: z.string().default('') })) })
/** A line of a dump: the place, 16 bytes in pairs, and the same as text. */
const DUMPED = /^[0-9a-f]+: (.{40})/gm

/** Reads the first packets of a stream. */
export async function firstPackets(
  { path, readOptions = [] }: Pick<MediaInfo, 'path' | 'readOptions'>,
  index: number,
  count: number,
): Promise<readonly Buffer[]> {
  const show = ['-select_streams', `${index}`, '-read_intervals', `%+#${count}`, '-show_entries', 'packet=data']
  const { packets } = await ffprobe(path, [...readOptions, ...show, '-show_data'], packetsSchema)
  const hexOf = (dump: string) => [...dump.matchAll(DUMPED)].map(([, line = '']) => line.replaceAll(' ', '')).join('')
  return packets.map(({ data }) => Buffer.from(hexOf(data), 'hex'))
}

/** Passes on each line of ffprobe, for output that grows with the file. @throws as {@link ffmpegFailure} */
export async function ffprobeLines(
  path: string,
  args: readonly string[],
  onLine: (line: string) => void,
  { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: FfprobeOptions,
): Promise<void> {
  const lines = new LineReader(onLine)
  await ffprobeText(path, args, (text) => lines.push(text), {
    signal,
    timeoutMs,
    maxChars: Number.POSITIVE_INFINITY,
  })
  lines.end()
}

/** Time limit for reading all packets of a file, per byte; {@link DEFAULT_TIMEOUT_MS} are added. */
const MS_PER_BYTE = 1 / 20_000

/** Passes on a line for each packet of an audio track, as `key=value|…`. @param show what to show of it */
export function ffprobePackets(
  { path, readOptions = [], sizeBytes }: Pick<MediaInfo, 'path' | 'readOptions' | 'sizeBytes'>,
  { audioIndex }: Pick<AudioStreamInfo, 'audioIndex'>,
  show: readonly string[],
  onLine: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const args = [
    ...readOptions,
    '-select_streams',
    `a:${audioIndex}`,
    ...show,
    '-print_format',
    'compact=print_section=0',
  ]
  return ffprobeLines(path, args, onLine, { signal, timeoutMs: DEFAULT_TIMEOUT_MS + sizeBytes * MS_PER_BYTE })
}

/** Runs ffprobe and passes on its output as it arrives. */
async function ffprobeText(
  path: string,
  args: readonly string[],
  onText: (text: string) => void,
  {
    signal,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    mostProcessorSec = Number.POSITIVE_INFINITY,
    maxChars = MAX_JSON_CHARS,
  }: FfprobeOptions & { readonly maxChars?: number },
): Promise<void> {
  const binary = await findFfprobe()
  const child = startChild({
    path: binary.path,
    // ffprobe only warns of a codec that it does not know, and then fails.
    args: ['-hide_banner', '-loglevel', 'level+warning', ...safeInputOptions(), ...args, '-i', fileUrl(path)],
    stdin: 'ignore',
    stdout: 'pipe',
    signal,
    timeoutMs,
  })
  let chars = 0
  child.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
    chars += text.length
    if (chars > maxChars) child.stop()
    else onText(text)
  })
  let hasOverworked = false
  const look = setInterval(() => {
    if ((processorSec(child.process.pid ?? 0) ?? 0) < mostProcessorSec) return
    hasOverworked = true
    child.stop()
  }, LOOK_EVERY_MS)
  const end = await child.ended.finally(() => clearInterval(look))
  if (hasOverworked) throw overworked(path, mostProcessorSec)
  if (end.exitCode !== 0) throw ffmpegFailure(end, path)
}

function overworked(path: string, limitSec: number): PrecheckError {
  return unreadable(`ffprobe cannot read ${path} in ${Math.round(limitSec)} s of processor time`, {
    input: path,
    remedies: [
      'Remove most of its tags and chapters with a tag editor, then run again.',
      'If it has few of them, export the file again.',
    ],
  })
}

/** Linux counts processor time in hundredths of a second for programs (`USER_HZ`), whatever its kernel does. */
const TICKS_PER_SEC = 100
/** Places of `utime` and `stime` behind the name of the program (proc_pid_stat(5)). */
const [USER, SYSTEM] = [11, 12]

/** Processor time that a running process has used, in seconds; undefined where the system does not state it in a file. */
function processorSec(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name is in brackets and may hold some.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[USER]) + Number(fields[SYSTEM])) / TICKS_PER_SEC
  } catch {
    return undefined
  }
}
