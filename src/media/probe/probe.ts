import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { PrecheckError, UsageError } from '../../core/errors.js'
import { readAt } from '../../core/read-at.js'
import { shellName, undecodableName } from '../../core/undecodable-name.js'
import { isText } from '../../core/visible-text.js'
import { blamingFile } from '../ffmpeg/blaming-file.js'
import { REMUX_IT, unreadable } from '../ffmpeg/ffmpeg-failure.js'
import type { MediaInfo } from '../media-info.js'
import { clockJump, clockJumps } from './clock-jump.js'
import { containerKind, isMatroska } from './container-kind.js'
import { encryptedStreams } from './encrypted-streams.js'
import { missingEnd } from './ends/completeness.js'
import { unreadParts } from './ends/ogg-parts.js'
import { behindLeadIn, onLeadIn, onSound } from './first-frame.js'
import { formatBehindTags, formatWrittenAs } from './format-behind-tags.js'
import { withFrameTimes } from './frame-times.js'
import { lacedClockErrorSec } from './matroska/matroska-clock.js'
import { mediaInfoOf } from './media-info-of.js'
import { joinedBlocks } from './misread/joined-blocks.js'
import { longFormatOptions } from './misread/long-format.js'
import { misreadLeadIn } from './misread/misread-lead-in.js'
import { withTrueSamples } from './misread/misread-samples.js'
import { withoutMisreadTags } from './misread/misread-tags.js'
import { withMarkedSounds } from './misread/packed-frames.js'
import { withPackedLength } from './misread/packed-length.js'
import { withShortStreams } from './misread/short-streams.js'
import { complexEdits, editLists } from './movie/edit-lists.js'
import { hasSoundInFragments, mayJump, movieTracks } from './movie/movie-tracks.js'
import { probeAnswer } from './probe-answer.js'
import { startsApart } from './starts-apart.js'
import { BEXT_LOUDNESS_END, hasLoudness, type WaveChunk, waveChunks } from './wave-chunks.js'

const HEAD_BYTES = 4096

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
  const edits = editLists(movie)
  const plainOptions = [
    ...(edits.kind === 'joined' ? ['-advanced_editlist', '0'] : []),
    ...(await longFormatOptions(file, head, sizeBytes)),
    ...(writtenAs === undefined ? await formatBehindTags(file, sizeBytes) : formatWrittenAs(writtenAs)),
  ]
  const { answer, readOptions } = await blamingFile(path, signal, () =>
    probeAnswer(absolute, plainOptions, { sizeBytes, signal }),
  ).catch((error: unknown) => {
    throw isUnreadable(error) && isText(head) ? notMedia(path) : error
  })
  const container = containerKind({ path: absolute, head, answer })
  if (!container) throw unsupported(path, answer.format.format_name)
  const missing = await missingEnd({ path: absolute, file, sizeBytes, container })
  if (missing) throw unreadable(`${path} is truncated: its last ${missing} are missing`, { input: path })
  if (edits.kind === 'complex') throw complexEdits(path, edits.why)
  if (answer.streams.length === 0) throw unreadable(`${path} contains neither audio nor video`, { input: path })
  const jump = container === 'ts' || container === 'm2ts' ? await clockJump(file, sizeBytes) : undefined
  if (jump) throw clockJumps(path, path, jump)
  const parts = container === 'ogg' || container === 'opus' ? await unreadParts(path, file, { signal }) : undefined
  if (parts) throw parts
  const waves = container === 'wav' ? await waveChunks(file) : []
  if (waves.filter(({ id }) => id === 'data').length > 1) throw twoSounds(path)
  const facts = {
    ...{ path: absolute, sizeBytes, container, readOptions },
    ...((await statesLoudness(file, waves)) && { statesLoudness: true }),
    ...(movie.some(mayJump) && { mayJump: true }),
    ...(isMatroska({ container }) && { clockErrorSec: await lacedClockErrorSec(file) }),
    ...(hasSoundInFragments(movie) && { isFragmented: true }),
    ...(edits.kind === 'plain' && edits.pictures && { editedPictures: edits.pictures }),
  }
  const stated = mediaInfoOf(answer, facts, await encryptedStreams(file, movie, answer))
  const counted = await withPackedLength(await withoutMisreadTags(stated, file), signal)
  const measured = await withShortStreams(counted, signal)
  const packed = withMarkedSounds(measured, movie)
  const timed = movie.length > 0 ? await behindLeadIn(packed) : packed
  const refusal =
    startsApart(path, timed) ?? misreadLeadIn(path, timed, movie) ?? (await joinedBlocks(path, timed, file))
  if (refusal) throw refusal
  const media = await withTrueSamples(path, timed, file, head)
  return container === 'ogg' ? await onLeadIn(await onSound(media)) : await withFrameTimes(media)
}

function notMedia(path: string): PrecheckError {
  return unreadable(`${path} is text, not media`, {
    input: path,
    remedies: ['Open it in a text editor: a download may have saved an error message under this name.'],
  })
}

function twoSounds(path: string): PrecheckError {
  return unreadable(`${path} has two chunks of samples, and programs differ in which they play`, {
    input: path,
    remedies: ['Open it in an audio editor, listen to its whole length, and export it as a new WAV.'],
  })
}

function isUnreadable(error: unknown): boolean {
  return error instanceof PrecheckError && error.code === 'ERR_UNREADABLE'
}

/** `ERR_INVALID_ARG_VALUE`: Node.js refuses a name with a zero byte, which no file can have. */
const NO_SUCH_FILE: ReadonlySet<string | undefined> = new Set([
  ...['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'],
])

async function sizeOfFile(path: string): Promise<number> {
  try {
    const stats = await stat(await realpath(path))
    if (stats.isFile()) return stats.size
    if (stats.isFIFO()) throw notAFile(path, PIPE_IT)
    if (!stats.isDirectory()) throw notAFile(path, ['Name a media file.'])
    throw new UsageError('ERR_INPUT_IS_FOLDER', `${path} is a folder.`, {
      input: path,
      remedies: ['Name the files in it, or watch the folder with `voxmux watch`.'],
    })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (!NO_SUCH_FILE.has(code)) throw cause
    const undecodable = await undecodableName(path)
    if (undecodable) throw notUtf8(path, undecodable)
    throw (await brokenLink(path, cause)) ?? missing(path, cause)
  }
}

/** An address that was resolved as a path, which leaves one slash. */
const OTHER_ADDRESS = /\/(?:file|ftps?|gs|rtmp|rtsp|s3|sftp|smb):\//i

function missing(path: string, cause: unknown): UsageError {
  return new UsageError('ERR_INPUT_MISSING', `${path} does not exist.`, {
    input: path,
    cause,
    remedies: [whyMissing(path)],
  })
}

function whyMissing(path: string): string {
  if (OTHER_ADDRESS.test(path)) return 'Name a path or an https address. voxmux opens no other kind of address.'
  if (path.includes('/~/')) return 'The shell replaces ~ only at the start of an unquoted path. Write the path in full.'
  if (/[*?]/.test(path))
    return 'No file matches this pattern, so the shell left it as it is. Check the folder and the ending.'
  return 'Check the spelling of the path. Relative paths start at the working folder.'
}

const FILL_IT = ['Copy or export the file again. In a pipe, check the program that writes into it.']
const PIPE_IT = ['Pipe it in: `… | voxmux run - -o FILE`.']

function notAFile(path: string, remedies: readonly string[]): PrecheckError {
  return unreadable(`${path} is not a regular file`, { input: path, remedies })
}

/** The fault of a link without a file behind it. Its name is there, so `does not exist` would puzzle. */
async function brokenLink(path: string, cause: unknown): Promise<UsageError | PrecheckError | undefined> {
  const target = await readlink(path).catch(() => undefined)
  if (target === undefined) return undefined
  if (/^(pipe|socket):\[/.test(target)) return notAFile(path, PIPE_IT)
  const isLoop = (cause as NodeJS.ErrnoException).code === 'ELOOP'
  const why = isLoop ? 'a link that leads back to itself' : `a link to ${target}, which does not exist`
  return new UsageError('ERR_INPUT_MISSING', `${path} is ${why}.`, {
    input: path,
    cause,
    remedies: ['Correct the link, or name the file itself. A target on a share is missing until the share is mounted.'],
  })
}

function notUtf8(path: string, { folder, name }: { readonly folder: string; readonly name: Buffer }): UsageError {
  const [old, plain] = [shellName(name), name.toString().replaceAll('\ufffd', '_')]
  return new UsageError(
    'ERR_NAME_NOT_UTF8',
    `voxmux cannot open ${path}, because the name has bytes that are not UTF-8.`,
    {
      input: path,
      remedies: [`Rename it, for example in ${folder} with: mv -- ${old} ${shellName(Buffer.from(plain))}`],
    },
  )
}

function unsupported(path: string, formatName: string): PrecheckError {
  return new PrecheckError(
    'ERR_UNSUPPORTED_CONTAINER',
    `voxmux does not support the format of ${path} (${formatName}).`,
    {
      input: path,
      errorCode: -16,
      errorName: 'UnsupportedMediaContainer',
      remedies: REMUX_IT,
    },
  )
}

/** True if a Broadcast WAV states its loudness, in figures of the original audio. @param file open */
async function statesLoudness(file: FileHandle, chunks: readonly WaveChunk[]): Promise<boolean> {
  const bext = chunks.find(({ id }) => id === 'bext')
  if (!bext || bext.size < BEXT_LOUDNESS_END) return false
  return hasLoudness(await readAt(file, bext.at + 8, BEXT_LOUDNESS_END))
}
