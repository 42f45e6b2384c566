import { unreadable } from '../ffmpeg/ffmpeg-failure.js'
import { ffprobe } from '../ffmpeg/ffprobe.js'
import { type FfprobeAnswer, ffprobeAnswerSchema } from './ffprobe-schema.js'

const SHOW = ['-show_format', '-show_streams', '-show_chapters', '-show_programs', '-show_data_hash', 'murmur3']

/** Formats that describe a stream only in its packets. */
const UNDESCRIBED_FORMATS: ReadonlySet<string> = new Set(['mpegts', 'mpeg'])

/** Reads more of such a file, in which sound may begin minutes after the picture. ffmpeg holds all of it in memory. */
const READ_FAR = ['-probesize', '200M', '-analyzeduration', '600M']

/** ffprobe reads the heads of any sane file in a second. An emulated processor takes up to twenty. */
const LEAST_LIMIT_SEC = 30
/** Long indices and late sound take longer, so large files have more time. */
const BYTES_PER_SEC = 2 ** 20

/**
 * Limit for one list. ffmpeg compares each tag with all others, in every command. 10,000 take a quarter of a second, and
 * 150,000 minutes.
 */
const MOST_TAGS = 10_000

/** The answer of ffprobe about a file, and the options with which every command reads it. */
export interface ProbeAnswer {
  readonly answer: FfprobeAnswer
  readonly readOptions: readonly string[]
}

/** ffmpeg would give pages of teletext the time of the stream's clock, which runs ahead of picture and sound. */
const AS_STATED = ['-fix_teletext_pts', '0']
/** No clock runs further ahead. Teletext with other times states none that can be kept. */
const MOST_AHEAD_SEC = 10

/**
 * Asks ffprobe, a second time and farther if it met no packet of the sound. Another question finds out if teletext states
 * times of its own.
 *
 * @throws {PrecheckError} ERR_UNREADABLE (-2) also for a file that keeps ffmpeg busy for minutes
 */
export async function probeAnswer(
  path: string,
  readOptions: readonly string[],
  { sizeBytes, signal }: { readonly sizeBytes: number; readonly signal: AbortSignal | undefined },
): Promise<ProbeAnswer> {
  const mostProcessorSec = LEAST_LIMIT_SEC + sizeBytes / BYTES_PER_SEC
  const ask = (options: readonly string[]) =>
    ffprobe(path, [...options, ...SHOW], ffprobeAnswerSchema, { signal, mostProcessorSec })
  const found = await withLateSound(readOptions, ask)
  requireFewTags(path, found.answer)
  const starts = teletextStarts(found.answer)
  if (starts.length === 0 || found.answer.format.format_name !== 'mpegts') return found
  const statedOptions = [...found.readOptions, ...AS_STATED]
  const stated = await ask(statedOptions)
  const isNear = teletextStarts(stated).every((start, place) => {
    const other = starts[place]
    return start !== undefined && other !== undefined && Math.abs(start - other) <= MOST_AHEAD_SEC
  })
  return isNear ? { answer: stated, readOptions: statedOptions } : found
}

function teletextStarts({ streams }: FfprobeAnswer): readonly (number | undefined)[] {
  return streams.flatMap((stream) => (stream.codec_name === 'dvb_teletext' ? [stream.start_time ?? undefined] : []))
}

function requireFewTags(path: string, { format, streams }: FfprobeAnswer): void {
  const most = Math.max(...[format, ...streams].map(({ tags }) => Object.keys(tags).length))
  if (most <= MOST_TAGS) return
  throw unreadable(`${path} has ${most} tags in one list, and ffmpeg can work with ${MOST_TAGS} at most`, {
    input: path,
    remedies: ['Remove most of its tags with a tag editor, then run again.'],
  })
}

async function withLateSound(
  readOptions: readonly string[],
  ask: (options: readonly string[]) => Promise<FfprobeAnswer>,
): Promise<ProbeAnswer> {
  const answer = await ask(readOptions)
  if (!UNDESCRIBED_FORMATS.has(answer.format.format_name) || isDescribed(answer)) return { answer, readOptions }
  const farOptions = [...readOptions, ...READ_FAR]
  const farAnswer = await ask(farOptions)
  return isDescribed(farAnswer) ? { answer: farAnswer, readOptions: farOptions } : { answer, readOptions }
}

/** True if a file has sound, and ffprobe knows the rate of all of it. */
function isDescribed({ streams }: FfprobeAnswer): boolean {
  const sounds = streams.filter(({ codec_type }) => codec_type === 'audio')
  return sounds.length > 0 && sounds.every(({ sample_rate, channels }) => Boolean(sample_rate && channels))
}
