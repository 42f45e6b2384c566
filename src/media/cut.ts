import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { JobFailedError, UsageError } from '../core/errors.js'
import { cutCommand, heardCutCommand, heardFormat, type PlannedCut, planCuts } from './cut-command.js'
import { type FfmpegRunOptions, runFfmpeg, streamFfmpeg } from './ffmpeg.js'
import { unreadable } from './ffmpeg-failure.js'
import { measureLoudness } from './loudness.js'
import type { Loudness } from './loudness-meter.js'
import type { MediaInfo } from './media-info.js'
import { frameBytes } from './pcm.js'
import { wholeFrames } from './pcm-streams.js'
import type { CutRequest, VoiceCut } from './voice-cut.js'
import { waveSampleCount } from './wave-length.js'

export type CutOptions = Pick<FfmpegRunOptions, 'signal' | 'onProgressSec'>

/**
 * Cuts voices out of a file, losslessly and on the file's own clock, in one reading of it. Each has exactly the
 * samples of its range, silence where the track has none. On a fault nothing is left behind.
 *
 * The voice hash is the SHA-256 of the file that was written: its writer is deterministic and nothing of the source
 * but the samples goes into it. Another ffmpeg may code the same samples differently; that costs a cache miss.
 *
 * @throws UsageError for requests the file cannot fulfil; PrecheckError ERR_UNREADABLE; TransientError ERR_DISK_FULL;
 *   JobFailedError ERR_CUT_LENGTH
 */
export async function cutVoice(
  media: MediaInfo,
  requests: readonly CutRequest[],
  options: CutOptions = {},
): Promise<VoiceCut[]> {
  if (requests.length === 0) return []
  const cuts = planCuts(media, requests)
  try {
    const [only] = cuts
    const loudness = only && cuts.length === 1 ? await writeAndHear(media, only, options) : null
    if (loudness === null) await runFfmpeg(cutCommand(media, cuts), { ...options, input: media.path })
    return await Promise.all(cuts.map((cut) => finishedCut(cut, loudness, options.signal)))
  } catch (error) {
    await Promise.all(cuts.map(({ path }) => rm(path, { force: true })))
    throw error
  }
}

/** Writes a cut and measures it on the way. A decoder leaves one core idle, and the encoder of the mux later none. */
async function writeAndHear(media: MediaInfo, cut: PlannedCut, options: CutOptions): Promise<Loudness> {
  const { stdout, done } = streamFfmpeg(heardCutCommand(media, cut), { ...options, input: media.path })
  const format = heardFormat(cut)
  const loudness = await measureLoudness({
    format,
    sampleCount: null,
    chunks: () => wholeFrames(stdout, frameBytes(format)),
  })
  await done
  return loudness
}

async function finishedCut(
  cut: PlannedCut,
  loudness: Loudness | null,
  signal: AbortSignal | undefined,
): Promise<VoiceCut> {
  const file = await open(cut.path, 'r')
  try {
    const { size } = await file.stat()
    const sampleCount = await waveSampleCount(file)
    const { startSample, endSample } = cut.request.range
    if (!sampleCount && endSample === null && startSample > 0) throw nothingThere(cut)
    if (sampleCount === 0) throw unreadable(`Audio track ${cut.stream.audioIndex} holds no sound at all`, {})
    if (sampleCount === null || (endSample !== null && sampleCount !== endSample - startSample)) {
      throw new JobFailedError(
        'ERR_CUT_LENGTH',
        `The cut ${cut.path} has ${sampleCount ?? 'no'} samples: not what was asked.`,
      )
    }
    return {
      request: cut.request,
      path: cut.path,
      format: cut.encoding.format,
      sampleRate: cut.stream.sampleRate,
      channels: cut.channels,
      channelLayout: cut.channelLayout,
      range: { startSample, endSample: startSample + sampleCount },
      sampleCount,
      sizeBytes: size,
      voiceHash: await sha256Of(cut.path, signal),
      loudness,
    }
  } finally {
    await file.close()
  }
}

function nothingThere({ stream, request }: PlannedCut): UsageError {
  const fromSec = (request.range.startSample / stream.sampleRate).toFixed(3)
  return new UsageError('ERR_SEGMENT_OUTSIDE', `Audio track ${stream.audioIndex} has ended before ${fromSec} s.`, {
    remedies: ['The picture goes on without sound there: name an earlier part.'],
  })
}

async function sha256Of(path: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash, signal ? { signal } : {})
  return hash.digest('hex')
}
