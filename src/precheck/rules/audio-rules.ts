import { describeChannels, describeRate } from '../describe.js'
import { DEFAULT_MAX_CHANNELS, type Limits } from '../limits.js'
import type { SubjectTrack } from '../subject.js'
import type { Rule } from './rule.js'

/** A rule that every track is asked, each problem naming its track where there are several. */
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
  return `${channels} channels${layout.endsWith('channels') ? '' : ` (${layout})`}, at most ${maxChannels} are taken`
})

/** -5: more than the service takes in. */
const qualityTooHigh = trackRule(-5, ({ sampleRate, bitDepth }, { maxSampleRate, maxBitDepth }) => {
  const rate =
    maxSampleRate !== undefined && sampleRate > maxSampleRate
      ? `sample rate ${describeRate(sampleRate)}, at most ${describeRate(maxSampleRate)} is taken`
      : null
  const depth =
    maxBitDepth !== undefined && bitDepth !== null && bitDepth > maxBitDepth
      ? `${bitDepth} bits a sample, at most ${maxBitDepth} are taken`
      : null
  return [rate, depth].filter((part) => part !== null).join(' and ') || null
})

/** -6: a track without a sample rate (0) is -9's. */
const qualityTooLow = trackRule(-6, ({ sampleRate }, { minSampleRate }) =>
  minSampleRate !== undefined && sampleRate > 0 && sampleRate < minSampleRate
    ? `sample rate ${describeRate(sampleRate)}, at least ${describeRate(minSampleRate)} is needed`
    : null,
)

/** -7: no decoder, or not on the list. */
const unsupportedCodec = trackRule(-7, ({ codec }, { codecs }) => {
  if (codec === null) return 'no decoder is known for its codec'
  return codecs === undefined || codecs.includes(codec) ? null : `codec ${codec}, taken are ${codecs.join(', ')}`
})

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** What each track must be like. */
export const AUDIO_RULES: readonly Rule[] = [unsupportedCodec, tooManyChannels, qualityTooHigh, qualityTooLow]
