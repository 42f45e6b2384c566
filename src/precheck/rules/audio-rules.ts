import { describeChannels, describeRate } from '../describe.js'
import { DEFAULT_MAX_CHANNELS, type Limits } from '../limits.js'
import type { SubjectTrack } from '../subject.js'
import type { Rule } from './rule.js'

/** A rule that checks every track. With several tracks, each problem names its track. */
function trackRule(
  errorCode: Rule['errorCode'],
  problem: (track: SubjectTrack, limits: Limits) => string | null,
): Rule {
  return {
    errorCode,
    problem: ({ tracks }, limits) => {
      const problems = tracks.flatMap((track) => {
        const found = problem(track, limits)
        if (found === null) return []
        return [tracks.length > 1 ? `audio track ${track.audioIndex}: ${found}` : found]
      })
      return problems.length === 0 ? null : `${capitalized(problems.join('; '))}.`
    },
  }
}

/** -4 */
const tooManyChannels = trackRule(-4, ({ channels, channelLayout }, { maxChannels = DEFAULT_MAX_CHANNELS }) => {
  if (channels <= maxChannels) return null
  const layout = describeChannels({ channels, channelLayout })
  return `${channels} channels${layout.endsWith('channels') ? '' : ` (${layout})`}, at most ${maxChannels} are accepted`
})

/** -5: the quality exceeds the limits of the service. */
const qualityTooHigh = trackRule(-5, ({ sampleRate, bitDepth }, { maxSampleRate, maxBitDepth }) => {
  const rate =
    maxSampleRate !== undefined && sampleRate > maxSampleRate
      ? `sample rate ${describeRate(sampleRate)}, at most ${describeRate(maxSampleRate)} is accepted`
      : null
  const depth =
    maxBitDepth !== undefined && bitDepth !== null && bitDepth > maxBitDepth
      ? `${bitDepth} bits per sample, at most ${maxBitDepth} are accepted`
      : null
  return [rate, depth].filter((part) => part !== null).join(' and ') || null
})

/** -6: a track without a sample rate (0) gets -9 instead. */
const qualityTooLow = trackRule(-6, ({ sampleRate }, { minSampleRate }) =>
  minSampleRate !== undefined && sampleRate > 0 && sampleRate < minSampleRate
    ? `sample rate ${describeRate(sampleRate)}, at least ${describeRate(minSampleRate)} is required`
    : null,
)

/** -7: ffmpeg has no decoder, or the codec is not on the list. */
const unsupportedCodec = trackRule(-7, ({ codec }, { codecs }) => {
  if (codec === null) return 'its codec has no known decoder'
  return codecs === undefined || codecs.includes(codec) ? null : `codec ${codec}, accepted are ${codecs.join(', ')}`
})

/** -7: the packets can be read, and only with their key decoded. */
const encrypted: Rule = {
  ...trackRule(-7, ({ isEncrypted }) => (isEncrypted ? 'it is encrypted, so its sound cannot be read' : null)),
  remedies: ['Export it again without copy protection, or choose another track with --track.'],
}

/** -2: a reader would let the sound of those packets overlap. */
const untimed: Rule = {
  ...trackRule(-2, ({ isUntimed }) => (isUntimed ? 'the index of the file states no times for a part of it' : null)),
  remedies: ['Copy or download the file again, or choose another track with --track.'],
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Requirements for each track. */
export const AUDIO_RULES: readonly Rule[] = [
  encrypted,
  untimed,
  unsupportedCodec,
  tooManyChannels,
  qualityTooHigh,
  qualityTooLow,
]
