import { VerificationError, VoxmuxError } from '../core/errors.js'
import { measureEnvelopePlaces } from './align-envelope.js'
import { type MeasuredPlace, measurePlaces, type Stretch } from './align-places.js'
import { loudStretches, planStretches } from './align-plan.js'
import { monoOf } from './align-signals.js'
import { type AlignmentThresholds, type AlignmentVerdict, drifts, judgePlaces, notAligned } from './align-verdict.js'
import { conformFilters } from './answer-format.js'
import { type FilteredAudio, filteredPcm, readParts } from './answer-pcm.js'
import { energyOf } from './correlate.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from './media-info.js'
import { frameBytes, type PcmFormat, pcmFormatFor, type SampleType } from './pcm.js'
import { PcmReader } from './pcm-reader.js'
import { probe } from './probe.js'
import type { Alignment, CutSound, SampleRange } from './voice-cut.js'

/** How an answer lies against its cut, and how it is to be read. */
export interface VoiceAlignment extends Alignment {
  readonly answer: {
    readonly path: string
    /** The filters that bring it to the cut's rate and channels. */
    readonly filters: readonly string[]
    /** Sample of the conformed answer where the cut's part begins, lag left aside: past 0 where the service
     * answered with the whole file for a part. */
    readonly startSample: number
    /** The narrowest type that is known to hold the conformed answer to the bit. */
    readonly sample: SampleType
  }
}

export interface AlignVoiceOptions {
  readonly signal?: AbortSignal | undefined
}

/** An answer may be early or late by this much. */
const MOST_LAG_SEC = 1
/** An answer may fall short by this much (codecs trim): more is a part of the voice missing. */
const MOST_MISSING_SEC = 0.25

const WAVEFORM_THRESHOLDS: AlignmentThresholds = {
  same: 0.35,
  elsewhere: 0.45,
  support: 0.7,
  toleranceSec: 0.001,
}
const ENVELOPE_THRESHOLDS: AlignmentThresholds = { same: 0.5, elsewhere: 0.5, support: 0.8, toleranceSec: 0.002 }

/**
 * Measures how a service's answer lies against the voice that was sent: by waveform, or by the loudness of its bands
 * where the waveform was made anew. Holds a few seconds at a time, however long the cut is.
 *
 * @throws {VerificationError} `ERR_ALIGNMENT` (another sound, too short, silent), `ERR_ALIGNMENT_DRIFT` (the lag
 *   differs between places), `ERR_ANSWER_CHANNELS`, `ERR_ANSWER_UNREADABLE`
 */
export async function alignVoice(
  cut: CutSound,
  answerPath: string,
  { signal }: AlignVoiceOptions = {},
): Promise<VoiceAlignment> {
  const { media, stream } = await openAnswer(answerPath, signal)
  const filters = conformFilters(cut, stream, answerPath)
  const { sampleRate, channels, channelLayout } = cut
  const format: PcmFormat = { sampleRate, channels, channelLayout, sample: 'f32' }
  const seeksExactly = stream.sampleRate === cut.sampleRate && /^(pcm_|flac$)/.test(stream.codec ?? '')
  const sound: Sounds = {
    cut: { path: cut.path, filters: [], format, seeksExactly: true, signal },
    answer: { path: answerPath, filters, format, seeksExactly, signal },
  }
  const answerSamples = media.durationSec === null ? null : Math.round(media.durationSec * cut.sampleRate)
  let refusal: VerificationError | undefined
  for (const startSample of possibleStarts(cut, answerSamples)) {
    const judged = await judge(cut, sound, startSample)
    if (judged.kind === 'aligned' || judged.kind === 'silent') {
      const alignment = judged.kind === 'aligned' ? judged.alignment : SILENT
      if (answerSamples !== null) checkLength(cut, answerPath, answerSamples - startSample - alignment.lagSamples)
      const sample = filters.length === 0 ? pcmFormatFor(stream).sample : 'f64'
      return { ...alignment, answer: { path: answerPath, filters, startSample, sample } }
    }
    refusal ??=
      judged.kind === 'drift'
        ? drifts(answerPath, judged.lags, cut.sampleRate)
        : notAligned(answerPath, `only ${Math.round(judged.support * 100)} % of the voice is found in it`)
  }
  throw refusal ?? notAligned(answerPath, 'it holds nothing')
}

const SILENT: Alignment = { lagSamples: 0, match: 1, method: 'silence', places: [] }

interface Sounds {
  readonly cut: FilteredAudio
  readonly answer: FilteredAudio
}

async function judge(cut: CutSound, sound: Sounds, startSample: number): Promise<AlignmentVerdict> {
  const planned = planStretches(cut.sampleCount, cut.sampleRate)
  const verdict = await judgeStretches(cut, sound, startSample, planned)
  if (verdict.kind !== 'silent') return verdict
  const powers = await powerOfSeconds(sound.cut)
  return judgeStretches(cut, sound, startSample, loudStretches(powers, cut.sampleCount, cut.sampleRate))
}

async function judgeStretches(
  cut: CutSound,
  sound: Sounds,
  startSample: number,
  ranges: readonly SampleRange[],
): Promise<AlignmentVerdict> {
  const { sampleRate } = cut
  const byWaveform: MeasuredPlace[] = []
  for await (const stretch of stretches(cut, sound, startSample, ranges)) byWaveform.push(...measurePlaces(stretch))
  const waveform = judgePlaces(byWaveform, sampleRate, 'waveform', WAVEFORM_THRESHOLDS)
  if (waveform.kind !== 'weak') return waveform
  const byEnvelope: MeasuredPlace[] = []
  for await (const stretch of stretches(cut, sound, startSample, ranges))
    byEnvelope.push(...measureEnvelopePlaces(stretch))
  const envelope = judgePlaces(byEnvelope, sampleRate, 'envelope', ENVELOPE_THRESHOLDS)
  return envelope.kind === 'aligned' || envelope.kind === 'drift' ? envelope : waveform
}

/** Reads both files side by side, a stretch at a time: each is good until the next one is asked for. */
async function* stretches(
  cut: CutSound,
  sound: Sounds,
  startSample: number,
  ranges: readonly SampleRange[],
): AsyncGenerator<Stretch> {
  const marginSamples = MOST_LAG_SEC * cut.sampleRate
  const sought = ranges.map((range) => ({
    startSample: startSample + range.startSample - marginSamples,
    endSample: startSample + range.endSample + marginSamples,
  }))
  const cuts = readParts(sound.cut, ranges)
  const answers = readParts(sound.answer, sought)
  const room = { cut: roomFor(ranges), answer: roomFor(sought) }
  for (const { startSample: atSample } of ranges) {
    // Asked together: two decoders work at the same time.
    const [part, answer] = await Promise.all([cuts.next(), answers.next()])
    if (part.done || answer.done) return
    const { mono, choice } = monoOf(part.value, sound.cut.format, undefined, room.cut)
    yield {
      atSample,
      cut: mono,
      answer: monoOf(answer.value, sound.answer.format, choice, room.answer).mono,
      marginSamples,
      sampleRate: cut.sampleRate,
    }
  }
}

function roomFor(ranges: readonly SampleRange[]): Float64Array {
  return new Float64Array(Math.max(0, ...ranges.map(({ startSample, endSample }) => endSample - startSample)))
}

/** Where in the answer the cut's part may begin: at its start, or, where the whole file came back, at its own place. */
function possibleStarts({ range, sampleCount, sampleRate }: CutSound, answerSamples: number | null): readonly number[] {
  const slack = MOST_LAG_SEC * sampleRate
  const own = range.startSample
  if (own === 0 || answerSamples === null || answerSamples < own + sampleCount - slack) return [0]
  return Math.abs(answerSamples - sampleCount) <= slack ? [0, own] : [own, 0]
}

function checkLength(cut: CutSound, answerPath: string, available: number) {
  const missingSec = (cut.sampleCount - available) / cut.sampleRate
  if (missingSec > MOST_MISSING_SEC) throw notAligned(answerPath, `its last ${missingSec.toFixed(2)} s are missing`)
}

async function openAnswer(
  path: string,
  signal: AbortSignal | undefined,
): Promise<{ media: MediaInfo; stream: AudioStreamInfo }> {
  try {
    const media = await probe(path, { signal })
    const [stream] = audioStreams(media)
    if (stream) return { media, stream }
  } catch (cause) {
    if (cause instanceof VoxmuxError && cause.errorCode === undefined) throw cause
    throw new VerificationError('ERR_ANSWER_UNREADABLE', 'What came back cannot be decoded.', { cause, input: path })
  }
  throw new VerificationError('ERR_ANSWER_UNREADABLE', 'What came back holds no sound.', { input: path })
}

async function powerOfSeconds(audio: FilteredAudio): Promise<readonly number[]> {
  const { format } = audio
  const reader = new PcmReader(filteredPcm(audio))
  const powers: number[] = []
  for (;;) {
    const bytes = await reader.read(format.sampleRate)
    if (bytes.length === 0) return powers
    powers.push(energyOf(monoOf(bytes, format).mono) / (bytes.length / frameBytes(format)))
  }
}
