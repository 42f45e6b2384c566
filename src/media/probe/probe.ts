import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { PrecheckError } from '../../core/errors.js'
import { readAt } from '../../core/read-at.js'
import { isText } from '../../core/visible-text.js'
import { blamingFile } from '../ffmpeg/blaming-file.js'
import { REMUX_IT, unreadable } from '../ffmpeg/ffmpeg-failure.js'
import type { MediaInfo } from '../media-info.js'
import { refusedFile } from '../refused-file.js'
import { clockJump, clockJumps } from './clock-jump.js'
import { containerKind, isMatroska } from './container-kind.js'
import { encryptedStreams } from './encrypted-streams.js'
import { missingEnd } from './ends/completeness.js'
import { unreadParts } from './ends/ogg-parts.js'
import { behindJunk, behindPriming, onPriming, onSound } from './first-frame.js'
import { formatBehindTags, formatWrittenAs } from './format-behind-tags.js'
import { withFrameTimes } from './frame-times.js'
import { lacedClockErrorSec } from './matroska/matroska-clock.js'
import { mediaInfoOf } from './media-info-of.js'
import { freeFormat } from './misread/free-format.js'
import { joinedBlocks } from './misread/joined-blocks.js'
import { longFormatOptions } from './misread/long-format.js'
import { misreadPriming, withReversedPriming } from './misread/misread-priming.js'
import { withTrueSamples } from './misread/misread-samples.js'
import { withoutMisreadTags } from './misread/misread-tags.js'
import { withMarkedSounds } from './misread/packed-frames.js'
import { withPackedLength } from './misread/packed-length.js'
import { withShortStreams } from './misread/short-streams.js'
import { complexEdits, type EditLists, editLists } from './movie/edit-lists.js'
import { hasSoundInFragments, type MovieTrack, mayJump, movieTracks } from './movie/movie-tracks.js'
import { type ProbeAnswer, probeAnswer } from './probe-answer.js'
import { sizeOfFile } from './size-of-file.js'
import { startsApart } from './starts-apart.js'
import { BEXT_LOUDNESS_END, hasLoudness, waveChunks } from './wave-chunks.js'

const HEAD_BYTES = 4096
const FILL_IT = ['Copy or export the file again. In a pipe, check the program that writes into it.']

interface ProbeOptions {
  readonly signal?: AbortSignal | undefined
  /** Container of a part file, whose name does not say it. */
  readonly writtenAs?: string | undefined
}

/**
 * Reads the properties of a local media file.
 *
 * @throws UsageError ERR_INPUT_MISSING, ERR_INPUT_IS_FOLDER, ERR_NAME_NOT_UTF8
 * @throws PrecheckError ERR_UNREADABLE (-2: empty, not media, truncated), ERR_UNSUPPORTED_CONTAINER (-16: readable, but
 * not supported), ERR_EDIT_LIST, ERR_CLOCK_JUMPS
 */
export async function probe(path: string, { signal, writtenAs }: ProbeOptions = {}): Promise<MediaInfo> {
  const absolute = resolve(path)
  const sizeBytes = await sizeOfFile(absolute)
  if (sizeBytes === 0) throw unreadable(`${path} is empty`, { input: path, remedies: FILL_IT })
  await using file = await open(absolute, 'r')
  const head = await readAt(file, 0, HEAD_BYTES)
  const movie = await movieTracks(file, sizeBytes)
  const input: OpenInput = { path, absolute, file, sizeBytes, head, movie, edits: editLists(movie), signal }
  const { answer, readOptions } = await answerOf(input, writtenAs)
  const container = containerKind({ path: absolute, head, answer })
  if (!container) throw unsupported(path, answer.format.format_name)
  const fault = await faultIn(input, container, answer)
  if (fault) throw fault
  const facts = { path: absolute, sizeBytes, container, readOptions, ...(await factsOf(input, container)) }
  const stated = mediaInfoOf(answer, facts, await encryptedStreams(file, movie, answer))
  const measured = await withTrueLengths(stated, input)
  const refusal =
    startsApart(path, measured) ??
    misreadPriming(path, measured, movie) ??
    (await joinedBlocks(path, measured, file)) ??
    (await freeFormat(path, measured, file))
  if (refusal) throw refusal
  const media = await withTrueSamples(path, measured, file, head)
  return container === 'ogg' ? await onPriming(await onSound(media)) : await withFrameTimes(media)
}

/** A file that is probed, with its beginning and its index. */
interface OpenInput {
  /** As it was named, for messages. */
  readonly path: string
  readonly absolute: string
  readonly file: FileHandle
  readonly sizeBytes: number
  readonly head: Buffer
  readonly movie: readonly MovieTrack[]
  readonly edits: EditLists
  readonly signal: AbortSignal | undefined
}

async function answerOf(
  { path, absolute, file, sizeBytes, head, edits, signal }: OpenInput,
  writtenAs: string | undefined,
): Promise<ProbeAnswer> {
  const options = [
    ...(edits.kind === 'joined' ? ['-advanced_editlist', '0'] : []),
    ...(await longFormatOptions(file, head, sizeBytes)),
    ...(writtenAs === undefined ? await formatBehindTags(file, sizeBytes) : formatWrittenAs(writtenAs)),
  ]
  return blamingFile(path, signal, () => probeAnswer(absolute, options, { sizeBytes, signal })).catch((error) => {
    const isUnreadable = error instanceof PrecheckError && error.code === 'ERR_UNREADABLE'
    throw isUnreadable && isText(head) ? notMedia(path) : error
  })
}

/** Finds what keeps the sound of a file from being read as one piece; undefined if nothing does. */
async function faultIn(
  input: OpenInput,
  container: string,
  { streams }: ProbeAnswer['answer'],
): Promise<PrecheckError | undefined> {
  const { path, absolute, file, sizeBytes, edits } = input
  const missing = await missingEnd({ path: absolute, file, sizeBytes, container })
  if (missing) return unreadable(`${path} is truncated: its last ${missing} are missing`, { input: path })
  if (edits.kind === 'complex') return complexEdits(path, edits.why)
  if (streams.length === 0) return unreadable(`${path} contains neither audio nor video`, { input: path })
  return FAULTS[container]?.(input)
}

/** Faults that only containers of a kind can have. */
const FAULTS: Readonly<Record<string, (input: OpenInput) => Promise<PrecheckError | undefined>>> = {
  ...{ ts: brokenClock, m2ts: brokenClock, ogg: unreadParts, opus: unreadParts, wav: twoSounds },
}

async function brokenClock({ path, file, sizeBytes }: OpenInput): Promise<PrecheckError | undefined> {
  const jump = await clockJump(file, sizeBytes)
  return jump && clockJumps(path, path, jump)
}

async function twoSounds({ path, file }: OpenInput): Promise<PrecheckError | undefined> {
  const sounds = (await waveChunks(file)).filter(({ id }) => id === 'data')
  if (sounds.length < 2) return undefined
  return unreadable(`${path} has two chunks of samples, and programs differ in which they play`, {
    input: path,
    remedies: ['Open it in an audio editor, listen to its whole length, and export it as a new WAV.'],
  })
}

/** Reads facts from the bytes of a file that ffprobe does not report. */
async function factsOf({ file, movie, edits }: OpenInput, container: string): Promise<Partial<MediaInfo>> {
  return {
    ...(container === 'wav' && (await statesLoudness(file)) && { statesLoudness: true }),
    ...(movie.some(mayJump) && { mayJump: true }),
    ...(isMatroska({ container }) && { clockErrorSec: await lacedClockErrorSec(file) }),
    ...(hasSoundInFragments(movie) && { isFragmented: true }),
    ...(edits.kind === 'plain' && edits.pictures && { editedPictures: edits.pictures }),
  }
}

/** Corrects lengths and starts that ffprobe states wrongly. */
async function withTrueLengths(stated: MediaInfo, { file, movie, signal }: OpenInput): Promise<MediaInfo> {
  const counted = await withPackedLength(await withoutMisreadTags(stated, file), signal)
  const marked = withMarkedSounds(await withShortStreams(counted, signal), movie)
  return movie.length > 0 ? behindPriming(withReversedPriming(marked, movie)) : behindJunk(marked)
}

function notMedia(path: string): PrecheckError {
  return unreadable(`${path} is text, not media`, {
    input: path,
    remedies: ['Open it in a text editor: a download may have saved an error message under this name.'],
  })
}

function unsupported(path: string, formatName: string): PrecheckError {
  const message = `voxmux does not support the format of ${path} (${formatName}).`
  return refusedFile(-16, 'ERR_UNSUPPORTED_CONTAINER', message, { input: path, remedies: REMUX_IT })
}

/** True if a Broadcast WAV states its loudness, in figures of the original audio. @param file open */
async function statesLoudness(file: FileHandle): Promise<boolean> {
  const bext = (await waveChunks(file)).find(({ id }) => id === 'bext')
  if (!bext || bext.size < BEXT_LOUDNESS_END) return false
  return hasLoudness(await readAt(file, bext.at + 8, BEXT_LOUDNESS_END))
}
