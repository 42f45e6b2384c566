import { ffprobe } from '../ffmpeg/ffprobe.js'
import { type FfprobeAnswer, ffprobeAnswerSchema } from './ffprobe-schema.js'

const SHOW = ['-show_format', '-show_streams', '-show_chapters', '-show_programs', '-show_data_hash', 'murmur3']

/** Formats that describe a stream only in its packets. */
const UNDESCRIBED_FORMATS: ReadonlySet<string> = new Set(['mpegts', 'mpeg'])

/** Reads more of such a file, in which sound may begin minutes after the picture. ffmpeg holds all of it in memory. */
const READ_FAR = ['-probesize', '200M', '-analyzeduration', '600M']

/**
 * Asks ffprobe, a second time and farther if it met no packet of the sound.
 *
 * @returns its answer, and the options with which every command reads the file
 */
export async function withLateSound(path: string, readOptions: readonly string[], signal: AbortSignal | undefined) {
  const ask = (options: readonly string[]) => ffprobe(path, [...options, ...SHOW], ffprobeAnswerSchema, { signal })
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
