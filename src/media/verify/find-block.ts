import { correlate, energyOf, nearestWaveformPeak } from '../pcm/correlate.js'
import { voiceBand, withoutRumble } from '../pcm/voice-band.js'
import type { MuxedVoice } from '../write/remux/mux.js'
import { type SyncSample, syncReach } from '../write/remux/sync-reference.js'

/** Least correlation that counts as a match. */
const LEAST_MATCH = 0.3
/** A codec that models a voice. Its decoder makes the same sound with other waves, which may fit best some periods away. */
const MODELLED = 'speex'
const SOME_PERIODS_SEC = 0.02
/** Least correlation of sound that is found though it is under rumble. */
const SURE_MATCH = 0.9
/** Least correlation of sound that came back with little noise. */
const CLEAR_MATCH = 0.97
/**
 * Noise by which places cannot be told apart in clear sound. The noise of the encoder counts for more than the shift. So a
 * slow wave fits as well a ms away, and a beep a few of its periods away.
 */
const SAME_NOISE = 2
/** Least length of a block that is compared behind its priming. */
const LEAST_COMPARED_SEC = 0.04
/** Least share of the energy of a block behind its priming that must come back. */
const LEAST_REST = 1e-4
/** Most samples of a frame that a decoder leaves out. A track that starts late skips far more samples than that. */
const LONGEST_FRAME = 2048

/**
 * Finds a decoded block in the fed sound. Every lag then explains the same decoded samples. The noise of the encoder
 * differs from place to place, but it cannot make one period of a tone look better than another.
 *
 * @param window the decoded block; shorter if the decoded sound ends in it, which its length is to judge
 * @returns `isLost` is true if the decoded audio does not resemble the audio that was fed
 */
export function findBlock(
  voice: MuxedVoice,
  { at, atSample, values: all }: SyncSample,
  window: Float64Array,
  codec?: string,
) {
  const { sampleRate } = voice.format
  const unjudged = { at, atSample, offsetSamples: null }
  const values = all.subarray(0, window.length + 2 * syncReach(sampleRate))
  if (all.length === 0) return { place: unjudged, isLost: false }
  const least = Math.round(LEAST_COMPARED_SEC * sampleRate)
  const priming = replacedSamples(voice, atSample)
  const isWhole = priming === 0 && values.length === all.length
  // Almost all of the block lies in the priming or behind the end. Its rest may fit best some periods of a voice away.
  if (!isWhole && window.length - priming < least) return { place: unjudged, isLost: false }
  const behind = locate(window.subarray(priming), values.subarray(priming), sampleRate)
  // All of the sound may lie in the priming.
  const isBlind = priming > 0 && !(behind.match >= LEAST_MATCH)
  const { lag, match } = isBlind ? locate(window, values, sampleRate) : behind
  const isVague = codec === MODELLED && match < CLEAR_MATCH && Math.abs(lag) < SOME_PERIODS_SEC * sampleRate
  if (isVague && match >= LEAST_MATCH) return { place: unjudged, isLost: false }
  // Broken floats give a match of NaN, which fails this comparison.
  if (match >= LEAST_MATCH) return { place: { at, atSample, offsetSamples: 0 - lag }, isLost: false }
  // The noise of the encoder may cover all sound under rumble. Its phase, which a codec turns, shows no place.
  const isCovered = isRumble(values, sampleRate) && locateHeard(window, values, sampleRate).match >= LEAST_MATCH
  return { place: unjudged, isLost: !isCovered && mustReturn(values, priming, sampleRate) }
}

/**
 * Samples of a block that priming replaces: that of its encoder, and in WMA a frame that the decoder leaves out. A tone
 * without its first samples would be found a few of its periods later.
 */
function replacedSamples({ skippedSamples }: MuxedVoice, atSample: number): number {
  return Math.max(0, skippedSamples + Math.min(skippedSamples, LONGEST_FRAME) - atSample)
}

/** Finds a window in a block; a match of 0 if it cannot be told where it is. */
function locate(window: Float64Array, block: Float64Array, sampleRate: number) {
  const asItIs = locateHeard(window, block, sampleRate)
  if (!isRumble(block, sampleRate)) return asItIs
  // A codec may turn the phase of rumble, and the noise of its encoder may cover the sound under it.
  const heard = locateHeard(withoutRumble(window, sampleRate), withoutRumble(block, sampleRate), sampleRate)
  if (heard.match >= SURE_MATCH) return heard
  const nearest = Math.abs(heard.lag) < Math.abs(asItIs.lag) ? heard : asItIs
  return Math.abs(nearest.lag) <= sampleRate / 1000 ? nearest : { lag: 0, match: 0 }
}

/** Finds a window in a block. A lossy codec may have left out all that is above the voice band. */
function locateHeard(window: Float64Array, block: Float64Array, sampleRate: number) {
  const peakOf = (one: Float64Array, other: Float64Array) => {
    const correlation = correlate(one, other, syncReach(sampleRate))
    const best = nearestWaveformPeak(correlation, 0)
    const inPlace = Math.abs(correlation.values[correlation.maxLag] as number)
    const isSame = best.match >= CLEAR_MATCH && 1 - inPlace <= SAME_NOISE * (1 - best.match)
    return isSame ? { lag: 0, match: inPlace } : best
  }
  const whole = peakOf(window, block)
  return whole.match >= LEAST_MATCH ? whole : peakOf(voiceBand(window, sampleRate), voiceBand(block, sampleRate))
}

/** True if most of a block is slower than a sound. A block that is about as short as such a wave is not. */
function isRumble(block: Float64Array, sampleRate: number): boolean {
  const heard = withoutRumble(block, sampleRate)
  const isLong = heard.length > 2 * syncReach(sampleRate) + LEAST_COMPARED_SEC * sampleRate
  return isLong && energyOf(heard) < 0.5 * energyOf(block)
}

/** False if a block is almost silent behind its priming: a lossy codec may leave that out. */
function mustReturn(values: Float64Array, priming: number, sampleRate: number): boolean {
  const reach = syncReach(sampleRate)
  const block = values.subarray(reach, -reach)
  return energyOf(block.subarray(priming)) >= LEAST_REST * energyOf(block)
}
