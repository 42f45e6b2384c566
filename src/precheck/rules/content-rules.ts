import { isUndescribed } from '../../media/media-info.js'
import { describeDuration, describeTracks } from '../describe.js'
import { DEFAULT_MIN_VOICE_SEC } from '../limits.js'
import type { Rule } from './rule.js'

/** -2: an unreadable file cannot be checked further. */
const unreadable: Rule = {
  errorCode: -2,
  problem: ({ unreadable }) => (unreadable === null ? null : `The file cannot be read: ${unreadable}.`),
}

/** -18 */
const noAudio: Rule = {
  errorCode: -18,
  problem: ({ tracks, unreadable }) =>
    tracks.length === 0 && unreadable === null ? 'The file has no audio track.' : null,
}

/** -8: only the user knows which track contains the dialogue. */
const severalTracks: Rule = {
  errorCode: -8,
  problem: ({ tracks }) => (tracks.length > 1 ? `${tracks.length} audio tracks: ${describeTracks(tracks)}.` : null),
}

/** -2: a track was announced, and nothing of it sent. */
const undescribedTrack: Rule = {
  errorCode: -2,
  problem: ({ tracks }) => {
    const track = tracks.find((each) => isUndescribed(each) && !each.isEncrypted)
    if (!track) return null
    const { audioIndex, sampleRate, channels } = track
    const lacks = [...(sampleRate > 0 ? [] : ['no sample rate']), ...(channels > 0 ? [] : ['no channels'])]
    return `Audio track ${audioIndex} states ${lacks.join(' and ')}, so its sound cannot be read.`
  },
  remedies: [
    'Choose another track with --track. A broadcast may announce a track and never send it.',
    'If there is none, copy or export the file again, and wait until the copy is complete.',
  ],
}

/** -3: a detector can be wrong, so it only refuses a file if the user requires a voice. */
const notEnoughVoice: Rule = {
  errorCode: -3,
  problem: ({ voicedSec, durationSec }, { minVoiceSec = DEFAULT_MIN_VOICE_SEC }) => {
    if (voicedSec === null || voicedSec >= minVoiceSec) return null
    const whole = durationSec === null ? '' : ` of ${describeDuration(durationSec)}`
    return voicedSec === 0
      ? 'No voice was found.'
      : `Only ${describeDuration(voicedSec)}${whole} seem to contain a voice.`
  },
  severity: ({ requireVoice }) => (requireVoice ? 'refuse' : 'warn'),
}

/** Requirements for the content: a readable file with one suitable track. */
export const CONTENT_RULES: readonly Rule[] = [unreadable, noAudio, severalTracks, undescribedTrack, notEnoughVoice]
