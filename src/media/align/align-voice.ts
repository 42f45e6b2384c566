import type { VerificationError } from '../../core/errors.js'
import { energyOf } from '../pcm/correlate.js'
import { frameBytes, type PcmFormat, pcmFormatFor, type SampleType } from '../pcm/pcm.js'
import { type PcmFile, readPcmFile, readPcmParts } from '../pcm/pcm-file.js'
import { PcmReader } from '../pcm/pcm-reader.js'
import type { Alignment, CutSound, SampleRange } from '../voice-cut.js'
import { measureEnvelopePlaces } from './align-envelope.js'
import { type MeasuredPlace, measurePlaces, type Stretch } from './align-places.js'
import { loudStretches, planStretches } from './align-plan.js'
import { mixToMono } from './align-signals.js'
import { type AlignmentThresholds, type AlignmentVerdict, drifts, judgePlaces, notAligned } from './align-verdict.js'
import { conformFilters } from './conform-filters.js'
import { blamingRegenerated, openRegenerated, type RegeneratedFacts, requireWhole } from './open-regenerated.js'
import { unpackSound } from './unpack-sound.js'
import { withoutBursts } from './without-bursts.js'

/** The alignment of regenerated audio with its cut, and how to read it. */
export interface VoiceAlignment extends Alignment {
  readonly regenerated: {
    /** Its samples at the cut's rate and channels, beside its file. */
    readonly pcm: PcmFile
    /** Sample at which the cut's part begins, without the lag. Above 0 if the whole file was returned for a part. */
    readonly startSample: number
  }
}

/** Largest lag in either direction, and no more than half of the cut: a lag as long as the sound is none. */
const MOST_LAG_SEC = 1
/** Largest missing length, because codecs trim. More is a missing part of the voice. */
const MOST_MISSING_SEC = 0.25

const WAVEFORM_THRESHOLDS: AlignmentThresholds = {
  method: 'waveform',
  same: 0.35,
  elsewhere: 0.45,
  support: 0.7,
  toleranceSec: 0.001,
}
/**
 * At an expected lag. There, other audio matches by less than 0.1, because no better lag is sought. Half of the power is
 * enough: the rest may be music that was removed.
 */
const EXPECTED_THRESHOLDS: AlignmentThresholds = { ...WAVEFORM_THRESHOLDS, same: 0.25, elsewhere: 0.3, support: 0.5 }
const ENVELOPE_THRESHOLDS: AlignmentThresholds = {
  method: 'envelope',
  same: 0.5,
  elsewhere: 0.5,
  support: 0.8,
  toleranceSec: 0.002,
}

/**
 * Aligns regenerated audio with the voice that was sent: by waveform, or by the loudness of its bands if the waveform
 * is new. Decodes it once, and keeps its samples in a file beside it. Holds only a few seconds in memory, however long
 * the cut is.
 *
 * @throws {VerificationError} `ERR_ALIGNMENT` (other audio, too short, silent), `ERR_ALIGNMENT_DRIFT` (the lag differs
 * between places), `ERR_ANSWER_CHANNELS`, `ERR_ANSWER_UNREADABLE`
 */
export function alignVoice(
  cut: CutSound,
  audioPath: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<VoiceAlignment> {
  return blamingRegenerated(audioPath, () => aligned(cut, audioPath, signal))
}

async function aligned(cut: CutSound, audioPath: string, signal: AbortSignal | undefined): Promise<VoiceAlignment> {
  const stream = await openRegenerated(audioPath, signal)
  const filters = conformFilters(cut, stream, audioPath)
  const { sampleRate, channels, channelLayout } = cut
  const format: PcmFormat = { sampleRate, channels, channelLayout, sample: conformedType(stream, filters) }
  const regenerated = await unpackSound({ path: audioPath, filters, format, signal }, `${audioPath}.pcm`)
  const { sampleCount: availableSamples } = regenerated
  requireWhole(audioPath, stream, availableSamples / sampleRate)
  const sound: Sounds = { cut: cut.pcm, regenerated }
  let refusal: VerificationError | undefined
  for (const startSample of possibleStarts(cut, availableSamples)) {
    const judged = await judge(cut, sound, startSample)
    if (judged.kind === 'aligned' || judged.kind === 'silent') {
      const alignment = judged.kind === 'aligned' ? judged.alignment : SILENT
      checkLength(cut, audioPath, availableSamples - startSample - alignment.lagSamples)
      return { ...alignment, regenerated: { pcm: regenerated, startSample } }
    }
    refusal ??=
      judged.kind === 'drift'
        ? drifts(audioPath, judged.lags, cut.sampleRate)
        : notAligned(audioPath, `it contains only ${Math.round(judged.support * 100)} % of the voice`)
  }
  throw refusal ?? notAligned(audioPath, 'it is empty')
}

const SILENT: Alignment = { lagSamples: 0, match: 1, method: 'silence' }

/** The narrowest type that holds the converted audio. Resampled or mixed samples have more bits than before. */
function conformedType(stream: RegeneratedFacts, filters: readonly string[]): SampleType {
  const { sample } = pcmFormatFor(stream)
  if (filters.length === 0) return sample
  return sample === 's16' || sample === 'f32' ? 'f32' : 'f64'
}

interface Sounds {
  readonly cut: PcmFile
  readonly regenerated: PcmFile
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
  const measured = async (measure: (stretch: Stretch) => readonly MeasuredPlace[]) => {
    const places: MeasuredPlace[] = []
    for await (const stretch of stretches(cut, sound, startSample, ranges)) places.push(...measure(stretch))
    return places
  }
  const found = judgePlaces(await measured(measurePlaces), sampleRate, WAVEFORM_THRESHOLDS)
  if (found.kind === 'aligned' || found.kind === 'silent') return found
  // A weak match does not show another lag: most of a tone or of noise is removed.
  for (const lag of new Set([found.kind === 'drift' ? found.lags[0] : found.lag, 0])) {
    const places = await measured((stretch) => measurePlaces(stretch, lag))
    const expected = judgePlaces(places, sampleRate, EXPECTED_THRESHOLDS, lag)
    if (expected.kind === 'aligned') return expected
  }
  if (found.kind === 'drift') return found
  const envelope = judgePlaces(await measured(measureEnvelopePlaces), sampleRate, ENVELOPE_THRESHOLDS)
  if (envelope.kind === 'aligned' || envelope.kind === 'drift') return envelope
  const calm = await measured((stretch) => measurePlaces(withoutBursts(stretch)))
  const voice = judgePlaces(calm, sampleRate, WAVEFORM_THRESHOLDS)
  return voice.kind === 'aligned' ? voice : found
}

/** Reads both files, one stretch at a time. Each is valid until the next one is requested. */
async function* stretches(
  cut: CutSound,
  sound: Sounds,
  startSample: number,
  ranges: readonly SampleRange[],
): AsyncGenerator<Stretch> {
  const marginSamples = Math.min(MOST_LAG_SEC * cut.sampleRate, Math.ceil(cut.sampleCount / 2))
  const sought = ranges.map((range) => ({
    startSample: startSample + range.startSample - marginSamples,
    endSample: startSample + range.endSample + marginSamples,
  }))
  const cuts = readPcmParts(sound.cut, ranges)
  const heard = readPcmParts(sound.regenerated, sought)
  const room = { cut: roomFor(ranges), regenerated: roomFor(sought) }
  try {
    for (const { startSample: atSample } of ranges) {
      const [part, regenerated] = [await cuts.next(), await heard.next()]
      if (part.done || regenerated.done) return
      const { mono, choice } = mixToMono(part.value, sound.cut.format, undefined, room.cut)
      yield {
        atSample,
        cut: mono,
        regenerated: mixToMono(regenerated.value, sound.regenerated.format, choice, room.regenerated).mono,
        marginSamples,
        sampleRate: cut.sampleRate,
      }
    }
  } finally {
    await Promise.all([cuts.return(undefined), heard.return(undefined)])
  }
}

function roomFor(ranges: readonly SampleRange[]): Float64Array {
  return new Float64Array(Math.max(0, ...ranges.map(({ startSample, endSample }) => endSample - startSample)))
}

/** Possible starts of the cut's part in the regenerated audio: 0, or its position if the whole file came back. */
function possibleStarts({ range, sampleCount, sampleRate }: CutSound, availableSamples: number): readonly number[] {
  const slack = MOST_LAG_SEC * sampleRate
  const own = range.startSample
  if (own === 0 || availableSamples < own + sampleCount - slack) return [0]
  return Math.abs(availableSamples - sampleCount) <= slack ? [0, own] : [own, 0]
}

function checkLength(cut: CutSound, audioPath: string, available: number) {
  const missingSec = (cut.sampleCount - available) / cut.sampleRate
  if (missingSec > MOST_MISSING_SEC) throw notAligned(audioPath, `its last ${missingSec.toFixed(2)} s are missing`)
}

async function powerOfSeconds(audio: PcmFile): Promise<readonly number[]> {
  const { format } = audio
  const reader = new PcmReader(readPcmFile(audio))
  const powers: number[] = []
  for (;;) {
    const bytes = await reader.read(format.sampleRate)
    if (bytes.length === 0) return powers
    powers.push(energyOf(mixToMono(bytes, format).mono) / (bytes.length / frameBytes(format)))
  }
}
