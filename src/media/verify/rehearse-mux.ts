import { join } from 'node:path'
import { toVoxmuxError, UsageError } from '../../core/errors.js'
import { isDoubtful } from '../ffmpeg/blaming-file.js'
import { temporaryFolder } from '../ffmpeg/temporary-folder.js'
import { pictureOf } from '../media-info.js'
import { decodePcm } from '../pcm/decode-pcm.js'
import type { PcmStream } from '../pcm/pcm.js'
import { newStreams } from '../write/remux/mux-command.js'
import type { MuxPlan } from '../write/remux/mux-plan.js'
import { writeOutput } from '../write/write-output.js'
import { examineMux, type MuxFaults } from './verify-mux.js'

/** Length of the first rehearsal. Starts, tags, chapters and codecs fail there, and only the end is left. */
const HEAD_SEC = 20
/** A sound as short as a few frames of a codec, which may come back as nothing. */
const FEW_FRAMES_SEC = 0.5
/** Bytes of a program stream per second: 25 pictures of one packet (2 KB) each. */
const SMALL_PICTURES = 25 * 2048

interface RehearsalOptions {
  /** Tracks whose channels are mixed, by place among the audio streams. */
  readonly downmixed: ReadonlySet<number>
  readonly signal?: AbortSignal | undefined
}

/**
 * Writes and verifies an output of ffmpeg's remux, or of a very short file, with the file's own sound, before any voice is
 * paid for. Reads the head of the file. If that fails or says too little, all of it: only a fault that the job itself would
 * meet refuses it.
 *
 * @throws {UsageError} `ERR_CONTAINER_UNFIT`
 * @throws {TransientError} if this computer fails, for example with a full disk
 */
export async function rehearseMux(plan: MuxPlan, options: RehearsalOptions): Promise<void> {
  const { durationSec } = plan.media
  const isTried = plan.writing.kind === 'remux' || (durationSec !== null && durationSec < FEW_FRAMES_SEC)
  if (!isTried) return
  if (!isReadWhole(plan) && (await faultsOf(plan, HEAD_SEC, options)) === null) return
  const faults = await faultsOf(plan, undefined, options)
  if (faults !== null) throw unfit(plan, faults)
}

/**
 * True for a file whose head says too little: a short one, or an MPEG program stream whose small pictures share packets.
 * Only the first picture of a packet has a time, so any of them may fail.
 */
function isReadWhole({ container, media: { durationSec, sizeBytes } }: MuxPlan): boolean {
  if (durationSec === null) return false
  return durationSec <= HEAD_SEC || (container === 'mpg' && sizeBytes / durationSec < SMALL_PICTURES)
}

/** Null if the output would pass verification, or if the cut will refuse its sound with a code of its own. */
async function faultsOf(
  plan: MuxPlan,
  headSec: number | undefined,
  { downmixed, signal }: RehearsalOptions,
): Promise<MuxFaults | null> {
  const media = headSec === undefined ? plan.media : { ...plan.media, durationSec: headDurationSec(plan, headSec) }
  const voiceOf = (audioIndex: number, sampleRate: number): PcmStream =>
    decodePcm(plan.media, {
      ...{ audioIndex, signal },
      channels: { kind: downmixed.has(audioIndex) ? 'downmix' : 'all' },
      ...(headSec !== undefined && { range: { startSample: 0, endSample: Math.round(headSec * sampleRate) } }),
    })
  const voices = new Map(
    newStreams(plan).map(({ input: { audioIndex, sampleRate } }) => [audioIndex, voiceOf(audioIndex, sampleRate)]),
  )
  await using folder = await temporaryFolder('voxmux-trial-')
  try {
    const part = join(folder.path, `trial.${plan.container}`)
    const tried = { ...plan, media }
    const made = await writeOutput(tried, voices, part, { signal, headSec })
    if (made.voices.some(({ sampleCount }) => sampleCount === 0)) return null
    const examined = await examineMux(tried, made, part, { level: 'full', signal })
    return 'differences' in examined ? examined : null
  } catch (thrown) {
    const cause = toVoxmuxError(thrown, plan.media.path)
    const isOfRemux = cause.exitCode === 1
    if (!isOfRemux && !isDoubtful(cause)) throw cause
    if (!(await canBeDecoded(voices.values()))) return null
    if (!isOfRemux) throw cause
    return { differences: [cause.message.replace(/\.$/, '')], cause }
  }
}

/** Subtitles and chapters may lie behind the head, so the duration of a file that has them says nothing. */
function headDurationSec({ media: { durationSec, streams, chapters } }: MuxPlan, headSec: number): number | null {
  const isBare = chapters.length === 0 && streams.every(({ kind }) => kind === 'audio' || kind === 'video')
  return isBare && durationSec !== null ? headSec : null
}

async function canBeDecoded(voices: Iterable<PcmStream>): Promise<boolean> {
  try {
    for (const voice of voices) {
      let bytes = 0
      for await (const { length } of voice.buffers()) bytes += length
      if (bytes === 0) return false
    }
    return true
  } catch {
    return false
  }
}

function unfit({ media, container }: MuxPlan, { differences, cause }: MuxFaults): UsageError {
  const message = `A trial of ${media.path} as .${container} failed its verification: ${differences.join('; ')}.`
  const others = ['mkv', 'mov'].filter((other) => other !== container).map((other) => `.${other}`)
  return new UsageError('ERR_CONTAINER_UNFIT', message, {
    ...{ input: media.path, cause },
    remedies: [
      `Nothing was sent. Name the output ${others.join(' or ')}, or leave out what changes the container or adds tracks.` +
        (pictureOf(media) ? ' If none of them fits, name the output .wav to write only the audio.' : ''),
    ],
  })
}
