import { open, rm } from 'node:fs/promises'
import { linkedAbort } from '../../core/abort.js'
import { JobFailedError, UsageError, VoxmuxError } from '../../core/errors.js'
import { fileSha256 } from '../../core/file-identity.js'
import { formatTime } from '../../core/time.js'
import { isReadable } from '../ffmpeg/blaming-file.js'
import { type FfmpegRunOptions, runFfmpeg, type SideReading } from '../ffmpeg/ffmpeg.js'
import { soundless, unreadable } from '../ffmpeg/ffmpeg-failure.js'
import type { MediaInfo } from '../media-info.js'
import { clockedInput } from '../pcm/file-clock.js'
import { hasPackedFrames } from '../probe/misread/packed-frames.js'
import { waveSampleCount } from '../probe/wave-chunks.js'
import type { CutRequest, VoiceCut } from '../voice-cut.js'
import { type BrokenSample, firstBrokenSample } from './broken-samples.js'
import { cutCommand, cutReadings, decodedFormat, inBatches, type PlannedCut, planCuts } from './cut-command.js'
import { requireMostOfSound } from './undecoded-sound.js'

export interface CutOptions extends Pick<FfmpegRunOptions, 'signal' | 'onProgressSec'> {
  /** Other outputs of the same reading of the input. */
  readonly beside?: SideReading | null | undefined
}

/**
 * Cuts voices out of a file, losslessly and on the file's own clock, in as few passes as can be. Each cut has exactly the
 * samples of its range, with silence if the track has none. A fault leaves nothing behind.
 *
 * The voice hash is the SHA-256 of the written file. Its writer is deterministic and uses nothing but the samples.
 * Another ffmpeg may encode the same samples differently, which costs only a cache miss.
 *
 * @throws UsageError for requests that the file cannot fulfil; PrecheckError ERR_UNREADABLE; TransientError
 * ERR_DISK_FULL; JobFailedError ERR_CUT_LENGTH
 */
export async function cutVoice(
  media: MediaInfo,
  requests: readonly CutRequest[],
  options: CutOptions = {},
): Promise<VoiceCut[]> {
  if (requests.length === 0) return []
  const cuts = planCuts(media, requests)
  const { controller, release } = linkedAbort(options.signal)
  const { signal } = controller
  try {
    await Promise.all([
      writeCuts(media, cuts, { ...options, signal }),
      sharesReading(media, cuts) ? undefined : readBeside(media, { ...options, signal }),
    ])
    const finished: VoiceCut[] = []
    for (const some of inBatches(cuts)) {
      finished.push(...(await Promise.all(some.map((cut) => finishedCut(media, cut, signal)))))
    }
    return finished
  } catch (error) {
    controller.abort(error)
    await Promise.all(cuts.flatMap(({ path, pcmPath }) => [path, pcmPath]).map((path) => rm(path, { force: true })))
    // A file that cannot be decoded is refused here, before anything is sent.
    const [cut] = cuts
    throw cut && (await isOfFile(error, media, options.signal))
      ? soundless(media.path, cut.stream.audioIndex, error)
      : error
  } finally {
    release()
  }
}

/** True if ffmpeg cannot decode the audio. It reports some damaged files as a failure of their disk. */
async function isOfFile(error: unknown, { path }: MediaInfo, signal: AbortSignal | undefined): Promise<boolean> {
  if (!(error instanceof VoxmuxError)) return false
  if (error.code === 'ERR_FFMPEG_FAILED') return true
  return `${error.cause}`.includes(`${path}: Input/output error`) && isReadable(path, signal)
}

/** Writes the cuts, one reading after another. */
async function writeCuts(media: MediaInfo, cuts: readonly PlannedCut[], options: CutOptions): Promise<void> {
  const readings = cutReadings(cuts)
  const shared = readings.find((own) => sharesReading(media, own))
  const { beside, ...run } = options
  for (const own of readings) {
    const command = cutCommand(media, own)
    const { outputs = [], ...readers } = (own === shared ? beside : null) ?? {}
    await runFfmpeg(
      { ...command, outputs: [...command.outputs, ...outputs] },
      { ...run, ...readers, input: media.path },
    )
  }
}

/** True if one of the readings begins at the start of the file and has its packets, so that other outputs can share it. */
function sharesReading(media: MediaInfo, cuts: readonly PlannedCut[]): boolean {
  return !hasPackedFrames(media) && cuts.some(({ request }) => (request.readFromSample ?? 0) === 0)
}

/** Reads the input for nothing but the other outputs. */
async function readBeside(media: MediaInfo, { beside, signal }: CutOptions): Promise<void> {
  if (!beside || beside.outputs.length === 0) return
  const { outputs, ...readers } = beside
  await runFfmpeg({ inputs: [clockedInput(media)], outputs }, { ...readers, signal, input: media.path })
}

/** The refusal of sound that neither a service nor an encoder can process. */
function notASound({ path }: MediaInfo, { stream, request }: PlannedCut, { sample, isNumber }: BrokenSample) {
  const at = formatTime((request.range.startSample + sample) / stream.sampleRate)
  const what = isNumber ? 'is more than 240 dB above full scale' : 'is not a number'
  return unreadable(`Audio track ${stream.audioIndex} of ${path} has a sample at ${at} that ${what}`, {
    input: path,
    remedies: ['Export the sound again as integers, such as PCM of 24 bits, and listen to this place.'],
  })
}

async function finishedCut(media: MediaInfo, cut: PlannedCut, signal: AbortSignal | undefined): Promise<VoiceCut> {
  await using file = await open(cut.path, 'r')
  const { size } = await file.stat()
  const sampleCount = await waveSampleCount(file)
  const { startSample, endSample } = cut.request.range
  if (!sampleCount && endSample === null && startSample > 0) throw beyondEnd(cut)
  if (!sampleCount) throw soundless(media.path, cut.stream.audioIndex)
  if (endSample !== null && sampleCount !== endSample - startSample) {
    const { path } = media
    throw new JobFailedError('ERR_CUT_LENGTH', `The voice that was cut from ${path} has ${sampleCount} samples.`, {
      input: path,
    })
  }
  if (endSample === null) {
    await requireMostOfSound(media, cut.stream, (startSample + sampleCount) / cut.stream.sampleRate, signal)
  }
  const pcm = { path: cut.pcmPath, format: decodedFormat(cut), sampleCount }
  const broken = await firstBrokenSample(pcm, signal)
  if (broken !== null) throw notASound(media, cut, broken)
  return {
    request: cut.request,
    path: cut.path,
    format: cut.encoding.format,
    sampleRate: cut.stream.sampleRate,
    channels: cut.channels,
    channelLayout: cut.channelLayout,
    range: { startSample, endSample: startSample + sampleCount },
    sampleCount,
    pcm,
    sizeBytes: size,
    voiceHash: await fileSha256(cut.path, signal),
  }
}

function beyondEnd({ stream, request }: PlannedCut): UsageError {
  const fromSec = (request.range.startSample / stream.sampleRate).toFixed(3)
  return new UsageError('ERR_SEGMENT_OUTSIDE', `Audio track ${stream.audioIndex} ends before ${fromSec} s.`, {
    remedies: ['The file has only picture there. Name an earlier part.'],
  })
}
